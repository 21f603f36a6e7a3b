package pglog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/pgtest"
	"notesd/notes"
)

// TestCommit_Model checks for random batches that one based on the log's files makes
// exactly its changes, is a no-op when repeated, and fails as a whole if one of its files
// differs; and that replaying the feed from the beginning gives the same files.
func TestCommit_Model(t *testing.T) {
	s := pgtest.New(t)
	l := open(t, s.URL(), "model")
	at, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(41, 7))
	have, replayed := map[string]string{}, map[string]string{} // path → text
	taken := func(all map[string]string, p string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(other string) bool { return notes.Key(other) == notes.Key(p) })
	}
	conflicts, folders, again := 0, 0, 0
	for round := range notestest.Rounds(150) {
		next, named := maps.Clone(have), map[string]bool{}
		var changes []notes.FileChange
		free := func() string {
			for {
				p := fmt.Sprintf("%s/%s.md", []string{"a", "b", "c/d"}[rng.IntN(3)], []string{"x", "X", "y", "ü", "z"}[rng.IntN(5)])
				if !taken(next, p) && !taken(have, p) {
					return p
				}
				p = fmt.Sprintf("new %d/%d.md", rng.IntN(3), round)
				if !taken(next, p) {
					return p
				}
			}
		}
		add := func(c notes.FileChange, before, after string) {
			if c.OldPath != "" {
				c.Before = notes.Hash([]byte(before))
				delete(next, c.OldPath)
			}
			if c.Path != "" {
				c.After, c.Data, next[c.Path] = notes.Hash([]byte(after)), []byte(after), after
			}
			named[c.OldPath], named[c.Path] = true, true
			changes = append(changes, c)
		}
		if existing := slices.Sorted(maps.Keys(have)); len(existing) > 3 && rng.IntN(6) == 0 {
			from, to := path.Dir(existing[rng.IntN(len(existing))]), fmt.Sprintf("folder %d", round)
			changes = append(changes, notes.FileChange{OldPath: from, Path: to, Folder: true})
			for p, text := range have {
				if rest, ok := strings.CutPrefix(p, from+"/"); ok {
					delete(next, p)
					next[to+"/"+rest] = text
				}
			}
			folders++
		} else {
			for range 1 + rng.IntN(3) {
				text := fmt.Sprintf("text %d", rng.IntN(30))
				p := ""
				if len(existing) > 0 {
					p = existing[rng.IntN(len(existing))]
				}
				switch kind := rng.IntN(5); {
				case p == "" || kind == 0:
					add(notes.FileChange{Path: free()}, "", text)
				case named[p]: // one change per file
				case kind == 1:
					add(notes.FileChange{OldPath: p}, have[p], "")
				case kind == 2:
					add(notes.FileChange{OldPath: p, Path: free()}, have[p], have[p])
				default:
					add(notes.FileChange{OldPath: p, Path: p}, have[p], text)
				}
			}
		}
		if i := slices.IndexFunc(changes, func(c notes.FileChange) bool {
			return !c.Folder && c.OldPath != "" && c.Before != c.After && have[c.OldPath] != "stale"
		}); i >= 0 && rng.IntN(3) == 0 {
			changes[i].Before = notes.Hash([]byte("stale"))
			changes[i].Data, changes[i].After = []byte("other"), notes.Hash([]byte("other"))
			if changes[i].Path == "" {
				changes[i].Data, changes[i].After = nil, ""
			}
			_, err := commit(l, changes...)
			var conflict *notes.LogConflict
			require.ErrorAs(t, err, &conflict, "%+v", changes)
			require.Equal(t, changes[i].OldPath, conflict.Path)
			require.Equal(t, have[conflict.Path], string(conflict.Text), "what it would have replaced")
			conflicts++
			next = have
		} else {
			_, err := commit(l, changes...)
			require.NoError(t, err, "%+v", changes)
			if !changes[0].Folder {
				head, _, err := l.Snapshot(t.Context())
				require.NoError(t, err)
				_, err = commit(l, changes...) // the response was lost
				require.NoError(t, err)
				same, _, err := l.Snapshot(t.Context())
				require.NoError(t, err)
				require.Equal(t, head, same, "sent again: %+v", changes)
				again++
			}
		}
		have = next
		require.Equal(t, have, files(t, l))
	}
	for {
		entries, err := l.Changes(t.Context(), at, 20)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			for _, c := range e.Changes {
				delete(replayed, c.OldPath)
			}
			for _, c := range e.Changes {
				if c.Path != "" {
					data, err := l.Contents(t.Context(), []string{c.After})
					require.NoError(t, err)
					replayed[c.Path] = string(data[c.After])
				}
			}
			at = e.Position
		}
	}
	assert.Equal(t, have, replayed)
	assert.Positive(t, conflicts)
	assert.Positive(t, folders)
	assert.Positive(t, again)
}

