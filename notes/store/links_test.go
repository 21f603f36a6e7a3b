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
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
	"notesd/notes/store"
)

// leads returns the targets of a note's links: the note or attachment, "?" if
// ambiguous, "-" if unresolved, with "!" if the heading or block is missing.
func (w *world) leads(note string) map[string]string {
	w.t.Helper()
	report, err := w.Links(w.t.Context(), notes.URI(note), notes.LinkQuery{Direction: "out", Limit: 1000})
	require.NoError(w.t, err)
	to := map[string]string{}
	for _, l := range slices.Concat(report.Unresolved, report.Outgoing) {
		target := l.Target
		if l.Anchor != "" {
			target += "#" + l.Anchor
		}
		switch {
		case l.Ambiguous:
			to[target] = "?"
		case l.NoAnchor:
			to[target] = l.To + "!"
		case l.To == "":
			to[target] = "-"
		default:
			to[target] = l.To
		}
	}
	return to
}

// TestLinksResolveAsInObsidian checks that a link resolves to the path from the vault
// or from the note, else to the nearest file whose path ends in the target; two that
// are equally near are ambiguous.
func TestLinksResolveAsInObsidian(t *testing.T) {
	w := newWorld(t, map[string]string{
		"From.md":     "[[Plan]] [[a/Plan]] [[A/plan]] [[Only]] [[b/c/Only.md]] [[c/Only]] [[Twin]] [md](a/Plan.md) [x](Deep.md) [[pic.png]] [[a/pic]] [[Nowhere]] [[v1.2]] [[/a/Plan]] [[Ünï]] [web](https://a.b/Plan.md)\n",
		"a/From.md":   "[[Plan]] [[Twin]] [rel](Plan.md) [up](../Only.md) [[./Plan]] [[../From]] [[Deep]] ![[pic.png]]\n",
		"a/Plan.md":   "# Goals\ntext ^b1\n## Sub Goal\n[[#Goals]] [[#Nothing]]\n",
		"b/c/Only.md": "[[Plan#Goals]] [[Plan#Goals#Sub Goal]] [[Plan#^b1]] [[Plan#^b2]] [[Plan#Gaols]] [s](../../a/Plan.md#sub-goal)\n",
		"x/Twin.md":   "", "y/Twin.md": "", "a/Both.md": "[[Twin]]\n", "v1.2.md": "", "u/üNÏ.md": "",
		"index.md": "", "b/Index.md": "", "b/From.md": "[[Index]] [md](Index.md)\n",
		"a/d/e/Deep.md": "", "z/k/Deep.md": "", "a/pic.png": "png", "z/pic.png": "png", "Only.txt": "no note",
	})
	assert.Equal(t, map[string]string{
		"Plan": "a/Plan.md", "a/Plan": "a/Plan.md", "A/plan": "a/Plan.md", "a/Plan.md": "a/Plan.md", "/a/Plan": "a/Plan.md", "Only": "b/c/Only.md", "b/c/Only.md": "b/c/Only.md", "c/Only": "b/c/Only.md",
		"Twin": "?", "Deep.md": "z/k/Deep.md", "pic.png": "?", "a/pic": "-", "Nowhere": "-", "v1.2": "v1.2.md", "Ünï": "u/üNÏ.md",
	}, w.leads("From.md"))
	assert.Equal(t, map[string]string{
		"Plan": "a/Plan.md", "Twin": "?", "Plan.md": "a/Plan.md", "../Only.md": "-", "./Plan": "a/Plan.md", "../From": "From.md", "Deep": "a/d/e/Deep.md", "pic.png": "a/pic.png",
	}, w.leads("a/From.md"))
	assert.Equal(t, map[string]string{"Index": "index.md", "Index.md": "b/Index.md"}, w.leads("b/From.md"), "the path from the vault in any case before the note's own folder")
	assert.Equal(t, map[string]string{
		"Plan#Goals": "a/Plan.md", "Plan#Goals#Sub Goal": "a/Plan.md", "Plan#^b1": "a/Plan.md", "Plan#^b2": "a/Plan.md!", "Plan#Gaols": "a/Plan.md!", "../../a/Plan.md#sub-goal": "a/Plan.md",
	}, w.leads("b/c/Only.md"))
	assert.Equal(t, "a/Plan.md!", w.leads("a/Plan.md")["#Nothing"])
	assert.Equal(t, []string{"a/From.md", "a/Plan.md", "b/c/Only.md", "From.md"}, w.list(notes.Filter{BrokenLinks: true}))

	report, err := w.Links(t.Context(), "a/Plan", notes.LinkQuery{Direction: "in", Scope: notes.Scope{Read: []string{"a", "b"}}})
	require.NoError(t, err)
	from := map[string]bool{}
	for _, l := range report.Backlinks {
		from[l.From] = true
		assert.NotEmpty(t, l.Context)
	}
	assert.Equal(t, map[string]bool{"a/From.md": true, "b/c/Only.md": true}, from, "only what the scope may read")
	assert.Empty(t, report.Outgoing)
	for _, tc := range []struct {
		read      []string
		ambiguous bool
	}{{[]string{"a", "x", "y"}, true}, {[]string{"a", "x"}, false}, {[]string{"a"}, false}} {
		report, err = w.Links(t.Context(), "a/From", notes.LinkQuery{Direction: "out", Scope: notes.Scope{Read: tc.read}})
		require.NoError(t, err)
		i := slices.IndexFunc(report.Unresolved, func(l notes.LinkedNote) bool { return l.Target == "Twin" })
		assert.Equal(t, tc.ambiguous, report.Unresolved[i].Ambiguous, tc.read)
		assert.Equal(t, !tc.ambiguous, slices.Contains(w.list(notes.Filter{BrokenLinks: true, Scope: tc.read}), "a/Both.md"), tc.read)
	}
	_, err = w.Links(t.Context(), "a/Plan", notes.LinkQuery{Direction: "sideways"})
	require.ErrorIs(t, err, notes.ErrInvalid)
}

