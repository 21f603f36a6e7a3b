package vault

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// leadsTo returns the target of the first link of a note, or "".
func (f *fixture) leadsTo(note string) string {
	f.t.Helper()
	report, err := f.Links(f.t.Context(), note, notes.LinkQuery{Direction: "out"})
	require.NoError(f.t, err)
	if len(report.Outgoing) == 0 {
		return ""
	}
	return report.Outgoing[0].To
}

// In a Logseq graph, a link names a page by its title, from which Logseq derives the file
// name.
func TestLogseqNamespaces(t *testing.T) {
	f := newFixture(t, "logseq/config.edn", "{}", "pages/a___b.md", "- x\n", "pages/a%2Fold.md", "- legacy\n", "pages/What%3F A%3A b.md", "- odd\n", "pages/b.md", "- another\n",
		"journals/Plain.md", "[[A/B]]", "journals/Tag.md", "- #x [[a/b]] and [[a/b#x]]\n", "journals/Old.md", "[[a/old]]", "journals/Odd.md", "[[What? A: b]]",
		"journals/Short.md", "[[b]]", "journals/Markdown.md", "[b](../pages/a___b.md)", "journals/None.md", "[[x/b]]")
	for note, want := range map[string]string{"Plain": "pages/a___b.md", "Tag": "pages/a___b.md", "Old": "pages/a%2Fold.md", "Odd": "pages/What%3F A%3A b.md",
		"Short": "pages/b.md", "Markdown": "pages/a___b.md", "None": ""} {
		assert.Equal(t, want, f.leadsTo("journals/"+note+".md"), note)
	}
	for _, ref := range []string{"a/b", "[[A/b]]"} {
		meta, err := f.Lookup(t.Context(), ref, notes.Scope{})
		require.NoError(t, err, ref)
		assert.Equal(t, "pages/a___b.md", meta.Path)
	}

	f.move("pages/a___b.md", "pages/a___c.md")
	assert.Equal(t, "[[a/c]]", f.onDisk("journals/Plain.md"))
	assert.Equal(t, "- #x [[a/c]] and [[a/c#x]]\n", f.onDisk("journals/Tag.md"))
	assert.Equal(t, "[b](../pages/a___c.md)", f.onDisk("journals/Markdown.md"))
	assert.Equal(t, "pages/a___c.md", f.leadsTo("journals/Plain.md"))
	f.move("pages/a___c.md", "archive/a___c.md")
	assert.Equal(t, "[[a/c]]", f.onDisk("journals/Plain.md"), "the title is as it was")
	f.move("archive/a___c.md", "pages/d.md")
	assert.Equal(t, "[[d]]", f.onDisk("journals/Plain.md"))
	f.move("pages/d.md", "pages/e___f___g.md")
	assert.Equal(t, "[[e/f/g]]", f.onDisk("journals/Plain.md"))
	assert.Equal(t, "[[b]]", f.onDisk("journals/Short.md"))

	f.write("pages/x___b.md", "- new\n")
	f.reconcile()
	assert.Equal(t, "pages/x___b.md", f.leadsTo("journals/None.md"), "a page that is created later")
	f.remove("pages/x___b.md")
	f.reconcile()
	assert.Empty(t, f.leadsTo("journals/None.md"))
}

