package vault

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/migrations"
	"notesd/notes"
	"notesd/notes/store"
)

// broken returns the broken links of a note, as "target#anchor", and checks that the filter
// for broken links agrees.
func (f *fixture) broken(note string) (links []string) {
	f.t.Helper()
	report, err := f.Links(f.t.Context(), note, notes.LinkQuery{})
	require.NoError(f.t, err)
	for _, l := range report.Unresolved {
		links = append(links, l.Target+"#"+l.Anchor)
	}
	page, err := f.List(f.t.Context(), notes.ListQuery{Filter: notes.Filter{BrokenLinks: true, Paths: []string{note}}})
	require.NoError(f.t, err)
	assert.Equal(f.t, len(links) > 0, page.Total == 1, "the filter agrees")
	return links
}

func TestBrokenAnchors(t *testing.T) {
	const target = "# Plan\n## Risks & costs\n### Money\nA block. ^b1\n"
	f := newFixture(t,
		"A.md", "---\nup: \"[[Note#Gone]]\"\n---\n[[Note#Plan#Money]] [[Note#^b1]] ![[Note#Risks costs]] [x](sub/Note.md#risks--costs) [[#Own]] [[Note]]\n# Own\n",
		"B.md", "[[Note#Nope]] [[note#^nope]] [x](sub/Note.md#nope) [[#Nowhere]] [[Missing#Plan]] [[Note#Money#Plan]] [[pic.png#page=3]]\n",
		"sub/Note.md", target, "pic.png", "x")
	all := []string{"Note#Nope", "note#^nope", "sub/Note.md#nope", "#Nowhere", "Missing#Plan", "Note#Money#Plan"}
	check := func(when string) {
		t.Helper()
		assert.Equal(t, []string{"Note#Gone"}, f.broken("A.md"), when)
		assert.Equal(t, all, f.broken("B.md"), when)
	}
	check("after the first scan")
	f.restart()
	check("after a restart")

	f.write("sub/Note.md", strings.Replace(target, "Risks & costs", "Perils", 1))
	f.reconcile()
	assert.Equal(t, []string{"Note#Gone", "Note#Risks costs", "sub/Note.md#risks--costs"}, f.broken("A.md"), "a heading was renamed")
	f.write("sub/Note.md", target)
	f.reconcile()
	check("the heading is back")

	result, err := f.Edit(t.Context(), notes.EditRequest{Note: "Note", Edits: []notes.Edit{{Op: "append", Content: "\n# Nope\n\nx ^nope\n"}}})
	require.NoError(t, err)
	assert.Equal(t, "sub/Note.md", result.Path)
	assert.Equal(t, []string{"#Nowhere", "Missing#Plan", "Note#Money#Plan"}, f.broken("B.md"), "an edit added them")
	f.write("Missing.md", "# Plan\n")
	f.reconcile()
	assert.Equal(t, []string{"#Nowhere", "Note#Money#Plan"}, f.broken("B.md"), "the note appeared")
	f.write("Missing.md", "# Plans\n")
	f.reconcile()
	assert.Equal(t, []string{"#Nowhere", "Missing#Plan", "Note#Money#Plan"}, f.broken("B.md"))
	f.remove("Missing.md")
	f.reconcile()
	assert.Equal(t, []string{"#Nowhere", "Missing#Plan", "Note#Money#Plan"}, f.broken("B.md"))

	f.rename("sub/Note.md", "sub/Other.md")
	f.write("Note.md", "# Gone\n# Plan\n## Money\n")
	f.reconcile()
	assert.Equal(t, []string{"Note#^b1", "Note#Risks costs", "sub/Note.md#risks--costs"}, f.broken("A.md"), "another note has the name")
}

