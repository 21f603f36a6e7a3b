package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"notesd/internal/config"
	"notesd/internal/notestest"
	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tooMuch returns a vault whose rows do not fit on the disk of the state.
func tooMuch() map[string]string {
	files := map[string]string{}
	for i := range 20 {
		var text strings.Builder
		for n := range 600 { // incompressible words
			fmt.Fprintf(&text, "keelson %x ", sha256.Sum256(fmt.Append(nil, i, n)))
		}
		files[fmt.Sprintf("n%d.md", i)] = text.String()
	}
	return files
}

// fullState returns a place whose state is on a disk that is too small.
func fullState(t *testing.T) place {
	p := newPlace(t, tooMuch())
	require.NoError(t, os.Mkdir(p.state, 0o700))
	mountTemp(t, p.state)
	p.stateSize(t, "600k")
	return p
}

func (p place) stateSize(t *testing.T, size string) {
	t.Helper()
	require.NoError(t, unix.Mount("tmpfs", p.state, "tmpfs", unix.MS_REMOUNT, "mode=700,size="+size))
}

// Commands do not wait forever for changes that cannot be indexed.
func TestCommandsOnAFullDisk(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	p := fullState(t)
	for _, args := range [][]string{{"search", "keelson"}, {"list"}, {"index"}, {"doctor"}} {
		cmd := p.command(args...)
		timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		timer.Stop()
		require.Error(t, err, args)
		assert.Equal(t, service.ExitFailed, cmd.ProcessState.ExitCode(), "%s: %s", args, out)
		assert.Contains(t, string(out), "state is full", args)
		assert.Contains(t, string(out), "--state", args)
	}
	p.stateSize(t, "40m")
	assert.Contains(t, p.run(t, "search", "--limit", "1", "keelson"), ".md")
	assert.True(t, p.report(t).Index.Ready)
}

// A daemon reports the problem, and recovers by itself once there is space.
func TestDaemonOnAFullDisk(t *testing.T) {
	t.Parallel()
	p := fullState(t)
	p.serve(t)
	eventually(t, "it says that its disk is full", func() bool { return strings.Contains(p.report(t).Trouble, "is full") })
	r := p.report(t)
	assert.False(t, r.Index.Ready)
	assert.Contains(t, strings.Join(r.Warnings, "\n"), "state is full")
	p.stateSize(t, "40m")
	eventually(t, "all is found", func() bool { r := p.report(t); return r.Index.Ready && r.Trouble == "" })
	assert.Contains(t, p.run(t, "search", "--limit", "1", "keelson"), ".md")
	got, err := os.ReadDir(p.vault)
	require.NoError(t, err)
	assert.Len(t, got, len(tooMuch()))
}

// fillState fills the disk of the state, but for some bytes, until the returned function is
// called.
func (p place) fillState(t *testing.T, left int64) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(p.state, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	info, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Truncate(info.Size()-left))
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(f.Name())) }
}

// A disk that has become full since the last run is not reported as one that fails.
func TestStartOnAFullDisk(t *testing.T) {
	p := newPlace(t, someNotes)
	require.NoError(t, os.Mkdir(p.state, 0o700))
	mountTemp(t, p.state)
	p.run(t, "index")
	free := p.fillState(t, 16<<10) // enough for the locks
	out, err := p.command("list").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "state is full")
	assert.Contains(t, string(out), "Free some space where the state is kept", "which is clear after the cause alone, too")
	free()
	assert.Contains(t, p.run(t, "list"), "Bread.md")
}

// A note that changed while the state's disk was full is not shown with its old content,
// and the reason is not an internal error.
func TestReadOnAFullDisk(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	p := newPlace(t, someNotes)
	require.NoError(t, os.Mkdir(p.state, 0o700))
	mountTemp(t, p.state)
	p.serve(t)
	eventually(t, "all is found", func() bool { return p.report(t).Index.Ready })
	free := p.fillState(t, 0)
	require.NoError(t, os.Chtimes(filepath.Join(p.vault, "Boat/Rigging.md"), time.Now(), time.Now().Add(-time.Hour)))
	assert.Contains(t, p.run(t, "read", "Rigging"), "Two stays", "its text has not changed")
	out, err := p.command("new", "Sail").CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.Contains(t, string(out), "the disk that holds notesd's state is full")
	p.save(t, "Bread.md", strings.Repeat("A long crumb. ", 20_000))
	cmd := p.command("read", "Bread.md")
	out, err = cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.Contains(t, string(out), "state is full")
	eventually(t, "a search says that it is old", func() bool {
		out, err := p.command("search", "crumb").CombinedOutput()
		return err == nil && strings.Count(string(out), "changes on disk cannot be indexed: the disk that holds notesd's state is full. This answer may be out of date.") == 1
	})
	out, err = p.command("history", "Bread.md").CombinedOutput()
	require.Error(t, err, "%s", out)
	assert.Contains(t, string(out), "state is full")
	free()
	eventually(t, "it is taken in", func() bool { return strings.Contains(p.run(t, "search", "crumb"), "Bread.md") })
	assert.Contains(t, p.run(t, "read", "Bread.md"), "A long crumb.")
}

// A state that cannot be written to is a problem even if its folder's mode and free space
// show nothing, as with a quota.
func TestDoctor_StateNotWritable(t *testing.T) {
	p := newPlace(t, nil)
	require.NoError(t, os.Mkdir(p.state, 0o700))
	mountTemp(t, p.state)
	p.stateSize(t, "600k")
	c := checkState(&config.Config{State: p.state})
	assert.Equal(t, problem, c.State)
	assert.Contains(t, c.Text, "no space left")
	p.stateSize(t, "40m")
	assert.NotEqual(t, problem, checkState(&config.Config{State: p.state}).State)
	left, err := os.ReadDir(p.state)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// An index that cannot be opened for lack of descriptors is not damaged.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{"A.md": "keelson\n"})
	p.run(t, "index")
	made, err := os.Stat(filepath.Join(p.state, "index", "root.bolt"))
	require.NoError(t, err)
	hints := 0
	for limit := 8; limit < 32; limit += 2 {
		cmd := p.command("search", "--mode", "text", "keelson")
		cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, limit), cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		out, _ := cmd.CombinedOutput() // it fails below some limit
		if strings.Contains(string(out), "ulimit -n") {
			hints++
		}
		index, err := os.Stat(filepath.Join(p.state, "index", "root.bolt"))
		require.NoError(t, err, "%d: %s", limit, out)
		require.True(t, os.SameFile(made, index), "%d: %s", limit, out)
		require.NotContains(t, string(out), "removed")
	}
	assert.Positive(t, hints)
	assert.Contains(t, p.run(t, "search", "keelson"), "A.md")
	assert.Empty(t, p.report(t).Warnings)
}
