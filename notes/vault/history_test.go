package vault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// save writes a file as an editor does, some seconds after the last save, and reconciles
// it.
func (f *fixture) save(name, text string) {
	f.t.Helper()
	f.clock.Advance(2 * time.Second)
	f.write(name, text)
	f.reconcile()
}

// revisions returns the complete history of a note, newest first.
func (f *fixture) revisions(note string) []notes.Revision {
	f.t.Helper()
	page, err := f.History().Revisions(context.Background(), notes.HistoryQuery{Note: note, Limit: 10_000})
	require.NoError(f.t, err)
	return page.Revisions
}

// texts returns the texts of a note's revisions, newest first; "" is a deletion.
func (f *fixture) texts(note string) []string {
	f.t.Helper()
	var out []string
	for _, r := range f.revisions(note) {
		if r.Hash == "" {
			out = append(out, "")
			continue
		}
		text, err := f.store.RevisionText(context.Background(), "read", r.Path, r.Revision, notes.Scope{})
		require.NoError(f.t, err)
		out = append(out, string(text))
	}
	return out
}

func (f *fixture) restoreText(note, text string) {
	f.t.Helper()
	for _, r := range f.revisions(note) {
		if r.Hash == notes.Hash([]byte(text)) {
			_, err := f.History().Restore(context.Background(), notes.RestoreRequest{Note: note, Revision: r.Revision})
			require.NoError(f.t, err)
			assert.Equal(f.t, text, f.onDisk(note))
			return
		}
	}
	assert.Fail(f.t, "the history lacks the text", "%q of %s", text, note)
}

// When a note takes over the name of another, the history of both remains available.
func TestHistory_ReusedPath(t *testing.T) {
	ctx := context.Background()
	takeOver := map[string]func(f *fixture){
		"by a tool": func(f *fixture) {
			_, err := f.Move(ctx, notes.MoveRequest{Note: "Draft.md", To: "Plan.md"})
			require.NoError(t, err)
		},
		"outside": func(f *fixture) {
			f.rename("Draft.md", "Plan.md")
			f.reconcile()
		},
	}
	for name, takeOver := range takeOver {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for _, r := range []notes.CreateRequest{{Path: "Plan.md", Content: "the precious plan"}, {Path: "Draft.md", Content: "the draft"}} {
				_, err := f.Create(ctx, r)
				require.NoError(t, err)
			}
			f.reconcile()
			_, err := f.Delete(ctx, notes.DeleteRequest{Note: "Plan.md"})
			require.NoError(t, err)
			f.clock.Advance(time.Minute)
			before := f.clock.Now()
			f.clock.Advance(time.Minute)
			takeOver(f)
			for _, text := range []string{"the precious plan\n", "the draft\n"} {
				f.restoreText("Plan.md", text)
			}
			_, err = f.History().Forget(ctx, "Plan.md", notes.Scope{})
			require.ErrorIs(t, err, notes.ErrExists)
			_, err = f.History().Forget(ctx, "Draft.md", notes.Scope{})
			require.ErrorIs(t, err, notes.ErrExists, "it exists under another name")
			assert.Contains(t, err.Error(), "Plan.md")

			_, err = f.Delete(ctx, notes.DeleteRequest{Note: "Plan.md"})
			require.NoError(t, err)
			assert.Subset(t, f.texts("Plan.md"), []string{"the precious plan\n", "the draft\n"})
			assert.Contains(t, f.texts("Draft.md"), "the draft\n", "also under the name that it had")

			dir := filepath.Join(t.TempDir(), "then")
			n, err := f.History().ExportAsOf(ctx, before, dir)
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			assert.FileExists(t, filepath.Join(dir, "Draft.md"))

			done, err := f.History().Forget(ctx, "Plan.md", notes.Scope{})
			require.NoError(t, err)
			assert.Equal(t, []string{"Draft.md", "Plan.md"}, done.Paths)
			for _, gone := range []string{"Plan.md", "Draft.md"} {
				_, err = f.History().Revisions(ctx, notes.HistoryQuery{Note: gone})
				require.ErrorIs(t, err, notes.ErrNotFound)
			}
			f.requireNoTrace("precious", "the draft")
		})
	}
}

// A deleted note is found by its complete path even if another note has the same name
// elsewhere.
func TestHistory_PathIsSuffixOfAnother(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Plan.md", "of the root\n", "Sub/Plan.md", "of the folder\n")
	_, err := f.Delete(ctx, notes.DeleteRequest{Note: "Plan.md"})
	require.NoError(t, err)
	assert.Contains(t, f.texts("Plan.md"), "of the root\n")
	assert.Equal(t, []string{"of the folder\n"}, f.texts("Plan"), "a name means the note that exists")
	_, err = f.History().Forget(ctx, "Plan", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrExists)
	done, err := f.History().Forget(ctx, "Plan.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Plan.md"}, done.Paths)
	assert.Equal(t, []string{"of the folder\n"}, f.texts("Sub/Plan.md"))
}

// A caller sees no revisions from when the note was outside its scope.
func TestHistory_Scope(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Private/N.md", "secret\n")
	_, err := f.Move(ctx, notes.MoveRequest{Note: "Private/N.md", To: "Public/N.md"})
	require.NoError(t, err)
	scope := notes.Scope{Read: []string{"Public"}}
	page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "Public/N.md", Scope: scope})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 1)
	assert.Empty(t, page.Revisions[0].OldPath)
	all := f.revisions("Public/N.md")
	require.Len(t, all, 2)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "Public/N.md", Revision: all[1].Revision, Scope: scope})
	require.ErrorIs(t, err, notes.ErrNotFound)
	_, err = f.History().Revisions(ctx, notes.HistoryQuery{Note: "Private/N.md", Scope: scope})
	require.ErrorIs(t, err, notes.ErrNotFound)
}

