package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestDaemonBelongsToNobody inspects a daemon through /proc: it is not in the host's
// process tree and does not hold the host's pipes open, with either launcher.
func TestDaemonBelongsToNobody(t *testing.T) {
	for name, shell := range map[string]string{"shell": "/bin/sh", "own launcher": "/nonexistent/sh"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TEST_DAEMON_SHELL", shell)
			belongsToNobody(t)
		})
	}
}

func belongsToNobody(t *testing.T) {
	t.Helper()
	dir := filepath.Join(stateDir(t), `it's "$HOME"; $(x)`) // the shell must not interpret it
	require.NoError(t, os.Mkdir(dir, 0o700))
	leaked, writer, err := os.Pipe()
	require.NoError(t, err)
	defer leaked.Close()
	// Descriptors that a careless host lets its children inherit.
	fd, err := unix.Dup(int(writer.Fd()))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	require.NoError(t, err)

	t.Setenv("KEPT", "yes")
	c := startClient(t, dir)
	require.NoError(t, unix.Close(fd))
	info, err := c.initialize()
	require.NoError(t, err)
	proc := filepath.Join("/proc", strconv.Itoa(info.PID))

	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, group, session := fields[1], fields[2], fields[3]
	self := strconv.Itoa(info.PID)
	assert.Equal(t, self, session, "a session of its own")
	assert.Equal(t, self, group)
	assert.NotContains(t, []string{strconv.Itoa(c.cmd.Process.Pid), strconv.Itoa(os.Getpid())}, parent)

	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	require.NoError(t, err)
	assert.Equal(t, "/", cwd)
	cmdline, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	require.NoError(t, err)
	assert.Equal(t, []string{daemonCommand, dir, ""}, strings.Split(string(cmdline), "\x00")[1:])
	environ, err := os.ReadFile(filepath.Join(proc, "environ"))
	require.NoError(t, err)
	assert.Contains(t, string(environ), "KEPT=yes\x00")

	fds := openFiles(t, proc)
	assert.Equal(t, "/dev/null", fds["0"])
	assert.Equal(t, "/dev/null", fds["1"])
	assert.Equal(t, filepath.Join(dir, "daemon.log"), fds["2"])
	for number, target := range fds {
		assert.NotEqual(t, link, target, "descriptor %s was inherited", number)
		assert.False(t, strings.HasPrefix(target, "pipe:"), "descriptor %s is a pipe", number)
	}

	log, err := os.Stat(filepath.Join(dir, "daemon.log"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), log.Mode().Perm())
	require.NoError(t, c.close())
	require.NoError(t, unix.Kill(info.PID, 0), "the daemon outlives the relay")
}

// openFiles returns the targets of a process's descriptors.
func openFiles(t *testing.T, proc string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(proc, "fd"))
	require.NoError(t, err)
	fds := map[string]string{}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(proc, "fd", entry.Name()))
		if err == nil { // except the one used to read the directory
			fds[entry.Name()] = target
		}
	}
	return fds
}
