package service_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/notestest"
	"notesd/internal/service"
	"notesd/internal/session"
	"notesd/mcp"
	"notesd/migrations"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/notes/vault/disk"
	"notesd/search"
	"notesd/vectors"
)

// An owner is a shell command's session with a vault that the test process serves.
type owner struct {
	*testing.T
	session *session.Session
}

// settings returns the configuration of a vault with these files, without embeddings.
func settings(t *testing.T, files map[string]string) *config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Vault.Path, cfg.State, cfg.Semantic.Provider = notestest.Vault(t, files), filepath.Join(t.TempDir(), "state"), "off"
	return &cfg
}

// use calls do with an owner of the vault.
func use(t *testing.T, cfg *config.Config, do func(owner)) {
	t.Helper()
	conn, lock, err := service.DialOrLock(t.Context(), cfg, service.HelloOf(cfg, daemon.KindCLI), nil)
	require.NoError(t, err)
	require.Nil(t, conn, "no daemon runs")
	s := service.New(cfg, service.DiscardLogs(), !service.Watching)
	require.NoError(t, s.RunLocked(t.Context(), lock, func(ctx context.Context) error {
		return s.Converse(ctx, func(ctx context.Context, conn net.Conn) error {
			opened, err := session.Open(ctx, conn, "owner", "1", nil, append([]string{mcp.MethodWhy, mcp.MethodTargets}, service.OwnerMethods...)...)
			if err != nil {
				return err
			}
			do(owner{t, opened})
			return opened.Close()
		})
	}))
}

// After an upgrade, a command must not depend on the daemon of the older program, which may
// lack its methods.
func TestDialOrLock_ReplacesOlderDaemon(t *testing.T) {
	cfg := settings(t, nil)
	older := daemon.NewIdentity("v0.0.0", os.Getpid())
	older.Wire--
	lock, err := daemon.Acquire(t.Context(), cfg.State, older)
	require.NoError(t, err)
	listener, err := daemon.Listen(lock)
	require.NoError(t, err)
	server := &daemon.Server{Listener: listener, Lock: lock, Identity: older, Vault: cfg.Vault.ID()}
	served := make(chan error, 1)
	go func() {
		err := server.Serve(t.Context(), func(context.Context, *daemon.Session) error { return nil })
		served <- errors.Join(err, lock.Release())
	}()
	_, _, err = service.DialOrLock(t.Context(), cfg, service.HelloOf(cfg, daemon.KindStatus), nil)
	require.ErrorIs(t, err, daemon.ErrIncompatible, "a status leaves it running")
	started := errors.New("the successor is started")
	_, _, err = service.DialOrLock(t.Context(), cfg, service.HelloOf(cfg, daemon.KindCLI), func(context.Context) error { return started })
	require.ErrorIs(t, err, started)
	require.ErrorIs(t, <-served, daemon.ErrReplaced)
}

// ask calls an owner's method and decodes its result into out. It returns the failure
// that a command would show.
func (o owner) ask(method string, p service.OwnerParams, out any) *service.Failure {
	o.Helper()
	err := o.session.Method(o.Context(), method, p, out)
	if err == nil {
		return nil
	}
	var f *service.Failure
	require.ErrorAs(o, err, &f)
	return f
}

func (o owner) call(tool string, args map[string]any) {
	o.Helper()
	var result any
	require.NoError(o, o.session.Call(o.Context(), tool, args, &result))
}