func TestHistory_Paged(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	_, err := f.Create(ctx, notes.CreateRequest{Path: "N.md", Content: "0"})
	require.NoError(t, err)
	for i := range 4 {
		_, err := f.Edit(ctx, notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "append", Content: fmt.Sprint(i)}}})
		require.NoError(t, err)
	}
	all, cursor := []notes.Revision(nil), ""
	for pages := 1; ; pages++ {
		page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "N", Limit: 2, Cursor: cursor})
		require.NoError(t, err)
		all = append(all, page.Revisions...)
		if cursor = page.Next; cursor == "" {
			assert.Equal(t, 3, pages)
			break
		}
	}
	assert.Equal(t, f.revisions("N"), all)
	_, err = f.History().Revisions(ctx, notes.HistoryQuery{Note: "N", Cursor: "x"})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

// History includes notes that were removed while notes.db was being rebuilt.
func TestHistory_NotesDatabaseRebuilt(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "B.md", "b\n")
	_, err := f.Create(ctx, notes.CreateRequest{Path: "A.md", Content: "xyzzy"})
	require.NoError(t, err)
	_, err = f.Edit(ctx, notes.EditRequest{Note: "A", Edits: []notes.Edit{{Op: "append", Content: "plugh"}}})
	require.NoError(t, err)
	_, err = f.Create(ctx, notes.CreateRequest{Path: "Unread.md", Content: "text"})
	require.NoError(t, err)
	require.NoError(t, f.store.Close())
	require.NoError(t, os.Remove(filepath.Join(f.state, store.NotesFile)))
	f.remove("A.md")
	f.write("Unread.md", "\xff\xfe\x00")
	f.clock.Advance(time.Hour)
	f.open(Options{})
	f.reconcile()

	revisions := f.revisions("A")
	require.Len(t, revisions, 3)
	assert.Equal(t, "delete", revisions[0].Operation)
	assert.Equal(t, notes.Outside, revisions[0].Author)
	assert.Equal(t, 3, revisions[0].Removed)
	f.reconcile()
	assert.Len(t, f.revisions("A"), 3, "it is recorded once")
	f.restoreText("A.md", "xyzzy\n\nplugh\n")
	for _, r := range f.revisions("Unread.md") {
		assert.NotEqual(t, "delete", r.Operation, "a file that cannot be read is there")
	}

	f.clock.Advance(time.Minute) // history.db is restored from a backup in which A is deleted
	f.exec(f.store.History(), `UPDATE documents SET live = 0 WHERE path = 'A.md'`)
	f.restart()
	docs, err := f.store.Documents(ctx, "A.md")
	require.NoError(t, err)
	require.Len(t, docs, 1)
	assert.True(t, docs[0].Live)

	f.remove("A.md")
	f.remove("Unread.md")
	done, err := f.History().Forget(ctx, "A.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, 3, done.Versions)
	f.requireNoTrace("xyzzy", "plugh")
}

// TestHistory_Recreated writes a file at the path of a deleted note: history lists a new note, not
// an edit of the deleted one.
func TestHistory_Recreated(t *testing.T) {
	f := newFixture(t)
	f.save("a.md", "first\n")
	f.remove("a.md")
	f.clock.Advance(time.Minute)
	f.reconcile()
	f.save("a.md", "another\n")
	page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "found", page.Revisions[0].Operation, "there is no version that an undo could restore")
}

// TestHistory_BrokenSymlink deletes the target of a symlinked note. After a restart, the note is
// still deleted, although its symlink exists, and a move of its folder does not concern it.
func TestHistory_BrokenSymlink(t *testing.T) {
	f := newFixture(t, "A/Plan.md", "a plan", "Target.md", "xyzzy")
	f.symlink("../Target.md", "A/Link.md")
	f.reconcile()
	f.remove("Target.md")
	f.reconcile()
	f.restart()
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "A/", To: "B"})
	require.NoError(t, err)
	docs, err := f.store.Documents(t.Context(), "A/Link.md")
	require.NoError(t, err)
	require.Len(t, docs, 1)
	assert.False(t, docs[0].Live)
	assert.Equal(t, "A/Link.md", docs[0].Path)
	assert.Equal(t, "delete", f.revisions("Link")[0].Operation, "it is found by its name among the deleted notes")
}

// Versions that an editor saves every few seconds are thinned to one per seenEvery, plus
// the newest.
func TestThinningOfOutsideVersions(t *testing.T) {
	notestest.SkipInShort(t)
	f := newFixture(t)
	long := strings.Repeat("a line that stays as it is\n", 40)
	f.save("N.md", long)
	const saves, every = 300, 10 // seconds
	for i := range saves {
		f.clock.Advance((every - 2) * time.Second) // save advances it, too
		f.save("N.md", fmt.Sprintf("%styped %d\n", long, i))
	}
	kept := f.revisions("N.md")
	assert.LessOrEqual(t, len(kept), 2+saves*every/600+1)
	assert.GreaterOrEqual(t, len(kept), 2+saves*every/600)
	for i := 2; i < len(kept)-1; i++ {
		gap := kept[i].Time.Sub(kept[i+1].Time)
		assert.GreaterOrEqual(t, gap, seenEvery)
		assert.Less(t, gap, seenEvery+time.Minute)
	}
	assert.Equal(t, []string{fmt.Sprintf("%styped %d\n", long, saves-1), fmt.Sprintf("%styped %d\n", long, saves-2)}, f.texts("N.md")[:2],
		"the newest, and what it replaced")
	f.requireBlobs(len(kept))
	for i := len(kept) - 1; i > 0; i-- {
		assert.Equal(t, notes.Outside, kept[i].Author)
		if i == len(kept)-1 {
			assert.Equal(t, "found", kept[i].Operation)
			assert.Equal(t, []int{40, 0}, []int{kept[i].Added, kept[i].Removed})
			continue
		}
		assert.Equal(t, "edit", kept[i].Operation)
		assert.Equal(t, 1, kept[i].Added)
	}
}

