package store_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/notestest"
	"notesd/notes"
)

// named is a note as seen by the oracle.
type named struct{ path, title, alias string }

// fold is the case folding of the oracle. Lower case suffices for the names in this
// test.
func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// meant returns the paths of the notes that a name means, by the first interpretation
// that matches any: the path, with .md, ignoring case, its end, the title, the alias.
func meant(all []named, name string) []string {
	name = norm.NFC.String(name)
	stem := func(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }
	for _, is := range []func(n named) bool{
		func(n named) bool { return n.path == name },
		func(n named) bool { return n.path == name+".md" },
		func(n named) bool { return fold(n.path) == fold(name) || fold(n.path) == fold(name)+".md" },
		func(n named) bool {
			return strings.HasSuffix("/"+fold(n.path), "/"+fold(name)) || strings.HasSuffix("/"+fold(stem(n.path)), "/"+fold(name))
		},
		func(n named) bool { return fold(n.title) == fold(name) },
		func(n named) bool { return n.alias != "" && fold(n.alias) == fold(name) },
	} {
		var found []string
		for _, n := range all {
			if is(n) {
				found = append(found, n.path)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// TestLookup_Oracle compares lookups of names shared by many notes, in any case and
// Unicode form, with an oracle that follows the documentation literally, and checks
// that notes outside the scope are treated as missing.
func TestLookup_Oracle(t *testing.T) {
	notestest.SkipInShort(t)
	rng := rand.New(rand.NewPCG(21, 1))
	any := func(list ...string) string { return list[rng.IntN(len(list))] }
	word := func() string { return any("Plan", "plan", "Ünï", "U\u0308nï", "v1.2", "One Two", "日記") }
	outcomes := map[string]int{}
	for range 8 {
		files := map[string]string{}
		var all []named
		for range 14 {
			p := norm.NFC.String(any("", "a/", "A b/", "a/b/", "c/") + word() + any(".md", ".md", ".markdown"))
			if slices.ContainsFunc(all, func(n named) bool { return fold(n.path) == fold(p) }) {
				continue // two files that a case-insensitive file system could not store
			}
			n := named{path: p, title: any("", word())}
			if n.alias = any("", "", word()); rng.IntN(3) == 0 {
				n.alias = ""
			}
			text := "---\n"
			if n.title != "" {
				text += fmt.Sprintf("title: %q\n", n.title)
			} else {
				n.title = strings.TrimSuffix(path.Base(p), path.Ext(p))
			}
			if n.alias != "" {
				text += fmt.Sprintf("aliases: [%q]\n", n.alias)
			}
			files[p], all = text+"---\ntext\n", append(all, n)
		}
		slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.path, b.path) })
		w := newWorld(t, files)
		for range 70 {
			name := any("", "", "a/", "b/", "A B/", "a/b/", "C/") + word() + any("", "", ".md", ".MD", ".markdown")
			scope := notes.Scope{}
			visible := all
			if rng.IntN(3) == 0 {
				scope.Read = []string{any("a", "A B", "c", "a/b")}
				visible = slices.DeleteFunc(slices.Clone(all), func(n named) bool { return !scope.CanRead(n.path) })
			}
			want := meant(visible, name)
			for _, ref := range []string{name, "[[" + name + "]]", "![[" + name + "|shown]]", " " + name + " ", "./" + name} {
				m, err := w.Lookup(t.Context(), ref, scope)
				switch len(want) {
				case 0:
					require.ErrorIs(t, err, notes.ErrNotFound, "%q among %+v", ref, visible)
					var e *notes.Error
					require.ErrorAs(t, err, &e)
					for _, p := range e.Candidates {
						require.True(t, scope.CanRead(p), "%q names %q", ref, p)
					}
				case 1:
					require.NoError(t, err, "%q among %+v", ref, visible)
					require.Equal(t, want[0], m.Path, "%q among %+v", ref, visible)
				default:
					require.ErrorIs(t, err, notes.ErrAmbiguous, "%q among %+v", ref, visible)
					var e *notes.Error
					require.ErrorAs(t, err, &e)
					require.Equal(t, want[:min(len(want), 8)], e.Candidates, "%q", ref)
				}
			}
			outcomes[fmt.Sprint(min(len(want), 2))]++
			_, err := w.Lookup(t.Context(), notes.URI(path.Join("a", "Plan")), notes.Scope{})
			if !slices.ContainsFunc(all, func(n named) bool { return n.path == "a/Plan" }) {
				require.ErrorIs(t, err, notes.ErrNotFound, "a URI means its own note")
			}
		}
	}
	for _, outcome := range []string{"0", "1", "2"} {
		assert.Greater(t, outcomes[outcome], 10, "notes meant: %s", outcome)
	}
}

// TestLookup_NotFound checks that the error explains why a name was not found.
func TestLookup_NotFound(t *testing.T) {
	w := newWorld(t, map[string]string{"Work/Harbour plan.md": "x", "Work/Boats.md": "y", "Home/Garden.md": "z", "Broken.md": "a\x00b", "Work/Jetty.md": "[[pic 1.png]]", "Work/pic 1.png": "png"})
	_, err := w.vault.Move(t.Context(), notes.MoveRequest{Note: "Work/Boats.md", To: "Home/Ships.md"})
	require.NoError(t, err)
	_, err = w.vault.Delete(t.Context(), notes.DeleteRequest{Note: "Work/Jetty.md"})
	require.NoError(t, err)
	for ref, want := range map[string]struct{ detail, candidate, movedTo string }{
		"Work/Jetty.md":              {`the note "Work/Jetty.md" was deleted`, "", ""},
		"jetty":                      {"there is no such note", "", ""},
		"Jetty":                      {`the note "Work/Jetty.md" was deleted`, "", ""},
		"Work/pic 1.png":             {"this is an attachment, not a note", "", ""},
		"Work/Boats":                 {`the note was moved to "Home/Ships.md"`, "Home/Ships.md", "Home/Ships.md"},
		"[[Boats]]":                  {`the note was moved to "Home/Ships.md"`, "Home/Ships.md", "Home/Ships.md"},
		"Broken":                     {"the file exists but cannot be a note: not text: it contains NUL bytes", "", ""},
		"Work":                       {"this is a folder, not a note (notes in it and its subfolders: 1)", "", ""},
		"Harbour plans":              {"there is no such note", "Work/Harbour plan.md", ""},
		"Something else?":            {"there is no such note", "", ""},
		"plan for work":              {"there is no such note", "", ""},
		"Work plan":                  {"there is no such note", "Work/Harbour plan.md", ""},
		"Work/Boats#Sails":           {`the note was moved to "Home/Ships.md"`, "Home/Ships.md", "Home/Ships.md"},
		"Harbour plans.md:2-3":       {"there is no such note", "Work/Harbour plan.md", ""},
		"note:///Work/Jetty.md#Lamp": {`the note "Work/Jetty.md" was deleted`, "", ""},
	} {
		_, err := w.Lookup(t.Context(), ref, notes.Scope{})
		var e *notes.Error
		require.ErrorAs(t, err, &e, ref)
		require.ErrorIs(t, err, notes.ErrNotFound)
		assert.Equal(t, want.detail, e.Detail, ref)
		assert.Equal(t, want.movedTo, e.MovedTo, ref)
		assert.Equal(t, want.candidate, strings.Join(e.Candidates, " "), ref)
		assert.NotEmpty(t, e.Hint, ref)
	}
	_, err = w.Lookup(t.Context(), "work/", notes.Scope{})
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, `The folder is spelled "Work".`, e.Hint)
	for _, ref := range []string{"Work/Boats", "Boats", "Broken", "Work", "Harbour plans", "Work/Jetty", "Jetty", "Work/pic 1.png"} {
		_, err := w.Lookup(t.Context(), ref, notes.Scope{Read: []string{"Elsewhere"}})
		var e *notes.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "there is no such note", e.Detail, "%s: what may not be read is not named", ref)
		assert.Empty(t, e.Candidates)
	}
}

