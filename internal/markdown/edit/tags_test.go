package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

func TestAddTag(t *testing.T) {
	for _, c := range []struct{ name, src, tag, want string }{
		{"block list", "---\ntags:\n  - a # first\n  - 'b'\nx: 1\n---\ntext\n", "#c", "---\ntags:\n  - a # first\n  - 'b'\n  - c\nx: 1\n---\ntext\n"},
		{"brackets", "---\ntags: [a, \"b c\", 'd'] # mine\n---\n", "e", "---\ntags: [a, \"b c\", 'd', e] # mine\n---\n"},
		{"brackets over lines", "---\ntags: [\n  a,\n  b,\n]\nk: v\n---\n", "e", "---\ntags: [\n  a,\n  b,\n  e,\n]\nk: v\n---\n"},
		{"brackets over lines without a last comma", "---\r\ntags:\r\n  [\r\n    a,\r\n    b\r\n  ]\r\n---\r\n", "e", "---\r\ntags:\r\n  [\r\n    a,\r\n    b,\r\n    e\r\n  ]\r\n---\r\n"},
		{"brackets that close on the last line", "---\ntags: [a,\n  b, c]\n---\n", "e", "---\ntags: [a,\n  b, c, e]\n---\n"},
		{"empty brackets", "---\ntags: []\n---\n", "e", "---\ntags: [e]\n---\n"},
		{"commas", "---\ntags: a, b\n---\n", "c", "---\ntags: a, b, c\n---\n"},
		{"quoted commas", "---\ntags: \"a, b\"\n---\n", "c", "---\ntags: \"a, b, c\"\n---\n"},
		{"spaces", "---\ntags: a b\n---\n", "c", "---\ntags: a b c\n---\n"},
		{"one", "---\ntags: a\n---\n", "c", "---\ntags: a, c\n---\n"},
		{"null", "---\ntags:\nx: 1\n---\n", "c", "---\ntags:\n  - c\nx: 1\n---\n"},
		{"number", "---\ntags: 2024\n---\n", "c", "---\ntags:\n  - 2024\n  - c\n---\n"},
		{"key tag", "---\ntag: a\n---\n", "c", "---\ntag: a, c\n---\n"},
		{"any case of the key", "---\nTags: [a]\n---\n", "c", "---\nTags: [a, c]\n---\n"},
		{"TOML", "+++\ntags = [\"a\"] # x\n+++\n", "c", "+++\ntags = [\"a\", \"c\"] # x\n+++\n"},
		{"TOML over lines", "+++\r\ntags = [\r\n  \"a\",\r\n  'b'\r\n]\r\n+++\r\n", "c", "+++\r\ntags = [\r\n  \"a\",\r\n  'b',\r\n  \"c\"\r\n]\r\n+++\r\n"},
		{"has it", "---\ntags: [a]\n---\n#B\n", "b", "---\ntags: [a]\n---\n#B\n"},
		{"line of tags", "# T\n\n#a #b\n\ntext\n", "c", "# T\n\n#a #b #c\n\ntext\n"},
		{"last line of tags", "#a\ntext #b\n#c, #d\r\n", "e", "#a\ntext #b\n#c, #d #e\r\n"},
		{"line of tags, no line break", "#a", "c", "#a #c"},
		{"tags in prose", "I like #a very much\n", "c", "---\ntags:\n  - c\n---\nI like #a very much\n"},
		{"front matter without tags", "---\nx: 1\n---\ntext\n", "c", "---\nx: 1\ntags:\n  - c\n---\ntext\n"},
		{"nothing", "text\n", "c", "---\ntags:\n  - c\n---\ntext\n"},
		{"empty", "", "c", "---\ntags:\n  - c\n---\n"},
		{"property", "tags:: a, [[b c]]\ntitle:: T\n\ntext\n", "d", "tags:: a, [[b c]], d\ntitle:: T\n\ntext\n"},
		{"property with #", "tags:: #a\n", "d", "tags:: #a, #d\n"},
		{"properties without tags", "title:: T\n\n- text\n", "d", "title:: T\ntags:: #d\n\n- text\n"},
		{"properties that end the note", "title:: T\n", "d", "title:: T\ntags:: #d\n"},
		{"properties without a final line break", "title:: T", "d", "title:: T\ntags:: #d"},
		{"text like a property", "std::vector grows\nby doubling.\n", "d", "---\ntags:\n  - d\n---\nstd::vector grows\nby doubling.\n"},
		{"CRLF", "---\r\ntags: [a]\r\n---\r\n", "c", "---\r\ntags: [a, c]\r\n---\r\n"},
		{"front matter and a line of tags", "---\ntags: [a]\n---\n#b\n", "c", "---\ntags: [a, c]\n---\n#b\n"},
		{"nested", "---\ntags: [a]\n---\n", "a/b", "---\ntags: [a, a/b]\n---\n"},
	} {
		out, err := AddTag([]byte(c.src), c.tag)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(out), c.name)
	}
	for _, bad := range []string{"", "#", "two words", "2024", "a.b", "a//b", "[[x]]", "a,b", strings.Repeat("x", 300)} {
		_, err := AddTag([]byte("text"), bad)
		require.ErrorIs(t, err, ErrInvalid, bad)
	}
	_, err := AddTag([]byte("---\ntags: [a\n---\n"), "b")
	require.ErrorIs(t, err, ErrFrontMatter)
}