// Files may be read empty during a save, and a damaged history may lack texts.
func TestOutsideVersions_EmptyOrLost(t *testing.T) {
	f := newFixture(t)
	for i, text := range []string{"a\n", "", "b\n", "", "", "c\n"} {
		f.save("N.md", text)
		if i%2 == 0 {
			f.revisions("N.md")
		}
	}
	f.restoreText("N.md", "")
	f.exec(f.store.History(), `DELETE FROM blobs`)
	for _, r := range f.revisions("N.md") {
		text, err := f.store.RevisionText(t.Context(), "read", "N.md", r.Revision, notes.Scope{})
		if r.Size > 0 {
			require.ErrorIs(t, err, notes.ErrNotFound, "and no internal error")
			continue
		}
		require.NoError(t, err, "older versions did not store it")
		assert.Empty(t, text)
	}
	f.save("N.md", "d\n")
	f.save("N.md", "e\n")
	f.remove("N.md")
	f.reconcile()
	f.restoreText("N.md", "e\n")
	f.requireConsistent()
}

// A listed revision can be restored, whatever an editor saves afterwards.
func TestHistory_ListedRevisionStays(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("a line that stays as it is\n", 40)
	f.save("N.md", long)
	for i := range 5 {
		f.save("N.md", fmt.Sprintf("%styped %d\n", long, i))
	}
	listed := f.texts("N.md")
	for i := range 5 {
		f.save("N.md", fmt.Sprintf("%slater %d\n", long, i))
	}
	assert.Subset(t, f.texts("N.md"), listed)
}

// The last version before a deletion or a replacement of the whole text is never thinned.
func TestHistory_LastVersionBeforeLoss(t *testing.T) {
	notestest.SkipInShort(t)
	base := strings.Repeat("a line that stays as it is\n", 20)
	session := func(f *fixture) (last string) {
		f.save("N.md", base)
		for i := range 6 {
			last = fmt.Sprintf("%s%sand %d\n", base, strings.Repeat("what I have just written here, in nine minutes\n", 1+i), i)
			f.save("N.md", last)
		}
		return last
	}
	t.Run("deleted", func(t *testing.T) {
		f := newFixture(t)
		last := session(f)
		f.remove("N.md")
		f.reconcile()
		assert.Equal(t, []string{"", last}, f.texts("N.md")[:2])
		gone := f.revisions("N.md")[0]
		assert.Equal(t, 27, gone.Removed)
		f.restoreText("N.md", last)
	})
	t.Run("deleted and made again", func(t *testing.T) {
		f := newFixture(t)
		last := session(f)
		f.remove("N.md")
		f.reconcile()
		session(f)
		f.remove("N.md")
		f.reconcile()
		assert.Contains(t, f.texts("N.md")[1:], "")
		assert.Contains(t, f.texts("N.md"), last)
	})
	t.Run("overwritten", func(t *testing.T) {
		f := newFixture(t)
		last := session(f)
		f.save("N.md", base) // git checkout
		for i := range 6 {
			f.save("N.md", fmt.Sprintf("%sx%d\n", base, i))
		}
		f.restoreText("N.md", last)
	})
	t.Run("replaced by a tool", func(t *testing.T) {
		f := newFixture(t)
		last := session(f)
		_, err := f.Edit(context.Background(), notes.EditRequest{Note: "N", Edits: []notes.Edit{{Op: "replace_all", Content: "other"}}})
		require.NoError(t, err)
		f.restoreText("N.md", last)
	})
	t.Run("a program that rewrites it all the time", func(t *testing.T) {
		f := newFixture(t)
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			f.save("N.md", fmt.Sprint(random.Perm(100)))
		}
		assert.LessOrEqual(t, len(f.revisions("N.md")), lossyKept+3, "its versions are thinned all the same")
	})
}

// Versions are still kept after the clock was temporarily ahead.
func TestHistory_ClockSetBack(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("a line that stays as it is\n", 40)
	now := f.clock.Now()
	f.clock.Advance(365 * 24 * time.Hour)
	f.save("N.md", long)
	f.save("N.md", long+"of the year after\n")
	f.clock.mu.Lock()
	f.clock.now = now
	f.clock.mu.Unlock()
	for i := range 40 {
		f.clock.Advance(time.Minute)
		f.save("N.md", fmt.Sprintf("%s%d\n", long, i))
	}
	assert.GreaterOrEqual(t, len(f.revisions("N.md")), 6)
}

// A clock that was wrong for less than a day makes no version too old to be kept.
func TestPrune_WrongClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, wrong := range map[string]time.Duration{"ahead": 100 * year, "behind": -50 * year} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			edit := func() {
				for range 3 {
					f.clock.Advance(8 * time.Hour)
					f.save("N.md", incompressible(200))
				}
				require.NoError(t, f.store.Prune(t.Context(), f.opt.History))
			}
			edit()
			f.clock.Advance(wrong)
			edit()
			f.clock.Advance(-wrong)
			edit()
			f.clock.Advance(48 * time.Hour)
			edit()
			assert.Len(t, f.texts("N.md"), 12)
		})
	}
}