// TestLinks_BrokenBeyondLimit checks that links to existing notes do not hide a later one whose
// heading is missing.
func TestLinks_BrokenBeyondLimit(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "a\n", "From.md": strings.Repeat("[[A]]\n", 120) + "[[A#Gone]]\n"})
	report, err := w.Links(t.Context(), "From", notes.LinkQuery{Direction: "out"})
	require.NoError(t, err)
	assert.True(t, report.Truncated)
	require.Len(t, report.Unresolved, 1)
	assert.True(t, report.Unresolved[0].NoAnchor)
	assert.Equal(t, 121, report.Unresolved[0].Line)
}

// TestLinks_Context checks that the line with a link shows the key of a list in front
// matter.
func TestLinks_Context(t *testing.T) {
	w := newWorld(t, map[string]string{
		"To.md": "to\n", "List.md": "---\ntype: x\nauthor:\n  - '[[From]]'\n  - \"[[To|him]]\"\n---\n", "Flow.md": "---\nup: \"[[To]]\"\n---\n",
		"Body.md": "---\nup:\n- a\n---\nSources:\n- [[To]]\n", "Rule.md": "a\nb:\n- [[To]]\n", "Odd.md": "---\n- \"[[To]]\"\n---\n",
	})
	report, err := w.Links(t.Context(), "To", notes.LinkQuery{Direction: "in"})
	require.NoError(t, err)
	contexts := map[string]string{}
	for _, l := range report.Backlinks {
		contexts[l.From] = l.Context
	}
	assert.Equal(t, map[string]string{"List.md": "author: [[To|him]]", "Flow.md": `up: "[[To]]"`, "Body.md": "- [[To]]", "Rule.md": "- [[To]]", "Odd.md": `- "[[To]]"`}, contexts)
}

