package vault

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// References in the formats of search, links and other programs are accepted everywhere.
func TestReferences(t *testing.T) {
	f := newFixture(t, "Recipes/Rye Bread.md", "# Rye\n\n## Oven\nhot\n", "C# 5.md", "x", "C.md", "x", "Odd.md:5-14.md", "x", "Über.md", "x", " led by a space .md", "x", "[[linked]].md", "x")
	rye := "Recipes/Rye Bread.md"
	for ref, want := range map[string]struct {
		path   string
		anchor notes.Anchor
	}{
		"Recipes/Rye Bread.md:5-14":                                  {rye, notes.Anchor{First: 5, Last: 14}},
		"Recipes/Rye Bread.md:5":                                     {rye, notes.Anchor{First: 5, Last: 5}},
		"rye bread#Oven":                                             {rye, notes.Anchor{Heading: "Oven"}},
		"Rye Bread#Rye#Oven":                                         {rye, notes.Anchor{Heading: "Rye#Oven"}},
		"[[Rye Bread#Oven|the oven]]":                                {rye, notes.Anchor{Heading: "Oven"}},
		"![[Rye Bread#^b1]]":                                         {rye, notes.Anchor{Heading: "^b1"}},
		"[[Rye Bread]]":                                              {rye, notes.Anchor{}},
		"note:///Recipes/Rye%20Bread.md?rev=3#L12-L18":               {rye, notes.Anchor{First: 12, Last: 18}},
		"note:///Recipes/Rye%20Bread.md#L12":                         {rye, notes.Anchor{First: 12, Last: 12}},
		"note:///Recipes/Rye%20Bread.md#Two%20Ovens":                 {rye, notes.Anchor{Heading: "Two Ovens"}},
		"note:///%C3%9Cber.md?rev=1":                                 {"Über.md", notes.Anchor{}},
		"obsidian://open?vault=V&file=Recipes%2FRye%20Bread%23Oven":  {rye, notes.Anchor{Heading: "Oven"}},
		"obsidian://open?vault=V&file=Recipes%2FRye%20Bread.md":      {rye, notes.Anchor{}},
		"obsidian://vault/V/Recipes/Rye%20Bread":                     {rye, notes.Anchor{}},
		filepath.Join(f.Root(), rye):                                 {rye, notes.Anchor{}},
		filepath.Join(f.dir, rye) + ":5-14":                          {rye, notes.Anchor{First: 5, Last: 14}},
		"obsidian://open?path=" + url.QueryEscape(f.dir+"/"+rye):     {rye, notes.Anchor{}},
		(&url.URL{Scheme: "file", Path: f.dir + "/" + rye}).String(): {rye, notes.Anchor{}},
		"/Recipes/Rye Bread":                                         {rye, notes.Anchor{}},
		"/Recipes/Rye Bread.md:5-14":                                 {rye, notes.Anchor{First: 5, Last: 14}},
		"C.md":                                                       {"C.md", notes.Anchor{}},
		"C# 5":                                                       {"C# 5.md", notes.Anchor{Heading: "5"}}, // the complete text is a name, which takes precedence
		"Odd.md:5-14.md":                                             {"Odd.md:5-14.md", notes.Anchor{}},

		" led by a space .md": {" led by a space .md", notes.Anchor{}},
		"[[linked]].md":       {"[[linked]].md", notes.Anchor{}},
	} {
		t.Run(ref, func(t *testing.T) {
			m, err := f.Lookup(t.Context(), ref, notes.Scope{})
			require.NoError(t, err)
			assert.Equal(t, want.path, m.Path)
			_, anchor := notes.SplitAnchor(ref)
			assert.Equal(t, want.anchor, anchor)
			n, err := f.Read(t.Context(), ref, notes.Scope{})
			require.NoError(t, err)
			assert.Equal(t, want.path, n.Path)
		})
	}
	history, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "/" + rye})
	require.NoError(t, err)
	assert.Len(t, history.Revisions, 1)
	f.write("New/Note.md", "x") // not scanned yet
	n, err := f.Read(t.Context(), filepath.Join(f.dir, "New", "Note.md")+":1-1", notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, "New/Note.md", n.Path)

	for ref, want := range map[string]string{
		"/etc/passwd":                         "absolute",
		filepath.Dir(f.dir) + "/x.md":         "absolute",
		"obsidian://open?path=%2Fetc%2Fhosts": "absolute",
		"Recipes/":                            `this is a folder, not a note (notes in it and its subfolders: 1)`,
		"Recipes":                             `list_notes folder="Recipes"`,
		"Rye Bred#Oven":                       "no such note",
	} {
		_, err := f.Read(t.Context(), ref, notes.Scope{})
		var e *notes.Error
		require.ErrorAs(t, err, &e, ref)
		assert.Contains(t, e.Error()+" "+e.Hint, want)
	}
	f.write("Other/Recipes.md", "x")
	f.reconcile()
	_, err = f.Lookup(t.Context(), "Recipes/", notes.Scope{})
	require.ErrorContains(t, err, "this is a folder", "a slash at its end means the folder, and no note of its name elsewhere")
	_, err = f.Delete(t.Context(), notes.DeleteRequest{Note: "Recipes/"})
	require.ErrorContains(t, err, "this is a folder")
	_, err = f.Lookup(t.Context(), "Nowhere/", notes.Scope{})
	require.ErrorIs(t, err, notes.ErrNotFound)
	f.remove("Other/Recipes.md")
	f.reconcile()
	_, err = f.Lookup(t.Context(), "Recipes", notes.Scope{Read: []string{"Elsewhere"}})
	require.ErrorContains(t, err, "no such note", "a folder outside of the scope is not told of")
}