func TestOwnersMethods(t *testing.T) {
	cfg := settings(t, map[string]string{
		"Rye.md":     "---\ntags: [bread, Draft]\n---\n# Rye\n\nFeed the starter twice. See [[Boat]].\n",
		"Boat.md":    "#bread #draft/old\n\nVarnish the mast.\n",
		"Secret.md":  "the word is xyzzy\n",
		"Plan/A.md":  "a plan\n",
		"photo.webp": "not a note",
	})
	out := t.TempDir()
	use(t, cfg, func(o owner) {
		var tags service.Tags
		require.Nil(t, o.ask(service.MethodTags, service.OwnerParams{}, &tags))
		require.NotEmpty(t, tags.Tags)
		assert.Equal(t, notes.TagCount{Tag: "bread", Notes: 2}, tags.Tags[0], "the most used first")

		var why service.WhyResult
		require.NoError(t, o.session.Method(t.Context(), mcp.MethodWhy, service.WhyParams{Note: "Rye", Query: "starter"}, &why))
		assert.Equal(t, "Rye.md", why.Path)
		assert.True(t, why.Found, "%+v", why)
		require.ErrorContains(t, o.session.Method(t.Context(), mcp.MethodWhy, "Rye", &why), "invalid params")

		var targets notes.Targets
		require.NoError(t, o.session.Method(t.Context(), mcp.MethodTargets, service.OwnerParams{Note: "note:///Rye.md"}, &targets))
		assert.Equal(t, notes.Targets{Notes: map[string]string{"Boat": "Boat.md"}, Files: map[string]string{}}, targets)

		before := time.Now()
		o.call("edit_note", map[string]any{"note": "Boat", "edits": []any{map[string]any{"op": "append", "content": "Oil the deck."}}})
		var exported service.Exported
		f := o.ask(service.MethodExport, service.OwnerParams{AsOf: before.Format(time.RFC3339Nano), Dir: filepath.Join(cfg.Vault.Path, "copy")}, &exported)
		require.NotNil(t, f, "a copy in the vault would be notes")
		assert.Equal(t, "usage", f.Code)
		assert.NotEmpty(t, f.Hint)
		require.Nil(t, o.ask(service.MethodExport, service.OwnerParams{AsOf: before.Format(time.RFC3339Nano), Dir: filepath.Join(out, "then")}, &exported))
		assert.Equal(t, 4, exported.Notes)
		assert.Equal(t, "#bread #draft/old\n\nVarnish the mast.\n", notestest.Read(t, filepath.Join(out, "then"))["Boat.md"])

		var forgotten service.Forgotten
		f = o.ask(service.MethodForget, service.OwnerParams{Note: "Secret.md"}, &forgotten)
		require.NotNil(t, f)
		assert.Equal(t, "exists", f.Code)
		o.call("delete_note", map[string]any{"note": "Secret"})
		require.Nil(t, o.ask(service.MethodForget, service.OwnerParams{Note: "Secret.md"}, &forgotten))
		assert.Equal(t, []string{"Secret.md"}, forgotten.Paths)
		f = o.ask(service.MethodForget, service.OwnerParams{Note: "Secret.md"}, &forgotten)
		require.NotNil(t, f)
		assert.Equal(t, "not_found", f.Code)
		assert.NotEmpty(t, f.Hint)

		var backup service.Manifest
		require.Nil(t, o.ask(service.MethodBackup, service.OwnerParams{Dir: filepath.Join(out, "backup")}, &backup))
		assert.Equal(t, cfg.State, backup.State)
		f = o.ask(service.MethodBackup, service.OwnerParams{Dir: filepath.Join(out, "backup")}, &backup)
		require.NotNil(t, f)
		assert.Equal(t, "exists", f.Code)
		data, err := os.ReadFile(filepath.Join(out, "backup", "history.db"))
		require.NoError(t, err)
		assert.NotContains(t, string(data), "xyzzy", "what was forgotten is not backed up")

		var tables service.Tables
		o.call("create_table", map[string]any{"table": "points", "dimension": 2})
		o.call("drop_table", map[string]any{"table": "points"})
		require.Nil(t, o.ask(service.MethodTables, service.OwnerParams{}, &tables))
		require.Len(t, tables.Tables, 1)
		assert.NotZero(t, tables.Tables[0].RestorableUntil)
		var restored service.TableLine
		require.Nil(t, o.ask(service.MethodRestoreTable, service.OwnerParams{Table: "points"}, &restored))
		assert.Zero(t, restored.Dropped)
		require.NotNil(t, o.ask(service.MethodRestoreTable, service.OwnerParams{Table: "points"}, &restored), "it is in use")

		var link service.Link
		require.Nil(t, o.ask(service.MethodWeb, service.OwnerParams{}, &link))
		assert.Empty(t, link.URL, "nothing is served over HTTP")
	})
}

