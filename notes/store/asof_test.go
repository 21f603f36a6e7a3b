package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// replay makes random changes, through tools and as other programs, and records the
// text of every note after each.
type replay struct {
	*world
	rng    *rand.Rand
	texts  map[string]string // path → text
	states []state
	made   int
}

type state struct {
	at    time.Time
	texts map[string]string
}

func (r *replay) any() string {
	paths := slices.Sorted(maps.Keys(r.texts))
	return paths[r.rng.IntN(len(paths))]
}

func (r *replay) text() string {
	words := []string{"alpha", "beta", "gamma", "delta"}
	return fmt.Sprintf("---\nstatus: %s\n---\n# Title %d\n\n%s %s #tag%d\n", words[r.rng.IntN(4)], r.made, words[r.rng.IntN(4)], words[r.rng.IntN(4)], r.rng.IntN(3))
}

// file writes or removes a file as another program would, with times from the test's
// clock.
func (r *replay) file(name, text string, exists bool) {
	full := filepath.Join(r.dir, filepath.FromSlash(name))
	if !exists {
		require.NoError(r.t, os.Remove(full))
		delete(r.texts, name)
		return
	}
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o644))
	require.NoError(r.t, os.Chtimes(full, r.Now(), r.Now()))
	r.texts[name] = text
}

// moveFolder moves a folder, except into itself.
func (r *replay) moveFolder(from, to string) {
	if notes.Under(to, from) {
		return
	}
	_, err := r.vault.Move(r.t.Context(), notes.MoveRequest{Note: from + "/", To: to})
	require.NoError(r.t, err)
	for p, text := range maps.Clone(r.texts) {
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			delete(r.texts, p)
			r.texts[to+"/"+rest] = text
		}
	}
}

func (r *replay) step() {
	ctx := r.t.Context()
	r.advance(11 * time.Minute) // outside versions made more often are thinned
	r.made++
	fresh := fmt.Sprintf("d%d/Note %d.md", r.rng.IntN(3), r.made)
	switch op := r.rng.IntN(11); {
	case op == 0 || len(r.texts) < 3:
		text := r.text()
		_, err := r.vault.Create(ctx, notes.CreateRequest{Path: fresh, Content: text})
		require.NoError(r.t, err)
		r.texts[fresh] = text
	case op == 1:
		r.file(fresh, r.text(), true)
	case op <= 3:
		p := r.any()
		_, err := r.vault.Edit(ctx, notes.EditRequest{Note: notes.URI(p), Edits: []notes.Edit{{Op: "replace_all", Content: r.text()}}})
		require.NoError(r.t, err)
		text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(p)))
		require.NoError(r.t, err)
		r.texts[p] = string(text)
	case op <= 5:
		r.file(r.any(), r.text(), true)
	case op == 6:
		p := r.any()
		_, err := r.vault.Move(ctx, notes.MoveRequest{Note: notes.URI(p), To: fresh})
		require.NoError(r.t, err)
		r.texts[fresh] = r.texts[p]
		delete(r.texts, p)
	case op == 7:
		p := r.any()
		require.NoError(r.t, os.MkdirAll(filepath.Join(r.dir, filepath.Dir(fresh)), 0o755))
		require.NoError(r.t, os.Rename(filepath.Join(r.dir, filepath.FromSlash(p)), filepath.Join(r.dir, filepath.FromSlash(fresh))))
		r.texts[fresh] = r.texts[p]
		delete(r.texts, p)
	case op == 8:
		p := r.any()
		_, err := r.vault.Delete(ctx, notes.DeleteRequest{Note: notes.URI(p)})
		require.NoError(r.t, err)
		delete(r.texts, p)
	case op == 9:
		r.file(r.any(), "", false)
	default:
		r.moveFolder(path.Dir(r.any()), fmt.Sprintf("d%d/Folder %d", r.rng.IntN(3), r.made))
	}
	r.reconcile()
	r.states = append(r.states, state{r.Now(), maps.Clone(r.texts)})
}

