package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

func TestReconcileFollowsTheDisk(t *testing.T) {
	f := newFixture(t, "A.md", "# A\n", "sub/B.md", "---\ntags: [x]\n---\nsee [[A]]\n")
	f.requireConsistent()
	require.ElementsMatch(t, []string{"create A.md", "create sub/B.md"}, f.view.kinds())

	tests := []struct {
		name string
		do   func()
		want []string
	}{
		{"nothing", func() {}, nil},
		{"a save", func() { f.write("A.md", "# A\nmore\n") }, []string{"modify A.md"}},
		{"a save with the same bytes", func() { f.write("A.md", "# A\nmore\n") }, nil},
		{"a new note", func() { f.write("new/C.md", "c") }, []string{"create new/C.md"}},
		{"a rename", func() { f.rename("new/C.md", "D.md") }, []string{"move new/C.md → D.md"}},
		{"a case-only rename", func() { f.rename("D.md", "d.md") }, []string{"move D.md → d.md"}},
		{"a folder's rename", func() { f.rename("sub", "sub2") }, []string{"move sub/B.md → sub2/B.md"}},
		{"a delete", func() { f.remove("d.md") }, []string{"delete d.md"}},
		{"a note that stops being text", func() { f.write("A.md", "\xff\xfe") }, []string{"delete A.md"}},
		{"and becomes text again", func() { f.write("A.md", "# A\n") }, []string{"create A.md"}},
		{"hidden files", func() { f.write(".obsidian/x.md", "x"); f.write(".trash/y.md", "y"); f.write("sub2/.z.md", "z") }, nil},
		{"attachments", func() { f.write("pic.png", "\x89PNG") }, nil},
	}
	for _, tt := range tests {
		tt.do()
		f.reconcile()
		assert.Equal(t, tt.want, f.view.kinds(), tt.name)
	}
	f.requireConsistent()
}

// A renamed file that changes again before its move is committed is left to the next scan,
// along with its old name, which nothing else would report as gone.
func TestReconcile_ChangedDuringMove(t *testing.T) {
	for name, meanwhile := range map[string]func(f *fixture){
		"saved":         func(f *fixture) { f.write("B.md", "saved again") },
		"removed":       func(f *fixture) { f.remove("B.md") },
		"renamed again": func(f *fixture) { f.rename("B.md", "C.md") },
		"read by its new name": func(f *fixture) {
			_, err := f.Read(f.t.Context(), "B.md", notes.Scope{})
			require.NoError(f.t, err)
		},
		"a tool creates the new name": func(f *fixture) {
			f.remove("B.md")
			_, err := f.Create(f.t.Context(), notes.CreateRequest{Path: "B.md", Content: "by a tool"})
			require.NoError(f.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "A.md", "a note")
			f.rename("A.md", "B.md")
			root, err := f.disk.Open()
			require.NoError(t, err)
			defer root.Close()
			seen := &scan{v: f.Vault, root: root}
			require.NoError(t, seen.comparePaths(t.Context(), []string{"A.md", "B.md"}))
			require.Contains(t, seen.moves, "B.md")
			files, err := seen.prepare(t.Context(), seen.changed)
			require.NoError(t, err)
			meanwhile(f)
			require.NoError(t, seen.commit(t.Context(), files, seen.gone))
			f.Changed([]string{"B.md", "C.md"}) // the watcher's report of the second change
			for len(f.queue.paths) > 0 {
				_, retry := (&loop{v: f.Vault}).runQueue(t.Context())
				require.False(t, retry)
			}
			f.requireConsistent()
		})
	}
}

func TestReconcilePaths_ScansOnlyThese(t *testing.T) {
	f := newFixture(t, "A.md", "a", "dir/B.md", "b", "dir/sub/C.md", "c")
	f.view.kinds()
	f.write("A.md", "changed")
	f.write("dir/B.md", "changed")
	f.remove("dir/sub/C.md")
	require.NoError(t, f.reconcilePaths(context.Background(), []string{"dir"}))
	assert.ElementsMatch(t, []string{"modify dir/B.md", "delete dir/sub/C.md"}, f.view.kinds())
	require.NoError(t, f.reconcilePaths(context.Background(), []string{"A.md", "nowhere", "../out", ".git/x"}))
	assert.Equal(t, []string{"modify A.md"}, f.view.kinds())
	f.requireConsistent()
}