// TestLookup_SimilarShortNames checks that one wrong letter in a short name, which may leave it
// no trigram in common, does not hide the note.
func TestLookup_SimilarShortNames(t *testing.T) {
	w := newWorld(t, map[string]string{"Plan.md": "", "Tom.md": "", "People/Rust.md": "", "会议.md": "", "A.md": "", "Harbour.md": ""})
	for ref, want := range map[string]string{
		"Paln": "Plan.md", "Tim": "Tom.md", "People/Rsut": "People/Rust.md", "会义": "会议.md", "B": "", "Xyz": "", "Harbuor": "Harbour.md", "Ros": "",
	} {
		_, err := w.Lookup(t.Context(), ref, notes.Scope{})
		var e *notes.Error
		require.ErrorAs(t, err, &e, ref)
		assert.Equal(t, want, strings.Join(e.Candidates, " "), ref)
	}
}

// TestLookup_Retyped checks that a name is found with another apostrophe than that of the note, unless
// a note has it as written, and that accents left out do not hide the note from the suggestions.
func TestLookup_Retyped(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Livres/L’Étranger.md": "# L’Étranger", "Bob's plan.md": "1", "Bob’s plan.md": "2", "דו״ח.md": "", "Місто.md": "# Кам'янець", "Phở bò.md": "",
	})
	for ref, want := range map[string]string{
		"L'Étranger": "Livres/L’Étranger.md", "livres/l'étranger": "Livres/L’Étranger.md", "Bob's plan": "Bob's plan.md", "Bob’s plan": "Bob’s plan.md",
		`דו"ח`: "דו״ח.md", "Камʼянець": "Місто.md",
	} {
		m, err := w.Lookup(t.Context(), ref, notes.Scope{})
		require.NoError(t, err, ref)
		assert.Equal(t, want, m.Path, ref)
	}
	_, err := w.Lookup(t.Context(), "pho bo", notes.Scope{})
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"Phở bò.md"}, e.Candidates)
	_, err = w.Lookup(t.Context(), "Bobʼs plan", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
	_, err = w.vault.Delete(t.Context(), notes.DeleteRequest{Note: "Bob's plan.md"})
	require.NoError(t, err)
	_, err = w.Lookup(t.Context(), "Bob's plan.md", notes.Scope{})
	require.ErrorContains(t, err, "was deleted", "not the other note")
}