// TestAsOfEqualsAReplay compares the vault at many past times with an independent
// replay of the changes: each note read, lists by filters, and a search.
func TestAsOfEqualsAReplay(t *testing.T) {
	notestest.SkipInShort(t)
	const steps = 1000
	r := &replay{world: newWorld(t, nil), rng: rand.New(rand.NewPCG(3, 5)), texts: map[string]string{}}
	for range steps {
		r.step()
	}
	r.advance(time.Hour)
	for _, i := range r.rng.Perm(steps)[:min(steps, 100)] {
		s := r.states[i]
		at := s.at.Add(time.Minute)
		got := map[string]string{}
		m, err := r.AsOf(t.Context(), at, &sync.Mutex{})
		require.NoError(t, err)
		complete, err := m.Notes(t.Context(), notes.Filter{}, func(n *notes.Note) error { got[n.Path] = n.Content; return nil })
		require.NoError(t, err)
		assert.True(t, complete)
		require.Equal(t, s.texts, got, "after step %d", i)
		for name, tt := range map[string]struct {
			filter notes.Filter
			holds  func(p, text string) bool
		}{
			"folder": {notes.Filter{Folder: "d1"}, func(p, _ string) bool { return strings.HasPrefix(p, "d1/") }},
			"scope":  {notes.Filter{Scope: []string{"d2"}}, func(p, _ string) bool { return strings.HasPrefix(p, "d2/") }},
			"tag":    {notes.Filter{Tags: []string{"tag1"}}, func(_, text string) bool { return strings.Contains(text, "#tag1") }},
			"where":  {notes.Filter{Where: object{"status": "beta"}}, func(_, text string) bool { return strings.Contains(text, "status: beta") }},
			"glob":   {notes.Filter{Glob: "*1?.md"}, func(p, _ string) bool { return len(p) > 5 && p[len(p)-5] == '1' }},
		} {
			var want, listed []string
			for p, text := range s.texts {
				if tt.holds(p, text) {
					want = append(want, p)
				}
			}
			slices.Sort(want)
			_, err := m.Notes(t.Context(), tt.filter, func(n *notes.Note) error { listed = append(listed, n.Path); return nil })
			require.NoError(t, err)
			require.Equal(t, want, listed, "%s after step %d", name, i)
		}
		for p, text := range s.texts {
			n, err := m.Read(t.Context(), p, notes.Scope{})
			require.NoError(t, err)
			require.Equal(t, text, n.Content)
			break // one is enough: the list has all texts
		}
	}
	before, err := r.AsOf(t.Context(), r.states[0].at.Add(-time.Minute), &sync.Mutex{})
	require.NoError(t, err)
	_, err = before.Read(t.Context(), "d0/Note 1.md", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	_, err = r.vault.History().ReadAt(t.Context(), "d0/Note 1.md", time.Date(2020, 1, 1, 0, 0, 0, 0, time.Local), notes.Scope{})
	require.ErrorIs(t, err, notes.ErrInvalid, "before history begins")
	_, err = before.Notes(t.Context(), notes.Filter{Orphans: true}, nil)
	require.ErrorIs(t, err, notes.ErrInvalid)
}

// TestAsOf_Fields checks the fields of a past version and of a note unchanged since: inline
// ones, and when the notes were created.
func TestAsOf_Fields(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "status:: open\n", "Said.md": "---\ncreated: 2020-01-02\ndate: 2021-03-04\n---\nstatus:: open\n"})
	found, at := w.Now(), w.Now().Add(time.Hour)
	for range 2 {
		m, err := w.AsOf(t.Context(), at, &sync.Mutex{})
		require.NoError(t, err)
		got := map[string]map[string]any{}
		_, err = m.Notes(t.Context(), notes.Filter{}, func(n *notes.Note) error {
			got[n.Path] = n.Fields([]string{"status", "file.ctime", "file.cday"})
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, map[string]map[string]any{
			"A.md":    {"status": "open", "file.ctime": found.Format(time.RFC3339), "file.cday": "2031-05-15"},
			"Said.md": {"status": "open", "file.ctime": time.Date(2020, 1, 2, 0, 0, 0, 0, time.Local).Format(time.RFC3339), "file.cday": "2020-01-02"},
		}, got)
		w.advance(24 * time.Hour)
		w.save("A.md", "status:: done\n")
		w.save("Said.md", "other\n")
	}
}
