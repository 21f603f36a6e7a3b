package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
	"notesd/internal/service"
	"notesd/notes"
)

// daemons returns the daemons that serve the place: at most one.
func (p place) daemons(t testing.TB) []daemon.Identity {
	t.Helper()
	id, err := daemon.Probe(t.Context(), p.state)
	var refused *daemon.RefusedError
	if errors.Is(err, daemon.ErrNotRunning) || errors.As(err, &refused) { // not yet, or not any more
		return nil
	}
	require.NoError(t, err)
	return []daemon.Identity{id}
}

// serve starts a daemon with notesd serve and waits until it listens.
func (p place) serve(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := p.command(append([]string{"serve"}, args...)...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, "the daemon listens", func() bool { return len(p.daemons(t)) == 1 })
	return cmd
}

func ended(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code is checked by the test
	}()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(t, "the process did not end")
	}
	return cmd.ProcessState.ExitCode()
}

func TestServeStopsCleanly(t *testing.T) {
	p := newPlace(t, someNotes)
	cmd := p.serve(t)
	r := p.report(t)
	assert.True(t, r.Daemon.Running)
	assert.Equal(t, cmd.Process.Pid, r.Daemon.PID)
	assert.Zero(t, r.Daemon.Clients, "asking for the status is not using the daemon")

	// A second daemon reports which one has the vault, whatever path it is given.
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(p.vault, link))
	second := exec.Command("notesd", "serve", "--vault", link+"/", "--state", p.state)
	out, err := second.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, service.ExitFailed, second.ProcessState.ExitCode())
	assert.Contains(t, string(out), fmt.Sprint(cmd.Process.Pid))

	require.NoError(t, terminate(cmd.Process.Pid))
	assert.Equal(t, service.ExitDone, ended(t, cmd), "after stopTimeout it would be another")
	assert.Empty(t, p.daemons(t))
	assert.NoFileExists(t, filepath.Join(p.state, "daemon.sock"))
}

// A shutdown waits for a command that keeps its session, but not for long, and not after a
// second signal.
func TestServeStopsInTime(t *testing.T) {
	for name, signals := range map[string]int{"one signal": 1, "two signals": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, someNotes)
			cmd := p.serve(t)
			conn, err := daemon.Dial(t.Context(), p.state, daemon.Hello{Wire: daemon.Wire, Kind: daemon.KindCLI})
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, terminate(cmd.Process.Pid))
			eventually(t, "it is stopping", func() bool {
				holder, err := daemon.ReadHolder(p.state)
				return err == nil && holder.Closing
			})
			if signals == 1 {
				assert.Equal(t, service.ExitDone, ended(t, cmd))
				return
			}
			require.NoError(t, terminate(cmd.Process.Pid))
			assert.Equal(t, signaled{syscall.SIGTERM}.exit(), ended(t, cmd), "it has not waited, else it would have ended cleanly")
		})
	}
}

func TestServeExitsWhenIdle(t *testing.T) {
	p := newPlace(t, someNotes)
	cmd := p.command("serve", "--idle-exit", "50ms")
	require.NoError(t, cmd.Start())
	assert.Equal(t, service.ExitDone, ended(t, cmd))
}

// Commands use the running daemon and see the writes of its clients.
func TestCommandsThroughTheDaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp")
	h.initialize()
	made := h.tool("create_note", map[string]any{"title": "Keel", "content": "A keelson."})
	require.False(t, made.IsError)
	assert.Contains(t, p.run(t, "search", "keelson"), "Keel.md")
	assert.Contains(t, p.run(t, "history", "Keel"), "test 1", "who wrote it")
	assert.Equal(t, "From the shell.md\n", p.run(t, "new", "From the shell"))
	assert.Contains(t, p.run(t, "list"), "From the shell.md")
	assert.False(t, h.tool("read_note", map[string]any{"note": "From the shell"}).IsError)

	// index includes changes that the watcher has not reported yet.
	require.NoError(t, os.WriteFile(filepath.Join(p.vault, "New.md"), []byte("A garboard strake."), 0o644))
	assert.Contains(t, p.run(t, "index"), "5 notes")
	r := p.report(t)
	assert.True(t, r.Daemon.Running)
	assert.Equal(t, 1, r.Daemon.Clients)
	assert.Equal(t, "watching", r.Watcher.State)
	eventually(t, "what the watcher reports is taken in, too", func() bool { return p.report(t).Index.Ready })

	dir := filepath.Join(t.TempDir(), "then")
	assert.Contains(t, p.run(t, "export", "--as-of", "0s", dir), "5 notes")
	assert.FileExists(t, filepath.Join(dir, "Boat", "Rigging.md"))
	forget := p.command("forget", "Keel.md")
	out, err := forget.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, service.ExitConflict, forget.ProcessState.ExitCode(), "%s", out)

	// Rebuilding replaces the daemon, and the session continues.
	before := p.daemon(t)
	assert.Contains(t, p.run(t, "index", "--rebuild"), "indexed again")
	assert.Equal(t, []string{"Keel.md"}, h.found("keelson"))
	assert.NotEqual(t, before.PID, p.daemon(t).PID)
	log, err := os.ReadFile(filepath.Join(p.state, "notesd.log"))
	require.NoError(t, err)
	assert.NotContains(t, string(log), "busy sessions were closed", "the command itself is none")
}