// In a Logseq graph, a link may name a page by an alias.
func TestLogseqAliases(t *testing.T) {
	f := newFixture(t, "logseq/config.edn", "{}", "pages/Machine learning.md", "alias:: ML, [[machine-learning]], AI/ML\n\n- x [[ml]]\n", "pages/Pages.md", "- x\n", "pages/term.md", "alias:: Pages\n",
		"pages/Obsidian.md", "---\naliases: [Ob]\n---\n", "journals/Link.md", "- see [[ML]] now", "journals/Tag.md", "- #[[machine-learning]]", "journals/Nested.md", "{{embed [[ai/ml]]}}",
		"journals/Page.md", "[[pages]]", "journals/Markdown.md", "[x](ML.md)", "journals/Other.md", "[[Ob]]")
	ml := "pages/Machine learning.md"
	for note, want := range map[string]string{"Link": ml, "Tag": ml, "Nested": ml, "Page": "pages/Pages.md", "Markdown": "", "Other": ""} {
		assert.Equal(t, want, f.leadsTo("journals/"+note+".md"), note)
	}
	report, err := f.Links(t.Context(), ml, notes.LinkQuery{})
	require.NoError(t, err)
	assert.Len(t, report.Backlinks, 3)
	assert.Empty(t, report.Unresolved, "an alias of the page itself")

	f.move(ml, "archive/Statistics.md")
	assert.Equal(t, "- see [[ML]] now", f.onDisk("journals/Link.md"), "the alias moves with the page")
	assert.Equal(t, "archive/Statistics.md", f.leadsTo("journals/Link.md"))
	f.move("pages/Pages.md", "pages/ml.md")
	assert.Equal(t, "- see [[Statistics]] now", f.onDisk("journals/Link.md"), "the name is that of another page now")
	assert.Equal(t, "[[ml]]", f.onDisk("journals/Page.md"))

	f.write("archive/Statistics.md", "alias:: Stats\n")
	f.reconcile()
	assert.Empty(t, f.leadsTo("journals/Tag.md"), "the alias is removed")
	f.write("pages/term.md", "alias:: Machine-Learning\n")
	f.reconcile()
	assert.Equal(t, "pages/term.md", f.leadsTo("journals/Tag.md"), "another page has it")
	_, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "pages/term.md", Redirect: "archive/Statistics.md"})
	require.NoError(t, err)
	assert.Equal(t, "- #[[Statistics]]", f.onDisk("journals/Tag.md"))

	f.remove("logseq/config.edn")
	f.write("journals/Link.md", "[[Stats]]")
	f.reconcile()
	assert.Empty(t, f.leadsTo("journals/Link.md"))
	f.write("logseq/config.edn", "{}")
	f.reconcile()
	assert.Equal(t, "archive/Statistics.md", f.leadsTo("journals/Link.md"))
}

// A page may write its aliases as links. No move rewrites them, even if they lead elsewhere then.
func TestLogseqAliases_AsLinks(t *testing.T) {
	f := newFixture(t, "logseq/config.edn", "{}", "pages/Machine learning.md", "alias:: [[ML]], AI\n\n- x\n", "pages/Pages.md", "- x\n",
		"pages/A.md", "alias:: [[Twice]]\n\n- x\n", "old/B.md", "alias:: [[Twice]]\n\n- x\n")
	f.move("pages/Pages.md", "pages/ML.md")
	assert.Equal(t, "alias:: [[ML]], AI\n\n- x\n", f.onDisk("pages/Machine learning.md"))
	f.move("old/B.md", "pages/B.md")
	for _, name := range []string{"A", "B"} {
		assert.Equal(t, "alias:: [[Twice]]\n\n- x\n", f.onDisk("pages/"+name+".md"))
	}
	f = newFixtureOf(t, []string{"log", "plain"}, "log/logseq/config.edn", "{}", "log/pages/A.md", "alias:: [[ML]], AI\n\n- x\n", "plain/Z.md", "x\n")
	f.move("log/pages/A.md", "plain/B.md")
	assert.Equal(t, "alias:: [[ML]], AI\n\n- x\n", f.onDisk("plain/B.md"))
}