// TestLinksToFolders checks that a Markdown link may name a folder to mean its index
// note, as on sites and GitHub, but only if no note matches.
func TestLinksToFolders(t *testing.T) {
	w := newWorld(t, map[string]string{
		"docs/intro.md":        "[a](guides/) [b](./guides) [c](/docs/guides/) [d](guides/config) [e](pic/) [f](../api/#use) [g](lone/) [[guides]]\n",
		"docs/guides/index.md": "", "docs/guides/config.mdx": "", "docs/pic/_index.md": "", "docs/pic.md": "", "api/README.md": "# Use\n", "docs/lone/x.qmd": "",
		"blog/a.md": "[site](/guides/) [lower](../API) [none](guides/) [none](config/) [there](config)\n",
	})
	assert.Equal(t, map[string]string{
		"guides/": "docs/guides/index.md", "./guides": "docs/guides/index.md", "/docs/guides/": "docs/guides/index.md", "guides/config": "docs/guides/config.mdx",
		"pic/": "docs/pic.md", "../api/#use": "api/README.md", "lone/": "-", "guides": "-",
	}, w.leads("docs/intro.md"))
	assert.Equal(t, map[string]string{"/guides/": "docs/guides/index.md", "../API": "api/README.md", "guides/": "-", "config/": "-", "config": "docs/guides/config.mdx"}, w.leads("blog/a.md"),
		"guides/ is not the folder, and config/ not the page, of another project")
}

// TestLinksFromTheRoot checks that a link that begins with "/" leads to the path from the
// vault, as on GitHub, also if the folder of its note has a file of that name.
func TestLinksFromTheRoot(t *testing.T) {
	w := newWorld(t, map[string]string{
		"README.md": "", "docs/README.md": "", "docs/Guide.md": "", "pic.png": "", "docs/pic.png": "",
		"api/index.md": "", "docs/api/index.md": "",
		"docs/setup.md": "[a](/README.md) [b](README.md) [c](/Guide.md) [[/README]] ![d](/pic.png) [e](/api/) [f](api/)\n",
	})
	assert.Equal(t, map[string]string{"/README.md": "README.md", "README.md": "docs/README.md", "/Guide.md": "docs/Guide.md", "/README": "README.md", "/pic.png": "pic.png", "/api/": "api/index.md", "api/": "docs/api/index.md"}, w.leads("docs/setup.md"))
}

// randomFiles returns notes with few distinct names in few folders, so that many links
// are ambiguous.
func randomFiles(rng *rand.Rand, n int) map[string]string {
	folders, names := []string{"", "a/", "a/b/", "c/"}, []string{"One", "Two", "three", "README"}
	any := func(list []string) string { return list[rng.IntN(len(list))] }
	files := map[string]string{}
	for range n {
		var b strings.Builder
		if rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "---\nstatus: %s\nn: %d\n---\n", any(names), rng.IntN(5))
		}
		for range rng.IntN(6) {
			switch rng.IntN(7) {
			case 0:
				fmt.Fprintf(&b, "# %s\n", any(names))
			case 1:
				fmt.Fprintf(&b, "[[%s%s]] ", any(folders), any(names))
			case 2:
				fmt.Fprintf(&b, "[[%s#%s]] ", any(names), any(names))
			case 3:
				fmt.Fprintf(&b, "[x](%s%s.md) [y](%s) ", any([]string{"", "../", "b/", "./"}), any(names), any([]string{"a", "../a/", "b/", "/c"}))
			case 4:
				fmt.Fprintf(&b, "![[%s.png]] ", any(names))
			case 5:
				fmt.Fprintf(&b, "#t%d/s%d ", rng.IntN(3), rng.IntN(2))
			default:
				fmt.Fprintf(&b, "\n- [%s] do\n", any([]string{" ", "x"}))
			}
		}
		ext := ".md"
		if rng.IntN(6) == 0 {
			ext = ".png"
		}
		files[any(folders)+any(names)+ext] = b.String()
	}
	return files
}