// A title or alias names its note although it is no valid path: on Windows, none may have a
// colon.
func TestReferences_TitlesThatAreNoPaths(t *testing.T) {
	f := newFixture(t, "1.md", "# Project: Plan\n", "2.md", "# ~/.zshrc\n", "3.md", "# Q: why\n", "4.md", "# File: rules\n", "5.md", "---\naliases: ['A: b']\n---\n")
	for title, want := range map[string]string{"Project: Plan": "1.md", "~/.zshrc": "2.md", "Q: why": "3.md", "File: rules": "4.md", "A: b": "5.md"} {
		for _, ref := range []string{title, "[[" + title + "|shown]]", title + "#Part"} {
			m, err := f.Lookup(t.Context(), ref, notes.Scope{})
			require.NoError(t, err, ref)
			assert.Equal(t, want, m.Path, ref)
			n, err := f.Read(t.Context(), ref, notes.Scope{})
			require.NoError(t, err, ref)
			assert.Equal(t, want, n.Path, ref)
			history, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: ref})
			require.NoError(t, err, ref)
			require.NotEmpty(t, history.Revisions, ref)
			assert.Equal(t, want, history.Revisions[0].Path, ref)
		}
	}
	for i, title := range []string{"https://example.com/a", "/etc/hosts", "./configure", "Z: two", "Z: two"} {
		f.write(fmt.Sprintf("More %d.md", i), "# "+title+"\n")
	}
	f.reconcile()
	for i, title := range []string{"https://example.com/a", "/etc/hosts", "./configure"} {
		m, err := f.Lookup(t.Context(), title, notes.Scope{})
		require.NoError(t, err, title)
		assert.Equal(t, fmt.Sprintf("More %d.md", i), m.Path, title)
	}
	_, err := f.History().Revisions(t.Context(), notes.HistoryQuery{Note: "Z: two"})
	assert.Len(t, domainError(t, err).Candidates, 2)
	before := f.files()
	for _, ref := range []string{"../x", "C:/x.md", "~/x", "note:///../x", "\xff", "a\x00b"} {
		_, err := f.Read(t.Context(), ref, notes.Scope{})
		require.ErrorIs(t, err, notes.ErrInvalid, ref)
		_, err = f.History().Revisions(t.Context(), notes.HistoryQuery{Note: ref})
		require.ErrorIs(t, err, notes.ErrInvalid, ref)
	}
	for _, to := range []string{"Q: why", "~/.zshrc", "File: rules"} {
		_, err := f.Create(t.Context(), notes.CreateRequest{Path: to})
		require.ErrorIs(t, err, notes.ErrInvalid, to)
		_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Project: Plan", To: to})
		require.ErrorIs(t, err, notes.ErrInvalid, to)
	}
	assert.Equal(t, before, f.files())
}