// TestPrune covers each limit.
func TestPrune(t *testing.T) {
	notestest.SkipInShort(t)
	ctx := context.Background()
	edit := func(f *fixture, note string, times, size int) {
		for range times {
			f.clock.Advance(time.Minute)
			_, err := f.Edit(ctx, notes.EditRequest{Note: note, Edits: []notes.Edit{{Op: "replace_all", Content: incompressible(size)}}})
			require.NoError(t, err)
		}
	}
	prune := func(f *fixture, limits notes.HistoryLimits) {
		f.t.Helper()
		f.opt.History = limits
		require.NoError(t, f.store.Prune(ctx, f.opt.History))
	}
	start := func(t *testing.T) *fixture {
		f := newFixture(t, "A.md", "a\n", "B.md", "b\n", "Gone.md", "kept\n")
		edit(f, "A.md", 6, 100)
		edit(f, "B.md", 10, 50_000)
		_, err := f.Delete(ctx, notes.DeleteRequest{Note: "Gone.md"})
		require.NoError(t, err)
		f.revisions("A.md")
		return f
	}
	all := []int{7, 11, 2}
	counts := func(f *fixture) (n []int) {
		for _, note := range []string{"A.md", "B.md", "Gone.md"} {
			n = append(n, len(f.revisions(note)))
		}
		return n
	}
	t.Run("nothing", func(t *testing.T) {
		f := start(t)
		prune(f, notes.HistoryLimits{})
		assert.Equal(t, all, counts(f))
	})
	t.Run("count", func(t *testing.T) {
		f := start(t)
		want := f.texts("B.md")[:3]
		for range 2 {
			prune(f, notes.HistoryLimits{Revisions: 3})
			assert.Equal(t, []int{3, 3, 2}, counts(f))
			assert.Equal(t, want, f.texts("B.md"))
		}
		prune(f, notes.HistoryLimits{Revisions: 1})
		assert.Equal(t, []int{1, 1, 2}, counts(f), "of a deleted note the text is its newest")
		f.restoreText("Gone.md", "kept\n")
	})
	t.Run("age", func(t *testing.T) {
		f := start(t)
		for range 2 {
			prune(f, notes.HistoryLimits{Age: 4*time.Minute + time.Second})
			assert.Equal(t, []int{1, 6, 2}, counts(f))
		}
		f.clock.Advance(20 * 365 * 24 * time.Hour)
		prune(f, notes.HistoryLimits{})
		assert.Equal(t, []int{1, 6, 2}, counts(f), "the clock may be wrong")
		f.save("C.md", "c\n")
		f.revisions("C.md") // kept from now on, which confirms the time
		f.clock.Advance(25 * time.Hour)
		prune(f, notes.HistoryLimits{})
		assert.Equal(t, []int{1, 1, 2}, counts(f), "the newest stays, and the text of a deleted note")
		f.restoreText("Gone.md", "kept\n")
	})
	t.Run("bytes", func(t *testing.T) {
		f := start(t)
		newest := f.texts("B.md")
		for range 2 {
			prune(f, notes.HistoryLimits{Bytes: 160_000})
			assert.Equal(t, []int{7, 4, 2}, counts(f), "the note that takes the space loses its oldest")
			assert.Equal(t, newest[:4], f.texts("B.md"))
		}
		prune(f, notes.HistoryLimits{Bytes: 1})
		assert.Equal(t, []int{1, 1, 2}, counts(f))
		f.requireBlobs(3)
	})
	t.Run("what the journal alone has", func(t *testing.T) {
		f := start(t)
		for range 20 { // failed operations, whose texts are in no revision
			_, err := f.Edit(ctx, notes.EditRequest{Note: "A.md", ExpectedHash: f.revisions("A.md")[0].Hash, Edits: []notes.Edit{{Op: "append", Content: incompressible(50_000)}}})
			require.NoError(t, err)
			_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md", Revision: f.revisions("A.md")[6].Revision})
			require.NoError(t, err)
		}
		f.exec(f.store.History(), `DELETE FROM revisions WHERE size > 40000 AND path = 'A.md'`)
		before := counts(f)
		prune(f, notes.HistoryLimits{Bytes: 1 << 20})
		assert.Equal(t, before, counts(f), "the journal's texts go first, and only they had to")
	})
	t.Run("a text of a pending operation", func(t *testing.T) {
		f := start(t)
		f.failpoint = func(step string) error {
			if step == "journalled" {
				return errKilled
			}
			return nil
		}
		_, err := f.Create(ctx, notes.CreateRequest{Path: "New.md", Content: "to be written"})
		require.ErrorIs(t, err, errKilled)
		f.failpoint = nil
		prune(f, notes.HistoryLimits{Bytes: 1, Revisions: 1})
		f.restart()
		assert.Equal(t, "to be written\n", f.onDisk("New.md"))
	})
	t.Run("a text that is still the newest of another", func(t *testing.T) {
		f := start(t)
		f.save("Copy.md", f.texts("B.md")[9])
		f.revisions("Copy.md")
		prune(f, notes.HistoryLimits{Bytes: 1})
		assert.Equal(t, []int{1, 2, 2}, counts(f), "dropping it would free nothing")
	})
}

func incompressible(size int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"
	text := make([]byte, size)
	for i := range text {
		text[i] = letters[rand.IntN(len(letters))]
	}
	return string(text)
}

func (f *fixture) requireBlobs(want int) {
	f.t.Helper()
	var n int
	require.NoError(f.t, f.store.History().Reader().QueryRowContext(context.Background(), `SELECT count(*) FROM blobs`).Scan(&n))
	assert.Equal(f.t, want, n, "texts in history")
}