// TestLookup_Part checks that a reference to a part of a note is found without a search for
// names like it, which allocates for every note.
func TestLookup_Part(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("F/Note %d.md", i)] = ""
	}
	w := newWorld(t, files)
	cost := func(ref string) float64 {
		return testing.AllocsPerRun(3, func() {
			m, err := w.Lookup(t.Context(), ref, notes.Scope{})
			require.NoError(t, err)
			require.Equal(t, "F/Note 5.md", m.Path)
		})
	}
	whole := cost("F/Note 5.md")
	for _, ref := range []string{"note:///F/Note%205.md?rev=0123456789ab#L1-L2", "F/Note 5.md:1-2", "F/Note 5#Heading"} {
		assert.Less(t, cost(ref), 6*whole, ref)
	}
}

// BenchmarkLookup finds one of 20 000 notes by its path and by a reference to some of its lines.
func BenchmarkLookup(b *testing.B) {
	files := map[string]string{}
	for i := range 20_000 {
		files[fmt.Sprintf("F/N%d.md", i)] = "one\ntwo\n"
	}
	w := newWorld(b, files)
	for _, ref := range []string{"F/N5.md", "note:///F/N5.md?rev=0123456789ab#L1-L2", "F/N5#Heading"} {
		b.Run(url.PathEscape(ref), func(b *testing.B) {
			for b.Loop() {
				m, err := w.Lookup(b.Context(), ref, notes.Scope{})
				require.NoError(b, err)
				require.Equal(b, "F/N5.md", m.Path)
			}
		})
	}
}