func TestRemoveTag(t *testing.T) {
	for _, c := range []struct{ name, src, tag, want string }{
		{"block list", "---\ntags:\n  - a # first\n  - 'b'\n  - c\n---\n", "b", "---\ntags:\n  - a # first\n  - c\n---\n"},
		{"comment above the next", "---\ntags:\n  - a\n  # work\n  - b\n---\n", "a", "---\ntags:\n  # work\n  - b\n---\n"},
		{"text like a comment", "---\ntags:\n  - |\n    # x\n  - b\n---\n", "b", "---\ntags:\n  - |\n    # x\n---\n"},
		{"no indentation", "---\r\ntags:\r\n- a\r\n# work\r\n- b\r\n---\r\n", "a", "---\r\ntags:\r\n# work\r\n- b\r\n---\r\n"},
		{"comment above", "---\ntags:\n  - a\n  # more\n  # work\n  - b\n  # home\n  - c\n---\n", "b", "---\ntags:\n  - a\n  # home\n  - c\n---\n"},
		{"brackets over lines", "---\ntags: [\n  a,\n  'b',\n  'c'\n]\nk: v\n---\n", "b", "---\ntags: [\n  a,\n  'c'\n]\nk: v\n---\n"},
		{"the last of brackets over lines", "---\ntags: [\n  a,\n  b\n]\n---\n", "b", "---\ntags: [\n  a\n]\n---\n"},
		{"one of a line in brackets over lines", "---\ntags: [a, b,\n  c]\n---\n", "b", "---\ntags: [a, c]\n---\n"},
		{"brackets", "---\ntags: [\"a\", b, 'c']\n---\n", "B", "---\ntags: [\"a\", 'c']\n---\n"},
		{"last", "---\nx: 1\ntags: [a]\n---\n", "a", "---\nx: 1\n---\n"},
		{"last of all", "---\ntags: [a]\n---\ntext\n", "a", "text\n"},
		{"commas", "---\ntags: a, b, c\n---\n", "b", "---\ntags: a, c\n---\n"},
		{"spaces", "---\ntags: a b c\n---\n", "b", "---\ntags: a c\n---\n"},
		{"nested stays", "---\ntags: [a, a/b]\n---\n#a/c\n", "a", "---\ntags: [a/b]\n---\n#a/c\n"},
		{"line of tags", "#a #b #c\n", "b", "#a #c\n"},
		{"line of commas", "#a, #b, #c\n", "a", "#b, #c\n"},
		{"only tag of its line", "x\n\n#a\n\ny\n", "a", "x\n\n\ny\n"},
		{"end of a line", "- [ ] task #a\n", "a", "- [ ] task\n"},
		{"among the tags at the end", "- [ ] task #a #b\n", "a", "- [ ] task #b\n"},
		{"start of an item", "- #a do it\n", "a", "- do it\n"},
		{"an item with children", "- a\n- #p\n  - c\n- b\n", "p", "- a\n- \n  - c\n- b\n"},
		{"an item with children after a blank line", "- a\n- #p\n\n  - c\n", "p", "- a\n- \n  - c\n"},
		{"a quoted item with children after a blank line", "> - #p\n>\n>   - c\n", "p", "> - \n>   - c\n"},
		{"an item with text below", "- #tag\n  more text", "tag", "- \n  more text"},
		{"a quoted item with children", "> - #p\n>   - c\n", "p", "> - \n>   - c\n"},
		{"an item with children, CRLF", "1. #p\r\n\t- c\r\n", "p", "1. \r\n\t- c\r\n"},
		{"an item without children", "- a\n  - #p\n- b\n  - c\n", "p", "- a\n- b\n  - c\n"},
		{"in a sentence", "I like #a very much, #A.\n", "a", "I like a very much, A.\n"},
		{"twice before text", "#a #a text\n", "a", " text\n"},
		{"several words", "I like #[[a]] x\n", "a", "I like [[a]] x\n"},
		{"everywhere", "---\ntags: [a, b]\n---\n#b\ntext #b\n", "b", "---\ntags: [a]\n---\ntext\n"},
		{"property", "tags:: a, b, c\n", "b", "tags:: a, c\n"},
		{"first of a property", "tags:: a, b\n", "a", "tags:: b\n"},
		{"only one of a property", "title:: x\ntags:: a\n\ntext", "a", "title:: x\n\ntext"},
		{"TOML", "+++\ntags = [\"a\", \"b\"]\n+++\n", "a", "+++\ntags = [\"b\"]\n+++\n"},
		{"code stays", "`#a` #a\n", "a", "`#a`\n"},
		{"with a space", "---\ntags:\n  - a b # old\n  - 2024\n  - c\n---\n", "#A b", "---\ntags:\n  - 2024\n  - c\n---\n"},
		{"with a space, in brackets", "---\ntags: [\"a b\", c, 2024]\n---\n", "a b", "---\ntags: [c, 2024]\n---\n"},
		{"with a space, between commas", "---\ntags: a b, c\n---\n", "a b", "---\ntags: c\n---\n"},
		{"with a space, of Logseq", "tags:: [[a b]], c\n\n- x #[[a b]]\n", "[[a b]]", "tags:: c\n\n- x\n"},
		{"with #", "---\ntags: [\"#a\", b]\n---\n", "a", "---\ntags: [b]\n---\n"},
		{"before brackets of nothing", "text x #a]]\n", "a", "text x a]]\n"},
		{"broken front matter of others", "---\nx: [\n---\nx #a\n", "a", "---\nx: [\n---\nx\n"},
		{"a number", "---\ntags: [2024, c]\n---\n", "2024", "---\ntags: [c]\n---\n"},
		{"a sentence", "---\ntags: [\"a, b.\", c]\n---\n", "a, b.", "---\ntags: [c]\n---\n"},
	} {
		out, err := RemoveTag([]byte(c.src), c.tag)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(out), c.name)
	}
	_, err := RemoveTag([]byte("#a #b/c\n"), "b")
	require.ErrorIs(t, err, markdown.ErrMissing)
	assert.ErrorContains(t, err, "its tags are: a, b/c")
	for _, none := range []string{"", " # ", "#[[]]", "/", "a\xff"} {
		_, err = RemoveTag([]byte("#a"), none)
		require.ErrorIs(t, err, ErrInvalid, none)
	}
	_, err = RemoveTag([]byte("text"), "a")
	require.ErrorContains(t, err, "it has no tags")
}