func TestBrokenAnchors_SuggestHeadings(t *testing.T) {
	f := newFixture(t, "A.md", "[[B#Shoping list]] [[B#^x]] [[C]]\n", "B.md", "# Shopping list\n# Other\n# Shopping list\n", "D.md", "[[E#Day 9]]\n", "E.md", "# Day 1\n# Day 2\n# Day 3\n# Day 4\n# Day 5\n")
	report, err := f.Links(t.Context(), "A", notes.LinkQuery{})
	require.NoError(t, err)
	require.Len(t, report.Unresolved, 3)
	heading, block, note := report.Unresolved[0], report.Unresolved[1], report.Unresolved[2]
	assert.Equal(t, "B.md", heading.To)
	assert.True(t, heading.NoAnchor)
	assert.Equal(t, []string{"Shopping list"}, heading.Near)
	assert.True(t, block.NoAnchor)
	assert.Empty(t, block.Near)
	assert.False(t, note.NoAnchor)
	assert.Len(t, report.Outgoing, 2, "they lead to the note all the same")

	report, err = f.Links(t.Context(), "D", notes.LinkQuery{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Day 1", "Day 2", "Day 3"}, report.Unresolved[0].Near, "not all of a hundred")

	report, err = f.Links(t.Context(), "B", notes.LinkQuery{Direction: "in"})
	require.NoError(t, err)
	require.Len(t, report.Backlinks, 2)
	assert.True(t, report.Backlinks[0].NoAnchor)
	assert.Empty(t, report.Unresolved)
}

// A link names a file. One that names a title or an alias is broken, in Obsidian too, and
// the note it means is a suggestion.
func TestBrokenLinks_SuggestTitlesAndAliases(t *testing.T) {
	f := newFixture(t, "A.md", "[[Ann]] [[GSM: why?]] [[Nobody]]\n",
		"People/Ann Müller.md", "---\naliases: [Ann]\n---\n", "Private/Anna.md", "---\naliases: [ann]\n---\n", "GSM- why.md", "---\ntitle: 'GSM: why?'\n---\n")
	near := func(scope notes.Scope) (near []string) {
		report, err := f.Links(t.Context(), "A", notes.LinkQuery{Scope: scope})
		require.NoError(t, err)
		for _, l := range report.Unresolved {
			near = append(near, strings.Join(l.Near, ", "))
		}
		return near
	}
	assert.Equal(t, []string{"People/Ann Müller.md, Private/Anna.md", "GSM- why.md", ""}, near(notes.Scope{}))
	assert.Equal(t, []string{"People/Ann Müller.md", "", ""}, near(notes.Scope{Read: []string{"A.md", "People"}}))
}

// TestBrokenLinks_Tags: a tag of Logseq or Roam needs no page, and leads to one that there is.
func TestBrokenLinks_Tags(t *testing.T) {
	f := newFixture(t, "A.md", "#[[deep work]] [[gone]] #[[b]]", "b.md", "x")
	assert.Equal(t, []string{"gone#"}, f.broken("A.md"))
	assert.Equal(t, "b.md", f.leadsTo("A.md"))
	f.write("deep work.md", "x")
	f.reconcile()
	assert.Equal(t, "deep work.md", f.leadsTo("A.md"))
	f.move("deep work.md", "focus time.md")
	assert.Equal(t, "#[[focus time]] [[gone]] #[[b]]", f.onDisk("A.md"))
	f.remove("focus time.md")
	f.reconcile()
	assert.Equal(t, []string{"gone#"}, f.broken("A.md"))
}

// TestBrokenLinks_TagsInScope: a tag does not reveal whether a page exists outside the scope.
func TestBrokenLinks_TagsInScope(t *testing.T) {
	f := newFixture(t, "Mine/A.md", "#[[secret plan]] #[[secret plan#x]]", "Mine/B.md", "#[[no such]] #[[no such#x]]", "Mine/C.md", "#[[A#x]]", "Hidden/secret plan.md", "x", "Twice/b.md", "x", "Too/b.md", "x", "D.md", "#[[b]]")
	page, err := f.List(t.Context(), notes.ListQuery{Filter: notes.Filter{BrokenLinks: true, Scope: []string{"Mine"}}})
	require.NoError(t, err)
	require.Len(t, page.Notes, 1)
	assert.Equal(t, "Mine/C.md", page.Notes[0].Path)
	report, err := f.Links(t.Context(), "D", notes.LinkQuery{})
	require.NoError(t, err)
	require.Len(t, report.Unresolved, 1, "it leads to neither of two pages")
	assert.True(t, report.Unresolved[0].Ambiguous)
}

// TestBrokenLinks_Home: a link to the root of a site, or to a folder by dots, is not broken.
func TestBrokenLinks_Home(t *testing.T) {
	f := newFixture(t, "d/A.md", "[home](/) [up](../) [up](..) [here](./) [here](.) [top](/#x) [self](#gone) [[..]] [x](/x)\n")
	assert.Equal(t, []string{"#gone", "..#", "/x#"}, f.broken("d/A.md"))
}

// TestPermalinks: a link leads to the note that a site shows at its path, as long as it does.
func TestPermalinks(t *testing.T) {
	page := func(line string) string { return "---\n" + line + "\n---\n" }
	f := newFixture(t, "A.md", "[a](/docs/start/) [b](/docs/start#h) [c](docs/start/) ![d](/docs/start) [[docs/start]] [e](/start/)\n", "notes/01 Intro.md", page("slug: /docs/start")+"# H\n", "B.md", page("url: https://start"))
	is := func(links ...string) {
		t.Helper()
		assert.Equal(t, links, f.leads("A.md"))
		f.requireConsistent()
	}
	const intro = "notes/01 Intro.md"
	is(intro, intro, "", "", "", "")
	assert.Equal(t, intro, f.found("/docs/start"))
	f.write("B.md", page("permalink: start"))
	f.reconcile()
	is(intro, intro, "", "", "", "B.md")
	f.write("docs/start.md", "x\n")
	f.reconcile()
	is(intro, intro, "docs/start.md", "docs/start.md", "docs/start.md", "B.md")
	f.write(intro, page("slug: start"))
	f.remove("B.md")
	f.reconcile()
	is("docs/start.md", "docs/start.md", "docs/start.md", "docs/start.md", "docs/start.md", "docs/start.md")
}

// TestPermalinks_Operations keeps links to a permalink right when their note changes.
func TestPermalinks_Operations(t *testing.T) {
	const start = "---\nslug: /start\n---\n# Risks\n"
	f := newFixture(t, "docs/a.md", "[i](/start#risks)\n", "docs/start.md", start, "v1/a.md", "[i](/start)\n", "v1/start.md", start,
		"odd.md", "---\npermalink: false\n---\n", "b.md", "[odd](/0)\n")
	assert.Equal(t, []string{"docs/start.md"}, f.leads("docs/a.md"), "the nearest")
	assert.Equal(t, []string{"v1/start.md"}, f.leads("v1/a.md"), "the nearest")
	assert.Equal(t, []string{""}, f.leads("b.md"))
	_, err := f.Move(t.Context(), notes.MoveRequest{Note: "docs/start.md", To: "z/start.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, "[i](/start#risks)\n", f.files()["docs/a.md"])
	assert.Equal(t, "[i](/start)\n", f.files()["v1/a.md"])
	f.requireConsistent()
	f.remove("v1/start.md")
	f.reconcile()
	assert.Equal(t, []string{"z/start.md"}, f.leads("v1/a.md"))
	_, err = f.Edit(t.Context(), notes.EditRequest{Note: "z/start", Edits: []notes.Edit{{Op: "rename_heading", Heading: "Risks", New: "Costs"}}})
	require.NoError(t, err)
	assert.Equal(t, "[i](/start#costs)\n", f.files()["docs/a.md"])
	f.write("New.md", "# Costs\n")
	_, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "z/start", Redirect: "New"})
	require.NoError(t, err)
	assert.Equal(t, []string{"New.md"}, f.leads("v1/a.md"))
	assert.Empty(t, f.broken("docs/a.md"))

	f = newFixtureOf(t, twoFolders, "home/p.md", "[a](/about/)\n", "home/info/me.md", "---\npermalink: /about/\n---\n", "work/x.md", "x")
	_, err = f.Move(t.Context(), notes.MoveRequest{Note: "home/info/me.md", To: "work/me.md", UpdateLinks: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"work/me.md"}, f.leads("home/p.md"))
}

// TestBrokenAnchorsAfterAnUpgrade upgrades a store from every earlier version. Version 1,
// for example, had no state for a link whose anchor is missing.
func TestBrokenAnchorsAfterAnUpgrade(t *testing.T) {
	for version := 1; version < migrations.Notes.Version(); version++ {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			f := newFixture(t, "A.md", "[[B#Nope]]\n", "B.md", "# Yes\n- [ ] Task 📅 2026-03-01\n", "P/x.md", "[docs](docs/)\n", "Q/docs/README.md", "", "C.md", "[b](/page)\n", "P/D.md", "---\npermalink: /page/\n---\n")
			require.NoError(t, f.store.Close())
			f.downgrade(version)
			f.open(Options{})
			f.reconcile()
			assert.Equal(t, []string{"B#Nope"}, f.broken("A.md"))
			assert.Equal(t, []string{"docs/#"}, f.broken("P/x.md"))
			assert.Equal(t, []string{"P/D.md"}, f.leads("C.md"))
			assert.Equal(t, []string{"B.md:2 Task"}, f.listed(notes.TaskQuery{}))
			f.requireConsistent()
		})
	}
}

// downgrade converts notes.db, which must be closed, to an earlier schema version with the
// same rows.
func (f *fixture) downgrade(version int) {
	f.t.Helper()
	ctx, path := f.t.Context(), filepath.Join(f.state, store.NotesFile)
	require.NoError(f.t, os.Rename(path, path+".now"))
	db, err := sql.Open("sqlite", path)
	require.NoError(f.t, err)
	db.SetMaxOpenConns(1)
	defer func() { require.NoError(f.t, db.Close()) }()
	require.NoError(f.t, migrations.Apply(ctx, db, migrations.Notes, version))
	column := func(query string, args ...any) (values []string) {
		rows, err := db.QueryContext(ctx, query, args...)
		require.NoError(f.t, err)
		defer func() { _ = rows.Close() }() // Err reports the error
		for rows.Next() {
			var value string
			require.NoError(f.t, rows.Scan(&value))
			values = append(values, value)
		}
		require.NoError(f.t, rows.Err())
		return values
	}
	exec := func(query string, args ...any) {
		_, err := db.ExecContext(ctx, query, args...)
		require.NoError(f.t, err, query)
	}
	exec(`ATTACH ? AS now`, path+".now")
	for _, table := range column(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name IN (SELECT name FROM now.sqlite_schema) ORDER BY rowid`) {
		columns := strings.Join(column(`SELECT name FROM pragma_table_info(?)`, table), ", ")
		exec(`INSERT OR REPLACE INTO main.` + table + ` (` + columns + `) SELECT ` + columns + ` FROM now.` + table)
	}
	if version < 6 {
		exec(`UPDATE links SET resolved = (SELECT id FROM notes WHERE path = 'Q/docs/README.md'), state = 1 WHERE target = 'docs/'`)
	}
	if version < 9 {
		exec(`UPDATE links SET resolved = NULL, state = 0 WHERE target = '/page'`)
	}
	if version < 2 {
		exec(`UPDATE links SET state = 1 WHERE state = 4`)
	}
	if version >= 5 && version < 12 {
		exec(`INSERT INTO store (key, value) VALUES ('parser', ?)`, notes.ParserVersion)
	}
}

func TestBrokenAnchorsAreFoundByIndex(t *testing.T) {
	f := newFixture(t, "A.md", "x")
	require.NoError(t, f.store.Notes().Read(t.Context(), func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(t.Context(), `EXPLAIN QUERY PLAN SELECT l.note FROM links l JOIN notes n ON n.id = l.note WHERE l.note IN (SELECT value FROM json_each('[]'))
			OR l.target_key IN (SELECT value FROM json_each('[]')) OR l.anchor <> '' AND l.resolved IN (SELECT value FROM json_each('[]'))`)
		require.NoError(t, err)
		defer func() { assert.NoError(t, rows.Close()) }()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
			assert.NotContains(t, detail, "SCAN l")
		}
		return rows.Err()
	}))
}

// BenchmarkResolveAnchors resolves 20 000 links to headings of 10 000 notes of 4 KB.
func BenchmarkResolveAnchors(b *testing.B) {
	const n = 10_000
	ctx := b.Context()
	f := &fixture{dir: b.TempDir()}
	for i := range n {
		text := fmt.Sprintf("# Note %d\n## Plan\n[[N%d#Plan]] [[N%d#Nope]]\n", i, (i*7+1)%n, (i*13+5)%n) + strings.Repeat("Some words of a note that is not short.\n", 100)
		require.NoError(b, f.writeFile(fmt.Sprintf("N%d.md", i), text))
	}
	s, err := store.Open(ctx, b.TempDir())
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	v, err := New(ctx, s, f.dir, Options{})
	require.NoError(b, err)
	require.NoError(b, v.Reconcile(ctx))
	for b.Loop() {
		require.NoError(b, s.SaveSetting(ctx, store.LinksStale, true))
		require.NoError(b, s.FinishLinks(ctx))
	}
}