// requireNoTrace searches every file of the state directory for the words, including in
// packed texts. It closes and reopens the store.
func (f *fixture) requireNoTrace(words ...string) {
	f.t.Helper()
	ctx := context.Background()
	for _, hash := range f.column(f.store.History(), `SELECT hash FROM blobs`) {
		text, err := f.store.Blob(ctx, []byte(hash))
		require.NoError(f.t, err)
		for _, word := range words {
			assert.NotContains(f.t, string(text), word, "a text of the history")
		}
	}
	require.NoError(f.t, f.store.Close())
	for name, text := range notestest.Read(f.t, f.state) {
		for _, word := range words {
			assert.NotContains(f.t, text, word, name)
		}
	}
	f.open(Options{})
	f.reconcile()
	f.requireConsistent()
}

// Forget finds every trace of a note, whatever names its file had on disk.
func TestForget_FindsEveryTrace(t *testing.T) {
	ctx := context.Background()
	const secret = "xyzzy-plugh-4711"
	text := strings.Repeat(secret+" ", 50)
	edited := func(f *fixture, note string) {
		t.Helper()
		_, err := f.Edit(ctx, notes.EditRequest{Note: note, Edits: []notes.Edit{{Op: "append", Content: secret}}})
		require.NoError(t, err)
		_, err = f.Delete(ctx, notes.DeleteRequest{Note: note})
		require.NoError(t, err)
	}
	t.Run("a name in another Unicode form", func(t *testing.T) {
		f := newFixture(t, "ferienplan "+norm.NFD.String("café")+".md", text)
		edited(f, "ferienplan café.md")
		_, err := f.History().Forget(ctx, "ferienplan café.md", notes.Scope{})
		require.NoError(t, err)
		f.requireNoTrace(secret, "ferienplan")
	})
	t.Run("a failed edit of it", func(t *testing.T) {
		f := newFixture(t, norm.NFD.String("é/ü.md"), "nothing\n")
		f.failpoint = func(step string) error {
			if step == "before swap 0" {
				return os.WriteFile(filepath.Join(f.dir, norm.NFD.String("é/ü.md")), []byte("other"), 0o600)
			}
			return nil
		}
		_, err := f.Edit(ctx, notes.EditRequest{Note: "é/ü.md", Edits: []notes.Edit{{Op: "append", Content: secret}}})
		require.ErrorIs(t, err, notes.ErrConflict)
		f.failpoint = nil
		f.remove(norm.NFD.String("é/ü.md"))
		_, err = f.History().Forget(ctx, "é/ü.md", notes.Scope{})
		require.NoError(t, err)
		f.requireNoTrace(secret)
	})
	t.Run("a note that was moved, with its folder and outside", func(t *testing.T) {
		f := newFixture(t)
		_, err := f.Create(ctx, notes.CreateRequest{Path: "One/ferienplan.md", Content: text})
		require.NoError(t, err)
		f.reconcile()
		_, err = f.Move(ctx, notes.MoveRequest{Note: "One", To: "Two"})
		require.NoError(t, err)
		f.reconcile()
		f.rename("Two/ferienplan.md", "Three.md")
		f.reconcile()
		edited(f, "Three.md")
		done, err := f.History().Forget(ctx, "Two/ferienplan.md", notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, []string{"One/ferienplan.md", "Three.md", "Two/ferienplan.md"}, done.Paths)
		f.requireNoTrace(secret, "ferienplan")
	})
	t.Run("a symlinked note", func(t *testing.T) {
		f := newFixture(t, "real/text.txt", text)
		require.NoError(t, os.Symlink("real/text.txt", filepath.Join(f.dir, "ferienplan.md")))
		f.reconcile()
		edited(f, "ferienplan.md")
		_, err := f.History().Forget(ctx, "ferienplan.md", notes.Scope{})
		require.NoError(t, err)
		f.requireNoTrace(secret, "ferienplan")
	})
	t.Run("databases that were set aside", func(t *testing.T) {
		f := newFixture(t, "ferienplan.md", text)
		edited(f, "ferienplan.md")
		require.NoError(t, f.store.Close())
		for _, name := range []string{store.NotesFile, store.HistoryFile} {
			aside, err := sqlite.SetAside(filepath.Join(f.state, name), f.clock.Now())
			require.NoError(t, err)
			if name == store.HistoryFile {
				data, err := os.ReadFile(aside)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(f.state, store.HistoryFile), data, 0o600))
			}
		}
		f.open(Options{})
		done, err := f.History().Forget(ctx, "ferienplan.md", notes.Scope{})
		require.NoError(t, err)
		assert.Len(t, done.SetAside, 2)
		f.requireNoTrace(secret, "ferienplan")
	})
}

// Forgetting a note leaves the changes of other notes that had the same text.
func TestForget_SameText(t *testing.T) {
	f := newFixture(t, "N.md", "", "M.md", "")
	add := func() (notes.Written, error) {
		return f.Edit(t.Context(), notes.EditRequest{Note: "M.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}, RequestKey: "k"})
	}
	done, err := add()
	require.NoError(t, err)
	f.write("N.md", "xyzzy-plugh\n")
	f.reconcile()
	_, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "N.md"})
	require.NoError(t, err)
	_, err = f.History().Forget(t.Context(), "N.md", notes.Scope{})
	require.NoError(t, err)
	again, err := add()
	require.NoError(t, err)
	assert.Equal(t, done.Change, again.Change, "the repeated request is answered")
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Change: done.Change})
	require.NoError(t, err)
	assert.Empty(t, f.onDisk("M.md"))
	f.requireNoTrace("xyzzy", "N.md")
}

