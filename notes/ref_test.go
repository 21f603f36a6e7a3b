package notes

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What search, links and other programs print names the note everywhere.
func TestReferences(t *testing.T) {
	f := newFixture(t, "Recipes/Rye Bread.md", "# Rye\n\n## Oven\nhot\n", "C# 5.md", "x", "C.md", "x", "Odd.md:5-14.md", "x", "Über.md", "x")
	rye := "Recipes/Rye Bread.md"
	for ref, want := range map[string]struct {
		path   string
		anchor Anchor
	}{
		"Recipes/Rye Bread.md:5-14":                                  {rye, Anchor{First: 5, Last: 14}},
		"Recipes/Rye Bread.md:5":                                     {rye, Anchor{First: 5, Last: 5}},
		"rye bread#Oven":                                             {rye, Anchor{Heading: "Oven"}},
		"Rye Bread#Rye#Oven":                                         {rye, Anchor{Heading: "Rye#Oven"}},
		"[[Rye Bread#Oven|the oven]]":                                {rye, Anchor{Heading: "Oven"}},
		"![[Rye Bread#^b1]]":                                         {rye, Anchor{Heading: "^b1"}},
		"[[Rye Bread]]":                                              {rye, Anchor{}},
		"note:///Recipes/Rye%20Bread.md?rev=3#L12-L18":               {rye, Anchor{First: 12, Last: 18}},
		"note:///Recipes/Rye%20Bread.md#L12":                         {rye, Anchor{First: 12, Last: 12}},
		"note:///Recipes/Rye%20Bread.md#Two%20Ovens":                 {rye, Anchor{Heading: "Two Ovens"}},
		"note:///%C3%9Cber.md?rev=1":                                 {"Über.md", Anchor{}},
		"obsidian://open?vault=V&file=Recipes%2FRye%20Bread%23Oven":  {rye, Anchor{Heading: "Oven"}},
		"obsidian://open?vault=V&file=Recipes%2FRye%20Bread.md":      {rye, Anchor{}},
		"obsidian://vault/V/Recipes/Rye%20Bread":                     {rye, Anchor{}},
		filepath.Join(f.Root(), rye):                                 {rye, Anchor{}},
		filepath.Join(f.dir, rye) + ":5-14":                          {rye, Anchor{First: 5, Last: 14}},
		"obsidian://open?path=" + url.QueryEscape(f.dir+"/"+rye):     {rye, Anchor{}},
		(&url.URL{Scheme: "file", Path: f.dir + "/" + rye}).String(): {rye, Anchor{}},
		"C.md":           {"C.md", Anchor{}},
		"C# 5":           {"C# 5.md", Anchor{Heading: "5"}}, // all of it is a name, which comes first
		"Odd.md:5-14.md": {"Odd.md:5-14.md", Anchor{}},
	} {
		t.Run(ref, func(t *testing.T) {
			m, err := f.Lookup(t.Context(), ref, Scope{})
			require.NoError(t, err)
			assert.Equal(t, want.path, m.Path)
			_, anchor := SplitAnchor(ref)
			assert.Equal(t, want.anchor, anchor)
			n, err := f.Read(t.Context(), ref, Scope{})
			require.NoError(t, err)
			assert.Equal(t, want.path, n.Path)
		})
	}
	f.write("New/Note.md", "x") // not looked at yet
	n, err := f.Read(t.Context(), filepath.Join(f.dir, "New", "Note.md")+":1-1", Scope{})
	require.NoError(t, err)
	assert.Equal(t, "New/Note.md", n.Path)

	for ref, want := range map[string]string{
		"/etc/passwd":                         "absolute",
		filepath.Dir(f.dir) + "/x.md":         "absolute",
		"obsidian://open?path=%2Fetc%2Fhosts": "absolute",
		"Recipes/":                            `this is a folder, with 1 notes in it and below`,
		"Recipes":                             `list_notes folder="Recipes"`,
		"Rye Bred#Oven":                       "no such note",
	} {
		_, err := f.Read(t.Context(), ref, Scope{})
		var e *Error
		require.ErrorAs(t, err, &e, ref)
		assert.Contains(t, e.Error()+" "+e.Hint, want)
	}
	_, err = f.Lookup(t.Context(), "Recipes", Scope{Read: []string{"Elsewhere"}})
	require.ErrorContains(t, err, "no such note", "a folder outside of the scope is not told of")
}

// A change of a note that names only a part of it would be one of all of it.
func TestPartsAreNotChanged(t *testing.T) {
	f := newFixture(t, "Plan.md", "# Plan\n\n## Risks\nsnails\n", "C# 5.md", "x")
	before := f.files()
	for _, ref := range []string{"Plan#Risks", "Plan.md:3-4", "note:///Plan.md#L3-L4", "[[Plan#Risks]]"} {
		_, err := f.Delete(t.Context(), DeleteRequest{Note: ref})
		require.ErrorIs(t, err, ErrInvalid, ref)
		_, err = f.Move(t.Context(), MoveRequest{Note: ref, To: "Other.md"})
		require.ErrorIs(t, err, ErrInvalid, ref)
		_, err = f.Edit(t.Context(), EditRequest{Note: ref, Edits: []Edit{{Op: "append", Content: "x"}}})
		require.ErrorContains(t, err, `a part of the note "Plan.md"`, ref)
	}
	assert.Equal(t, before, f.files())
	_, err := f.Delete(t.Context(), DeleteRequest{Note: "C# 5"})
	require.NoError(t, err)
}