// TestChangesEqualAFreshStore checks that, after any changes, the links, tags and
// folders in the store equal those in a new store made from the current files.
func TestChangesEqualAFreshStore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	w := newWorld(t, randomFiles(rng, 10))
	for round := range notestest.Rounds(25) {
		files := notestest.Read(t, w.dir)
		w.advance(1e9)
		for p, text := range randomFiles(rng, 2) {
			files[p] = text
			require.NoError(t, os.MkdirAll(filepath.Join(w.dir, path.Dir(p)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, p), []byte(text), 0o644))
		}
		all := slices.Sorted(maps.Keys(files))
		gone, moved := all[rng.IntN(len(all))], all[rng.IntN(len(all))]
		require.NoError(t, os.Remove(filepath.Join(w.dir, gone)))
		delete(files, gone)
		to := []string{"", "a/", "a/b/", "c/"}[rng.IntN(4)] + []string{"One", "Two", "three", "Four"}[rng.IntN(4)] + path.Ext(moved)
		if _, taken := files[to]; !taken && moved != gone {
			require.NoError(t, os.MkdirAll(filepath.Join(w.dir, path.Dir(to)), 0o755))
			require.NoError(t, os.Rename(filepath.Join(w.dir, moved), filepath.Join(w.dir, to)))
			files[to] = files[moved]
			delete(files, moved)
		}
		w.reconcile()
		fresh := newWorld(t, files)
		require.Equal(t, fresh.list(notes.Filter{}), w.list(notes.Filter{}), "round %d", round)
		for _, note := range w.list(notes.Filter{}) {
			require.Equal(t, fresh.leads(note), w.leads(note), "round %d: the links of %s: %s", round, note, files[note])
		}
		for _, f := range []notes.Filter{{BrokenLinks: true}, {Orphans: true}, {HasTodo: true}, {Tags: []string{"t1"}}} {
			require.Equal(t, fresh.list(f), w.list(f), "round %d: %+v", round, f)
		}
		scope := notes.Scope{Read: []string{"a"}}
		require.Equal(t, tagsOf(t, fresh, scope), tagsOf(t, w, scope))
		is, err := w.Folders(t.Context(), notes.Scope{})
		require.NoError(t, err)
		want := map[string]int{}
		for p := range files {
			if notes.IsNoteName(p) {
				want[strings.TrimSuffix(strings.TrimSuffix(p, path.Base(p)), "/")]++
			}
		}
		got := map[string]int{}
		for _, f := range is {
			got[f.Folder] = f.Notes
		}
		require.Equal(t, want, got)
	}
}

// TestApply_LinksInsertedAtOnePlace checks that a note keeps all of its links, in order, when
// so many are inserted at one place that no ordinals are left in between.
func TestApply_LinksInsertedAtOnePlace(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "[[first]]\n[[last]]\n"})
	between := ""
	for i := range 15 {
		between = fmt.Sprintf("[[link %d]]\n", i) + between
		text := "[[first]]\n" + between + "[[last]]\n"
		w.save("A.md", text)
		note, err := w.vault.Read(t.Context(), "A.md", notes.Scope{})
		require.NoError(t, err)
		require.Equal(t, notes.Parse("A.md", []byte(text), time.Time{}).Links, note.Links)
	}
}

func tagsOf(t *testing.T, w *world, scope notes.Scope) map[string]int {
	t.Helper()
	tags, err := w.Tags(t.Context(), scope)
	require.NoError(t, err)
	out := map[string]int{}
	for i, tag := range tags {
		out[tag.Tag] = tag.Notes
		if i > 0 {
			require.LessOrEqual(t, tag.Notes, tags[i-1].Notes, "the most used first")
		}
	}
	return out
}

