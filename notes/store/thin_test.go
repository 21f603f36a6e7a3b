package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// saved is a version saved by another program.
type saved struct {
	at   time.Time
	text string
}

// losesAll reports whether the next version is not a continuation of v.
func losesAll(v, next saved) bool { return v.text[:300] != next.text[:300] }

// TestThinning_Promises checks that, of random saves by an editor, history keeps the
// first, the last, at least one for every ten minutes of typing, and each version that
// the next one replaced entirely, up to ten of these in ten minutes.
func TestThinning_Promises(t *testing.T) {
	notestest.SkipInShort(t)
	rng := rand.New(rand.NewPCG(41, 3))
	const within = 10 * time.Minute
	thinned, lossy, bounded := 0, 0, 0
	for range 6 {
		text := noise(rng, 400)
		w := newWorld(t, map[string]string{"A.md": text})
		versions := []saved{{w.Now(), text}}
		often := rng.IntN(2) == 0
		for i := range 60 {
			step := time.Duration(1+rng.IntN(240)) * time.Second
			if often {
				step = time.Duration(1+rng.IntN(20)) * time.Second
			}
			at := w.advance(step)
			switch kind := rng.IntN(8); {
			case kind < 5 && !often:
				text += fmt.Sprintf("typed %d %s", i, noise(rng, 5))
			case kind == 5:
				text = versions[rng.IntN(len(versions))].text
			default:
				text = noise(rng, 400)
			}
			if text == versions[len(versions)-1].text {
				continue
			}
			w.save("A.md", text)
			versions = append(versions, saved{at, text})
		}
		w.advance(time.Hour)
		w.save("A.md", text+"the end\n") // adds the last one to history

		kept := w.revisionsOf("A.md")
		slices.Reverse(kept)
		isKept := make([]bool, len(versions))
		next := 0
		for _, r := range kept { // check that kept is a subsequence of the saved versions
			for ; next < len(versions) && notes.Hash([]byte(versions[next].text)) != r.Hash; next++ {
				require.Less(t, next, len(versions))
			}
			require.Less(t, next, len(versions), "a version that was not saved, or out of order")
			require.True(t, versions[next].at.Equal(r.Time))
			isKept[next] = true
			next++
		}
		last := len(versions) - 1
		require.True(t, isKept[0] && isKept[last])
		for i := 1; i < last; i++ {
			recent := 0
			for j := range i {
				if isKept[j] && versions[i].at.Sub(versions[j].at) < within {
					recent++
				}
			}
			lost := losesAll(versions[i], versions[i+1])
			switch {
			case isKept[i]:
				require.LessOrEqual(t, recent, 10, "version %d, although ten were kept within ten minutes before it", i)
				continue
			case lost:
				bounded++
				require.GreaterOrEqual(t, recent, 10, "version %d, whose text the next does not have", i)
			default:
				require.Positive(t, recent, "version %d, with none kept for ten minutes before it", i)
			}
			thinned++
		}
		for i := range last {
			if isKept[i] && losesAll(versions[i], versions[i+1]) {
				lossy++
			}
		}
		before, operation := 0, "found"
		for _, r := range kept {
			data, err := w.RevisionText(t.Context(), "read", "A.md", r.Revision, notes.Scope{})
			require.NoError(t, err)
			require.Equal(t, r.Hash, notes.Hash(data))
			n := strings.Count(string(data), "\n")
			require.Equal(t, n-before, r.Added-r.Removed, "lines against the version kept before it")
			require.Equal(t, operation, r.Operation)
			before, operation = n, "edit"
		}
	}
	assert.Greater(t, thinned, 30)
	assert.Greater(t, lossy, 30)
	assert.Greater(t, bounded, 10)
}