// A folder has no Logseq pages until it has a Logseq configuration.
func TestLogseqNamespaces_Configured(t *testing.T) {
	f := newFixture(t, "pages/a___b.md", "x", "Note.md", "[[a/b]]", "Other.md", "[[Note]]")
	assert.Empty(t, f.leadsTo("Note"))
	_, err := f.Lookup(t.Context(), "a/b", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.write("logseq/config.edn", "{}")
	f.reconcile()
	assert.Equal(t, "pages/a___b.md", f.leadsTo("Note"))
	f.restart()
	assert.Equal(t, "pages/a___b.md", f.leadsTo("Note"))
	require.NoError(t, f.store.Close())
	f.open(Options{})
	f.write("Note.md", "changed [[a/b]]")
	require.NoError(t, f.Refresh(t.Context(), "Note.md"))
	assert.Equal(t, "pages/a___b.md", f.leadsTo("Note"), "before the first scan of everything")
	f.remove("logseq/config.edn")
	f.reconcile()
	assert.Empty(t, f.leadsTo("Note"))

	several := newFixtureOf(t, []string{"log", "plain"}, "log/logseq/config.edn", "", "log/pages/a___b.md", "x", "log/N.md", "[[a/b]]", "plain/a___b.md", "x", "plain/N.md", "[[a/b]]")
	assert.Equal(t, "log/pages/a___b.md", several.leadsTo("log/N.md"))
	assert.Empty(t, several.leadsTo("plain/N.md"))
}

// TestLogseqNewPages checks that a new note gets the file that Logseq would create for its
// title, and that links with this title lead to it.
func TestLogseqNewPages(t *testing.T) {
	for config, want := range map[string][]string{
		"{:file/name-format :triple-lowbar}":                                  {"pages/A___b c%3F.md", "pages/Plain.md", "ideas/A___b c%3F.md"},
		"{:pages-directory \"graph/p\" ; :file/name-format :triple-lowbar\n}": {"graph/p/A%2Fb c%3F.md", "graph/p/Plain.md", "ideas/A%2Fb c%3F.md"},
	} {
		f := newFixture(t, "logseq/config.edn", config, "journals/N.md", "[[a/B c?]]")
		for i, r := range []notes.CreateRequest{{Title: "A/b c?"}, {Title: "Plain"}, {Title: "A/b c?", Folder: "ideas"}} {
			r.Content = "- x"
			created, err := f.Create(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, want[i], created.Path)
			assert.Equal(t, "- x\n", f.onDisk(created.Path), "the name says the title")
			if i == 0 {
				assert.Equal(t, want[0], f.leadsTo("journals/N.md"))
			}
		}
		_, err := f.Create(t.Context(), notes.CreateRequest{Title: "a/B C?"})
		require.ErrorIs(t, err, notes.ErrExists)
		for _, title := range []string{"[[x]]", "a\nb", "../x", "/"} {
			_, err = f.Create(t.Context(), notes.CreateRequest{Title: title})
			require.ErrorIs(t, err, notes.ErrInvalid, title)
		}
	}
	several := newFixtureOf(t, []string{"log", "plain"}, "log/logseq/config.edn", "", "plain/N.md", "x")
	for folder, want := range map[string]string{"log": "log/pages/a%2Fb.md", "plain": "plain/a-b.md", "log/in": "log/in/a%2Fb.md"} {
		created, err := several.Create(t.Context(), notes.CreateRequest{Title: "a/b", Folder: folder})
		require.NoError(t, err)
		assert.Equal(t, want, created.Path)
	}
}

// TestLogseqMoves_Oracle moves pages of a graph. Links must name the same pages afterwards,
// according to a parser of titles that shares no code with notesd.
func TestLogseqMoves_Oracle(t *testing.T) {
	notestest.SkipInShort(t)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 3))
		title := func() string {
			parts := make([]string, 1+rng.IntN(3))
			for i := range parts {
				parts[i] = []string{"a", "B", "ä c", "x.y", "日本"}[rng.IntN(5)]
			}
			return strings.Join(parts, "/")
		}
		fold := strings.ToLower
		pages := map[string]string{} // file → title
		taken := map[string]bool{}
		files := []string{"logseq/config.edn", "{}"}
		for range 12 {
			if name := title(); !taken[fold(name)] {
				taken[fold(name)] = true
				file := []string{"pages/", "archive/"}[rng.IntN(2)] + strings.ReplaceAll(name, "/", "___") + ".md"
				pages[file] = name
				files = append(files, file, "- [["+title()+"]] and [["+title()+"#h|alias]] #"+"[["+title()+"]]\n- `[["+title()+"]]`\n")
			}
		}
		f := newFixture(t, files...)
		byTitle := func() map[string]string {
			named := map[string]string{}
			for file, name := range pages {
				named[fold(name)] = file
			}
			return named
		}
		links := func() (all [][2]string) { // file and title of each link, in text order
			for _, file := range slices.Sorted(maps.Keys(pages)) {
				for _, m := range regexp.MustCompile(`\[\[([^\]#|]*)`).FindAllStringSubmatch(f.onDisk(file), -1) {
					all = append(all, [2]string{file, m[1]})
				}
			}
			return all
		}
		for range 12 {
			before, named := links(), byTitle()
			from := slices.Sorted(maps.Keys(pages))[rng.IntN(len(pages))]
			to := title()
			if named[fold(to)] != "" {
				to = pages[from] // only the folder changes
			} else if slices.ContainsFunc(before, func(l [2]string) bool { return fold(l[1]) == fold(to) }) {
				continue // links that named no page would now name this one
			}
			file := []string{"pages/", "archive/"}[rng.IntN(2)] + strings.ReplaceAll(to, "/", "___") + ".md"
			if file == from {
				continue
			}
			_, err := f.Move(t.Context(), notes.MoveRequest{Note: from, To: file, UpdateLinks: true})
			require.NoError(t, err)
			delete(pages, from)
			pages[file] = to
			code := 0
			after := map[string][]string{}
			for _, l := range links() {
				after[l[0]] = append(after[l[0]], l[1])
			}
			for _, l := range before {
				at := l[0]
				if at == from {
					at = file
				}
				is := after[at][0]
				after[at] = after[at][1:]
				want := l[1]
				if code++; code%4 != 0 && named[fold(want)] == from { // every fourth link is in code
					want = to
				}
				require.Equal(t, fold(want), fold(is), "seed %d: a link in %s after %s → %s", seed, at, from, file)
			}
			f.reconcile()
			f.requireConsistent()
			now := byTitle()
			for at := range pages {
				report, err := f.Links(t.Context(), at, notes.LinkQuery{Direction: "out"})
				require.NoError(t, err)
				for _, l := range report.Outgoing {
					require.Equal(t, now[fold(l.Target)], l.To, "[[%s]] in %s", l.Target, at)
				}
				for _, l := range report.Unresolved {
					require.True(t, now[fold(l.Target)] == "" || l.NoAnchor, "[[%s]] in %s", l.Target, at)
				}
			}
		}
	}
}