func TestReconcile_SaveWithinOneTick(t *testing.T) {
	f := newFixture(t, "A.md", "one")
	f.clock.now = time.Now() // the file is read as soon as it is written
	f.write("A.md", "two")
	f.reconcile()
	info, err := os.Stat(filepath.Join(f.dir, "A.md"))
	require.NoError(t, err)
	rows, err := f.store.Rows(context.Background(), nil)
	require.NoError(t, err)
	assert.False(t, rows["A.md"].Unchanged(fsid.StatOf(info)), "a file read within the racy window must be read again")
	f.clock.Advance(time.Hour)
	f.reconcile()
	rows, err = f.store.Rows(context.Background(), nil)
	require.NoError(t, err)
	assert.True(t, rows["A.md"].Unchanged(fsid.StatOf(info)), "and not for ever")
}

// A scan reads the first of two saves with equal stats, and commits it while a client reads
// the second.
func TestRead_DuringScanOfEarlierSave(t *testing.T) {
	f := newFixture(t, "a.md", "text 0\n")
	f.write("a.md", "text 2\n")
	rows, err := f.store.Rows(t.Context(), []string{"a.md"})
	require.NoError(t, err)
	f.failpoint = func(step string) error {
		if step != readStep+"a.md" {
			return nil
		}
		f.failpoint = nil
		info, err := os.Stat(filepath.Join(f.dir, "a.md"))
		require.NoError(t, err)
		stat := fsid.StatOf(info)
		b := &batch{v: f.Vault, entries: []store.Entry{{Kind: notes.Modified, ID: rows["a.md"].ID, Path: "a.md", DiskPath: "a.md", Stat: stat, HashedAt: stat.Mtime,
			Note: notes.Parse("a.md", []byte("text 1\n"), info.ModTime())}}}
		f.mu.Lock()
		defer f.mu.Unlock()
		return b.commit(t.Context(), notes.Outside, false)
	}
	n, err := f.Read(t.Context(), "a.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "text 2\n", n.Content)
	assert.Nil(t, f.failpoint)
}

// A client reads a note by its new path before the watcher reports that another program has
// moved it.
func TestRead_MovedMomentsAgo(t *testing.T) {
	f := newFixture(t, "old/A.md", "one", "old/B.md", "two")
	before, err := f.store.Rows(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(f.dir, "old"), filepath.Join(f.dir, "new")))
	n, err := f.Read(t.Context(), "new/A.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "one", n.Content)
	f.reconcile()
	after, err := f.store.Rows(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, after, 2)
	assert.Equal(t, before["old/A.md"].ID, after["new/A.md"].ID)
	assert.Equal(t, before["old/B.md"].ID, after["new/B.md"].ID)
	_, err = f.Read(t.Context(), "old/A.md", notes.Scope{})
	require.ErrorContains(t, err, `the note was moved to "new/A.md"`)
	f.requireConsistent()
}

func TestReconcile_RestoredMtime(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("needs ctime")
	}
	f := newFixture(t, "A.md", "one")
	full := filepath.Join(f.dir, "A.md")
	info, err := os.Stat(full)
	require.NoError(t, err)
	f.write("A.md", "two") // the same size
	require.NoError(t, os.Chtimes(full, info.ModTime(), info.ModTime()))
	f.reconcile()
	f.requireConsistent()
}

func TestUnicodeTwins(t *testing.T) {
	name := "Crème brûlée.md"
	nfd := norm.NFD.String(name)
	f := newFixture(t, nfd, "decomposed")
	note, err := f.Read(context.Background(), name, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, norm.NFC.String(name), note.Path)
	assert.Equal(t, "decomposed", note.Content)

	f.write(norm.NFC.String(name), "composed")
	if len(f.files()) == 1 {
		t.Skip("this file system folds Unicode forms")
	}
	f.reconcile()
	note, err = f.Read(context.Background(), nfd, notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "composed", note.Content, "the NFC twin is the note")
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	require.Len(t, st.Skipped, 1)
	assert.Contains(t, st.Skipped[0].Reason, "Unicode")
}

