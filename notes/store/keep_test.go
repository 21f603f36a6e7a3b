package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/fsid"
	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// noise returns text that compresses poorly.
func noise(rng *rand.Rand, size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('!' + rng.IntN(90))
	}
	return string(b) + "\n"
}

// revisionsOf returns all revisions of a path, newest first.
func (w *world) revisionsOf(p string) (all []notes.Revision) {
	w.t.Helper()
	q := notes.HistoryQuery{Note: p, Limit: 7}
	for {
		page, err := w.Page(w.t.Context(), p, q)
		require.NoError(w.t, err)
		all = append(all, page.Revisions...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
	}
}

// TestPrune_Promises checks that, for random histories and limits, pruning keeps each
// note's newest revision and newest text and everything within the limits, leaves every
// revision readable, and is idempotent.
func TestPrune_Promises(t *testing.T) {
	notestest.SkipInShort(t)
	rng := rand.New(rand.NewPCG(41, 1))
	for round := range 6 {
		w := newWorld(t, nil)
		paths := []string{"A.md", "B.md", "C.md", "D.md"}
		for _, p := range paths {
			_, err := w.vault.Create(t.Context(), notes.CreateRequest{Path: p, Content: noise(rng, 50)})
			require.NoError(t, err)
		}
		for range 40 {
			w.advance(time.Duration(1+rng.IntN(48)) * time.Hour)
			p := paths[rng.IntN(3)]
			_, err := w.vault.Edit(t.Context(), notes.EditRequest{Note: p, Edits: []notes.Edit{{Op: "replace_all", Content: noise(rng, 300+rng.IntN(3000))}}})
			require.NoError(t, err)
		}
		_, err := w.vault.Delete(t.Context(), notes.DeleteRequest{Note: "C.md"})
		require.NoError(t, err)
		before := map[string][]notes.Revision{}
		var confirmed time.Time // the newest time at least a day ago
		for _, p := range paths {
			before[p] = w.revisionsOf(p)
			for _, r := range before[p] {
				if r.Time.After(confirmed) && !r.Time.After(w.Now().Add(-24*time.Hour)) {
					confirmed = r.Time
				}
			}
		}
		limits := notes.HistoryLimits{}
		switch round % 3 {
		case 0:
			limits.Revisions = 1 + rng.IntN(8)
		case 1:
			limits.Age = time.Duration(rng.IntN(30*24)) * time.Hour
		case 2:
			limits.Bytes = int64(1 + rng.IntN(20_000))
		}
		require.NoError(t, w.Prune(t.Context(), limits))
		bytes := 0
		for _, p := range paths {
			after := w.revisionsOf(p)
			all := before[p]
			text := slices.IndexFunc(all, func(r notes.Revision) bool { return r.Hash != "" })
			context := fmt.Sprintf("%s with %+v", p, limits)
			require.Subset(t, all, after, context)
			require.Equal(t, all[0], after[0], context)
			require.Contains(t, after, all[text], context)
			for i, r := range all {
				kept := slices.Contains(after, r)
				switch {
				case i == 0 || i == text:
				case limits.Revisions > 0:
					require.Equal(t, i < limits.Revisions, kept, "%s: revision %d", context, i)
				case limits.Age > 0:
					require.Equal(t, !all[i-1].Time.Before(confirmed.Add(-limits.Age)), kept, "%s: revision %d", context, i)
				case kept:
					bytes += int(r.Size)
				}
			}
			for _, r := range after {
				if r.Hash == "" {
					continue
				}
				data, err := w.RevisionText(t.Context(), "read", p, r.Revision, notes.Scope{})
				require.NoError(t, err, context)
				require.Equal(t, r.Hash, notes.Hash(data))
			}
		}
		if limits.Bytes > 0 {
			assert.LessOrEqual(t, bytes, int(limits.Bytes)*3/2, "the texts hardly compress, and fit together")
		}
		kept := map[string][]notes.Revision{}
		for _, p := range paths {
			kept[p] = w.revisionsOf(p)
		}
		require.NoError(t, w.Prune(t.Context(), limits))
		for _, p := range paths {
			require.Equal(t, kept[p], w.revisionsOf(p), "a second time")
		}
	}
}

// TestMoment_NoteChanges checks that a moment is unaffected by later changes of its
// notes.
func TestMoment_NoteChanges(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "---\nstatus: open\n---\none\n", "Gone.md": "gone\n", "Work/B.md": "two\n"})
	w.advance(time.Hour)
	m, err := w.AsOf(t.Context(), w.Now(), &sync.Mutex{})
	require.NoError(t, err)
	assert.Equal(t, []string{"A.md", "Gone.md", "Work/B.md"}, m.Paths())
	w.advance(time.Hour)
	w.save("A.md", "changed\n")
	_, err = w.vault.Delete(t.Context(), notes.DeleteRequest{Note: "Gone.md"})
	require.NoError(t, err)
	for p, want := range map[string]string{"A.md": "---\nstatus: open\n---\none\n", "Gone.md": "gone\n", "Work/B.md": "two\n"} {
		n, err := m.Note(t.Context(), p)
		require.NoError(t, err, p)
		assert.Equal(t, want, n.Content)
		n, err = m.Read(t.Context(), p, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, want, n.Content)
	}
	var open []string
	complete, err := m.Notes(t.Context(), notes.Filter{Where: object{"status": "open"}}, func(n *notes.Note) error { open = append(open, n.Path); return nil })
	require.NoError(t, err)
	assert.True(t, complete)
	assert.Equal(t, []string{"A.md"}, open)
	_, err = m.Read(t.Context(), "A", notes.Scope{Read: []string{"Work"}})
	require.ErrorIs(t, err, notes.ErrNotFound)
	n, err := m.Read(t.Context(), "work/b", notes.Scope{Read: []string{"Work"}})
	require.NoError(t, err)
	assert.Equal(t, "Work/B.md", n.Path)
}