// TestHistory_PowerFailure loses the last writes to notes.db, which are not synced one by one,
// while history and the note are synced.
func TestHistory_PowerFailure(t *testing.T) {
	const path = "D/A.md"
	for first, authors := range map[string][]string{ // the newest first
		"scan": {"client", "outside"}, "edit": {"client", "client", "outside"}, "save": {"outside", "client", "outside"}, "deletion": {"outside", "client", "outside"},
	} {
		t.Run(first, func(t *testing.T) {
			ctx := t.Context()
			f := newFixture(t, path, "old\n")
			add := func(text string) {
				t.Helper()
				_, err := f.Edit(ctx, notes.EditRequest{Note: path, Edits: []notes.Edit{{Op: "append", Content: text}}, Author: notes.Author{Name: "client"}})
				require.NoError(t, err)
			}
			notesDB := filepath.Join(f.state, store.NotesFile)
			require.NoError(t, f.store.Close())
			before, err := os.ReadFile(notesDB)
			require.NoError(t, err)
			f.open(Options{})
			f.clock.Advance(time.Hour)
			add("new")
			edited := f.clock.Now()
			f.clock.Advance(time.Hour)
			require.NoError(t, f.store.Close())
			require.NoError(t, os.WriteFile(notesDB, before, 0o600))
			f.open(Options{})
			f.feeder.run(ctx) // as Run does
			switch first {
			case "edit":
				add("newer")
			case "save":
				f.write(path, "third\n")
			case "deletion":
				f.remove(path)
			}
			f.reconcile()
			f.requireConsistent()
			page, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: path})
			require.NoError(t, err)
			var by []string
			for _, r := range page.Revisions {
				by = append(by, r.Author.Name)
			}
			assert.Equal(t, authors, by)
			dir := filepath.Join(t.TempDir(), "past")
			_, err = f.History().ExportAsOf(ctx, edited.Add(time.Second), dir)
			require.NoError(t, err)
			assert.Equal(t, map[string]string{path: "old\n\nnew\n"}, notestest.Read(t, dir))
			if first == "deletion" {
				_, err := f.History().Restore(ctx, notes.RestoreRequest{Note: path})
				require.NoError(t, err)
				assert.Equal(t, "old\n\nnew\n", f.onDisk(path))
			}
		})
	}
}