// TestFiltersInSQLAndInGo checks that SQL and Go agree on the notes that match a
// filter.
func TestFiltersInSQLAndInGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	w := newWorld(t, randomFiles(rng, 30))
	var all []*notes.Note
	for _, p := range w.list(notes.Filter{}) {
		m, err := w.Lookup(t.Context(), notes.URI(p), notes.Scope{})
		require.NoError(t, err)
		n, err := w.LoadNote(t.Context(), m.ID)
		require.NoError(t, err)
		parsed := notes.Parse(p, []byte(n.Content), n.Modified)
		all = append(all, parsed)
	}
	some := func(list ...string) []string {
		if rng.IntN(3) > 0 {
			return nil
		}
		return []string{list[rng.IntN(len(list))]}
	}
	selected := 0
	for range 400 {
		f := notes.Filter{Paths: some("a", "/A/b", "c/T", "one"), NotPaths: some("a/b", "c"), Tags: some("t1", "#T2", "t0/s1"), NotTags: some("t0", "t1/s0"), Scope: some("a", "A/b", "c/Two.md", ""), HasTodo: rng.IntN(5) == 0, NotEmpty: rng.IntN(5) == 0}
		if g := some("*.md", "a/*", "a/**", "{one,two}.md", "[t]*", "**/T*"); g != nil {
			f.Glob = g[0]
		}
		if g := some("a", "A/B", "c/", "nope"); g != nil {
			f.Folder = g[0]
		}
		switch rng.IntN(6) {
		case 0:
			f.Where = object{"status": "one"}
		case 1:
			f.Where = object{"or": []any{object{"n": object{"gte": 2}}, object{"status": object{"exists": false}}}}
		}
		want := []string{}
		for _, n := range all {
			if f.MatchesNote(n, func(words string) (notes.Period, bool) { return w.Period(words, w.Now()) }) {
				want = append(want, n.Path)
			}
		}
		slices.Sort(want)
		got := w.list(f)
		slices.Sort(got)
		require.Equal(t, want, got, "%+v", f)
		ids, err := w.Resolve(t.Context(), f)
		require.NoError(t, err)
		if !f.IsZero() {
			require.Equal(t, len(want), ids.Len())
		}
		selected += len(want)
	}
	assert.Greater(t, selected, 400, "the filters select something")
}

func TestGraph(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "---\ntitle: First\n---\n[[B]] [[B]] [[A]] [[nowhere]]", "B.md": "[[A]]", "sub/C.md": "[[A]] [[B]]", "p.png": "x"})
	g, err := w.Graph(t.Context(), notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []notes.Node{{Path: "A.md", Title: "First"}, {Path: "B.md"}, {Path: "sub/C.md"}}, g.Nodes, "a title that is the name of the file is left out")
	assert.ElementsMatch(t, [][2]int{{0, 1}, {1, 0}, {2, 0}, {2, 1}}, g.Links)
	g, err = w.Graph(t.Context(), notes.Scope{Read: []string{"sub", "B.md"}})
	require.NoError(t, err)
	assert.Len(t, g.Nodes, 2)
	assert.Equal(t, [][2]int{{1, 0}}, g.Links)
}