// TestUnicodeTwinsComeAndGo checks that scanning any of the paths has the same result as a
// full scan.
func TestUnicodeTwinsComeAndGo(t *testing.T) {
	ctx := context.Background()
	nfc, nfd := "é/Crème.md", norm.NFD.String("é/Crème.md")
	mixed := "é/" + norm.NFD.String("Crème.md")
	f := newFixture(t, nfc, "composed")
	if _, err := os.Stat(filepath.Join(f.dir, nfd)); err == nil {
		t.Skip("this file system folds Unicode forms")
	}
	for _, step := range []struct {
		do      func()
		look    string
		want    string
		skipped int
	}{
		{func() { f.write(nfd, "decomposed") }, nfd, "composed", 1},
		{func() { f.remove(nfc) }, nfc, "decomposed", 0},
		{func() { f.write(nfc, "again") }, nfc, "again", 1},
		{func() { f.remove(nfd) }, nfd, "again", 0},
		{func() { f.rename(nfc, mixed) }, mixed, "again", 0},
		{func() { f.rename(mixed, nfd) }, mixed, "again", 0},
	} {
		step.do()
		require.NoError(t, f.reconcilePaths(ctx, []string{step.look}))
		for _, when := range []string{"at once", "after a look at everything"} {
			note, err := f.Read(ctx, nfc, notes.Scope{})
			require.NoError(t, err, when)
			assert.Equal(t, step.want, note.Content, when)
			st, err := f.Status(ctx)
			require.NoError(t, err)
			assert.Len(t, st.Skipped, step.skipped, when)
			f.reconcile()
		}
	}
}

func TestSkippedFilesAreNamed(t *testing.T) {
	f := newFixture(t, "ok.md", "fine", "latin1.md", "caf\xe9", "zero.md", "a\x00b", "utf16.md", "\xff\xfea\x00")
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(f.dir, "out.md")))
	require.NoError(t, os.Symlink("ok.md", filepath.Join(f.dir, "alias.md")))
	require.NoError(t, os.Symlink(".", filepath.Join(f.dir, "loop")))
	if runtime.GOOS != "windows" {
		f.write("Icon\r", "") // the icon of a folder on macOS
	}
	f.reconcile()
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 2, st.Notes, "ok.md and the symlink to it")
	reasons := map[string]string{}
	for _, k := range st.Skipped {
		reasons[k.Path] = k.Reason
	}
	assert.Equal(t, 5, st.SkippedTotal)
	assert.Contains(t, reasons["latin1.md"], "UTF-8")
	assert.Contains(t, reasons["zero.md"], "NUL")
	assert.Contains(t, reasons["utf16.md"], "UTF-16")
	assert.Contains(t, reasons["out.md"], "out of the vault")
	assert.Contains(t, reasons["loop"], "not followed")
	_, err = f.store.Lookup(context.Background(), "latin1", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.ErrorContains(t, err, "the file exists but cannot be a note: not UTF-8 text")

	f.remove("out.md")
	f.write("latin1.md", "café")
	f.reconcile()
	st, err = f.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 3, st.SkippedTotal)
	assert.Equal(t, 3, st.Notes)
}

func TestReconcile_LargeFile(t *testing.T) {
	f := newFixture(t, "ok.md", "fine")
	f.opt.MaxNoteBytes = 100
	f.write("big.md", strings.Repeat("x", 101))
	f.write("fits.md", strings.Repeat("x", 100))
	f.reconcile()
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 2, st.Notes)
	require.Len(t, st.Skipped, 1)
	assert.Contains(t, st.Skipped[0].Reason, "larger")

	for limit, large := range map[int64][]string{101: {}, 99: {"big.md", "fits.md"}} { // unchanged files, at other limits
		require.NoError(t, f.store.Close())
		f.open(Options{MaxNoteBytes: limit})
		f.reconcile()
		st, err = f.Status(context.Background())
		require.NoError(t, err)
		skipped := []string{}
		for _, s := range st.Skipped {
			skipped = append(skipped, s.Path)
		}
		assert.Equal(t, large, skipped, limit)
		assert.Equal(t, 3-len(large), st.Notes, limit)
	}
}