// TestForget checks that the log no longer contains the paths or texts of a forgotten
// file, except in the batch that makes other nodes forget it, and keeps text shared with
// others.
func TestForget(t *testing.T) {
	s := pgtest.New(t)
	l := open(t, s.URL(), "forget")
	beginning, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	for _, changes := range [][]notes.FileChange{
		{create("Secret.md", "one"), create("Other.md", "shared")},
		{edit("Secret.md", "one", "shared")}, {move("Secret.md", "Hidden.md", "shared")}, {edit("Hidden.md", "shared", "two")},
	} {
		_, err := commit(l, changes...)
		require.NoError(t, err)
	}
	var exists *notes.Error
	_, err = l.Forget(t.Context(), "a", notes.Author{}, "Hidden.md", []string{"Hidden.md", "Secret.md"})
	require.ErrorAs(t, err, &exists)
	require.ErrorIs(t, err, notes.ErrExists)
	assert.Equal(t, "Hidden.md", exists.Path)
	_, err = commit(l, remove("Hidden.md", "two"))
	require.NoError(t, err)
	at, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)

	erased, err := l.Forget(t.Context(), "b", notes.Author{Name: "Ann"}, "Hidden.md", []string{"Secret.md", "Hidden.md"})
	require.NoError(t, err)
	assert.True(t, erased)
	assert.Equal(t, map[string]string{"Other.md": "shared"}, files(t, l))
	for text, kept := range map[string]bool{"one": false, "two": false, "shared": true} {
		_, err := l.Contents(t.Context(), []string{notes.Hash([]byte(text))})
		assert.Equal(t, kept, err == nil, "%s: %v", text, err)
	}
	all, err := l.Changes(t.Context(), beginning, 100)
	require.NoError(t, err)
	for _, e := range all[:len(all)-1] {
		for _, c := range e.Changes {
			assert.Equal(t, "Other.md", c.Path)
		}
	}
	news, err := l.Changes(t.Context(), at, 100)
	require.NoError(t, err)
	require.Len(t, news, 1)
	assert.Equal(t, KindForget, news[0].Kind)
	var named []string
	for _, c := range news[0].Changes {
		named = append(named, c.OldPath)
	}
	assert.Equal(t, []string{"Hidden.md", "Secret.md"}, named, "the last path is first")
	_, err = l.Forget(t.Context(), "b", notes.Author{Name: "Ann"}, "Hidden.md", []string{"Secret.md", "Hidden.md"})
	require.NoError(t, err, "the response was lost")
	again, err := l.Changes(t.Context(), at, 100)
	require.NoError(t, err)
	assert.Equal(t, news, again)
	_, err = commit(l, create("Secret.md", "again"))
	require.NoError(t, err, "the name is free")
	erased, err = l.Forget(t.Context(), "c", notes.Author{}, "Never.md", []string{"Never.md"})
	require.NoError(t, err)
	assert.False(t, erased)
}

// TestForget_Again: a second forgetting leaves the first one as it is for readers that were off.
func TestForget_Again(t *testing.T) {
	l := open(t, pgtest.New(t).URL(), "forget")
	for _, changes := range [][]notes.FileChange{{create("Untitled.md", "one")}, {move("Untitled.md", "Secret.md", "one")}, {remove("Secret.md", "one")}} {
		_, err := commit(l, changes...)
		require.NoError(t, err)
	}
	at, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	for i, paths := range [][]string{{"Secret.md", "Untitled.md"}, {"Secret.md"}} {
		_, err = l.Forget(t.Context(), fmt.Sprint(i), notes.Author{}, "Secret.md", paths)
		require.NoError(t, err)
	}
	news, err := l.Changes(t.Context(), at, 100)
	require.NoError(t, err)
	require.NotEmpty(t, news)
	require.Len(t, news[0].Changes, 2)
	assert.Equal(t, "Secret.md", news[0].Changes[0].OldPath)
}