// TestAdopt adopts the history of a vault that was copied elsewhere and whose original
// was deleted.
func TestAdopt(t *testing.T) {
	old := settings(t, map[string]string{"A.md": "first\n"})
	use(t, old, func(o owner) {
		o.call("edit_note", map[string]any{"note": "A", "edits": []any{map[string]any{"op": "append", "content": "second"}}})
	})
	cfg := settings(t, notestest.Read(t, old.Vault.Path))
	adopt := func(state string) (string, error) {
		return service.Adopt(t.Context(), cfg, state)
	}
	refused := func(state, code string) {
		t.Helper()
		_, err := adopt(state)
		require.Error(t, err)
		f := service.FailureOf(err)
		assert.Equal(t, code, f.Code, f.Message)
	}
	use(t, cfg, func(o owner) { o.call("list_notes", nil) })
	refused(t.TempDir(), "not_found")
	refused(cfg.State, "conflict")
	refused(old.State, "conflict") // its vault still exists
	require.NoError(t, os.RemoveAll(old.Vault.Path))
	lock, err := daemon.Acquire(t.Context(), old.State, daemon.NewIdentity("1", os.Getpid()))
	require.NoError(t, err)
	listener, err := daemon.Listen(lock)
	require.NoError(t, err)
	refused(old.State, "locked")
	require.NoError(t, errors.Join(listener.Close(), lock.Release()))

	aside, err := adopt(old.State)
	require.NoError(t, err)
	assert.FileExists(t, aside, "the history that the vault had")
	assert.NoDirExists(t, old.State)
	use(t, cfg, func(o owner) {
		res, err := o.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "note_history", Arguments: map[string]any{"note": "A"}})
		require.NoError(t, err)
		text, err := json.Marshal(res.StructuredContent)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"edit"`)
	})
	refused(old.State, "not_found")
}

// A renamed vault keeps its history with its next command, if it cannot be mistaken, and
// the state directory of its former name is removed.
func TestInherit(t *testing.T) {
	files := map[string]string{"A.md": "first\n"}
	for i := range vault.SuspiciouslyMany { // fewer could have been deleted in an empty folder
		files[fmt.Sprintf("%d.md", i)] = "x\n"
	}
	cfg := settings(t, files)
	states := t.TempDir()
	cfg.State = filepath.Join(states, "old")
	use(t, cfg, func(o owner) {
		o.call("edit_note", map[string]any{"note": "A", "edits": []any{map[string]any{"op": "append", "content": "second"}}})
	})
	if disk.FolderID(cfg.Vault.Path) == "" {
		t.Skip("this disk has no file numbers")
	}
	require.NoError(t, os.Mkdir(filepath.Join(states, "other"), 0o700)) // not a state

	record := filepath.Join(cfg.State, "vault.json")
	ofVault, err := os.ReadFile(record)
	require.NoError(t, err)
	unmounted := filepath.Join(t.TempDir(), "unmounted")
	require.NoError(t, os.Rename(cfg.Vault.Path, unmounted))
	require.NoError(t, os.Mkdir(cfg.Vault.Path, 0o700))
	use(t, cfg, func(owner) {})
	atMountPoint, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Equal(t, string(ofVault), string(atMountPoint), "the mount point is not the vault")
	require.NoError(t, os.Remove(cfg.Vault.Path))
	require.NoError(t, os.Rename(unmounted, cfg.Vault.Path))

	anotherDevice := strings.Replace(string(ofVault), disk.FolderID(cfg.Vault.Path), "1:1", 1)
	require.NoError(t, os.WriteFile(record, []byte(anotherDevice), 0o600))
	use(t, cfg, func(owner) {})
	nowKnown, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Equal(t, string(ofVault), string(nowKnown))

	renamed := *cfg
	renamed.Vault.Path, renamed.State = filepath.Join(t.TempDir(), "renamed"), filepath.Join(states, "new")
	require.NoError(t, os.Rename(cfg.Vault.Path, renamed.Vault.Path))
	use(t, &renamed, func(o owner) { o.call("restore_note", map[string]any{"note": "A", "revision": 1}) })
	assert.Equal(t, "first\n", notestest.Read(t, renamed.Vault.Path)["A.md"])
	assert.NoDirExists(t, cfg.State)

	copied := renamed
	copied.Vault.Path, copied.State = notestest.Vault(t, map[string]string{"A.md": "first\n"}), filepath.Join(states, "third")
	use(t, &copied, func(o owner) { o.call("list_notes", nil) })
	assert.DirExists(t, renamed.State, "its vault still exists")
}

// TestDiscardDerived checks that everything except the history is rebuilt.
func TestDiscardDerived(t *testing.T) {
	cfg := settings(t, map[string]string{"A.md": "first\n"})
	use(t, cfg, func(o owner) {
		o.call("edit_note", map[string]any{"note": "A", "edits": []any{map[string]any{"op": "append", "content": "second"}}})
	})
	lock, ran, err := service.TakeOver(t.Context(), cfg)
	require.NoError(t, err)
	assert.False(t, ran)
	setVersion := func(from, to int) { // of the history
		db, err := sql.Open("sqlite", filepath.Join(cfg.State, store.HistoryFile))
		require.NoError(t, err)
		var version int
		require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&version))
		assert.Equal(t, from, version)
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", to))
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	known := migrations.History.Version()
	setVersion(known, known+1)
	require.ErrorIs(t, service.DiscardDerived(t.Context(), cfg.State), migrations.ErrNewer)
	assert.FileExists(t, filepath.Join(cfg.State, "notes.db"), "the newer program uses it again")
	assert.DirExists(t, filepath.Join(cfg.State, "index"))
	setVersion(known+1, known)
	require.NoError(t, service.DiscardDerived(t.Context(), cfg.State))
	require.NoError(t, lock.Release())
	assert.NoFileExists(t, filepath.Join(cfg.State, "notes.db"))
	assert.NoDirExists(t, filepath.Join(cfg.State, "index"))
	use(t, cfg, func(o owner) {
		o.call("restore_note", map[string]any{"note": "A", "revision": 1})
		o.call("search_notes", map[string]any{"query": "first"})
	})
	assert.Equal(t, "first\n", notestest.Read(t, cfg.Vault.Path)["A.md"])
}

// TestFailureOf checks the documented code and exit code of each kind of error.
func TestFailureOf(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("do: %w", err) }
	for code, c := range map[string]struct {
		err  error
		exit int
	}{
		"failed":      {errors.New("something"), service.ExitFailed},
		"usage":       {wrapped(service.Usagef("hint", "wrong %d", 1)), service.ExitUsage},
		"config":      {wrapped(&config.Error{Problems: []config.Problem{{Key: "a", Detail: "is wrong"}}}), service.ExitUsage},
		"not_found":   {wrapped(&notes.Error{Op: "read", Err: notes.ErrNotFound}), service.ExitNotFound},
		"exists":      {wrapped(&notes.Error{Op: "create", Err: notes.ErrExists}), service.ExitConflict},
		"conflict":    {wrapped(&notes.Error{Op: "edit", Err: notes.ErrConflict}), service.ExitConflict},
		"ambiguous":   {wrapped(&notes.Error{Op: "read", Err: notes.ErrAmbiguous}), service.ExitUsage},
		"read_only":   {wrapped(&notes.Error{Op: "edit", Err: notes.ErrReadOnly}), service.ExitFailed},
		"unavailable": {wrapped(&notes.Error{Op: "edit", Err: notes.ErrUnavailable}), service.ExitFailed},
		"locked":      {wrapped(daemon.ErrLocked), service.ExitFailed},
		"newer":       {wrapped(migrations.ErrNewer), service.ExitFailed},
		"state":       {wrapped(fmt.Errorf("%w: %w", daemon.ErrState, syscall.EIO)), service.ExitFailed},
		"permission":  {wrapped(&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}), service.ExitFailed},
	} {
		f := service.FailureOf(c.err)
		assert.Equal(t, code, f.Code)
		assert.Equal(t, c.exit, f.Exit, code)
		if code != "usage" { // shown as it is
			assert.Equal(t, c.err.Error(), f.Message, code)
		}
	}
	hinted := service.FailureOf(&config.Error{Problems: []config.Problem{{Key: "a", Detail: "is wrong", Hint: "write b"}}})
	assert.Empty(t, hinted.Hint, "the problem has its own")
	noLocks := service.FailureOf(wrapped(&fs.PathError{Op: "flock", Path: "daemon.lock", Err: syscall.ENOLCK}))
	assert.Contains(t, noLocks.Hint, "local disk")
}

// TestCounted tells whether a status may print the number of passages.
func TestCounted(t *testing.T) {
	for _, c := range []struct {
		state         string
		notes, chunks int
		want          bool
	}{
		{search.StateBuilding, 3, 0, false}, {search.StateBuilding, 3, 5, true}, {search.StateBuilding, 0, 0, true},
		{search.StateReady, 3, 0, true}, {search.StateOff, 3, 0, true},
	} {
		r := service.Report{Notes: c.notes, Semantic: vectors.Status{State: c.state, Chunks: c.chunks}}
		assert.Equal(t, c.want, r.Counted(), "%+v", c)
	}
}