func TestUnmountedVaultLosesNothing(t *testing.T) {
	files := []string{}
	for _, n := range strings.Split("abcdefghijklmnop", "") {
		files = append(files, n+".md", "text of "+n)
	}
	f := newFixture(t, files...)
	f.view.kinds()
	away := f.dir + ".away"

	t.Run("the folder is gone", func(t *testing.T) {
		require.NoError(t, os.Rename(f.dir, away))
		require.ErrorIs(t, f.Reconcile(context.Background()), notes.ErrUnavailable)
		st, err := f.Status(context.Background())
		require.NoError(t, err)
		assert.Equal(t, 16, st.Notes)
		assert.Contains(t, st.Unavailable, "does not exist")
		assert.Contains(t, f.Stale(), "the vault cannot be read now")
	})
	t.Run("an empty folder is in its place", func(t *testing.T) {
		require.NoError(t, os.Mkdir(f.dir, 0o755))
		err := f.Reconcile(context.Background())
		require.ErrorIs(t, err, notes.ErrUnavailable)
		_, err = f.Create(context.Background(), notes.CreateRequest{Title: "must not land here"})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		left, err := os.ReadDir(f.dir)
		require.NoError(t, err)
		assert.Empty(t, left)
		require.NoError(t, os.Remove(f.dir))
	})
	t.Run("it heals when the folder is back", func(t *testing.T) {
		require.NoError(t, os.Rename(away, f.dir))
		f.reconcile()
		st, err := f.Status(context.Background())
		require.NoError(t, err)
		assert.Empty(t, st.Unavailable)
		assert.Empty(t, f.view.kinds(), "nothing was deleted and created again")
		f.requireConsistent()
	})
	t.Run("all notes vanish at once", func(t *testing.T) {
		for name := range f.files() {
			f.rename(name, "../"+filepath.Base(f.dir)+"-hold/"+name)
		}
		require.ErrorIs(t, f.Reconcile(context.Background()), notes.ErrUnavailable)
		_, err := f.Create(context.Background(), notes.CreateRequest{Title: "must not land here"})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		_, err = f.Read(context.Background(), "a.md", notes.Scope{})
		require.ErrorIs(t, err, notes.ErrUnavailable, "a read does not delete the note either")
		st, err := f.Status(context.Background())
		require.NoError(t, err)
		assert.Equal(t, 16, st.Notes)
	})
}

// The folder of a small vault is empty on another disk, so its disk is unmounted. On the
// same disk, the user has started a new vault there.
func TestUnmountedVault_FewNotes(t *testing.T) {
	for name, other := range map[string]struct {
		id   fsid.Identity
		away bool
	}{
		"another folder": {fsid.Identity{Inode: 1}, false},
		"another disk":   {fsid.Identity{Device: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "A.md", "a", "B.md", "b")
			was := f.disk.Identity()
			f.disk.Adopt(fsid.Identity{Device: was.Device + other.id.Device, Inode: was.Inode + other.id.Inode})
			f.reconcile()
			require.Equal(t, was, f.disk.Identity(), "with its notes, it is the vault")

			f.disk.Adopt(fsid.Identity{Device: was.Device + other.id.Device, Inode: was.Inode + other.id.Inode})
			f.remove("A.md")
			f.remove("B.md")
			err := f.Reconcile(t.Context())
			_, createErr := f.Create(t.Context(), notes.CreateRequest{Title: "N"})
			if !other.away {
				require.NoError(t, errors.Join(err, createErr))
				return
			}
			require.ErrorIs(t, err, notes.ErrUnavailable)
			require.ErrorIs(t, createErr, notes.ErrUnavailable)
		})
	}
}