func TestRenameTag(t *testing.T) {
	for _, c := range []struct{ name, src, tag, to, want string }{
		{"everywhere", "---\ntags:\n  - a # x\n  - A/sub\n  - ab\n---\n#a, #a/b and #ab; #A.\n", "a", "new", "---\ntags:\n  - new # x\n  - new/sub\n  - ab\n---\n#new, #new/b and #ab; #new.\n"},
		{"brackets over lines", "---\ntags: [\n  x,\n  a,\n  '#a/b', ]\n---\n", "a", "new", "---\ntags: [\n  x,\n  new,\n  \"#new/b\", ]\n---\n"},
		{"brackets", "---\ntags: [\"x\", a, '#a/b']\n---\n", "a", "new", "---\ntags: [\"x\", new, \"#new/b\"]\n---\n"},
		{"had both", "---\ntags: [a, b]\n---\n#a #b\n", "a", "b", "---\ntags: [b]\n---\n#b #b\n"},
		{"had it in two spellings", "---\ntags: [a, A, x]\n---\n", "a", "b", "---\ntags: [b, x]\n---\n"},
		{"commas", "---\ntags: a, b\n---\n", "b", "c", "---\ntags: a, c\n---\n"},
		{"into a nested one", "#a #a/b\n", "a", "top/a", "#top/a #top/a/b\n"},
		{"of a nested one", "#a #a/b\n", "a/b", "b", "#a #b\n"},
		{"case", "#Work and #work\n", "work", "Work", "#Work and #Work\n"},
		{"case in front matter", "---\ntags: [Work, x]\n---\n", "Work", "work", "---\ntags: [work, x]\n---\n"},
		{"property", "tags:: a, [[a/b]], #a/c\n\n#[[a]]\n", "a", "n", "tags:: n, [[n/b]], #n/c\n\n#[[n]]\n"},
		{"property that has both", "tags:: a, x, B\n\n#a\n", "a", "b", "tags:: x, B\n\n#b\n"},
		{"property with two spellings", "tags:: a, [[A]], #a/c\n", "a", "b", "tags:: b, #b/c\n"},
		{"property that has both, last", "tags:: b, #a\n", "a", "b", "tags:: b\n"},
		{"not links, code, headings' marks", "[x](#a) `#a` [[note#a]]\n# a\n#a\n", "a", "n", "[x](#a) `#a` [[note#a]]\n# a\n#n\n"},
		{"with a space", "---\ntags:\n  - a b\n  - a b/c\n---\n#[[a b]]\n", "a b", "a-b", "---\ntags:\n  - a-b\n  - a-b/c\n---\n#[[a-b]]\n"},
		{"to one with spaces", "---\ntags:\n  - a b\n  - A B/c\n---\n#[[a b]] #[[a b/c]] #a\n", "a b", "[[n m]]", "---\ntags:\n  - n m\n  - n m/c\n---\n#[[n m]] #[[n m/c]] #a\n"},
		{"to one with spaces, property", "tags:: a b, [[a b/c]], #[[d e]], f\n\n#[[A B]]\n", "a b", "n m o", "tags:: n m o, [[n m o/c]], #[[d e]], f\n\n#[[n m o]]\n"},
		{"to one with spaces, text", "---\ntags: a b, c\n---\n", "a b", "n m", "---\ntags: n m, c\n---\n"},
		{"comments above", "---\ntags:\n  - x\n  # work\n  - a\n  # home\n  - b\n---\n", "a", "new", "---\ntags:\n  - x\n  # work\n  - new\n  # home\n  - b\n---\n"},
		{"comment beside", "---\ntags:\n  - x # home\n  - \"a\"  # work\n---\n", "a", "new", "---\ntags:\n  - x # home\n  - new  # work\n---\n"},
		{"accents", "#cafe\u0301\n", "café", "bar", "#bar\n"},
		{"accents of a nested one", "#cafe\u0301/x\n", "café", "bar", "#bar/x\n"},
		{"accents in front matter", "---\ntags: [cafe\u0301/x]\n---\n", "café", "bar", "---\ntags: [bar/x]\n---\n"},
	} {
		out, err := RenameTag([]byte(c.src), c.tag, c.to)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(out), c.name)
	}
	_, err := RenameTag([]byte("#ab\n"), "a", "b")
	require.ErrorIs(t, err, markdown.ErrMissing)
	_, err = RenameTag([]byte("#a\n"), "a", "b c")
	require.ErrorIs(t, err, ErrInvalid)
	_, err = RenameTag([]byte("#[[a b]]\n"), "a b", "c d]] e")
	require.ErrorIs(t, err, ErrInvalid)
}