// A name that matches several deleted notes is an error.
func TestForget_AmbiguousName(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "Work/Letter.md", "w\n", "Private/Letter.md", "p\n", "Letter.md", "l\n")
	for _, p := range []string{"Work/Letter.md", "Private/Letter.md", "Letter.md"} {
		_, err := f.Delete(ctx, notes.DeleteRequest{Note: p})
		require.NoError(t, err)
	}
	for _, ask := range []func() error{
		func() error { _, err := f.History().Forget(ctx, "Letter", notes.Scope{}); return err },
		func() error { _, err := f.History().Revisions(ctx, notes.HistoryQuery{Note: "Letter"}); return err },
		func() error {
			_, err := f.History().Restore(ctx, notes.RestoreRequest{Note: "Letter", Revision: 1})
			return err
		},
	} {
		err := ask()
		require.ErrorIs(t, err, notes.ErrAmbiguous)
		assert.Equal(t, []string{"Letter.md", "Private/Letter.md", "Work/Letter.md"}, domainError(t, err).Candidates)
	}
	done, err := f.History().Forget(ctx, "Letter.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, notes.Forgotten{Paths: []string{"Letter.md"}, Versions: 1}, done)
	_, err = f.History().Forget(ctx, "Private/Letter.md", notes.Scope{})
	require.NoError(t, err)
	done, err = f.History().Forget(ctx, "Letter", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Work/Letter.md"}, done.Paths, "now the name fits one")
	_, err = f.History().Forget(ctx, "Letter", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	_, err = f.History().Forget(ctx, "../x", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

// A backup is taken when no operation is in progress.
func TestBackupHasNoPendingOperation(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "N.md", "text\n")
	copied := filepath.Join(t.TempDir(), store.HistoryFile)
	f.failpoint = func(step string) error {
		if step == "journalled" {
			return f.store.Backup(ctx, copied)
		}
		return nil
	}
	_, err := f.Delete(ctx, notes.DeleteRequest{Note: "N", RequestKey: "k"})
	require.NoError(t, err)
	f.failpoint = nil
	f.restoreText("N.md", "text\n")
	require.NoError(t, f.store.Close())
	require.NoError(t, os.Rename(copied, filepath.Join(f.state, store.HistoryFile)))
	f.open(Options{})
	f.reconcile()
	assert.Equal(t, map[string]string{"N.md": "text\n"}, f.files(), "what was begun at the time of the backup is not done")
	f.requireConsistent()
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "N", RequestKey: "k"})
	require.NoError(t, err, "nor was the request answered by then")
	assert.Empty(t, f.files())
}

func TestExportAsOf_BeforeHistory(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "A.md", "a\n")
	begin := f.clock.Now()
	f.clock.Advance(time.Hour)
	for name, at := range map[string]time.Time{"before": begin.Add(-24 * time.Hour), "future": f.clock.Now().Add(time.Second)} {
		dir := filepath.Join(t.TempDir(), name)
		_, err := f.History().ExportAsOf(ctx, at, dir)
		require.ErrorIs(t, err, notes.ErrInvalid, name)
		if e := domainError(t, err); name == "before" {
			assert.Contains(t, e.Detail, begin.Local().Add(time.Second).Format(time.DateTime))
		}
		assert.NoDirExists(t, dir)
	}
	n, err := f.History().ExportAsOf(ctx, begin.Add(time.Second), t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	_, err = newFixture(t).History().ExportAsOf(ctx, begin, t.TempDir())
	require.ErrorContains(t, err, "no history yet")
}

// A version that history drops while the past is being read is replaced by the one that
// it keeps for that time.
func TestPastVersionThinnedMeanwhile(t *testing.T) {
	f := newFixture(t, "A.md", "a\n")
	long := strings.Repeat("a line that stays as it is\n", 40)
	for _, end := range []string{"first\n", "second\n"} {
		f.save("B.md", long+end)
	}
	past := map[string]string{}
	_, err := f.History().At(context.Background(), f.clock.Now(), notes.Filter{}, func(n *notes.Note) error {
		for i := range 3 {
			f.save("B.md", fmt.Sprintf("%slater %d\n", long, i))
		}
		past[n.Path] = n.Content
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A.md": "a\n", "B.md": long + "first\n"}, past)
}

// The past has every note, also those that are edited while it is being read.
func TestPastOfNotesBeingEdited(t *testing.T) {
	ctx := context.Background()
	var files []string
	for i := range 60 {
		files = append(files, fmt.Sprintf("%d.md", i), "text\n")
	}
	f := newFixture(t, files...)
	f.clock.Advance(time.Minute)
	then := f.clock.Now()
	f.clock.Advance(time.Minute)
	edited := make(chan error)
	go func() {
		var failed error
		for i := 0; i < len(files) && failed == nil; i += 2 {
			_, failed = f.Edit(ctx, notes.EditRequest{Note: files[i], Edits: []notes.Edit{{Op: "append", Content: "more"}}})
		}
		edited <- failed
	}()
	for {
		found := 0
		_, err := f.History().At(ctx, then, notes.Filter{}, func(n *notes.Note) error {
			found++
			assert.Equal(t, "text\n", n.Content, n.Path)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, len(files)/2, found)
		select {
		case err := <-edited:
			require.NoError(t, err)
			return
		default:
		}
	}
}

// A note moved by another program is exported only under its name at that time.
func TestExportAfterAMoveOutside(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	_, err := f.Create(ctx, notes.CreateRequest{Path: "A.md", Content: "text"})
	require.NoError(t, err)
	f.clock.Advance(time.Minute)
	before := f.clock.Now()
	f.clock.Advance(time.Minute)
	f.reconcile()
	f.rename("A.md", "B.md")
	f.reconcile()
	assert.Equal(t, "move", f.revisions("B.md")[0].Operation)
	assert.Equal(t, "A.md", f.revisions("B.md")[0].OldPath)
	for at, want := range map[time.Time]string{before: "A.md", f.clock.Now(): "B.md"} {
		dir := t.TempDir()
		n, err := f.History().ExportAsOf(ctx, at, dir)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.FileExists(t, filepath.Join(dir, want))
	}
}

// History lists the move of a folder with the number that undoes it, even if no note in it
// had a history: for every note of a small folder, and for one of a large folder.
func TestFolderMoveIsInHistory(t *testing.T) {
	for _, tt := range []struct{ notes, recorded int }{{3, 3}, {201, 1}} {
		f := newFixture(t)
		for i := range tt.notes {
			f.write(fmt.Sprintf("D/%03d.md", i), "text\n")
		}
		f.reconcile()
		f.clock.Advance(time.Minute)
		moved, err := f.Move(t.Context(), notes.MoveRequest{Note: "D/", To: "E/F"})
		require.NoError(t, err)
		page, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Limit: 500})
		require.NoError(t, err)
		var recorded []notes.Revision
		for _, r := range page.Revisions {
			if r.Change == moved.Change {
				recorded = append(recorded, r)
			}
		}
		require.Len(t, recorded, tt.recorded)
		assert.Equal(t, "move", recorded[0].Operation)
		assert.Equal(t, "D", path.Dir(recorded[0].OldPath))
		assert.Equal(t, "E/F", path.Dir(recorded[0].Path))
	}
}

func TestRestore_SameText(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	made, err := f.Create(ctx, notes.CreateRequest{Path: "A.md", Content: "text"})
	require.NoError(t, err)
	w, err := f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md", Revision: made.Revision})
	require.NoError(t, err)
	assert.Equal(t, made.Revision, w.Revision)
	assert.Empty(t, w.Diff)
	assert.Len(t, f.revisions("A.md"), 1)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md", Revision: 99})
	require.ErrorIs(t, err, notes.ErrNotFound)
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "A.md"})
	require.NoError(t, err)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md", Revision: made.Revision, ExpectedHash: made.Hash})
	require.ErrorIs(t, err, notes.ErrConflict)
}

// A note whose links change because its folder moves keeps one history.
func TestHistory_RelinkedInMovedFolder(t *testing.T) {
	f := newFixture(t, "P/A.md", "one [q](../Q.md)\n", "P/B.md", "b\n", "Q.md", "q\n")
	f.save("P/A.md", "two [q](../Q.md)\n")
	f.save("P/B.md", "bb\n")
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "P/", To: "Z/P", UpdateLinks: true})
	require.NoError(t, err)
	f.save("Z/P/A.md", "three\n")
	operations := func(note string) (list []string) {
		for _, r := range f.revisions(note) {
			list = append(list, r.Operation)
		}
		return list
	}
	assert.Equal(t, []string{"edit", "move", "edit", "found"}, operations("Z/P/A.md"))
	assert.Equal(t, []string{"move", "edit", "found"}, operations("Z/P/B.md"))
	assert.Equal(t, []string{"three\n", "two [q](../../Q.md)\n", "two [q](../Q.md)\n", "one [q](../Q.md)\n"}, f.texts("Z/P/A.md"))
	var then []string
	_, err = f.History().At(t.Context(), f.clock.Now(), notes.Filter{}, func(n *notes.Note) error {
		then = append(then, n.Path+" "+n.Content)
		return nil
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"Q.md q\n", "Z/P/A.md three\n", "Z/P/B.md bb\n"}, then)
}