func TestFollowersAreFedExactlyOnceAndInOrder(t *testing.T) {
	f := newFixture(t, "A.md", "a")
	f.view.fail = errors.New("disk full")
	f.write("B.md", "b")
	f.reconcile()
	f.write("C.md", "c")
	f.reconcile()
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	require.Len(t, st.Warnings, 1)
	assert.Equal(t, "the mirror cannot keep up with the changes: disk full; notesd tries again. If this persists, run: notesd index --rebuild", st.Warnings[0])
	f.view.kinds()

	f.view.fail = nil
	f.reconcile()
	assert.Equal(t, []string{"create B.md", "create C.md"}, f.view.kinds(), "nothing is skipped past a failure")
	f.requireConsistent()

	f.remove("B.md")
	f.restart()
	assert.Equal(t, []string{"delete B.md"}, f.view.kinds(), "a restart feeds what came after the position")
	assert.Zero(t, f.view.resets)

	f.view.position.Store = "another store"
	f.restart()
	assert.Equal(t, 1, f.view.resets)
	f.requireConsistent()

	f.view.position.Seq = 1000
	f.restart()
	assert.Equal(t, 2, f.view.resets, "a position beyond the head is not of this store")
	f.requireConsistent()

	f.view.position, f.view.notes = notes.Position{Store: "none"}, nil
	f.reconcile()
	f.feeder.run(context.Background())
	assert.Equal(t, 3, f.view.resets, "its data was lost while no note changed")
	f.requireConsistent()
}

// watched is a follower that records whether it was being rebuilt during Apply.
type watched struct {
	*mirror
	vault      *Vault
	rebuilding []bool
}

func (w *watched) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	w.rebuilding = append(w.rebuilding, w.vault.Rebuilding())
	return w.mirror.Apply(ctx, to, changes)
}

// A search during a rebuild finds few of the notes, and says so.
func TestRebuilding(t *testing.T) {
	f := newFixture(t, "A.md", "a")
	w := &watched{mirror: newMirror(), vault: f.Vault}
	w.position.Store = "none"
	f.Follow(w)
	f.feeder.run(context.Background())
	assert.False(t, f.Rebuilding())
	f.write("B.md", "b")
	f.reconcile()
	assert.Equal(t, []bool{true, false}, w.rebuilding)
}

// slow is a follower whose Apply waits until the test lets it go on.
type slow struct {
	*mirror
	began, goOn chan struct{}
}

func (s *slow) Apply(ctx context.Context, to notes.Position, changes []notes.Change) error {
	s.began <- struct{}{}
	<-s.goOn
	return s.mirror.Apply(ctx, to, changes)
}

// A write does not wait for a follower that is being fed every note. What it changed is fed
// afterwards.
func TestRebuilding_DoesNotDelayWrites(t *testing.T) {
	for name, rebuild := range map[string]func(f *fixture){
		"lost data": func(f *fixture) { f.feeder.run(t.Context()) },
		"forget":    func(f *fixture) { assert.NoError(t, f.feeder.renew(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "A.md", "a")
			s := &slow{mirror: newMirror(), began: make(chan struct{}, 10), goOn: make(chan struct{})}
			s.position.Store = "none"
			f.Follow(s)
			var rebuilt sync.WaitGroup
			rebuilt.Go(func() { rebuild(f) })
			<-s.began
			_, err := f.Create(t.Context(), notes.CreateRequest{Title: "B", Content: "b"})
			require.NoError(t, err)
			f.write("C.md", "c")
			require.NoError(t, f.Reconcile(t.Context()))
			close(s.goOn)
			rebuilt.Wait()
			assert.ElementsMatch(t, []string{"A.md", "B.md", "C.md"}, slices.Collect(maps.Keys(s.paths(t))))
			assert.False(t, f.Rebuilding())
			f.requireConsistent()
		})
	}
}