func TestRenameHeading(t *testing.T) {
	for _, c := range []struct{ name, src, ref, to, want string }{
		{"ATX", "# A\n## Old ##\ntext\n", "Old", "New", "# A\n## New ##\ntext\n"},
		{"by path", "# A\n## X\n# B\n## X\n", "B > X", "Y", "# A\n## X\n# B\n## Y\n"},
		{"setext", "Old\n===\ntext\n", "Old", "New *one*", "New *one*\n===\ntext\n"},
		{"setext of two lines", "Old\nname\n---\n## Next\n", "Old name", "New", "New\n---\n## Next\n"},
		{"in a list", "- ## Old\n\t- x\n", "Old", "New", "- ## New\n\t- x\n"},
		{"level given", "## Old\n", "Old", "## New", "## New\n"},
		{"ids stay", "## Old ^id-1\n## Other {#own}\n", "Old ^id-1", "New", "## New ^id-1\n## Other {#own}\n"},
		{"ids stay", "## Other {#own}\n", "Other {#own}", "New", "## New {#own}\n"},
		{"attributes stay", "## Other {.a #own}\n", "Other", "New", "## New {.a #own}\n"},
		{"CRLF", "# Old\r\ntext\r\n", "Old", "New", "# New\r\ntext\r\n"},
		{"no line break", "# Old", "Old", "New", "# New"},
	} {
		out, err := RenameHeading([]byte(c.src), c.ref, c.to)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, string(out.After), c.name)
	}
	for _, c := range []struct{ src, ref, to string }{
		{"# A\n", "A", ""}, {"# A\n", "A", "B\nC"}, {"# A\n", "A", "### B"}, {"A\n===\n", "A", "- B"}, {"# A\n", "A", "B #"}, {"x ^id\n", "^id", "B"},
	} {
		_, err := RenameHeading([]byte(c.src), c.ref, c.to)
		require.ErrorIs(t, err, ErrInvalid, "%q", c.to)
	}
	_, err := RenameHeading([]byte("# A\n"), "B", "C")
	require.ErrorIs(t, err, markdown.ErrMissing)
}

