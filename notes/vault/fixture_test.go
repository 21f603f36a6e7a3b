package vault

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// fixture is a vault in a temp folder, with a follower that mirrors the feed.
type fixture struct {
	*Vault
	t     *testing.T
	dir   string
	state string
	view  *mirror
	clock *clock

	folders []string // names of the vault's folders below dir; nil if dir is the vault
	lacks   []string // steps that the disk does not support; see killAt
}

// clock is the vault's clock, which only advances when a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// newClock returns a clock ahead of every file, so that no file counts as recently changed.
func newClock() *clock { return &clock{now: time.Now().Add(time.Hour)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newFixture makes a vault with these files: path, text, path, text, …
func newFixture(t *testing.T, files ...string) *fixture {
	t.Helper()
	return newFixtureOf(t, nil, files...)
}

// newFixtureOf makes a vault of several folders; each file path begins with one of them.
func newFixtureOf(t *testing.T, folders []string, files ...string) *fixture {
	t.Helper()
	databases, err := emptyDatabases()
	require.NoError(t, err)
	f := &fixture{t: t, dir: t.TempDir(), state: newState(t, databases), view: newMirror(), clock: newClock(), folders: folders}
	for _, folder := range folders {
		require.NoError(t, os.Mkdir(filepath.Join(f.dir, folder), 0o755))
	}
	for i := 0; i < len(files); i += 2 {
		f.write(files[i], files[i+1])
	}
	f.start()
	return f
}

// start opens the vault until the test ends, and reconciles it.
func (f *fixture) start() {
	f.t.Helper()
	f.open(Options{})
	f.t.Cleanup(func() { assert.NoError(f.t, f.store.Close()) })
	f.reconcile()
}

// newState returns a state directory with these databases. Copying them takes a fraction of
// the time that the migrations take.
func newState(t *testing.T, databases []databaseFile) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range databases {
		name := filepath.Join(dir, file.name)
		require.NoError(t, os.WriteFile(name, file.data, 0o600))
		require.NoError(t, os.Chtimes(name, file.modified, file.modified)) // as recorded when it was closed
	}
	return dir
}

type databaseFile struct {
	name     string
	data     []byte
	modified time.Time
}

var emptyDatabases = sync.OnceValues(func() ([]databaseFile, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, schema := range map[string]sqlite.Schema{store.NotesFile: sqlite.NotesSchema, store.HistoryFile: sqlite.HistorySchema} {
		db, err := sqlite.Open(context.Background(), filepath.Join(dir, name), schema)
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	return readDatabases(dir)
})

// readDatabases reads the closed databases of a state directory.
func readDatabases(dir string) (files []databaseFile, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, infoErr := e.Info()
		data, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		if err := errors.Join(infoErr, readErr); err != nil {
			return nil, err
		}
		files = append(files, databaseFile{e.Name(), data, info.ModTime()})
	}
	return files, err
}

// open opens the store and the vault, as when the program starts.
func (f *fixture) open(opt Options) {
	f.t.Helper()
	store, err := store.Open(context.Background(), f.state)
	require.NoError(f.t, err)
	opt.Now, opt.Folders = f.clock.Now, map[string]string{}
	opt.scanPatience = time.Nanosecond // no scan runs unless the test starts one
	for _, folder := range f.folders {
		opt.Folders[folder] = filepath.Join(f.dir, folder)
	}
	f.Vault, err = New(context.Background(), store, f.dir, opt)
	require.NoError(f.t, err)
	f.Follow(f.view)
	if f.lacks != nil {
		f.killAt(1 << 30)
	}
}

// restart discards the program's state, as kill -9 would, and starts it again.
func (f *fixture) restart() {
	f.t.Helper()
	require.NoError(f.t, f.store.Close())
	f.open(Options{})
	f.reconcile()
}

// move moves a note as a client does, updating the links to it.
func (f *fixture) move(from, to string) {
	f.t.Helper()
	_, err := f.Move(f.t.Context(), notes.MoveRequest{Note: from, To: to, UpdateLinks: true})
	require.NoError(f.t, err)
	f.reconcile()
	f.requireConsistent()
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	require.NoError(f.t, f.writeFile(name, text))
}

func (f *fixture) writeFile(name, text string) error {
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	return errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644))
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	require.NoError(f.t, os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))))
}