// During a rebuild, a scan waits once many changes are queued, and then feeds them.
func TestRebuilding_BoundsItsQueue(t *testing.T) {
	f := newFixture(t, "A.md", "a")
	f.feeder.mu.Lock()
	f.feeder.rebuilding.Store(true)
	f.feeder.add(make([]notes.Change, mostQueued-1))
	f.feeder.runScanned(t.Context())
	f.feeder.add(make([]notes.Change, 1))
	f.feeder.run(t.Context()) // of a write
	var waiting sync.WaitGroup
	started := make(chan struct{})
	waiting.Go(func() { close(started); f.feeder.runScanned(t.Context()) })
	<-started
	for range 100 {
		runtime.Gosched()
	}
	f.feeder.mu.Unlock()
	waiting.Wait()
	assert.Empty(t, f.feeder.take())
}

// After a deletion from history whose caller went away, Run continues the rebuild that it began.
func TestForget_CanceledInTheRebuild(t *testing.T) {
	f := newFixture(t, "A.md", "a", "Gone.md", "g")
	f.progress.ready.Store(true)
	f.remove("Gone.md")
	f.reconcile()
	s := &slow{mirror: newMirror(), began: make(chan struct{}, 10), goOn: make(chan struct{})}
	f.Follow(s)
	ctx, cancel := context.WithCancel(t.Context())
	var forgotten sync.WaitGroup
	forgotten.Go(func() { _, _ = f.History().forget(ctx, "Gone.md") })
	<-s.began
	_, err := f.Create(t.Context(), notes.CreateRequest{Title: "B", Content: "b"})
	require.NoError(t, err)
	cancel()
	close(s.goOn)
	forgotten.Wait()
	assert.False(t, f.Ready())
	_, all := f.queue.Take()
	require.True(t, all, "Run is woken")
	f.feeder.run(t.Context())
	assert.ElementsMatch(t, []string{"A.md", "B.md"}, slices.Collect(maps.Keys(s.paths(t))))
	f.requireConsistent()
}

// headed is a follower that needs no earlier changes.
type headed struct{ *mirror }

func (headed) Position() (notes.Position, error) { return notes.Position{Seq: notes.FromHead}, nil }

// A follower from the head of the feed receives every change made after it was added, however
// late it is fed.
func TestFollow_FromHead(t *testing.T) {
	f := newFixture(t, "A.md", "a")
	s := &slow{mirror: newMirror(), began: make(chan struct{}, 10), goOn: make(chan struct{})}
	h := headed{newMirror()}
	f.Follow(h)
	f.write("B.md", "b")
	f.reconcile()
	assert.Equal(t, []string{"create B.md"}, h.kinds(), "before it was fed for the first time")

	h.fail = errors.New("disk full")
	f.write("C.md", "c")
	f.reconcile()
	h.fail = nil
	f.reconcile()
	assert.Equal(t, []string{"create C.md"}, h.kinds(), "after a failure")

	f.feeder.followers = slices.Insert(f.feeder.followers, 0, &followerState{Follower: s})
	var renewed sync.WaitGroup
	renewed.Go(func() { assert.NoError(t, f.feeder.renew(t.Context())) })
	<-s.began
	_, err := f.Create(t.Context(), notes.CreateRequest{Title: "D"})
	require.NoError(t, err)
	close(s.goOn)
	renewed.Wait()
	assert.Equal(t, []string{"create D.md"}, h.kinds(), "during a rebuild")

	h.fail = errors.New("disk full")
	f.remove("A.md")
	f.reconcile()
	f.exec(f.store.Notes(), `DELETE FROM changes`)
	f.write("E.md", "e")
	h.fail = nil
	f.reconcile()
	assert.Equal(t, []string{"create B.md", "create C.md", "create D.md", "create E.md"}, h.kinds(), "the feed no longer has what it missed")
}