// TestLogseqJournals checks that a link to a day, in Logseq's format, leads to that day's
// journal, even if that is created later.
func TestLogseqJournals(t *testing.T) {
	for config, tt := range map[string]struct{ feb, mar string }{
		"{}": {"Feb 14th, 2026", "Mar 1st, 2026"},
		`{:journal/page-title-format "EEEE, yyyy/MM/dd"}`: {"Saturday, 2026/02/14", "Sunday, 2026/03/01"},
		`{:journal/page-title-format "yyyy年MM月dd日"}`:      {"2026年02月14日", "2026年03月01日"},
	} {
		f := newFixture(t, "logseq/config.edn", config, "journals/2026_02_14.md", "- x", "pages/Plan.md", "- [["+tt.feb+"]]", "pages/Later.md", "- [["+tt.mar+"]]")
		assert.Equal(t, "journals/2026_02_14.md", f.leadsTo("pages/Plan.md"), config)
		meta, err := f.Lookup(t.Context(), tt.feb, notes.Scope{})
		require.NoError(t, err)
		assert.Equal(t, "journals/2026_02_14.md", meta.Path)
		assert.Empty(t, f.leadsTo("pages/Later.md"))
		f.write("journals/2026_03_01.md", "- y")
		f.reconcile()
		assert.Equal(t, "journals/2026_03_01.md", f.leadsTo("pages/Later.md"), config)
		f.requireConsistent()
	}
}

// Two Logseq folders may each have a page with the same title.
func TestLogseqPageInTwoFolders(t *testing.T) {
	f := newFixtureOf(t, twoFolders, "home/logseq/config.edn", "{}", "work/logseq/config.edn", "{}", "home/pages/a___b.md", "x", "work/pages/a___b.md", "x")
	_, err := f.Lookup(t.Context(), "a/b", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrAmbiguous)
}