// TestKeepOverwritten_Move checks that notes moved by another program each get a
// history if they are few, and otherwise only if they have one or their text changes
// with the move.
func TestKeepOverwritten_Move(t *testing.T) {
	for n, wantAll := range map[int]bool{200: true, 201: false} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("a/%d.md", i)] = fmt.Sprintf("text of %d\n", i)
		}
		w := newWorld(t, files)
		w.revise("a/0.md", "edited\n")
		w.advance(time.Hour)
		rows, err := w.Rows(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, rows, n)
		var entries []store.Entry
		for p, r := range rows {
			to := "b/" + strings.TrimPrefix(p, "a/")
			text := files[p]
			if p == "a/0.md" {
				text = "edited\n"
			} else if p == "a/1.md" {
				text = "changed on the way\n"
			}
			entries = append(entries, store.Entry{Kind: notes.Moved, ID: r.ID, Path: to, OldPath: p, DiskPath: to, Stat: r.Stat, Note: notes.Parse(to, []byte(text), w.Now())})
		}
		require.NoError(t, w.KeepOverwritten(t.Context(), entries, n))
		for p, want := range map[string][]string{"b/0.md": {"move", "edit", "found"}, "b/1.md": {"move", "found"}, "b/2.md": {"move", "found"}} {
			var have []string
			for _, r := range w.revisionsOf(p) {
				have = append(have, r.Operation)
				if r.Operation == "move" {
					assert.Equal(t, "a/"+strings.TrimPrefix(p, "b/"), r.OldPath)
				}
			}
			if p == "b/2.md" && !wantAll {
				want = nil
			}
			assert.Equal(t, want, have, "%s of %d", p, n)
		}
	}
}

// TestKeepOverwritten_MoveInBatches checks that a move of many long notes, which are committed in
// several batches, copies no texts.
func TestKeepOverwritten_MoveInBatches(t *testing.T) {
	files := map[string]string{}
	for i := range 201 {
		files[fmt.Sprintf("a/%d.md", i)] = fmt.Sprint(i) + strings.Repeat(" long", 1<<13)
	}
	w := newWorld(t, files)
	require.NoError(t, os.Rename(filepath.Join(w.dir, "a"), filepath.Join(w.dir, "b")))
	w.reconcile()
	rows, err := w.Rows(t.Context(), []string{"b/0.md", "b/200.md"})
	require.NoError(t, err)
	assert.Len(t, rows, 2)
	texts, err := sqlite.First[int](t.Context(), w.History().Reader(), `SELECT count(*) FROM blobs`)
	require.NoError(t, err)
	assert.Zero(t, texts)
}

// TestMatchFiles checks that notes in history without a file become deleted, that those
// whose file is back become live, and that unreadable folders are left unchanged.
func TestMatchFiles(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, map[string]string{"Stays.md": "a", "Goes.md": "one\ntwo\n", "Away/Unknown.md": "c", "Back.md": "d", "Dead.md": "e"})
	for _, p := range []string{"Stays.md", "Goes.md", "Away/Unknown.md"} {
		w.revise(p, "new of "+p+"\n")
	}
	for _, p := range []string{"Back.md", "Dead.md"} {
		_, err := w.vault.Delete(ctx, notes.DeleteRequest{Note: p})
		require.NoError(t, err)
	}
	w.advance(time.Hour)
	for range 2 { // the second time is a no-op
		require.NoError(t, w.MatchFiles(ctx, func(p string) bool { return p == "Stays.md" || p == "Back.md" }, func(p string) bool { return strings.HasPrefix(p, "Away/") }))
		live := map[string]bool{}
		for _, p := range []string{"Stays.md", "Goes.md", "Away/Unknown.md", "Back.md", "Dead.md"} {
			docs, err := w.Documents(ctx, p)
			require.NoError(t, err)
			require.Len(t, docs, 1)
			live[p] = docs[0].Live
		}
		assert.Equal(t, map[string]bool{"Stays.md": true, "Goes.md": false, "Away/Unknown.md": true, "Back.md": true, "Dead.md": false}, live)
		gone := w.revisionsOf("Goes.md")
		require.Len(t, gone, 3)
		assert.Equal(t, []any{"", "delete", notes.Outside, 1}, []any{gone[0].Hash, gone[0].Operation, gone[0].Author, gone[0].Removed})
	}
}