func TestDamagedNotesDatabaseIsRebuilt(t *testing.T) {
	f := newFixture(t, "A.md", strings.Repeat("text ", 1000))
	require.NoError(t, f.store.Close())
	path := filepath.Join(f.state, store.NotesFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 4096; i < len(data); i++ {
		data[i] = 0x5a
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f.open(Options{})
	f.reconcile()
	f.requireConsistent()
	st, err := f.Status(context.Background())
	require.NoError(t, err)
	require.Len(t, st.Warnings, 1)
	assert.Contains(t, st.Warnings[0], "damaged")
	assert.Equal(t, 1, f.view.resets, "followers start anew with the new store")
}

func TestDamagedHistoryIsSalvaged(t *testing.T) {
	f := newFixture(t, "A.md", "first")
	ctx := context.Background()
	for range 40 {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: strings.Repeat("more ", 50)}}})
		require.NoError(t, err)
	}
	before, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "A", Limit: 100})
	require.NoError(t, err)
	require.NoError(t, f.store.Close())
	path := filepath.Join(f.state, store.HistoryFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	page := len(data) / 4096 * 2 / 3 * 4096 // one page in the middle of the rows
	for i := page; i < page+4096; i++ {
		data[i] = 0x5a
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f.open(Options{})
	f.reconcile()
	st, err := f.Status(ctx)
	require.NoError(t, err)
	require.Len(t, st.Warnings, 1)
	assert.Contains(t, st.Warnings[0], "carried over")
	after, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "A", Limit: 100})
	require.NoError(t, err)
	assert.Greater(t, len(after.Revisions), len(before.Revisions)/2, "most rows were saved")
}

// TestDamagedHistory_Interrupted checks that an interrupted operation is closed if parts of it
// were lost with damaged pages, and otherwise completed.
func TestDamagedHistory_Interrupted(t *testing.T) {
	edit := func(f *fixture, text string) error {
		_, err := f.Edit(t.Context(), notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: text}}, RequestKey: text})
		return err
	}
	for lost, want := range map[string]string{
		`DELETE FROM subscriptions`:   "first\n\nlater\n\nmore\n",
		`DELETE FROM operation_files`: "first\n\nmore\n\nlater\n",
		`DELETE FROM blobs WHERE hash IN (SELECT new_hash FROM operation_files)`: "first\n\nmore\n\nlater\n",
		`DELETE FROM blobs WHERE hash IN (SELECT old_hash FROM operation_files)`: "first\n\nmore\n\nlater\n",
	} {
		f := newFixture(t, "A.md", "first\n")
		f.failpoint = func(step string) error {
			if step == "journalled" {
				return errKilled
			}
			return nil
		}
		require.ErrorIs(t, edit(f, "later"), errKilled)
		f.exec(f.store.History(), lost)
		root := f.column(f.store.History(), `SELECT rootpage FROM sqlite_schema WHERE name = 'subscriptions'`)[0]
		require.NoError(t, f.store.Close())
		number, err := strconv.Atoi(root)
		require.NoError(t, err)
		path := filepath.Join(f.state, store.HistoryFile)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		copy(data[(number-1)*4096:number*4096], bytes.Repeat([]byte{0x5a}, 4096))
		require.NoError(t, os.WriteFile(path, data, 0o600))

		f.open(Options{})
		f.reconcile()
		f.requireConsistent()
		require.NoError(t, edit(f, "more"), lost)
		require.NoError(t, edit(f, "later"), "a repeated request")
		assert.Equal(t, want, f.onDisk("A.md"), lost)
	}
}

// Only a full scan defers resolving links to its end.
func TestLinksOfManyChangesAreResolvedWithThem(t *testing.T) {
	f := newFixture(t, "Hub.md", "the middle")
	ctx := context.Background()
	unresolved := func() int {
		page, err := f.List(ctx, notes.ListQuery{Filter: notes.Filter{BrokenLinks: true}})
		require.NoError(t, err)
		return page.Total
	}
	for i := range 2 * deferLinksFrom {
		f.write(fmt.Sprintf("dir/n%d.md", i), fmt.Sprintf("[[Hub]] and [[n%d]]", i+1))
	}
	require.NoError(t, f.reconcilePaths(ctx, []string{"dir"}))
	assert.Equal(t, 1, unresolved(), "the last of the chain")
	_, err := f.Move(ctx, notes.MoveRequest{Note: "dir", To: "moved"})
	require.NoError(t, err)
	assert.Equal(t, 1, unresolved())
	report, err := f.Links(ctx, "Hub", notes.LinkQuery{Direction: "in", Limit: 1000})
	require.NoError(t, err)
	assert.Len(t, report.Backlinks, 2*deferLinksFrom)
}

