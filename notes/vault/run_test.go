package vault

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
)

// running is a fixture with a running vault and a readable log.
type running struct {
	*fixture
	log *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), part)
}

func newRunning(t *testing.T, opt Options, files ...string) *running {
	t.Helper()
	r := &running{fixture: newFixture(t, files...), log: &lockedBuffer{}}
	require.NoError(t, r.store.Close())
	opt.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.open(opt)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	r.until("ready", r.Ready)
	return r
}

func (r *running) until(what string, holds func() bool) {
	r.t.Helper()
	require.Eventually(r.t, holds, time.Minute, 5*time.Millisecond, what)
}

func (r *running) unavailable() string {
	st, err := r.Status(context.Background())
	require.NoError(r.t, err)
	return st.Unavailable
}

func (r *running) trouble() string {
	st, err := r.Status(context.Background())
	require.NoError(r.t, err)
	return st.Trouble
}

func sixteen() (files []string) {
	for i := range 16 {
		files = append(files, fmt.Sprintf("n%d.md", i), fmt.Sprintf("text %d", i))
	}
	return files
}

// A failed reconcile is retried even if other changes succeed in between.
func TestRun_RetriesFailedPaths(t *testing.T) {
	r := newRunning(t, Options{}, "A.md", "a")
	exec := func(statement string) {
		require.NoError(t, r.store.Notes().Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		}))
	}
	exec(`CREATE TEMP TRIGGER refusing BEFORE INSERT ON main.notes WHEN NEW.path = 'Bad.md' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	has := func(path string) func() bool {
		return func() bool {
			rows, err := r.store.Rows(t.Context(), []string{path})
			return err == nil && len(rows) == 1
		}
	}
	r.write("Bad.md", "bad")
	r.Changed([]string{"Bad.md"})
	r.until("it fails", func() bool { return r.log.count("refused") > 0 })
	r.write("Good.md", "good")
	r.Changed([]string{"Good.md"})
	r.until("another is taken in", has("Good.md"))
	assert.Contains(t, r.trouble(), "refused", "status says so until it is made good")
	exec(`DROP TRIGGER refusing`)
	r.until("it is tried again", has("Bad.md"))
	r.until("it is made good", func() bool { return r.trouble() == "" })
}

// TestFirstScan_Unavailable checks that requests do not wait for an unavailable vault.
func TestFirstScan_Unavailable(t *testing.T) {
	f := newFixture(t, "A.md", "a")
	require.NoError(t, os.RemoveAll(f.dir))
	require.NoError(t, f.store.Close())
	f.open(Options{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	<-f.FirstScan()
	assert.False(t, f.Ready())
	stop()
	require.NoError(t, <-ended)
}

// Watchers lose events; periodic full scans find unreported changes.
func TestRun_RescansPeriodically(t *testing.T) {
	r := newRunning(t, Options{RescanEvery: 20 * time.Millisecond}, "A.md", "a")
	r.write("B.md", "b")
	r.rename("A.md", "C.md")
	r.until("the store has what is on disk", func() bool {
		_, errB := r.store.Lookup(context.Background(), "B.md", notes.Scope{})
		_, errC := r.store.Lookup(context.Background(), "C.md", notes.Scope{})
		_, errA := r.store.Lookup(context.Background(), "A.md", notes.Scope{})
		return errB == nil && errC == nil && errors.Is(errA, notes.ErrNotFound)
	})
}

// An incident ends only when the vault is complete again. Its beginning and end are each
// logged once.
func TestIncident_Ends(t *testing.T) {
	r := newRunning(t, Options{}, sixteen()...)
	for name := range r.files() {
		r.rename(name, "../"+filepath.Base(r.dir)+"-hold/"+name)
	}
	r.Rescan("the test has taken everything away")
	r.until("the incident begins", func() bool { return r.unavailable() != "" })

	// Watcher events during the incident neither end it nor stop the retries.
	r.Changed([]string{"n0.md", "n1.md"})
	r.until("it was looked at", func() bool { return len(r.queue.signal) == 0 })
	assert.NotEmpty(t, r.unavailable())

	for i := range 16 {
		name := fmt.Sprintf("n%d.md", i)
		r.rename("../"+filepath.Base(r.dir)+"-hold/"+name, name)
		r.Changed([]string{name})
		if i == 3 {
			r.until("a few are not enough", func() bool { return strings.Contains(r.unavailable(), "lacks most") })
			assert.EqualValues(t, 16, r.store.Head(), "nothing is deleted while only some are back")
		}
	}
	r.until("it heals", func() bool { return r.unavailable() == "" })
	assert.Equal(t, 1, r.log.count("is empty although it had notes"), "each reason is logged once")
	r.until("its end is logged", func() bool { return r.log.count("usable again") == 1 })
	// Once most notes are back, the missing ones count as deleted until they reappear.
	r.until("all are there", func() bool {
		st, err := r.Status(context.Background())
		return err == nil && st.Notes == 16
	})
}

// Watcher events for every note do not delete all notes, just as a scan of an emptied
// folder does not. Events for most notes being moved or deleted do apply.
func TestIncident_EmptiedVault(t *testing.T) {
	var files []string
	for i := range 16 {
		files = append(files, fmt.Sprintf("folder/n%d.md", i), fmt.Sprintf("text %d", i))
	}
	r := newRunning(t, Options{}, files...)
	hold := "../" + filepath.Base(r.dir) + "-hold"
	r.rename("folder", hold)
	r.Changed([]string{"folder"})
	r.until("the incident begins", func() bool { return strings.Contains(r.unavailable(), "is empty although it had notes") })
	assert.EqualValues(t, 16, r.store.Head(), "nothing is deleted")

	r.rename(hold, "folder")
	r.Changed([]string{"folder"})
	r.until("it heals", func() bool { return r.unavailable() == "" })
	assert.EqualValues(t, 16, r.store.Head())

	r.rename("folder", "other")
	r.Changed([]string{"folder", "other"})
	has := func(name string) bool {
		_, err := r.store.Lookup(context.Background(), name, notes.Scope{})
		return err == nil
	}
	r.until("it was moved", func() bool { return has("other/n15.md") && !has("folder/n15.md") })
	r.write("kept.md", "k")
	r.rename("other", hold)
	r.Changed([]string{"kept.md", "other"})
	r.until("most are deleted", func() bool { return has("kept.md") && !has("other/n15.md") })
	assert.Empty(t, r.unavailable())
}

// A vault that was found empty, as in the middle of a git checkout or a sync, is usable again
// when its notes are back, also at other paths and in other files.
func TestIncident_BackElsewhere(t *testing.T) {
	for name, back := range map[string]func(f *fixture, hold, name, text string){
		"moved":  func(f *fixture, hold, name, _ string) { f.rename(hold+name, "elsewhere/"+name) },
		"copied": func(f *fixture, _, name, text string) { f.write("elsewhere/"+name, text) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, sixteen()...)
			hold := "../" + filepath.Base(f.dir) + "-hold/"
			files := f.files()
			for name := range files {
				f.rename(name, hold+name)
			}
			require.ErrorIs(t, f.Reconcile(t.Context()), notes.ErrUnavailable)
			f.write("New.md", "n")
			require.ErrorIs(t, f.Reconcile(t.Context()), notes.ErrUnavailable)
			f.view.kinds()
			for name, text := range files {
				back(f, hold, name, text)
			}
			f.reconcile()
			f.requireConsistent()
			kinds := f.view.kinds()
			assert.Contains(t, kinds, "move n0.md → elsewhere/n0.md")
			assert.Len(t, kinds, 17)
		})
	}
}

// Run ends an incident that a read has detected.
func TestIncident_FoundByRead(t *testing.T) {
	r := newRunning(t, Options{}, sixteen()...)
	away := r.dir + ".away"
	require.NoError(t, os.Rename(r.dir, away))
	require.ErrorIs(t, r.reconcilePaths(context.Background(), []string{"n0.md"}), notes.ErrUnavailable)
	assert.NotEmpty(t, r.unavailable())
	require.NoError(t, os.Rename(away, r.dir))
	r.until("it heals", func() bool { return r.unavailable() == "" })
}

// A failed follower is retried, even if unrelated changes arrive meanwhile.
func TestFollower_RetriedAfterFailure(t *testing.T) {
	r := newRunning(t, Options{}, "A.md", "a")
	full := &fullDisk{}
	r.Follow(full)
	full.set(errors.New("disk full"))
	r.write("B.md", "b")
	r.Changed([]string{"B.md"})
	r.until("it fails", func() bool { return len(r.feeder.behind()) > 0 })
	r.Changed([]string{"nothing there.md"})
	full.set(nil)
	r.until("it is fed again", func() bool {
		to, err := full.Position()
		return err == nil && to.Seq == 2 && len(r.feeder.behind()) == 0
	})
}

// fullDisk is a follower that fails with err while that is set.
type fullDisk struct {
	mu  sync.Mutex
	at  notes.Position
	err error
}

func (d *fullDisk) set(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *fullDisk) Position() (notes.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at, nil
}

func (d *fullDisk) Apply(_ context.Context, to notes.Position, _ []notes.Change) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.at = to
	}
	return d.err
}

func (d *fullDisk) Name() string { return "the full disk" }

func (d *fullDisk) Reset(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = notes.Position{}
	return d.err
}

// A replacement folder without most of the notes is the mount point of an unmounted disk;
// one with most of them is a copied or restored vault.
func TestIncident_AnotherFolder(t *testing.T) {
	replace := func(t *testing.T, keep int) (*fixture, error) {
		f := newFixture(t, sixteen()...)
		files := f.files()
		require.NoError(t, os.Rename(f.dir, f.dir+".away"))
		require.NoError(t, os.Mkdir(f.dir, 0o755))
		f.write("Stray.md", "written while the disk was away")
		for name, text := range files {
			if keep > 0 {
				f.write(name, text)
				keep--
			}
		}
		return f, f.Reconcile(context.Background())
	}
	t.Run("a mount point", func(t *testing.T) {
		f, err := replace(t, 2)
		require.ErrorIs(t, err, notes.ErrUnavailable)
		assert.Contains(t, err.Error(), "mounted")
		st, err := f.Status(context.Background())
		require.NoError(t, err)
		assert.Equal(t, 16, st.Notes)
		assert.Contains(t, st.Remedy, "notesd index --rebuild")
		require.NoError(t, os.RemoveAll(f.dir))
		require.NoError(t, os.Rename(f.dir+".away", f.dir))
		f.reconcile()
		f.requireConsistent()
	})
	t.Run("a restored copy", func(t *testing.T) {
		f, err := replace(t, 12)
		require.NoError(t, err)
		f.feeder.run(context.Background())
		f.requireConsistent()
		_, err = f.Create(context.Background(), notes.CreateRequest{Title: "It is the vault now"})
		require.NoError(t, err)
	})
}

// watching is a follower that reads the status of the vault whenever it is fed.
type watching struct {
	*mirror
	incomplete func() bool
	saw        []bool
}

func (w *watching) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	w.saw = append(w.saw, w.incomplete())
	return w.mirror.Apply(ctx, to, changes)
}

// Status reports incomplete notes during the first scan and while files known to differ are
// being read, but not merely because no scan has run yet.
func TestStatus_Incomplete(t *testing.T) {
	f := newFixture(t)
	incomplete := func() bool {
		st, err := f.Status(t.Context())
		require.NoError(t, err)
		return st.Incomplete
	}
	w := &watching{mirror: newMirror(), incomplete: incomplete}
	start := func() {
		require.NoError(t, f.store.Close())
		f.open(Options{})
		f.Follow(w)
	}
	for _, name := range []string{"A.md", "B.md"} {
		f.write(name, name)
	}
	start()
	assert.True(t, incomplete(), "there is nothing yet")
	f.reconcile()
	assert.True(t, w.saw[0])
	f.progress.ready.Store(true)
	assert.False(t, incomplete())

	w.saw = nil
	start()
	require.False(t, f.Ready())
	assert.False(t, incomplete(), "all is known that was known before")
	require.NoError(t, f.store.Notes().Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE notes SET hashed_at = ctime`) // read immediately after they were saved
		return err
	}))
	f.reconcile()
	assert.Empty(t, w.saw, "what is read again to be sure is no change")

	start()
	f.write("B.md", "another text")
	f.reconcile()
	assert.Equal(t, []bool{true}, w.saw)
	assert.False(t, incomplete())

	require.NoError(t, f.store.SaveSetting(t.Context(), store.LinksStale, true))
	assert.True(t, incomplete(), "a first look was interrupted")
}

