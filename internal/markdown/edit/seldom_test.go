package edit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// TestApply_Seldom: forms of notes that are rare and whose edits have code of their own.
func TestApply_Seldom(t *testing.T) {
	for name, test := range map[string]struct {
		src  string
		edit edit.Edit
		want string
	}{
		"under a heading in a list, with tabs":        {"- ## Plan\n\t- a\n- ## Next\n- x\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "Next", Content: "new"}, "- ## Plan\n\t- a\n- ## Next\n\n\tnew\n\n- x\n"},
		"nothing for nothing":                         {"# A\n\n# B\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A"}, "# A\n\n# B\n"},
		"another heading than the section's":          {"# A\ntext\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "## B\nnew"}, "# A\n## B\nnew\n"},
		"a heading without text gets one":             {"#\ntext\n\n## B\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "B", New: "C"}, "#\ntext\n\n## C\n"},
		"tags that are an empty text":                 {"---\ntags: \"\"\n---\n", edit.Edit{Op: edit.OpAddTag, Tag: "a"}, "---\ntags: \"a\"\n---\n"},
		"tags that are a number":                      {"---\ntags: 2026\n---\n", edit.Edit{Op: edit.OpAddTag, Tag: "a"}, "---\ntags:\n  - 2026\n  - a\n---\n"},
		"the only tag, a number":                      {"---\ntags: 2026\nx: 1\n---\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "2026"}, "---\nx: 1\n---\n"},
		"the only tag, a text":                        {"---\ntags: a\nx: 1\n---\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "#a"}, "---\nx: 1\n---\n"},
		"page properties that end the note":           {"alias:: x", edit.Edit{Op: edit.OpAddTag, Tag: "a"}, "alias:: x\ntags:: a"},
		"a key after a block in which one is merged":  {"---\na: &x {b: 1}\nc: 2\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "c", Value: 3}, "---\na: &x {b: 1}\nc: 3\n---\n"},
		"a key over one that is merged":               {"---\nx: &a {k: 1}\n<<: *a\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, "---\nx: &a {k: 1}\n<<: *a\nk: 2\n---\n"},
		"text in brackets that is no list of its own": {"---\nkey: [a, {b: c}]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a"}}, "---\nkey: [a]\n---\n"},
		"a key with its value on the next line":       {"---\nkey:\n  [a,\n   b]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"b", "a"}}, "---\nkey:\n  [b,\n   a]\n---\n"},
		"an item that starts on the line of its dash": {"---\nkey:\n  -\n    a\n  - b\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"b", "c"}}, "---\nkey:\n  - b\n  - c\n---\n"},
	} {
		out, err := edit.Apply(t.Context(), []byte(test.src), []edit.Edit{test.edit})
		require.NoError(t, err, name)
		assert.Equal(t, test.want, string(out), name)
	}
}

// TestApply_SeldomRefused: what cannot be edited alone is refused with its reason.
func TestApply_SeldomRefused(t *testing.T) {
	for name, test := range map[string]struct {
		src  string
		edit edit.Edit
		kind error
		says string
	}{
		"a section of a block":     {"text ^id\n", edit.Edit{Op: edit.OpAppend, Heading: "^id", Content: "x"}, edit.ErrInvalid, "^id is a block and has no section; insert_after puts text after it"},
		"broken front matter":      {"---\ntags: [a\n---\n#b\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "a"}, edit.ErrFrontMatter, "correct it first with replace_text"},
		"front matter in braces":   {"---\n{a: 1}\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: 1}, edit.ErrFrontMatter, "written in braces"},
		"a table of TOML":          {"+++\n[k]\na = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, edit.ErrFrontMatter, "it is a table"},
		"a dotted key of TOML":     {"+++\nk.a = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, edit.ErrFrontMatter, "it is a dotted key"},
		"null in TOML":             {"+++\na = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: []any{nil}}, edit.ErrInvalid, "cannot hold null"},
		"the text is nearly there": {"a line of words\n", edit.Edit{Op: edit.OpReplaceText, Old: "a line of word5", New: "x"}, markdown.ErrMissing, `the nearest is on line 1: "a line of words"`},
		"the text is not there":    {"a line of words\n", edit.Edit{Op: edit.OpReplaceText, Old: "quite unlike 123456", New: "x"}, markdown.ErrMissing, "nor anything like it"},
	} {
		out, err := edit.Apply(t.Context(), []byte(test.src), []edit.Edit{test.edit})
		assert.Nil(t, out, name)
		require.ErrorIs(t, err, test.kind, name)
		assert.ErrorContains(t, err, test.says, name)
	}
}