// FuzzTags checks that other tags are preserved in order, and that the inverse of a rename
// restores the note if it did not have the new tag before.
func FuzzTags(f *testing.F) {
	for _, src := range []string{"---\ntags: [a, 'b']\n---\n#c #a/b\n", "tags:: a, [[b]]\n- #a x\n", "---\ntags: a b\n---\n`#a` #a", "+++\ntags = ['a']\n+++\n#[[a]]"} {
		f.Add([]byte(src), "a", "zz")
	}
	f.Fuzz(func(t *testing.T, src []byte, tag, name string) {
		before := markdown.Parse(src)
		out, err := AddTag(src, tag)
		if err == nil {
			after := markdown.Parse(out)
			assert.True(t, hasTag(after.Tags, markdown.NFC(strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "/"))))
			assert.Len(t, after.Headings, len(before.Headings), "%q", out)
			back, err := RemoveTag(out, tag)
			if err == nil && !hasTag(before.Tags, strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "/")) {
				assert.ElementsMatch(t, before.Tags, markdown.Parse(back).Tags, "%q %q %q", src, out, back)
			}
		}
		out, err = RenameTag(src, tag, name)
		if err != nil {
			return
		}
		assert.Equal(t, strings.Count(string(src[before.BodyStart:]), "\n"), strings.Count(string(out[markdown.Parse(out).BodyStart:]), "\n"), "%q %q", src, out)
		for i, h := range markdown.Parse(out).Headings {
			assert.Equal(t, before.Headings[i].Level, h.Level)
		}
	})
}