// TestMoment_ClockSetBack checks that a note is not brought back by a version from a time
// when the clock was ahead.
func TestMoment_ClockSetBack(t *testing.T) {
	w := newWorld(t, map[string]string{"Gone.md": "gone\n"})
	w.advance(3 * time.Hour)
	_, err := w.vault.Edit(t.Context(), notes.EditRequest{Note: "Gone.md", Edits: []notes.Edit{{Op: "append", Content: "ahead"}}})
	require.NoError(t, err)
	w.advance(-2 * time.Hour)
	_, err = w.vault.Delete(t.Context(), notes.DeleteRequest{Note: "Gone.md"})
	require.NoError(t, err)
	m, err := w.AsOf(t.Context(), w.advance(4*time.Hour), &sync.Mutex{})
	require.NoError(t, err)
	assert.Empty(t, m.Paths())
}

// locks counts how often it was locked.
type locks struct {
	sync.Mutex
	taken int
}

func (l *locks) Lock() {
	l.Mutex.Lock()
	l.taken++
}

// TestMoment_VersionThinned checks that a version that the history has dropped since is
// replaced by the one before it, which is looked up with the vault's lock.
func TestMoment_VersionThinned(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "one\n"})
	text := "one\n"
	add := func(line string) {
		w.advance(time.Minute)
		text += line
		w.save("A.md", text)
	}
	add("two\n")
	lock := &locks{}
	m, err := w.AsOf(t.Context(), w.Now(), lock)
	require.NoError(t, err)
	add("three\n")
	add("four\n")
	add("five\n")
	was, err := m.Note(t.Context(), "A.md")
	require.NoError(t, err)
	assert.Equal(t, "one\n", was.Content)
	assert.Equal(t, 2, lock.taken)
}

// TestMoment_Twins checks that a name that two notes had is ambiguous, whichever note
// has it now.
func TestMoment_Twins(t *testing.T) {
	w := newWorld(t, map[string]string{"a/Plan.md": "first\n", "b/Plan.md": "second\n"})
	at := w.advance(time.Hour)
	w.advance(time.Hour)
	_, err := w.vault.Move(t.Context(), notes.MoveRequest{Note: "b/Plan.md", To: "b/Old.md"})
	require.NoError(t, err)
	m, err := w.AsOf(t.Context(), at, &sync.Mutex{})
	require.NoError(t, err)
	_, err = m.Read(t.Context(), "Plan", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"a/Plan.md", "b/Plan.md"}, e.Candidates)
	n, err := m.Read(t.Context(), "b/Old", notes.Scope{})
	require.NoError(t, err, "the note that is called so now")
	assert.Equal(t, "b/Plan.md", n.Path)
	assert.Equal(t, "second\n", n.Content)
}