// TestOperation_Written checks the outcome of each kind of operation.
func TestOperation_Written(t *testing.T) {
	file := func(old, new, before, after string) store.FileChange {
		return store.FileChange{OldPath: old, NewPath: new, OldDisk: old, NewDisk: new, Old: []byte(before), New: []byte(after)}
	}
	conflict := file("B.md", "B.md", "b", "c")
	conflict.Conflict = notes.ErrConflict
	folder := store.FileChange{OldPath: "a", NewPath: "b", OldDisk: "a", NewDisk: "b", Folder: true}
	for name, tt := range map[string]struct {
		op   store.Operation
		want notes.Written
	}{
		"create": {store.Operation{Made: []string{"Sub"}, Files: []store.FileChange{file("", "Sub/A.md", "", "# New\n")}},
			notes.Written{Path: "Sub/A.md", Hash: notes.Hash([]byte("# New\n")), Made: []string{"Sub"}}},
		"edit": {store.Operation{Files: []store.FileChange{file("A.md", "A.md", "old\n", "new\n")}},
			notes.Written{Path: "A.md", Hash: notes.Hash([]byte("new\n")), Was: notes.Hash([]byte("old\n"))}},
		"delete": {store.Operation{LinkedFrom: []string{"B.md"}, Files: []store.FileChange{file("A.md", "", "old\n", "")}},
			notes.Written{Path: "A.md", Was: notes.Hash([]byte("old\n")), LinkedFrom: []string{"B.md"}}},
		"move": {store.Operation{Left: []string{"C.canvas"}, Kept: []string{"K.md"}, Files: []store.FileChange{file("A.md", "N.md", "a", "a"), file("C.md", "C.md", "[[A]]", "[[N]]"), file("D.md", "D.md", "same", "same"), conflict}},
			notes.Written{Path: "N.md", OldPath: "A.md", Hash: notes.Hash([]byte("a")), Was: notes.Hash([]byte("a")), Relinked: []string{"C.md"}, Others: []notes.Rewrite{{OldPath: "C.md", Path: "C.md", Old: []byte("[[A]]"), New: []byte("[[N]]")}}, Left: []string{"C.canvas"}, Conflicts: []string{"K.md", "B.md"}}},
		"move of a folder": {store.Operation{Moved: []string{"b/A.md"}, Files: []store.FileChange{folder}},
			notes.Written{Path: "b", OldPath: "a", Moved: []string{"b/A.md"}}},
	} {
		got := tt.op.Written()
		assert.Equal(t, name == "edit" || name == "create" || name == "delete", got.Diff != "", name)
		got.Diff = ""
		assert.Equal(t, tt.want, got, name)
	}
	moved, edited, made, removed := file("A.md", "N.md", "a", "a"), file("A.md", "N.md", "a", "b"), file("", "N.md", "", ""), file("A.md", "", "", "")
	same := file("A.md", "A.md", "a", "a")
	for f, pure := range map[*store.FileChange]bool{&moved: true, &edited: false, &made: false, &removed: false, &same: false} {
		assert.Equal(t, pure, f.IsPureMove(), "%+v", f)
	}
	canvas := file("C.canvas", "C.canvas", "a", "b")
	assert.True(t, made.IsNote() && removed.IsNote() && !canvas.IsNote(), "a canvas has no history")
	assert.Equal(t, []string{".", "A.md", "N.md"}, []string{removed.Dir(), removed.FinalDisk(), moved.FinalDisk()})
	waits := file("a/A.md", "b/A.md", "a", "b")
	waits.Before = "x/A.md"
	assert.Equal(t, []string{"b", "x", "x/A.md", "a/A.md"}, []string{waits.Dir(), waits.StageDir(), waits.Source(), waits.OldDisk}, "it lies elsewhere until a folder has moved")
}