// HTTP clients cannot start a daemon. After an upgrade, a check therefore leaves the older
// one running, and a command starts another in its place, as it does after a rebuild.
func TestCommandsStartTheNextDaemon(t *testing.T) {
	p := newPlace(t, someNotes)
	older := daemon.NewIdentity("v0.0.0", os.Getpid())
	older.Wire--
	lock, err := daemon.Acquire(t.Context(), p.state, older)
	require.NoError(t, err)
	listener, err := daemon.Listen(lock)
	require.NoError(t, err)
	server := &daemon.Server{Listener: listener, Lock: lock, Identity: older, Vault: p.vault}
	served := make(chan error, 1)
	go func() {
		err := server.Serve(t.Context(), func(context.Context, *daemon.Session) error { return nil })
		served <- errors.Join(err, lock.Release())
	}()

	out, err := p.command("doctor").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "notesd restart starts this version")
	require.Empty(t, served, "it still runs")

	assert.Contains(t, p.run(t, "list"), "Bread.md")
	require.ErrorIs(t, <-served, daemon.ErrReplaced)
	before := p.daemon(t).PID
	assert.NotEqual(t, os.Getpid(), before)

	p.run(t, "index", "--rebuild")
	assert.NotEqual(t, before, p.daemon(t).PID)
}

// MCP clients cannot use the methods reserved for the owner's commands.
func TestOwnerMethods_RefusedToClients(t *testing.T) {
	p := newPlace(t, someNotes)
	for _, args := range [][]string{{"mcp"}, {"mcp", "--in-process"}} {
		h := p.launch(t, args...)
		h.initialize()
		for _, method := range service.OwnerMethods {
			m := h.call(method, map[string]any{"dir": t.TempDir(), "note": "Bread.md"})
			require.NotNil(t, m.Error, method)
			assert.Equal(t, -32601, m.Error.Code, method)
		}
		require.NoError(t, h.end())
		stopDaemon(t, p.state)
	}
}

func TestManyRelaysStartOneDaemon(t *testing.T) {
	p := newPlace(t, someNotes)
	var hosts sync.WaitGroup
	for range 10 {
		hosts.Go(func() {
			h := p.launch(t, "mcp")
			h.initialize()
			eventually(t, "the note is found", func() bool { return len(h.found("mast")) == 1 })
		})
	}
	hosts.Wait()
	assert.Equal(t, 10, p.report(t).Daemon.Clients)
	assert.Equal(t, 1, strings.Count(p.log(t), "msg=serving"), "one daemon has served")
}

func (p place) log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.state, service.DaemonLog))
	require.NoError(t, err)
	return string(text)
}

// A daemon that dies is replaced without any effect on the session.
func TestSessionOutlivesItsDaemon(t *testing.T) {
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp")
	h.initialize()
	require.NotNil(t, h.call("resources/subscribe", map[string]any{"uri": "note:///Bread.md"}).Result)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		old := p.daemon(t).PID
		process, err := os.FindProcess(old)
		require.NoError(t, err)
		require.NoError(t, process.Signal(signal))
		title := fmt.Sprintf("After %v %d", signal, old)
		assert.False(t, h.tool("create_note", map[string]any{"title": title, "content": "still here"}).IsError)
		eventually(t, "another daemon serves", func() bool {
			now := p.daemons(t)
			return len(now) == 1 && now[0].PID != old
		})
	}
	assert.Len(t, h.found("still here"), 3)

	// The subscription has been restored.
	for len(h.others) > 0 {
		<-h.others
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.vault, "Bread.md"), []byte("# Bread\nSpelt.\n"), 0o644))
	eventually(t, "the subscriber is told", func() bool {
		select {
		case m := <-h.others:
			return m.Method == "notifications/resources/updated"
		default:
			return false
		}
	})
}