// TestFiles_Model compares the lists of other files with a model, after scans of the
// whole vault or parts of it, in which some folders are unreadable.
func TestFiles_Model(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(41, 2))
	w := newWorld(t, nil)
	any := func(list ...string) string { return list[rng.IntN(len(list))] }
	attachments, skipped := map[string]bool{}, map[string]string{}
	for range 150 {
		whole := rng.IntN(3) == 0
		looked := []string{any("a", "b", "a/c", "a/1.png", "b/2.md")}
		unread := any("", "", "a/c", "b")
		covered := func(p string) bool { return whole || notes.Under(p, looked[0]) }
		unknown := func(p string) bool { return unread != "" && notes.Under(p, unread) }
		scan := store.Scan{Whole: whole, Scanned: looked}
		seenFiles, seenSkipped := map[string]bool{}, map[string]string{}
		for _, folder := range []string{"a/", "a/c/", "b/"} {
			for i := range 3 {
				if p := fmt.Sprintf("%s%d.png", folder, i); rng.IntN(2) == 0 && covered(p) && !unknown(p) {
					scan.Attachments, seenFiles[p] = append(scan.Attachments, store.File{Path: p, DiskPath: p}), true
				}
				if p := fmt.Sprintf("%s%d.md", folder, i); rng.IntN(2) == 0 && covered(p) && !unknown(p) {
					if reason := skipped[p]; reason != "" && rng.IntN(2) == 0 {
						scan.Kept, seenSkipped[p] = append(scan.Kept, p), reason
						continue
					}
					seenSkipped[p] = any("not text", "too large")
					scan.Skipped = append(scan.Skipped, store.Skipped{Skipped: notes.Skipped{Path: p, Reason: seenSkipped[p]}, Stat: fsid.Stat{Size: int64(i)}})
				}
			}
		}
		require.NoError(t, w.Files().Record(ctx, scan, unknown))
		maps.DeleteFunc(attachments, func(p string, _ bool) bool { return covered(p) && !unknown(p) })
		maps.DeleteFunc(skipped, func(p, _ string) bool { return covered(p) && !unknown(p) })
		maps.Copy(attachments, seenFiles)
		maps.Copy(skipped, seenSkipped)

		list, total, err := w.Files().Skipped(ctx, 4)
		require.NoError(t, err)
		require.Equal(t, len(skipped), total)
		want := []notes.Skipped{}
		for _, p := range slices.Sorted(maps.Keys(skipped))[:min(4, len(skipped))] {
			want = append(want, notes.Skipped{Path: p, Reason: skipped[p]})
		}
		require.Equal(t, want, list)
		passed, err := w.Files().PassedOver(ctx)
		require.NoError(t, err)
		require.Equal(t, slices.Sorted(maps.Keys(skipped)), slices.Sorted(maps.Keys(passed)))
		for _, folder := range []string{"a", "a/c", "b", "nowhere"} {
			have, err := w.Files().Under(ctx, folder)
			require.NoError(t, err)
			var want []string
			for _, p := range slices.Sorted(maps.Keys(attachments)) {
				if strings.HasPrefix(p, folder+"/") {
					want = append(want, p)
				}
			}
			require.Equal(t, want, have, folder)
		}
	}
}

// TestAttachments_Linked checks that an attachment is available only to callers who may
// read a note that links to it.
func TestAttachments_Linked(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Work/A.md": "![[pic.png]] [doc](../Files/Doc%201.pdf)\n", "Home/B.md": "![[Files/Doc 1.pdf]] ![[pic.png]]\n",
		"Files/Doc 1.pdf": "pdf", "Files/pic.png": "png", "Files/unlinked.png": "png", "Home/pic.png": "other",
	})
	for _, tt := range []struct {
		name   string
		read   []string
		want   string
		others []string
	}{
		{"Files/Doc 1.pdf", nil, "Files/Doc 1.pdf", nil},
		{"files/doc 1.PDF", nil, "Files/Doc 1.pdf", nil},
		{"Files/Doc 1.pdf", []string{"Work", "Files"}, "Files/Doc 1.pdf", nil},
		{"Files/Doc 1.pdf", []string{"Files"}, "", nil},
		{"Files/Doc 1.pdf", []string{"Work"}, "", nil},
		{"Files/unlinked.png", nil, "", nil},
		{"Home/pic.png", nil, "Home/pic.png", []string{}},
		{"Nowhere/pic.png", nil, "", []string{"Home/pic.png"}},
	} {
		file, others, err := w.Files().Linked(t.Context(), tt.name, notes.Scope{Read: tt.read})
		require.NoError(t, err)
		assert.Equal(t, tt.want, file.Path, "%+v", tt)
		if tt.others != nil {
			assert.Subset(t, others, tt.others, "%+v", tt)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(w.dir, "Files", "Doc 1.pdf")))
	w.reconcile()
	file, _, err := w.Files().Linked(t.Context(), "Files/Doc 1.pdf", notes.Scope{})
	require.NoError(t, err)
	assert.Empty(t, file.Path)
}

// TestPrune_Subscriptions checks that the subscriptions of sessions that subscribed long ago
// are removed, however many a session has.
func TestPrune_Subscriptions(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, nil)
	require.NoError(t, w.Subscribe(ctx, "used", "note:///First.md"))
	require.NoError(t, w.Subscribe(ctx, "left", "note:///Note.md"))
	for i := range 255 {
		require.NoError(t, w.Subscribe(ctx, fmt.Sprint(i), "note:///Note.md"))
	}
	require.NoError(t, w.Subscribe(ctx, "used", "note:///Last.md"))
	require.NoError(t, w.Subscribe(ctx, "used", "note:///Last.md"), "twice has no effect")
	require.NoError(t, w.Prune(ctx, notes.HistoryLimits{}))
	for session, want := range map[string][]string{"used": {"note:///First.md", "note:///Last.md"}, "left": {}, "0": {"note:///Note.md"}} {
		uris, err := w.Subscriptions(ctx, session)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, uris, session)
	}
	require.NoError(t, w.Unsubscribe(ctx, "used", "note:///First.md"))
	uris, err := w.Subscriptions(ctx, "used")
	require.NoError(t, err)
	assert.Equal(t, []string{"note:///Last.md"}, uris)
}