func TestTargets(t *testing.T) {
	text := "[[B#x]] [b](B.md) [[A]] [[nowhere]] [[#x]] ![[p.png]] [q](sub/q%20r.png) [[C|c]]"
	want := notes.Targets{Notes: map[string]string{"B": "B.md", "B.md": "B.md", "A": "A.md", "C": "sub/C.md"}, Files: map[string]string{"p.png": "p.png", "sub/q r.png": "sub/q r.png"}}
	files := map[string]string{"B.md": "x", "sub/C.md": "x", "p.png": "x", "sub/q r.png": "x"}
	for i := range 200 { // more than Links returns
		name := fmt.Sprintf("N%d", i)
		text += " [[" + name + "]]"
		files[name+".md"], want.Notes[name] = "x", name+".md"
	}
	files["A.md"] = text
	w := newWorld(t, files)
	got, err := w.Targets(t.Context(), "A.md", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = w.Targets(t.Context(), "A.md", notes.Scope{Read: []string{"A.md", "sub"}})
	require.NoError(t, err)
	assert.Equal(t, notes.Targets{Notes: map[string]string{"A": "A.md", "C": "sub/C.md"}, Files: map[string]string{"sub/q r.png": "sub/q r.png"}}, got)
}

// TestLinks_Walk compares link traversals of random notes with a search over their
// known links.
func TestLinks_Walk(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 21))
	const n = 14
	files, links := map[string]string{}, make([][]int, n) // -1 is a broken link
	name := func(i int) string { return fmt.Sprintf("%s/n%d.md", []string{"open", "shut"}[i%2], i) }
	for i := range n {
		for range rng.IntN(5) {
			links[i] = append(links[i], rng.IntN(n+2)-2)
		}
		for k, to := range links[i] {
			if links[i][k] = max(to, -1); to < 0 {
				files[name(i)] += "no [[nowhere]] there\n"
			} else {
				files[name(i)] += fmt.Sprintf("- see [[n%d|x]]\n", to)
			}
		}
		files[name(i)] += "end\n"
	}
	w := newWorld(t, files)

	// walk returns the links "depth from to" of a traversal, and the number of broken
	// links of the start.
	walk := func(start, depth int, direction string, reads func(i int) bool) (found []string, broken int) {
		seen, level := map[int]bool{start: true}, []int{start}
		for d := 1; d <= depth; d++ {
			var next []int
			for _, at := range level {
				for from := range n {
					for _, to := range links[from] {
						far := to
						if direction == "in" {
							far = from
						}
						switch {
						case from == to || !reads(from) || direction == "out" && from != at || direction == "in" && to != at:
							continue
						case direction == "out" && (to < 0 || !reads(to)):
							if d == 1 {
								broken++
							}
							continue
						}
						found = append(found, fmt.Sprintf("%d %s %s", d, name(from), name(to)))
						if !seen[far] {
							seen[far] = true
							next = append(next, far)
						}
					}
				}
			}
			level = next
		}
		slices.Sort(found)
		return found, broken
	}
	shown := func(list []notes.LinkedNote) (found []string) {
		for _, l := range list {
			found = append(found, fmt.Sprintf("%d %s %s", l.Depth, l.From, l.To))
			assert.Contains(t, l.Context, "see [["+strings.TrimSuffix(path.Base(l.To), ".md"))
			assert.Equal(t, notes.Hash([]byte(files[l.From])), l.FromHash)
		}
		slices.Sort(found)
		return found
	}
	for start := range n {
		for depth := 1; depth <= 3; depth++ {
			for _, scope := range []notes.Scope{{}, {Read: []string{"open"}}} {
				reads := func(i int) bool { return scope.CanRead(name(i)) }
				if !reads(start) {
					continue
				}
				out, broken := walk(start, depth, "out", reads)
				in, _ := walk(start, depth, "in", reads)
				report, err := w.Links(t.Context(), name(start), notes.LinkQuery{Depth: depth, Limit: 10_000, Scope: scope})
				require.NoError(t, err)
				require.Equal(t, out, shown(report.Outgoing), "out of %s to %d", name(start), depth)
				require.Equal(t, in, shown(report.Backlinks), "in to %s from %d", name(start), depth)
				require.Len(t, report.Unresolved, broken)
				require.False(t, report.Truncated)

				for _, limit := range []int{1, len(out) + broken, len(out) + len(in) + broken} {
					limit = max(limit, 1)
					cut, err := w.Links(t.Context(), name(start), notes.LinkQuery{Depth: depth, Limit: limit, Scope: scope})
					require.NoError(t, err)
					all := len(out) + len(in) + broken
					require.Equal(t, min(limit, all), len(cut.Outgoing)+len(cut.Backlinks)+len(cut.Unresolved))
					require.Equal(t, all > limit, cut.Truncated)
				}
			}
		}
	}
}

