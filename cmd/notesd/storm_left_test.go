package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// nothingIsLeft checks, after all clients have exited, for leaks: temp files in the
// vault, processes, and in the surviving daemon descriptors and goroutines of closed
// sessions.
func (s *storm) nothingIsLeft(t *testing.T) {
	for path := range notestest.Read(t, s.place.vault) {
		if _, ours := someNotes[path]; !ours {
			assert.Contains(t, s.written, path, "a file that nobody wrote")
		}
	}
	eventually(t, "the daemon has no clients", func() bool { return s.place.report(t).Daemon.Clients == 0 })
	if runtime.GOOS != "linux" {
		t.Log("SKIPPED: processes, descriptors and goroutines are counted on Linux only")
		return
	}
	last := s.place.daemon(t).PID
	eventually(t, "of all processes one daemon is left", func() bool { return fmt.Sprint(s.place.processes(t)) == fmt.Sprint([]int{last}) })
	eventually(t, "of its sockets the one that listens is left", func() bool { return descriptors(t, last, "socket:") == 1 }) // this test's connection was just closed
	assert.Zero(t, descriptors(t, last, "pipe:"))

	// On SIGQUIT a Go program dumps its goroutines.
	process, err := os.FindProcess(last)
	require.NoError(t, err)
	require.NoError(t, process.Signal(syscall.SIGQUIT))
	eventually(t, "no process is left", func() bool { return len(s.place.processes(t)) == 0 })
	_, goroutines, dumped := strings.Cut(s.place.log(t), "SIGQUIT: quit")
	require.True(t, dumped)
	assert.Contains(t, goroutines, ".(*running).accept(", "the dump is whole")
	for _, over := range []string{".(*running).connection(", ".ServeLines(", "go-sdk/mcp.(*ServerSession)"} {
		var left []string
		for goroutine := range strings.SplitSeq(goroutines, "\n\n") {
			if strings.Contains(goroutine, over) {
				left = append(left, goroutine)
			}
		}
		// A session closes its socket before its goroutines end, so those of this test's own
		// last commands may be among them.
		assert.Less(t, len(left), stormHosts/2, "sessions that are over still run: %s", strings.Join(left, "\n\n"))
	}
}

// processes returns the ids of the processes that work on the place.
func (p place) processes(t testing.TB) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		args, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err == nil && strings.Contains(string(args), p.state) { // otherwise it has just exited
			pids = append(pids, pid)
		}
	}
	return pids
}

// descriptors counts the open descriptors of one kind in a process.
func descriptors(t testing.TB, pid int, kind string) (n int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if target, err := os.Readlink(filepath.Join(dir, entry.Name())); err == nil && strings.HasPrefix(target, kind) {
			n++
		}
	}
	return n
}