// A deleted note is brought back without its revision.
func TestRestore_LastText(t *testing.T) {
	f := newFixture(t, "Sub/A.md", "one\n", "B.md", "b\n")
	f.save("Sub/A.md", "two\n")
	_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "A"})
	require.NoError(t, err)
	w, err := f.History().Restore(t.Context(), notes.RestoreRequest{Note: "A"})
	require.NoError(t, err)
	assert.Equal(t, "Sub/A.md", w.Path)
	assert.Equal(t, "two\n", f.onDisk("Sub/A.md"))

	f.remove("B.md")
	f.reconcile()
	_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Note: "B.md"})
	require.NoError(t, err)
	assert.Equal(t, "b\n", f.onDisk("B.md"))

	for _, present := range []string{"A", "B.md"} {
		_, err = f.History().Restore(t.Context(), notes.RestoreRequest{Note: present})
		require.ErrorContains(t, err, "no revision to restore is given")
	}
}

// What happens later to a note that once had the path of a deleted note is not restored.
func TestRestore_LastTextOfSuccessor(t *testing.T) {
	ctx := t.Context()
	succeeded := func() *fixture { // another note had the path of the moved one, and was deleted
		f := newFixture(t, "A.md", "meeting\n")
		_, err := f.Move(ctx, notes.MoveRequest{Note: "A.md", To: "B.md"})
		require.NoError(t, err)
		_, err = f.Create(ctx, notes.CreateRequest{Path: "A.md", Content: "draft\n"})
		require.NoError(t, err)
		_, err = f.Delete(ctx, notes.DeleteRequest{Note: "A.md"})
		require.NoError(t, err)
		return f
	}
	for _, then := range []string{"edited", "deleted"} {
		f := succeeded()
		var err error
		if then == "edited" {
			_, err = f.Edit(ctx, notes.EditRequest{Note: "B.md", Edits: []notes.Edit{{Op: "append", Content: "continued\n"}}})
		} else {
			_, err = f.Delete(ctx, notes.DeleteRequest{Note: "B.md"})
		}
		require.NoError(t, err)
		_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md"})
		require.NoError(t, err, then)
		assert.Equal(t, "draft\n", f.onDisk("A.md"), then)
	}

	// The note deleted last is restored, even if its history is the older one.
	f := succeeded()
	_, err := f.Move(ctx, notes.MoveRequest{Note: "B.md", To: "A.md"})
	require.NoError(t, err)
	_, err = f.Delete(ctx, notes.DeleteRequest{Note: "A.md"})
	require.NoError(t, err)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md"})
	require.NoError(t, err)
	assert.Equal(t, "meeting\n", f.onDisk("A.md"))
}

// A renamed note cannot be restored under its old name.
func TestRestore_FormerPath(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	made, err := f.Create(ctx, notes.CreateRequest{Path: "A.md", Content: "text"})
	require.NoError(t, err)
	_, err = f.Move(ctx, notes.MoveRequest{Note: "A.md", To: "B.md"})
	require.NoError(t, err)
	_, err = f.Edit(ctx, notes.EditRequest{Note: "B.md", Edits: []notes.Edit{{Op: "append", Content: "more"}}})
	require.NoError(t, err)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "A.md", Revision: made.Revision})
	require.ErrorIs(t, err, notes.ErrExists)
	assert.Equal(t, []string{"B.md"}, domainError(t, err).Candidates)
	_, err = f.History().Restore(ctx, notes.RestoreRequest{Note: "B.md", Revision: made.Revision})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"B.md": "text\n"}, f.files())
}

// TestRestore_DamagedFile checks that what became of a note whose file was damaged is
// explained, and that the note can be restored once the file is removed.
func TestRestore_DamagedFile(t *testing.T) {
	f := newFixture(t, "a.md", "text\n")
	ctx := context.Background()
	f.write("a.md", "\x00\x00\x00\x00\x00")
	f.reconcile()
	_, err := f.Read(ctx, "a.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.Contains(t, domainError(t, err).Hint, "note_history")
	restore := notes.RestoreRequest{Note: "a.md", Revision: 1}
	_, err = f.History().Restore(ctx, restore)
	require.ErrorIs(t, err, notes.ErrExists)
	assert.Contains(t, domainError(t, err).Hint, "Remove or rename it")
	f.remove("a.md")
	_, err = f.History().Restore(ctx, restore)
	require.NoError(t, err)
	assert.Equal(t, "text\n", f.onDisk("a.md"))
}

// TestHistory_StoreFails checks that a move and a deletion found on disk are recorded once,
// even if the scan that finds them fails and is repeated.
func TestHistory_StoreFails(t *testing.T) {
	f := newFixture(t, "a.md", "a\n", "gone.md", "b\n")
	f.rename("a.md", "moved.md")
	f.remove("gone.md")
	f.exec(f.store.Notes(), `CREATE TRIGGER fails BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'fails'); END`)
	for range 2 {
		require.Error(t, f.Reconcile(t.Context()))
	}
	f.exec(f.store.Notes(), `DROP TRIGGER fails`)
	f.reconcile()
	f.requireConsistent()
	assert.Equal(t, []string{"a\n", "a\n"}, f.texts("moved.md"), "found, and moved")
	assert.Equal(t, []string{"", "b\n"}, f.texts("gone.md"))
}