// TestForget_NameUsedAgain forgets a note whose first name another note has now.
func TestForget_NameUsedAgain(t *testing.T) {
	l := open(t, pgtest.New(t).URL(), "forget")
	beginning, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	for _, changes := range [][]notes.FileChange{
		{create("Untitled.md", "one")}, {edit("Untitled.md", "one", "two")}, {move("Untitled.md", "Secret.md", "two")}, {remove("Secret.md", "two")},
		{create("Untitled.md", "new")}, {edit("Untitled.md", "new", "newer")},
	} {
		_, err := commit(l, changes...)
		require.NoError(t, err)
	}
	erased, err := l.Forget(t.Context(), "a", notes.Author{}, "Secret.md", []string{"Secret.md", "Untitled.md"})
	require.NoError(t, err)
	assert.True(t, erased)
	for text, kept := range map[string]bool{"one": false, "two": false, "new": true, "newer": true} {
		_, err := l.Contents(t.Context(), []string{notes.Hash([]byte(text))})
		assert.Equal(t, kept, err == nil, "%s: %v", text, err)
	}
	all, err := l.Changes(t.Context(), beginning, 100)
	require.NoError(t, err)
	require.Len(t, all, 7)
	for i, e := range all {
		assert.Len(t, e.Changes, map[bool]int{true: 0, false: 1}[i < 4])
	}
	assert.Equal(t, "Secret.md", all[6].Changes[0].OldPath)
	assert.Equal(t, map[string]string{"Untitled.md": "newer"}, files(t, l))
}

// TestForget_MovesOfOthers forgets a note whose names other notes have had: a reader that is
// behind still gets what happened to those.
func TestForget_MovesOfOthers(t *testing.T) {
	s := pgtest.New(t)
	for name, c := range map[string]struct {
		before [][]notes.FileChange
		kept   [][]notes.FileChange
	}{
		"from its first name": {
			[][]notes.FileChange{{create("Untitled.md", "one")}, {move("Untitled.md", "Secret.md", "one")}, {create("Untitled.md", "two")}},
			[][]notes.FileChange{{move("Untitled.md", "Live.md", "two")}},
		},
		"to and from its first name": {
			[][]notes.FileChange{{create("Untitled.md", "one")}, {move("Untitled.md", "Secret.md", "one")}, {create("Draft.md", "two")}},
			[][]notes.FileChange{{move("Draft.md", "Untitled.md", "two")}, {move("Untitled.md", "Live.md", "two")}},
		},
		"from its last name": {
			[][]notes.FileChange{{create("Secret.md", "two")}},
			[][]notes.FileChange{{move("Secret.md", "Live.md", "two")}, {create("Untitled.md", "one")}, {move("Untitled.md", "Secret.md", "one")}},
		},
		"an edit under its first name": {
			[][]notes.FileChange{{create("Untitled.md", "one")}, {move("Untitled.md", "Secret.md", "one")}, {create("Untitled.md", "draft")}},
			[][]notes.FileChange{{edit("Untitled.md", "draft", "two")}},
		},
		"between its names": {
			[][]notes.FileChange{{create("Untitled.md", "one"), create("Secret.md", "two")}, {move("Untitled.md", "Other.md", "one")}},
			[][]notes.FileChange{{move("Secret.md", "Untitled.md", "two")}, {move("Other.md", "Secret.md", "one")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, s.URL(), name)
			for _, changes := range c.before {
				_, err := commit(l, changes...)
				require.NoError(t, err)
			}
			s.Exec(`DELETE FROM feed WHERE old_path IS NULL`) // as if it was pruned
			at, _, err := l.Snapshot(t.Context())
			require.NoError(t, err)
			for _, changes := range append(c.kept, []notes.FileChange{remove("Secret.md", "one")}) {
				_, err := commit(l, changes...)
				require.NoError(t, err)
			}
			_, err = l.Forget(t.Context(), "a"+name, notes.Author{}, "Secret.md", []string{"Secret.md", "Untitled.md", "Other.md"})
			require.NoError(t, err)
			entries, err := l.Changes(t.Context(), at, 100)
			require.NoError(t, err)
			of := func(changes []notes.FileChange) (others []notes.FileChange) { // of the note that is not forgotten
				for _, f := range changes {
					if f.After == notes.Hash([]byte("two")) {
						f.Data = nil
						others = append(others, f)
					}
				}
				return others
			}
			var want, got []notes.FileChange
			for _, changes := range c.kept {
				want = append(want, of(changes)...)
			}
			for _, e := range entries {
				got = append(got, of(e.Changes)...)
			}
			assert.Equal(t, want, got)
		})
	}
}