// A client may refer to folders and new notes by absolute paths, or by paths with a leading
// slash for the vault's root; a folder outside the vault is not recreated inside it.
func TestAbsolutePathsOfTheVault(t *testing.T) {
	f := newFixture(t, "Work/Plan.md", "x")
	in := func(p string) string { return filepath.Join(f.dir, p) }
	for _, r := range []notes.CreateRequest{
		{Title: "One", Folder: in("Work")}, {Title: "Two", Folder: "/Work/"}, {Path: in("Work/Three.md")}, {Path: in("Work") + "/", Title: "Four"}, {Title: "Five", Folder: in("New")},
		{Title: "Six", Folder: f.dir}, {Title: "Seven", Folder: "/"}, {Title: "Eight", Folder: "/Next/"}, {Title: "Nine", Folder: "/Work/Deeper"}, {Path: "/Work/Ten"}, {Path: "/Eleven.md"},
	} {
		_, err := f.Create(t.Context(), r)
		require.NoError(t, err, "%+v", r)
	}
	for _, r := range []notes.MoveRequest{{Note: "Six", To: in("Work") + "/"}, {Note: in("Work/Two.md"), To: in("New/2.md")}, {Note: in("New"), To: in("Old")}, {Note: "Old/", To: "Deep/Old/"}, {Note: "Three", To: f.dir}, {Note: "/Work/Ten.md", To: "/Next/"}, {Note: "Ten", To: "/Next/10"}, {Note: "/Eleven", To: "/11.md"}} {
		_, err := f.Move(t.Context(), r)
		require.NoError(t, err, "%+v", r)
	}
	assert.ElementsMatch(t, []string{"Work/Plan.md", "Work/One.md", "Deep/Old/2.md", "Three.md", "Work/Four.md", "Deep/Old/Five.md", "Work/Six.md", "Seven.md", "Next/Eight.md", "Work/Deeper/Nine.md", "Next/10.md", "11.md"}, slices.Collect(maps.Keys(f.files())))
	before := f.files()
	for _, folder := range []string{filepath.Dir(f.dir), filepath.Dir(f.dir) + "/Work", "/home/ann/Notes", "/Nowhere/Notes"} {
		_, err := f.Create(t.Context(), notes.CreateRequest{Title: "Twelve", Folder: folder})
		require.ErrorIs(t, err, notes.ErrInvalid, folder) // absolute, or with a drive letter
		_, err = f.Move(t.Context(), notes.MoveRequest{Note: "Seven", To: folder + "/"})
		require.ErrorIs(t, err, notes.ErrInvalid, folder) // absolute, or with a drive letter
	}
	assert.Equal(t, before, f.files())
	f.requireConsistent()
}

// A reference to part of a note is rejected for changes, which would affect the whole note.
func TestWrite_PartOfNote(t *testing.T) {
	f := newFixture(t, "Plan.md", "# Plan\n\n## Risks\nsnails\n", "C# 5.md", "x")
	before := f.files()
	for _, ref := range []string{"Plan#Risks", "Plan.md:3-4", "note:///Plan.md#L3-L4", "[[Plan#Risks]]"} {
		_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: ref})
		require.ErrorIs(t, err, notes.ErrInvalid, ref)
		_, err = f.Move(t.Context(), notes.MoveRequest{Note: ref, To: "Other.md"})
		require.ErrorIs(t, err, notes.ErrInvalid, ref)
		_, err = f.Edit(t.Context(), notes.EditRequest{Note: ref, Edits: []notes.Edit{{Op: "append", Content: "x"}}})
		require.ErrorContains(t, err, `part of the note "Plan.md"`, ref)
	}
	assert.Equal(t, before, f.files())
	_, err := f.Delete(t.Context(), notes.DeleteRequest{Note: "C# 5"})
	require.NoError(t, err)
}

// A note that is read by a reference to a part has the part, unless the whole reference is its name.
func TestRead_PartOfNote(t *testing.T) {
	f := newFixture(t, "Plan.md", "# Plan\n\n## Risks\nsnails\n", "C# 5.md", "x", "C.md", "y")
	f.write("Later.md", "# Later\n\nnot in the store yet\n")
	for ref, want := range map[string]notes.Anchor{
		"Plan": {}, "C# 5": {}, "C# 5.md": {}, "C#5": {Heading: "5"},
		"Plan#Risks": {Heading: "Risks"}, "[[Plan#Risks]]": {Heading: "Risks"}, "Plan.md:3-4": {First: 3, Last: 4},
		"note:///Plan.md?rev=1a2b3c#L3-L4": {First: 3, Last: 4}, "Later.md:3": {First: 3, Last: 3},
	} {
		n, err := f.Read(t.Context(), ref, notes.Scope{})
		require.NoError(t, err, ref)
		assert.Equal(t, want, n.Part, ref)
	}
}