// An operation on all notes during the first scan would miss those that it has not read yet.
func TestScan_OperationOnAllNotes(t *testing.T) {
	for name, do := range map[string]func(f *fixture) (notes.Written, error){
		"tag rename": func(f *fixture) (notes.Written, error) {
			return f.RenameTag(f.t.Context(), notes.RenameTagRequest{Tag: "old", To: "new"})
		},
		"heading rename": func(f *fixture) (notes.Written, error) {
			return f.Edit(f.t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "rename_heading", Heading: "H", New: "new"}}})
		},
		"move": func(f *fixture) (notes.Written, error) {
			return f.Move(f.t.Context(), notes.MoveRequest{Note: "A", To: "new", UpdateLinks: true})
		},
		"delete with redirect": func(f *fixture) (notes.Written, error) {
			return f.Delete(f.t.Context(), notes.DeleteRequest{Note: "A", Redirect: "new note"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "A.md", "# H\n#old\n", "new note.md", "")
			f.write("Late.md", "[[A#H]] #old\n")
			require.NoError(t, f.store.Close())
			f.open(Options{})
			reading, finish, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			scanned := sync.OnceFunc(func() { close(reading) })
			f.failpoint = func(step string) error {
				if step == readStep+"Late.md" {
					scanned()
					<-finish
				}
				return nil
			}
			go func() { ended <- f.Reconcile(context.Background()) }()
			<-reading
			before := f.files()
			f.opt.scanPatience = time.Millisecond
			_, err := do(f)
			e := domainError(t, err)
			require.ErrorIs(t, e, notes.ErrUnavailable)
			assert.Contains(t, e.Detail, "still being read")
			assert.Equal(t, before, f.files())
			_, err = f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
			require.NoError(t, err, "other operations do not wait")

			f.opt.scanPatience = time.Hour
			done := make(chan error, 1)
			go func() {
				_, err := do(f)
				done <- err
			}()
			close(finish)
			require.NoError(t, <-ended)
			require.NoError(t, <-done)
			assert.Contains(t, f.onDisk("Late.md"), "new")
		})
	}
}

// A note that another program has emptied is read again after a while, without an event.
func TestRun_ReadsAgain(t *testing.T) {
	r := newRunning(t, Options{}, "A.md", "text\n")
	emptiedSince := func(age time.Duration) {
		info, err := os.Stat(filepath.Join(r.dir, "A.md"))
		require.NoError(t, err)
		r.clock.mu.Lock()
		defer r.clock.mu.Unlock()
		r.clock.now = info.ModTime().Add(age)
	}
	size := func() int64 {
		rows, err := r.store.Rows(t.Context(), []string{"A.md"})
		require.NoError(t, err)
		return rows["A.md"].Stat.Size
	}
	r.write("A.md", "")
	emptiedSince(emptiedFor - time.Millisecond)
	r.Changed([]string{"A.md"})
	r.until("it is to be read again", func() bool { return !r.rereads.next().IsZero() })
	assert.EqualValues(t, len("text\n"), size())
	emptiedSince(emptiedFor)
	r.until("it is empty", func() bool { return size() == 0 })
}