// Similar headings are looked for only as far as that takes a bounded number of comparisons.
func TestLinks_SimilarHeadingsAreBounded(t *testing.T) {
	const headings, links = 500, 300
	var log, index strings.Builder
	for i := range headings {
		fmt.Fprintf(&log, "## Version %d\n", i)
	}
	for i := range links {
		fmt.Fprintf(&index, "[[Log#Verzion %d]]\n", i)
	}
	w := newWorld(t, map[string]string{"Log.md": log.String(), "Index.md": index.String()})
	report, err := w.Links(t.Context(), "Index.md", notes.LinkQuery{Direction: "out", Limit: 2 * links})
	require.NoError(t, err)
	require.Len(t, report.Unresolved, links)
	with := slices.IndexFunc(report.Unresolved, func(l notes.LinkedNote) bool { return len(l.Near) == 0 })
	assert.Equal(t, 200, with, "links with suggestions")
	assert.Equal(t, "Version 7", report.Unresolved[7].Near[0])
}

// A bare query returns the same links without what is read from texts.
func TestLinks_Bare(t *testing.T) {
	w := newWorld(t, map[string]string{"A.md": "[[B]] [[B#Gaols]] [[Missing]]\n", "B.md": "# Goals\nback to [[A]]\n"})
	full, err := w.Links(t.Context(), "A.md", notes.LinkQuery{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Goals"}, full.Unresolved[0].Near)
	bare, err := w.Links(t.Context(), "A.md", notes.LinkQuery{Bare: true})
	require.NoError(t, err)
	for _, list := range [][]notes.LinkedNote{full.Outgoing, full.Backlinks, full.Unresolved} {
		require.NotEmpty(t, list)
		for i := range list {
			require.NotEmpty(t, list[i].Context)
			list[i].FromHash, list[i].Context, list[i].Near = "", "", nil
		}
	}
	assert.Equal(t, full, bare)
}

// BenchmarkLinks_Hub follows the links of a hub and of the notes around it. Only the links of the
// hub itself take time in proportion to their number.
func BenchmarkLinks_Hub(b *testing.B) {
	for _, n := range []int{1_000, 4_000} {
		files := map[string]string{}
		var hub strings.Builder
		for i := range n {
			fmt.Fprintf(&hub, "[[N%d]]\n", i)
			files[fmt.Sprintf("N%d.md", i)] = fmt.Sprintf("[[Hub]] [[N%d]]\n", (i+1)%n)
		}
		files["Hub.md"] = hub.String()
		w := newWorld(b, files)
		for depth := 1; depth <= 3; depth += 2 {
			b.Run(fmt.Sprintf("%d to depth %d", n, depth), func(b *testing.B) {
				for b.Loop() {
					report, err := w.Links(b.Context(), "Hub.md", notes.LinkQuery{Depth: depth})
					require.NoError(b, err)
					require.True(b, report.Truncated)
				}
			})
		}
	}
}

// BenchmarkFinishLinks resolves the links of a vault with a README in each of 1 000
// folders, as a large repository has.
func BenchmarkFinishLinks(b *testing.B) {
	const folders, links = 1000, 10
	files := map[string]string{}
	for i := range folders {
		var text strings.Builder
		for j := range links {
			other := (i*7 + j*131) % folders
			fmt.Fprintf(&text, "[a](../Package-%d/README.md) [b](../Package-%d/) [c](missing/README.md) [d](LICENSE)\n", other, other)
		}
		files[fmt.Sprintf("Module/Package-%d/README.md", i)] = text.String()
	}
	w := newWorld(b, files)
	for b.Loop() {
		require.NoError(b, w.SaveSetting(b.Context(), store.LinksStale, true))
		require.NoError(b, w.FinishLinks(b.Context()))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*folders*links*4), "ns/link")
}