func (f *fixture) rename(from, to string) {
	f.t.Helper()
	full := filepath.Join(f.dir, filepath.FromSlash(to))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(f.t, os.Rename(filepath.Join(f.dir, filepath.FromSlash(from)), full))
}

func (f *fixture) onDisk(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
	require.NoError(f.t, err)
	return string(data)
}

func (f *fixture) reconcile() {
	f.t.Helper()
	require.NoError(f.t, f.Reconcile(context.Background()))
	f.feeder.run(context.Background())
}

// files returns the text of every file of the vault, including hidden ones.
func (f *fixture) files() map[string]string {
	f.t.Helper()
	return notestest.Read(f.t, f.dir)
}

// requireConsistent checks that the store and the follower match the disk, and that no temp
// files are left.
func (f *fixture) requireConsistent() {
	f.t.Helper()
	want := map[string]string{}
	for name, text := range f.files() {
		require.NotContains(f.t, name, store.TempPrefix, "a temp file is left")
		if notes.IsNoteName(name) && !f.ignore.Match(name) {
			want[notes.Nfc(name)] = notes.Hash([]byte(text))
		}
	}
	rows, err := f.store.Rows(context.Background(), nil)
	require.NoError(f.t, err)
	have := map[string]string{}
	for p, r := range rows {
		have[p] = r.Hash
	}
	require.Equal(f.t, want, have, "the store equals the disk")
	require.Equal(f.t, want, f.view.paths(f.t), "the follower equals the disk")
}

// exec runs a statement on a database, bypassing the store.
func (f *fixture) exec(db *sqlite.DB, query string) {
	f.t.Helper()
	require.NoError(f.t, db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(context.Background(), query)
		return err
	}))
}

// column returns the only column of a query's rows.
func (f *fixture) column(db *sqlite.DB, query string) (values []string) {
	f.t.Helper()
	rows, err := db.Reader().QueryContext(context.Background(), query)
	require.NoError(f.t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value []byte
		require.NoError(f.t, rows.Scan(&value))
		values = append(values, string(value))
	}
	require.NoError(f.t, rows.Err())
	return values
}

// Thinning of versions saved by other programs, as documented in docs/guarantees.md.
const (
	seenEvery = 10 * time.Minute
	lossyKept = 10
)

// mirror is a follower that keeps in memory what it is fed.
type mirror struct {
	position notes.Position
	notes    map[int64]*notes.Note
	changes  []notes.Change
	applied  int
	resets   int
	fail     error
}

func newMirror() *mirror { return &mirror{notes: map[int64]*notes.Note{}} }

func (m *mirror) Position() (notes.Position, error) { return m.position, nil }

func (m *mirror) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	if m.fail != nil {
		return m.fail
	}
	for _, c := range changes {
		note, err := c.Note(ctx)
		if err != nil {
			return err
		}
		if note == nil {
			delete(m.notes, c.NoteID)
		} else {
			m.notes[c.NoteID] = note
		}
	}
	m.position = to
	m.applied += len(changes)
	m.changes = append(m.changes, changes...)
	return nil
}

func (m *mirror) Name() string { return "the mirror" }

func (m *mirror) Reset(context.Context) error {
	m.resets++
	m.position, m.notes, m.changes = notes.Position{}, map[int64]*notes.Note{}, nil
	return nil
}

func (m *mirror) paths(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, n := range m.notes {
		require.NotContains(t, out, n.Path, "two notes have one path")
		out[n.Path] = n.Hash
	}
	return out
}

// kinds returns the changes since the last call, as "kind path".
func (m *mirror) kinds() []string {
	var out []string
	for _, c := range m.changes {
		s := string(c.Kind) + " " + c.Path
		if c.OldPath != "" {
			s = string(c.Kind) + " " + c.OldPath + " → " + c.Path
		}
		out = append(out, s)
	}
	m.changes = nil
	return out
}

// domainError returns err as a notes.Error, which must contain neither SQL nor a path
// outside the vault.
func domainError(t *testing.T, err error) *notes.Error {
	t.Helper()
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	for _, leak := range []string{os.TempDir(), "SELECT", "INSERT", "sql:"} {
		require.NotContains(t, strings.Join(append(e.Candidates, err.Error(), e.Hint), " "), leak)
	}
	return e
}
