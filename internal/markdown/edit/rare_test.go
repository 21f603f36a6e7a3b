package edit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// TestApply_RareForms covers rare forms of notes that are special cases in the code.
func TestApply_RareForms(t *testing.T) {
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
		"page properties that end the note":           {"alias:: x", edit.Edit{Op: edit.OpAddTag, Tag: "a"}, "alias:: x\ntags:: #a"},
		"a key after a block in which one is merged":  {"---\na: &x {b: 1}\nc: 2\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "c", Value: 3}, "---\na: &x {b: 1}\nc: 3\n---\n"},
		"a key over one that is merged":               {"---\nx: &a {k: 1}\n<<: *a\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, "---\nx: &a {k: 1}\n<<: *a\nk: 2\n---\n"},
		"text in brackets that is no list of its own": {"---\nkey: [a, {b: c}]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a"}}, "---\nkey: [a]\n---\n"},
		"a key with its value on the next line":       {"---\nkey:\n  [a,\n   b]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"b", "a"}}, "---\nkey:\n  [b,\n   a]\n---\n"},
		"an item that starts on the line of its dash": {"---\nkey:\n  -\n    a\n  - b\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"b", "c"}}, "---\nkey:\n  - b\n  - c\n---\n"},
		"all of a note of one line":                   {"a", edit.Edit{Op: edit.OpReplaceAll, Content: "b\r\nc"}, "b\r\nc"},
		"all of a note of Windows":                    {"a\r\n", edit.Edit{Op: edit.OpReplaceAll, Content: "b\nc"}, "b\r\nc\r\n"},
		"text under a heading that ends the note":     {"# A", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "b"}, "# A\n\nb"},
		"no text under a heading":                     {"# A\n\ntext\n\n# B\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A"}, "# A\n\n# B\n"},
		"a tag on a line of tags":                     {"text #b\n\n#x, #y\n", edit.Edit{Op: edit.OpAddTag, Tag: "z"}, "text #b\n\n#x, #y #z\n"},
		"before front matter's blank lines":           {"---\na: 1\n---\n\n\n", edit.Edit{Op: edit.OpPrepend, Content: "x"}, "---\na: 1\n---\nx\n\n\n"},
		"a table after text":                          {"text\n", edit.Edit{Op: edit.OpAppend, Content: "|a|b|\n|-|-|"}, "text\n\n|a|b|\n|-|-|\n"},
		"a row after a table":                         {"|a|b|\n|-|-|\n", edit.Edit{Op: edit.OpAppend, Content: "|c|d|"}, "|a|b|\n|-|-|\n|c|d|\n"},
		"text after a table":                          {"|a|b|\n|-|-|\n", edit.Edit{Op: edit.OpAppend, Content: "text"}, "|a|b|\n|-|-|\n\ntext\n"},
		"a thematic break after a list":               {"- a\n", edit.Edit{Op: edit.OpAppend, Content: "- - -"}, "- a\n\n- - -\n"},
		"a list after a thematic break":               {"- - -\n", edit.Edit{Op: edit.OpAppend, Content: "- a"}, "- - -\n\n- a\n"},
		"blank lines stay without indentation":        {"  - ## Plan\n    a\n", edit.Edit{Op: edit.OpInsertAfter, Heading: "Plan", Content: "- b\n\n  c"}, "  - ## Plan\n    a\n  - b\n\n    c\n"},
		"a heading that had no text":                  {"# A\n##\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "A > (line 2)", New: "B"}, "# A\n## B\n"},
		"a heading that has an id":                    {"# A {#a}\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "A {#a}", New: "B"}, "# B {#a}\n"},
		"items that share a line":                     {"---\nkey: [\n  a,\n  b, c,\n  d\n]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a", "c", "d"}}, "---\nkey: [\n  a,\n  c, d\n]\n---\n"},
		"an item keeps its quotes":                    {"---\nkey: ['a', \"b\"]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"b", "c"}}, "---\nkey: [\"b\", c]\n---\n"},
		"a list of one item keeps its space":          {"---\nkey:   [a]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a", "b"}}, "---\nkey:   [a, b]\n---\n"},
		"a list keeps what parts its items":           {"---\nkey: [a,b]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a", "b", "c"}}, "---\nkey: [a,b,c]\n---\n"},
		"a list in a list":                            {"---\nkey: [[a, b], {c: d}, e] # x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{[]any{"a", "b"}, "f"}}, "---\nkey: [[a, b], f] # x\n---\n"},
		"a bracket in quotes in a map in a list":      {"---\nkey: [{a: \"}\"}, b]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{map[string]any{"a": "}"}, "b", "c"}}, "---\nkey: [{a: \"}\"}, b, c]\n---\n"},
		"the first key of TOML":                       {"+++\na = 1\nb = 2\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "a", Value: 3}, "+++\na = 3\nb = 2\n+++\n"},
		"a key of TOML in double quotes":              {"+++\n\"a = \\\" b\" = 1 # x\nc = 2\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "a = \" b", Value: 3}, "+++\n\"a = \\\" b\" = 3 # x\nc = 2\n+++\n"},
		"a key of TOML in single quotes":              {"+++\n'a=\\b' = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: `a=\b`, Value: 3}, "+++\n'a=\\b' = 3\n+++\n"},
		"a new key of TOML before its tables":         {"+++\na = 1\n\n[t]\nb = 2\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: 3}, "+++\na = 1\nb = 3\n\n[t]\nb = 2\n+++\n"},
		"a new key of TOML before its lists":          {"+++\n[[t]]\nb = 2\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "a", Value: 3}, "+++\na = 3\n[[t]]\nb = 2\n+++\n"},
		"the only key":                                {"---\na: 1 # x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "a", Value: 2}, "---\na: 2 # x\n---\n"},
		"page properties after front matter":          {"---\nx: 1\n---\nalias:: b\n\ntext\n", edit.Edit{Op: edit.OpAddTag, Tag: "a"}, "---\nx: 1\ntags:\n  - a\n---\nalias:: b\n\ntext\n"},
		"a tag after tags":                            {"#a #b and words\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "b"}, "#a and words\n"},
		"a tag before tags":                           {"words and #a, #b\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "a"}, "words and, #b\n"},
		"a word that is hexadecimal":                  {"---\nkey: x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: "face"}, "---\nkey: face\n---\n"},
		"text that is a number to some":               {"---\nkey: x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: "1e3"}, "---\nkey: \"1e3\"\n---\n"},
		"text that is a time to some":                 {"---\nkey: x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: "12:30"}, "---\nkey: \"12:30\"\n---\n"},
		"control characters in single quotes":         {"---\nkey: 'x'\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: "a\u2028b\x7f\r\t"}, "---\nkey: \"a\\u2028b\\u007F\\r\\t\"\n---\n"},
		"a section that has the text already":         {"# A\n```\na\n```\nB\n===\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "```\na\n```"}, "# A\n```\na\n```\nB\n===\n"},
		"a section before a heading without '#'":      {"# A\n```\na\n```\nB\n===\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "new"}, "# A\nnew\n\nB\n===\n"},
		"text before the section's own heading":       {"# A\ntext\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "intro\n# A\nnew"}, "# A\nintro\n# A\nnew\n"},
		"front matter before the section's heading":   {"# A\ntext\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "---\na: 1\n---\n# A\nnew"}, "# A\n---\na: 1\n---\n# A\nnew\n"},
		"a list in the place of a paragraph":          {"text ^id\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "^id", Content: "- a"}, "- a ^id\n"},
		"an item in the place of an item":             {"* text ^id\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "^id", Content: "1. a"}, "* a ^id\n"},
		"text in the place of an item":                {"* text ^id\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "^id", Content: "a\nb"}, "* a\n  b ^id\n"},
		"a block in a quote":                          {"> text\n> more ^id\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "^id", Content: "a\nb"}, "> a\n> b ^id\n"},
		"after a byte order mark":                     {"\ufeff", edit.Edit{Op: edit.OpAppend, Content: "x"}, "\ufeffx"},
		"after text without a line break":             {"\ufefftext", edit.Edit{Op: edit.OpAppend, Content: "x"}, "\ufefftext\n\nx"},
		"a byte order mark for one":                   {"\ufeffa\n", edit.Edit{Op: edit.OpReplaceAll, Content: "\ufeffb\n"}, "\ufeffb\n"},
		"a byte order mark stays":                     {"\ufeffa\n", edit.Edit{Op: edit.OpReplaceAll, Content: "b\n"}, "\ufeffb\n"},
		"content that is indented stays so":           {"- # A\n  text\n", edit.Edit{Op: edit.OpAppend, Heading: "A", Content: "    code"}, "- # A\n  text\n\n    code\n"},
		"content goes where the text is":              {"- # A\n    text\n", edit.Edit{Op: edit.OpAppend, Heading: "A", Content: "more"}, "- # A\n    text\n\n    more\n"},
		"under a heading that blank lines end":        {"# A\n\n\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "A", Content: "b"}, "# A\n\nb\n"},
		"a heading is made at the end":                {"# A\n\ntext", edit.Edit{Op: edit.OpAppend, Heading: "### New", CreateHeading: true, Content: "x"}, "# A\n\ntext\n\n### New\n\nx"},
		"an item of a list that an anchor names":      {"---\nl: &x [a]\nm: *x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "m", Value: []any{"a", "b"}}, "---\nl: &x [a]\nm:\n  - a\n  - b\n---\n"},
		"a number among tags":                         {"---\ntags: 2026\n---\n", edit.Edit{Op: edit.OpAddTag, Tag: "#year/b"}, "---\ntags:\n  - 2026\n  - year/b\n---\n"},
	} {
		out, _, err := edit.Apply(t.Context(), []byte(test.src), []edit.Edit{test.edit})
		require.NoError(t, err, name)
		assert.Equal(t, test.want, string(out), name)
	}
}

// TestApply_RareFormsRefused: text that cannot be edited separately is rejected with the
// reason.
func TestApply_RareFormsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		src  string
		edit edit.Edit
		kind error
		says string
	}{
		"a section of a block":         {"text ^id\n", edit.Edit{Op: edit.OpAppend, Heading: "^id", Content: "x"}, edit.ErrInvalid, "^id is a block and has no section; insert_after puts text after it"},
		"broken front matter":          {"---\ntags: [a\n---\n#b\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "a"}, edit.ErrFrontMatter, "correct it first with replace_text"},
		"front matter in braces":       {"---\n{a: 1}\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: 1}, edit.ErrFrontMatter, "written in braces"},
		"a table of TOML":              {"+++\n[k]\na = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, edit.ErrFrontMatter, "it is a table"},
		"a dotted key of TOML":         {"+++\nk.a = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: 2}, edit.ErrFrontMatter, "it is a dotted key"},
		"null in TOML":                 {"+++\na = 1\n+++\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "k", Value: []any{nil}}, edit.ErrFrontMatter, "would not parse"},
		"the text is nearly there":     {"a line of words\n", edit.Edit{Op: edit.OpReplaceText, Old: "a line of word5", New: "x"}, markdown.ErrMissing, `the nearest is on line 1: "a line of words"`},
		"other white space":            {"# A\n\n  one long line, with  two\nwords that are wanted, and with many others\n", edit.Edit{Op: edit.OpReplaceText, Old: "two words", New: "x"}, markdown.ErrMissing, `the nearest is on line 3: "two\nwords"`},
		"other typography":             {"a\nSo “it’s 3–4\u00a0days”, she said, and that is what was written down of it\n", edit.Edit{Op: edit.OpReplaceText, Old: "\"it's 3-4 days\"", New: "x"}, markdown.ErrMissing, `the nearest is on line 2: "“it’s 3–4\u00a0days”"`},
		"the text is not there":        {"a line of words\n", edit.Edit{Op: edit.OpReplaceText, Old: "quite unlike 123456", New: "x"}, markdown.ErrMissing, "nor half of its words"},
		"no section to insert before":  {"# A\n", edit.Edit{Op: edit.OpInsertBefore, Heading: "B", Content: "x"}, markdown.ErrMissing, `section "B": not in the note`},
		"no section to insert after":   {"# A\n", edit.Edit{Op: edit.OpInsertAfter, Heading: "B", Content: "x"}, markdown.ErrMissing, `section "B": not in the note`},
		"a heading at the end of code": {"```\ncode\n", edit.Edit{Op: edit.OpAppend, Heading: "New", CreateHeading: true, Content: "x"}, edit.ErrInvalid, "inside code or HTML"},
		"a heading of two lines":       {"# A\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "A", New: "b\nc"}, edit.ErrInvalid, "the text of a heading is one line"},
		"a heading of another level":   {"# A\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "A", New: "## b"}, edit.ErrInvalid, "keeps the level, which is 1"},
		"a heading that is a block":    {"a ^b\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "^b", New: "c"}, edit.ErrInvalid, "is a block and no heading"},
		"a heading that would end":     {"A\n===\n", edit.Edit{Op: edit.OpRenameHeading, Heading: "A", New: "- b"}, edit.ErrInvalid, "cannot be the text of that heading"},
		"a tag without a name":         {"#a\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "#"}, edit.ErrInvalid, `"#" is no tag`},
		"a tag of another note":        {"#a #b\n", edit.Edit{Op: edit.OpRemoveTag, Tag: "c"}, markdown.ErrMissing, "its tags are: a, b"},
		"the text in capitals":         {"one\nsome words of text\ntwo\n", edit.Edit{Op: edit.OpReplaceText, Old: "SOME WORDS OF A TEXT", New: "x"}, markdown.ErrMissing, `the nearest is on line 2: "some words of text"`},
		"front matter that is no map":  {"---\nprose:x\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: 1}, edit.ErrFrontMatter, "not a list of keys"},
		"text that is not UTF-8":       {"a\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: "\xff"}, edit.ErrInvalid, "not valid UTF-8"},
		"a value that is no JSON":      {"a\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: struct{}{}}, edit.ErrInvalid, "not a JSON value"},
		"a heading without a name":     {"# A\n", edit.Edit{Op: edit.OpAppend, Heading: "##", CreateHeading: true, Content: "x"}, edit.ErrInvalid, "needs the text of one heading"},
		"a heading that is a path":     {"# A\n", edit.Edit{Op: edit.OpAppend, Heading: "B > C", CreateHeading: true, Content: "x"}, edit.ErrInvalid, "needs the text of one heading"},
		"a block that is to be made":   {"# A\n", edit.Edit{Op: edit.OpAppend, Heading: "^b", CreateHeading: true, Content: "x"}, edit.ErrInvalid, "no heading can be made for it"},
		"a heading in the code below":  {"# A\n\n```\ncode\n", edit.Edit{Op: edit.OpAppend, Heading: "New", CreateHeading: true, Content: "x"}, edit.ErrInvalid, "inside code or HTML"},
		"a block without text":         {"a ^b\n", edit.Edit{Op: edit.OpReplaceSection, Heading: "^b"}, edit.ErrInvalid, "the new text of block ^b is empty"},
		"front matter with a line":     {"---\na: 1\nb: [\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "c", Value: 1}, edit.ErrFrontMatter, "correct it first with replace_text (line "},
		"front matter with an anchor":  {"---\n&x\na: 1\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "b", Value: 1}, edit.ErrFrontMatter, "not a plain list of keys"},
		"a key that is there in part":  {"---\nA: 1\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "a", Value: 2}, edit.ErrFrontMatter, `the note has "A"; use that spelling, or remove that key first`},
		"a comment between items":      {"---\nkey: [\n  a, # one, [\n  b\n]\n---\n", edit.Edit{Op: edit.OpSetFrontMatter, Key: "key", Value: []any{"a"}}, edit.ErrFrontMatter, "its value contains comments; use replace_text"},
		"a comment after the items":    {"---\ntags: [\n  a,\n  b # two\n]\n---\n", edit.Edit{Op: edit.OpAddTag, Tag: "c"}, edit.ErrFrontMatter, "its value contains comments; use replace_text"},
		"a comment in a TOML list":     {"+++\ntags = [\n  # old\n  \"a\",\n]\n+++\n", edit.Edit{Op: edit.OpAddTag, Tag: "c"}, edit.ErrFrontMatter, "its value contains comments; use replace_text"},
		"a text that is too short":     {"a line\n", edit.Edit{Op: edit.OpReplaceText, Old: "xy", New: "z"}, markdown.ErrMissing, "nor half of its words"},
	} {
		out, _, err := edit.Apply(t.Context(), []byte(test.src), []edit.Edit{test.edit})
		assert.Nil(t, out, name)
		require.ErrorIs(t, err, test.kind, name)
		assert.ErrorContains(t, err, test.says, name)
	}
}