// A session that began before an upgrade starts the new version's daemon, although a package
// manager has deleted the old version.
func TestSessionOutlivesAnUpgrade(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a running program cannot be deleted")
	}
	p := newPlace(t, someNotes)
	built, err := exec.LookPath(p.program)
	require.NoError(t, err)
	built, err = filepath.EvalSymlinks(built)
	require.NoError(t, err)
	old, upgraded := filepath.Join(t.TempDir(), "notesd"), filepath.Join(t.TempDir(), "notesd")
	require.NoError(t, os.Link(built, old))
	require.NoError(t, os.Link(built, upgraded))
	p.program = filepath.Join(t.TempDir(), "notesd")
	require.NoError(t, os.Symlink(old, p.program))
	requests := filepath.Join(t.TempDir(), "requests")
	if runtime.GOOS == "linux" { // with a stand-in for systemctl, which starts what the unit says
		bin := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\n[ $2 = start ] || exit 0\necho $3 >>%s\n"+
			"eval \"exec $(sed -n 's/^ExecStart=//p' %s/systemd/user/$3.service)\" </dev/null >/dev/null 2>&1 &\n", requests, p.config())
		require.NoError(t, os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o755))
		p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"))
		p.run(t, "service", "install")
	}
	h := p.launch(t, "mcp")
	h.initialize()
	require.NoError(t, os.RemoveAll(requests))

	require.NoError(t, os.Remove(p.program))
	require.NoError(t, os.Symlink(upgraded, p.program))
	require.NoError(t, os.Remove(old))
	stopDaemon(t, p.state)
	assert.NotEmpty(t, h.found("bread"))
	if runtime.GOOS == "linux" {
		assert.FileExists(t, requests, "the new daemon is the service")
	}
}

// A deletion whose daemon is killed after removing the file is reported as done, and
// never with the names of other notes.
func TestDeletionOutlivesItsDaemon(t *testing.T) {
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp")
	h.initialize()
	for i := range 4 {
		name := fmt.Sprintf("Doomed %d", i)
		require.False(t, h.tool("create_note", map[string]any{"title": name, "content": "x"}).IsError)
		old := p.daemon(t).PID
		process, err := os.FindProcess(old)
		require.NoError(t, err)
		answer := h.send("tools/call", map[string]any{"name": "delete_note", "arguments": map[string]any{"note": name}})
		for {
			if _, err := os.Lstat(filepath.Join(p.vault, name+".md")); err != nil {
				break
			}
		}
		require.NoError(t, process.Kill())
		var result toolResult
		h.decode(<-answer, &result)
		assert.False(t, result.IsError, "%v", result)
		assert.NoFileExists(t, filepath.Join(p.vault, name+".md"))
		eventually(t, "another daemon serves", func() bool {
			h.tool("list_notes", nil)
			now := p.daemons(t)
			return len(now) == 1 && now[0].PID != old
		})
	}
}

// An edit of several notes whose daemon is killed halfway is completed by the next daemon,
// and no note is edited twice.
func TestEditOfSeveralNotesOutlivesItsDaemon(t *testing.T) {
	files, names := map[string]string{}, []string{}
	for i := range 50 {
		name := fmt.Sprintf("Note %02d.md", i)
		files[name], names = "text\n", append(names, name)
	}
	p := newPlace(t, files)
	h := p.launch(t, "mcp")
	h.initialize()
	require.False(t, h.tool("list_notes", nil).IsError)
	process, err := os.FindProcess(p.daemon(t).PID)
	require.NoError(t, err)
	answer := h.send("tools/call", map[string]any{"name": "edit_note", "arguments": map[string]any{
		"notes": names, "edits": []any{map[string]any{"op": "append", "content": "once"}},
	}})
	for began := time.Now(); p.read(t, names[2]) == "text\n"; { // without a pause: an edit takes milliseconds
		require.Less(t, time.Since(began), patience)
	}
	require.NoError(t, process.Kill())
	var result toolResult
	h.decode(<-answer, &result)
	require.False(t, result.IsError, "%v", result)
	results := result.Structured["results"].([]any)
	require.Len(t, results, len(names))
	assert.Contains(t, result.Content[0].Text, "Edited 50 notes as change 1; 0 unchanged, 0 failed\n- Edited \"Note 00.md\", revision ")
	for i, name := range names {
		assert.Equal(t, "text\n\nonce\n", p.read(t, name))
		assert.Equal(t, name, results[i].(map[string]any)["path"])
		assert.Equal(t, notes.ShortHash(notes.Hash([]byte("text\n\nonce\n"))), results[i].(map[string]any)["hash"])
	}
}

func TestMCPInProcessJoinsAnother(t *testing.T) {
	p := newPlace(t, someNotes)
	first := p.launch(t, "mcp", "--in-process")
	first.initialize()
	eventually(t, "the first listens", func() bool { return len(p.daemons(t)) == 1 })

	// Other clients share it; a relay that loses it starts a new one.
	assert.Contains(t, p.run(t, "search", "mast"), "Rigging")
	relay := p.launch(t, "mcp")
	relay.initialize()
	assert.NotEmpty(t, relay.found("mast"))

	second := p.launch(t, "mcp", "--in-process")
	second.initialize()
	assert.NotEmpty(t, second.found("mast"))

	require.NoError(t, first.end())
	assert.NotEmpty(t, relay.found("mast"))
	assert.NotEmpty(t, second.found("mast"))
	assert.NotEqual(t, first.cmd.Process.Pid, p.daemon(t).PID)
}

// terminate asks a process to stop. Windows has no such signal, so there it kills the
// process.
func terminate(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return p.Kill()
	}
	return p.Signal(syscall.SIGTERM)
}