// TestReconcile_EvictedByICloud checks that a note is kept while its file is only a
// placeholder: it is not considered deleted, and no other note gets its name.
func TestReconcile_EvictedByICloud(t *testing.T) {
	f := newFixture(t, "Plan.md", "the plan\n", "Other.md", "[[Plan]] ![[pic.png]]\n", "a/Gone.md", "x", "pic.png", "png", "a/.New.md.icloud", "plist")
	attachments := func() []string { return f.column(f.store.Notes(), `SELECT path FROM attachments`) }
	f.rename("Plan.md", ".Plan.md.icloud")
	f.rename("pic.png", ".pic.png.icloud")
	require.NoError(t, f.reconcilePaths(t.Context(), []string{"Plan.md", "Plan.md", "pic.png"}))
	for range 2 {
		meta, err := f.Lookup(t.Context(), "Plan", notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, "Plan.md", meta.Path)
		assert.Equal(t, []string{"Plan.md", "pic.png"}, f.leads("Other.md"))
		assert.Equal(t, []string{"pic.png"}, attachments())
		skipped, _, err := f.store.Files().Skipped(t.Context(), 10)
		require.NoError(t, err)
		assert.Contains(t, skipped, notes.Skipped{Path: "Plan.md", Reason: skipEvicted})
		assert.Contains(t, skipped, notes.Skipped{Path: "a/New.md", Reason: skipEvicted})
		_, err = f.Read(t.Context(), "Plan", notes.Scope{})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		require.ErrorContains(t, err, "iCloud")
		_, err = f.Edit(t.Context(), notes.EditRequest{Note: "Plan", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
		require.ErrorIs(t, err, notes.ErrUnavailable)
		require.ErrorContains(t, err, "iCloud")
		for _, p := range []string{"Plan.md", "a/New.md"} {
			_, err = f.Create(t.Context(), notes.CreateRequest{Path: p, Content: "mine"})
			require.ErrorIs(t, err, notes.ErrExists, p)
		}
		f.remove("a/Gone.md")
		f.reconcile()
		f.write("a/Gone.md", "x")
	}
	f.write("Plan.md", "another plan\n") // the placeholder is removed last
	f.reconcile()
	f.remove(".Plan.md.icloud")
	f.reconcile()
	note, err := f.Read(t.Context(), "Plan", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "another plan\n", note.Content)
	f.remove(".pic.png.icloud")
	f.reconcile()
	assert.Empty(t, attachments())
	f.requireConsistent()
}

// TestScan_LongEcho checks that a scan that began before an operation does not parse the
// long note that the operation has written, but leaves it to the next scan. It does parse a
// short note, or one that another program has written.
func TestScan_LongEcho(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("a line of text\n", longNote/15+1)
	f := newFixture(t, "Long.md", long, "Outside.md", long, "Short.md", "short\n")
	rows, err := f.store.Rows(ctx, nil)
	require.NoError(t, err)
	root, err := f.Vault.disk.Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	s := &scan{v: f.Vault, root: root, rows: rows}
	for _, name := range []string{"Long.md", "Short.md"} {
		_, err := f.Edit(ctx, notes.EditRequest{Note: name, Edits: []notes.Edit{{Op: "append", Content: "more"}}})
		require.NoError(t, err)
	}
	f.write("Outside.md", long+"more\n")
	var batch []store.File
	for _, name := range []string{"Long.md", "Outside.md", "Short.md"} {
		batch = append(batch, store.File{Path: name, DiskPath: name})
	}
	files, err := s.prepare(ctx, batch)
	require.NoError(t, err)
	parsed := map[string]bool{}
	for _, p := range files {
		parsed[p.Path] = p.note != nil
	}
	assert.Equal(t, map[string]bool{"Long.md": false, "Outside.md": true, "Short.md": true}, parsed)
	require.NoError(t, s.commit(ctx, files, nil))
	assert.ElementsMatch(t, []string{"Long.md", "Short.md"}, s.again)
	f.reconcile()
	f.requireConsistent()
}
