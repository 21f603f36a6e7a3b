package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

// edited is one edit with the text before and after it.
type edited struct {
	name, src, ref, content, want string
}

func check(t *testing.T, tests []edited, edit func(src []byte, ref, content string) ([]byte, error)) {
	t.Helper()
	for _, test := range tests {
		out, err := edit([]byte(test.src), test.ref, test.content)
		if assert.NoError(t, err, test.name) {
			assert.Equal(t, test.want, string(out), test.name)
		}
	}
}

func TestReplaceSection(t *testing.T) {
	check(t, []edited{
		{"keeps the heading and blank lines", "# A\n\nold\n\n\n# B\n", "A", "new", "# A\n\nnew\n\n\n# B\n"},
		{"the last lane of a board", board, "Done", "- [x] c", "## To do\n\n- [ ] a\n\n\n## Done\n\n- [x] c\n\n\n" + boardEnd},
		{"the last lane before the archive of a board", archived, "Done", "- [x] c", strings.Replace(archived, "b", "c", 1)},
		{"the archive of a board", archived, "Archive", "- [x] c", strings.Replace(archived, "old", "c", 1)},
		{"no text before a rule", "## A\n\n***\n\n## B\n", "A", "new", "## A\n\nnew\n\n***\n\n## B\n"},
		{"directly before a rule", "## A\nold\n***\n## B\n", "A", "new", "## A\nnew\n\n***\n## B\n"},
		{"with the rule below it", "## A\nold\n\n---\n\n## B\n", "A", "new\n\n---\n", "## A\nnew\n\n---\n\n## B\n"},
		{"with the rule below it, CRLF", "## A\r\nold\r\n\r\n---\r\n\r\n## B\r\n", "A", "new\n\n---", "## A\r\nnew\r\n\r\n---\r\n\r\n## B\r\n"},
		{"with a rule of its own", "## A\nold\n\n## B\n", "A", "new\n\n---", "## A\nnew\n\n---\n\n## B\n"},
		{"with an underlined heading", "## A\nold\n\n---\n\n## B\n", "A", "new\n---", "## A\nnew\n---\n\n---\n\n## B\n"},
		{"with a rule in its text", "## A\na\n\n---\n\nb\n\n## B\n", "A", "new", "## A\nnew\n\n## B\n"},
		{"with a rule in its last item", "## A\n- a\n  ***\n\n## B\n", "A", "new", "## A\nnew\n\n## B\n"},
		{"with a rule at the end of the note", "## A\na\n\n---\n", "A", "new", "## A\nnew\n"},
		{"before a comment without a blank line", "# A\na\n%% b %%\n", "A", "c", "# A\nc\n\n%% b %%\n"},
		{"before a footer", "# A\na\n\n---\n%% b %%\n", "A", "c", "# A\nc\n\n---\n%% b %%\n"},
		{"with the footer's rule", "# A\na\n\n---\n%% b %%\n", "A", "c\n\n---", "# A\nc\n\n---\n%% b %%\n"},
		{"replaces a repeated heading", "# A\nold\n\n# B\n", "A", "## a\n\nnew\n", "## a\n\nnew\n\n# B\n"},
		{"keeps the attributes of a repeated heading", "# A {#x .y}\n\nold\n", "A", "# A\n\nnew", "# A {#x .y}\n\nnew\n"},
		{"keeps the attributes of a heading of other forms", "T\n\nA {#x}\n---\nold\n", "A", "## a ##\nnew", "T\n\n## a {#x} ##\nnew\n"},
		{"replaces attributes", "# A {#x} #\nold\n", "A", "# A {#y}\nnew", "# A {#y}\nnew\n"},
		{"braces in the text", "# {A}\nold\n", "{A}", "# A\nnew", "# A\nnew\n"},
		{"replaces subsections", "# A\nold\n## S\nx\n# B\n", "A", "new", "# A\nnew\n# B\n"},
		{"a tight section", "# A\nold\n# B\n", "A", "\nnew\n\n", "# A\nnew\n# B\n"},
		{"before a Setext heading", "A\n===\n```\n```\nB\n===\n", "A", "new", "A\n===\nnew\n\nB\n===\n"},
		{"an empty section", "# A\n# B\n", "A", "new", "# A\n\nnew\n\n# B\n"},
		{"an empty section at the end", "# A\n", "A", "new", "# A\n\nnew\n"},
		{"no final newline", "# A\nold", "A", "new\n", "# A\nnew"},
		{"an empty section without newline", "# A", "A", "new", "# A\n\nnew"},
		{"empties", "# A\n\nold\n\n# B\n", "A", "", "# A\n\n# B\n"},
		{"CRLF", "# A\r\n\r\nold\r\n\r\n# B\r\n", "A", "x\ny\n", "# A\r\n\r\nx\r\ny\r\n\r\n# B\r\n"},
		{"a heading in a list", "- ## A\n\t- x\n- ## B\n", "A", "- y\n- z", "- ## A\n\t- y\n\t- z\n- ## B\n"},
		{"a heading in a list, repeated", "- ## A\n  x\n", "A", "## A\ny", "- ## A\n  y\n"},
		{"a heading deep in a list, as it is there", "- x\n  - y\n    - ## A\n      - a\n    - ## B\n", "A", "    - ## A\n      - b\n        - c", "- x\n  - y\n    - ## A\n      - b\n        - c\n    - ## B\n"},
		{"a heading deep in a list, without its indentation", "- x\n\t- ## A\n\t\t- a\n\t- ## B\n", "A", "- ## A\n\t- b\n\t\t- c", "- x\n\t- ## A\n\t\t- b\n\t\t\t- c\n\t- ## B\n"},
		{"a heading in a list, with code first", "- ## A\n\n      code\n\n  text\n- ## B\n", "A", "- ## A\n\n      code2\n\n  text\n", "- ## A\n\n      code2\n\n  text\n- ## B\n"},
		{"a heading in a list, with a child first", "- x\n  - ## A\n      - sub\n    - more\n", "A", "  - ## A\n      - sub\n    - more2", "- x\n  - ## A\n      - sub\n    - more2\n"},
		{"a block", "a\n\npara\ngraph ^id\n\nb\n", "^id", "new\ntext", "a\n\nnew\ntext ^id\n\nb\n"},
		{"a block with its id", "para ^id\n", "^id", "new ^id", "new ^id\n"},
		{"a list item", "- a\n  - b ^id\n    - c\n", "^id", "- new\nline", "- a\n  - new\n    line ^id\n    - c\n"},
		{"a table", "| a |\n|---|\n\n^id\n", "^id", "| b |\n|---|", "| b |\n|---|\n\n^id\n"},
		{"a quoted block", "> a\n> b ^id\n", "^id", "c\nd", "> c\n> d ^id\n"},
		{"a quoted block with its marks", "> a\n> b ^id\n", "^id", "> c\n> d", "> c\n> d ^id\n"},
		{"a quoted block with its marks and CRLF", "> a ^id\r\n", "^id", "> c\n\n>d ^id", "> c\r\n> \r\n> d ^id\r\n"},
		{"a quoted block with text and a quote", "> a ^id\n", "^id", "c\n> d", "> c\n> > d ^id\n"},
		{"a quoted block that contains a quote", "> a ^id\n", "^id", "> > c\n> > d", "> > c\n> > d ^id\n"},
		{"a block in quotes in quotes", ">> a ^id\n", "^id", ">> c\n>> d", ">> c\n>> d ^id\n"},
		{"a quoted block with a blank line", "> a ^id\n", "^id", "c\n\nd", "> c\n> \n> d ^id\n"},
		{"a quoted list item", "> - a ^id\n", "^id", "- n\n  - s", "> - n\n>   - s ^id\n"},
		{"a quoted list item with a tab", "> - a ^id\n", "^id", "- n\n\t- s", "> - n\n> \t- s ^id\n"},
		{"a quoted list item of several lines", "> - a ^id\n", "^id", "n\nm", "> - n\n>   m ^id\n"},
		{"a quote with the id below it, as it was read", "> a\n> b\n\n^id\n\nc\n", "^id", "> a\n> new\n\n^id", "> a\n> new\n\n^id\n\nc\n"},
		{"a list item with the id below it, as it was read", "- a\n\n^id\n", "^id", "- b\n  c\n\n^id\n", "- b\n  c\n\n^id\n"},
		{"a quote that gets another id", "> a\n\n^id\n", "^id", "new\n\n^other", "> new\n> \n> ^other\n"},
		{"a block that becomes a quote", "a ^id\n", "^id", "> c\n> d", "> c\n> d ^id\n"},
		{"a block whose text ends with '>'", "See <https://x.org> ^r\n", "^r", "new", "new ^r\n"},
		{"a quoted table", "> | a |\r\n> |---|\r\n>\r\n> ^id\r\n", "^id", "| b |\n|---|", "> | b |\r\n> |---|\r\n>\r\n> ^id\r\n"},
		{"a block with code and the id below", "text ^id\n\n# Next\n", "^id", "```sh\nls\n```\n\n^id", "```sh\nls\n```\n\n^id\n\n# Next\n"},
		{"with footnotes that other text needs", "a[^1]\n\n# A\nb[^2]\n\n[^1]: x\n    y\n\n    z\n[^2]: c\n[^3]: d\n", "A", "new [^3]", "a[^1]\n\n# A\nnew [^3]\n\n[^1]: x\n    y\n\n    z\n[^3]: d\n"},
		{"with footnotes below a rule", "# A\r\nb[^N]\r\n\r\n---\r\n\r\n[^n]: c\r\n\r\n# B\r\n", "A", "new[^N]", "# A\r\nnew[^N]\r\n\r\n---\r\n\r\n[^n]: c\r\n\r\n# B\r\n"},
		{"with new footnotes", "a[^1]\n\n# A\nb[^2]\n\n[^1]: x\n[^2]: c\n", "A", "new[^2]\n\n[^2]: d", "a[^1]\n\n# A\nnew[^2]\n\n[^2]: d\n\n[^1]: x\n"},
		{"by nothing, with footnotes", "a[^1]\n\n# A\nb\n\n[^1]: x\n", "A", "", "a[^1]\n\n# A\n[^1]: x\n"},
		{"with link definitions", "# [B]\n\nSee [x][a b].\n\n# [1.0]\nold [c]\n\n[B]: https://b\n[a b]: <p q>\n[1.0]: d/e.md 'T'\n[C]: #c\n", "[1.0]", "new", "# [B]\n\nSee [x][a b].\n\n# [1.0]\nnew\n\n[B]: https://b\n[a b]: <p q>\n[1.0]: d/e.md 'T'\n"},
		{"with a footnote that continues without indentation", "a[^1][^2]\n\n# A\nb\n\n[^1]: x\ny\n\n[^2]: z\n", "A", "new", "a[^1][^2]\n\n# A\nnew\n\n[^1]: x\ny\n\n[^2]: z\n"},
		{"with a footnote that another one needs", "a[^1]\n\n# A\nb\n\n[^2]: z\n[^1]: x[^2]\n[^3]: c\n", "A", "new", "a[^1]\n\n# A\nnew\n\n[^2]: z\n[^1]: x[^2]\n"},
		{"with definitions of Foam", "[a]\n\n# A\n[b]\n\n[//begin]: # \"x\"\n[a]: a.md\n[b]: b.md\n[//end]: # \"y\"\n", "A", "new", "[a]\n\n# A\nnew\n\n[//begin]: # \"x\"\n[a]: a.md\n[//end]: # \"y\"\n"},
		{"of footnotes", "a[^1]\n\n# Footnotes\n\n[^1]: x\n[^2]: y\n", "Footnotes", "[^2]: z", "a[^1]\n\n# Footnotes\n\n[^2]: z\n"},
	}, ReplaceSection)
	for _, content := range []string{"```sh\nls\n```", "```sh\nls\n``` ^id", "```sh\nls\n\n^id"} {
		_, err := ReplaceSection([]byte("text ^id\n\n# Next\n"), "^id", content)
		require.ErrorIs(t, err, ErrInvalid, content)
		assert.ErrorContains(t, err, "put ^id on a line of its own, after a blank line", content)
	}
}

func TestInsertBefore(t *testing.T) {
	check(t, []edited{
		{"a heading", "# A\n\na\n# B\n", "B", "new\n", "# A\n\na\n\nnew\n\n# B\n"},
		{"the first heading", "# A\n", "A", "new", "new\n\n# A\n"},
		{"after front matter", "---\na: 1\n---\n# A\n", "A", "new", "---\na: 1\n---\nnew\n\n# A\n"},
		{"after a blank line", "x\n\n# A\n", "A", "new", "x\n\nnew\n\n# A\n"},
		{"a heading below a rule", "a\n\n---\n\n# B\n", "B", "new", "a\n\n---\n\nnew\n\n# B\n"},
		{"a list item", "- a\n  - b ^id\n", "^id", "- new", "- a\n  - new\n  - b ^id\n"},
		{"a heading in a list", "- a\n\t- ## B\n", "B", "- new", "- a\n\t- new\n\t- ## B\n"},
		{"a paragraph", "a\nb ^id\n", "^id", "new", "new\n\na\nb ^id\n"},
		{"the archive of a board", "---\nkanban-plugin: board\n---\n" + archived, "Archive", "## Late", "---\nkanban-plugin: board\n---\n" + strings.Replace(archived, "\n***", "\n## Late\n\n***", 1)},
		{"the first lane of a board", "---\nkanban-plugin: board\n---\n" + archived, "Done", "## New", "---\nkanban-plugin: board\n---\n## New\n\n" + archived},
		{"CRLF", "a\r\n\r\n# B\r\n", "B", "x\ny", "a\r\n\r\nx\r\ny\r\n\r\n# B\r\n"},
	}, InsertBefore)
}

// A board of the Kanban plugin, with its settings in a comment at the end.
const (
	boardEnd = "%% kanban:settings\n```\n{\"kanban-plugin\":\"board\"}\n```\n%%"
	board    = "## To do\n\n- [ ] a\n\n\n## Done\n\n- [x] b\n\n\n" + boardEnd

	// The plugin recognizes its archive by the rule above the heading.
	archived = "## Done\n\n- [x] b\n\n***\n\n## Archive\n\n- [x] old\n\n" + boardEnd
)

func TestInsertAfter(t *testing.T) {
	check(t, []edited{
		{"a section", "# A\na\n## S\ns\n\n\n# B\n", "A", "new", "# A\na\n## S\ns\n\nnew\n\n\n# B\n"},
		{"a tight section", "# A\na\n# B\n", "A", "new", "# A\na\n\nnew\n\n# B\n"},
		{"the last section", "# A\na\n", "A", "new", "# A\na\n\nnew\n"},
		{"the last section, no newline", "# A\na", "A", "new", "# A\na\n\nnew"},
		{"a list in a section", "# A\n- [ ] a\n\n# B\n", "A", "- [ ] b", "# A\n- [ ] a\n- [ ] b\n\n# B\n"},
		{"a list item with children", "- a ^id\n  - b\n- c\n", "^id", "- new", "- a ^id\n  - b\n- new\n- c\n"},
		{"a list item, indented already", "- a\n\t- b ^id\n", "^id", "\t- new", "- a\n\t- b ^id\n\t- new\n"},
		{"a paragraph", "a ^id\n\nb\n", "^id", "new", "a ^id\n\nnew\n\nb\n"},
		{"the last lane of a board", board, "Done", "## Late\n", "## To do\n\n- [ ] a\n\n\n## Done\n\n- [x] b\n\n## Late\n\n\n" + boardEnd},
		{"the last lane before the archive of a board", archived, "Done", "## Late", strings.Replace(archived, "\n***", "\n## Late\n\n***", 1)},
		{"a table", "| a |\n|---|\n^id\n", "^id", "x", "| a |\n|---|\n^id\n\nx\n"},
		{"above footnotes at the end of the note", "# A\n\n## B\nb[^1]\n\n[^1]: x\n", "B", "## C", "# A\n\n## B\nb[^1]\n\n## C\n\n[^1]: x\n"},
		{"below footnotes inside the note", "# A\na[^1]\n\n[^1]: x\n\n# C\n", "A", "# B", "# A\na[^1]\n\n[^1]: x\n\n# B\n\n# C\n"},
		{"above link definitions at the end of the note", "# [1.1]\n\n# [1.0]\na\n\n[1.1]: ../b.md\n", "[1.0]", "# 0.9", "# [1.1]\n\n# [1.0]\na\n\n# 0.9\n\n[1.1]: ../b.md\n"},
		{"a section of footnotes", "# A\n\n[^1]: x\n", "A", "# B", "# A\n\n[^1]: x\n\n# B\n"},
	}, InsertAfter)
}

func TestAppend(t *testing.T) {
	check(t, []edited{
		{"to text", "a\n", "", "new\n", "a\n\nnew\n"},
		{"to nothing", "", "", "new", "new\n"},
		{"to a line with a no-break space", "a\n\u00a0\n", "", "new", "a\n\u00a0\n\nnew\n"},
		{"to code with a footnote", "a\n\n```\n[^1]: b\n  ```\n", "", "new", "a\n\n```\n[^1]: b\n  ```\n\nnew\n"},
		{"to a comment with a footnote", "a\n\n<!--\n[^1]: b\n  -->\n", "", "new", "a\n\n<!--\n[^1]: b\n  -->\n\nnew\n"},
		{"to a section of footnotes", "a[^1]\n\n## Footnotes\n\n[^1]: b\n", "", "new", "a[^1]\n\n## Footnotes\n\n[^1]: b\n\nnew\n"},
		{"to a byte order mark", "\xef\xbb\xbf", "", "new", "\xef\xbb\xbfnew"},
		{"no final newline", "a", "", "new", "a\n\nnew"},
		{"to a list", "x\n\n- a\n", "", "- b\n- c", "x\n\n- a\n- b\n- c\n"},
		{"to a table", "| a |\n|---|\n", "", "| b |", "| a |\n|---|\n| b |\n"},
		{"to an item of several lines", "- a\n  more\n\tand more\n", "", "- b", "- a\n  more\n\tand more\n- b\n"},
		{"to an item with properties", "- a\n  id:: 1\n\t- b\n\t  id:: 2\n", "", "- c", "- a\n  id:: 1\n\t- b\n\t  id:: 2\n- c\n"},
		{"to an item of several paragraphs", "- a\n\n  more\n", "", "- b", "- a\n\n  more\n\n- b\n"},
		{"a list to unindented text below an item", "- a\nb\n", "", "- c", "- a\nb\n\n- c\n"},
		{"a list to indented text", "a\n  b\n", "", "- c", "a\n  b\n\n- c\n"},
		{"text to an item of several lines", "- a\n  b\n", "", "c", "- a\n  b\n\nc\n"},
		{"a list to a thematic break", "- - -\n", "", "- c", "- - -\n\n- c\n"},
		{"a list to text", "a\n", "", "- b", "a\n\n- b\n"},
		{"before blank lines at the end", "a\n\n\n", "", "new", "a\n\nnew\n\n\n"},
		{"to front matter", "---\na: 1\n---", "", "new", "---\na: 1\n---\nnew"},
		{"before a drawing", "---\nexcalidraw-plugin: parsed\n---\n# Text\na ^b\n\n%%\n# Drawing\n```json\n{}\n```\n%%", "", "new", "---\nexcalidraw-plugin: parsed\n---\n# Text\na ^b\n\nnew\n\n%%\n# Drawing\n```json\n{}\n```\n%%"},
		{"to a drawing, above what its plugin replaces", "---\nexcalidraw-plugin: parsed\n---\n==Switch==\n\n\n# Excalidraw Data\n\n## Text Elements\na ^b\n\n%%\n## Drawing\n```json\n{}\n```\n%%", "", "new", "---\nexcalidraw-plugin: parsed\n---\n==Switch==\n\nnew\n\n\n# Excalidraw Data\n\n## Text Elements\na ^b\n\n%%\n## Drawing\n```json\n{}\n```\n%%"},
		{"to an older drawing", "---\nexcalidraw-plugin: raw\n---\n# Mine\n\n# Text Elements\na ^b\n%%\n# Drawing\n%%", "", "new", "---\nexcalidraw-plugin: raw\n---\n# Mine\n\nnew\n\n# Text Elements\na ^b\n%%\n# Drawing\n%%"},
		{"to a note about drawings", "# Text Elements\na\n", "", "new", "# Text Elements\na\n\nnew\n"},
		{"to nothing but a comment", "%% a %%\n", "", "new", "new\n\n%% a %%\n"},
		{"before a footer", "- a\n\n---\n%% b %%\n", "", "- c", "- a\n- c\n\n---\n%% b %%\n"},
		{"above footnotes", "a[^1]\n[^1]: x\n\n    y\n[^2]: z\n\n%% b %%\n", "", "c", "a[^1]\n\nc\n\n[^1]: x\n\n    y\n[^2]: z\n\n%% b %%\n"},
		{"above a rule with footnotes", "a[^1]\n\n---\n\n[^1]: x\n", "", "c", "a[^1]\n\nc\n\n---\n\n[^1]: x\n"},
		{"between text with an underline and footnotes", "a[^1]\n***\n\n[^1]: x\n", "", "c", "a[^1]\n***\n\nc\n\n[^1]: x\n"},
		{"above link definitions", "a [b]\r\n\r\n[b]: https://x.org/a:b\r\n[c]: c.md\r\n", "", "- c", "a [b]\r\n\r\n- c\r\n\r\n[b]: https://x.org/a:b\r\n[c]: c.md\r\n"},
		{"to a log", "[10:30]: yes\n[Ann]: so do I\n[Bob]: done.\n", "", "[Ann]: ok", "[10:30]: yes\n[Ann]: so do I\n[Bob]: done.\n\n[Ann]: ok\n"},
		{"a link definition", "a\n\n[b]: https://b\n", "", "[c]: d/e\n[f]: g/h", "a\n\n[b]: https://b\n\n[c]: d/e\n[f]: g/h\n"},
		{"below code after a link definition", "[l]\n\n[l]: http://x\n\n    code\n", "", "c", "[l]\n\n[l]: http://x\n\n    code\n\nc\n"},
		{"above a footnote of several lines", "a[^1]\n\n[^1]: x\ny\n", "", "c", "a[^1]\n\nc\n\n[^1]: x\ny\n"},
		{"a footnote", "a\n\n[^1]: x\n", "", "[^2]: y", "a\n\n[^1]: x\n\n[^2]: y\n"},
		{"to nothing but footnotes", "[^1]: x\n", "", "c", "c\n\n[^1]: x\n"},
		{"to nothing but footnotes below front matter", "---\na: 1\n\n---\n[^1]: x\n", "", "c", "---\na: 1\n\n---\nc\n\n[^1]: x\n"},
		{"below text after footnotes", "a\n\n[^1]: x\n\nb\n", "", "c", "a\n\n[^1]: x\n\nb\n\nc\n"},
		{"after a comment inside the note", "%%\na\n%%\nb\n", "", "new", "%%\na\n%%\nb\n\nnew\n"},
		{"to an item that ends with a comment", "- a\n\n  %% b %%\n", "", "new", "- a\n\n  %% b %%\n\nnew\n"},
		{"indented code", "a\n", "", "\n\n    code\n", "a\n\n    code\n"},
		{"CRLF", "a\r\n", "", "x\r\ny\n", "a\r\n\r\nx\r\ny\r\n"},
		{"CRLF in the first line only", "a\r\nb\n", "", "x\ny", "a\r\nb\n\nx\ny\n"},
	}, func(src []byte, _, content string) ([]byte, error) { return Append(src, content) })
}

func TestPrepend(t *testing.T) {
	check(t, []edited{
		{"to text", "a\n", "", "new", "new\n\na\n"},
		{"to nothing", "", "", "new", "new\n"},
		{"after front matter", "---\na: 1\n---\n\n## A\n", "", "new", "---\na: 1\n---\n\nnew\n\n## A\n"},
		{"after a byte order mark", "\xef\xbb\xbfa\n", "", "new", "\xef\xbb\xbfnew\n\na\n"},
		{"below the title", "---\na: 1\n---\n\n# T\n\n- a\n\n## B\n", "", "- new", "---\na: 1\n---\n\n# T\n\n- new\n- a\n\n## B\n"},
		{"below a title alone", "\xef\xbb\xbf# T\r\n", "", "new", "\xef\xbb\xbf# T\r\n\r\nnew\r\n"},
		{"below an underlined title", "T\n===\ntext\n", "", "new", "T\n===\n\nnew\n\ntext\n"},
		{"below the properties of a page that Notion exported", "# T\n\nStatus: To do\nDue: x\n\ntext\n", "", "new", "# T\n\nStatus: To do\nDue: x\n\nnew\n\ntext\n"},
		{"above the first of several sections", "# A\n# B\n", "", "new", "new\n\n# A\n# B\n"},
		{"a section above others", "# A\na\n", "", "# New\nnew", "# New\nnew\n\n# A\na\n"},
		{"above a heading in a list", "- # A\n", "", "new", "new\n\n- # A\n"},
		{"after page properties", "type:: x\ntags:: y\n\n- a\n", "", "- new", "type:: x\ntags:: y\n\n- new\n\n- a\n"},
		{"above text like page properties", "fe80::1 is local\nto a link.\n", "", "new", "new\n\nfe80::1 is local\nto a link.\n"},
		{"after empty page properties", "tags::\r\ntype::\tx\r\n- a\r\n", "", "new", "tags::\r\ntype::\tx\r\n\r\nnew\r\n\r\n- a\r\n"},
		{"after page properties above text", "tags:: y\ntext\n", "", "new", "tags:: y\n\nnew\n\ntext\n"},
		{"to a list", "- a\n", "", "- new", "- new\n- a\n"},
		{"an item of several lines to a list", "- a\n", "", "- new\n  more", "- new\n  more\n- a\n"},
		{"an item of several lines to text", "a\n", "", "- new\n  more", "- new\n  more\n\na\n"},
	}, func(src []byte, _, content string) ([]byte, error) { return Prepend(src, content) })
}

func TestInsert_RejectsEmptyContent(t *testing.T) {
	src := []byte("# A\ntext ^id\n")
	for _, content := range []string{"", "\n", " \n\t"} {
		for _, edit := range []Edit{
			{Op: OpAppend}, {Op: OpPrepend}, {Op: OpInsertAfter, Heading: "A"}, {Op: OpInsertBefore, Heading: "A"},
			{Op: OpReplaceSection, Heading: "^id"},
		} {
			edit.Content = content
			_, _, err := Apply(t.Context(), src, []Edit{edit})
			assert.ErrorIs(t, err, ErrInvalid, edit.Op)
		}
	}
}

func TestAppend_Section(t *testing.T) {
	to := func(src []byte, ref, content string) ([]byte, error) {
		out, _, err := Apply(t.Context(), src, []Edit{{Op: OpAppend, Heading: ref, Content: content}})
		return out, err
	}
	check(t, []edited{
		{"after its text", "# A\na\n\n# B\nb\n", "A", "new", "# A\na\n\nnew\n\n# B\nb\n"},
		{"the last lane of a board", board, "Done", "- [x] c", "## To do\n\n- [ ] a\n\n\n## Done\n\n- [x] b\n- [x] c\n\n\n" + boardEnd},
		{"the last lane before the archive of a board", archived, "Done", "- [x] c", strings.Replace(archived, "\n***", "- [x] c\n\n***", 1)},
		{"an underlined heading without text", "## A\n---\n\n## B\n---\n", "A", "new", "## A\n---\n\nnew\n\n## B\n---\n"},
		{"no text before a rule", "## A\n\n---\n\n## B\n", "A", "new", "## A\n\nnew\n\n---\n\n## B\n"},
		{"a subsection before a rule", "# A\n## S\ns\n\n---\n\n# B\n", "A", "new", "# A\n## S\ns\n\nnew\n\n---\n\n# B\n"},
		{"text with a rule", "# A\na\n\n---\n\nb\n\n# B\n", "A", "new", "# A\na\n\n---\n\nb\n\nnew\n\n# B\n"},
		{"a quote that ends with a rule", "# A\n> a\n> ***\n\n# B\n", "A", "new", "# A\n> a\n> ***\n\nnew\n\n# B\n"},
		{"a rule at the end of the note", "# A\na\n\n---\n", "A", "new", "# A\na\n\n---\n\nnew\n"},
		{"before a footer", "# A\r\n1. a\r\n\r\n---\r\n%% b %%\r\n", "A", "2. c", "# A\r\n1. a\r\n2. c\r\n\r\n---\r\n%% b %%\r\n"},
		{"above footnotes", "# A\r\n1. a[^1]\r\n   b\r\n\r\n[^1]: x", "A", "2. c", "# A\r\n1. a[^1]\r\n   b\r\n2. c\r\n\r\n[^1]: x"},
		{"text below a table and more text", "# A\n| a |\n|---|\n\nb\n", "A", "c", "# A\n| a |\n|---|\n\nb\n\nc\n"},
		{"rows above footnotes", "# A\n| a |\n|---|\n\n[^1]: x\n", "A", "| b |", "# A\n| a |\n|---|\n| b |\n\n[^1]: x\n"},
		{"to a section of footnotes", "# A\n\n[^1]: x\n\n# B\n", "A", "c", "# A\n\nc\n\n[^1]: x\n\n# B\n"},
		{"to an empty section before a footer", "# A\n\n---\n\n%% b %%\n", "A", "new", "# A\n\nnew\n\n---\n\n%% b %%\n"},
		{"another lane of a board", board, "To do", "- [ ] c", "## To do\n\n- [ ] a\n- [ ] c\n\n\n## Done\n\n- [x] b\n\n\n" + boardEnd},
		{"after its subsections", "# A\na\n## S\ns\n# B\n", "A", "new", "# A\na\n## S\ns\n\nnew\n\n# B\n"},
		{"to a subsection", "# A\n## S\ns\n\n## T\n", "A > S", "new", "# A\n## S\ns\n\nnew\n\n## T\n"},
		{"to a list", "## Maps\n\n- a\n\n## B\n", "## Maps", "- [[X]]", "## Maps\n\n- a\n- [[X]]\n\n## B\n"},
		{"to an empty section", "# A\n# B\n", "A", "new", "# A\n\nnew\n\n# B\n"},
		{"to an empty section at the end", "# A", "A", "new", "# A\n\nnew"},
		{"to the last section", "# A\na\n\n", "A", "new", "# A\na\n\nnew\n\n"},
		{"under a Setext heading", "A\n---\na\n\nB\n---\n", "A", "new", "A\n---\na\n\nnew\n\nB\n---\n"},
		{"a heading in a list", "- ## A\n  - x\n- ## B\n", "A", "- y", "- ## A\n  - x\n  - y\n- ## B\n"},
		{"a heading in a list, repeated", "- ## A\n  - x\n- ## B\n", "A", "- ## A\n  - y", "- ## A\n  - x\n  - y\n- ## B\n"},
		{"a heading in a list, repeated without its marker", "- ## A\n  - x\n- ## B\n", "A", "## A\n- y", "- ## A\n  - x\n  - y\n- ## B\n"},
		{"a heading in a list, with a subheading of that name", "- ## A\n  x\n", "A", "# A\ny", "- ## A\n  x\n\n  # A\n  y\n"},
		{"an empty heading in a list", "- ## A\n- ## B\n", "A", "- y", "- ## A\n  - y\n- ## B\n"},
		{"CRLF", "# A\r\na\r\n# B\r\n", "A", "x\ny", "# A\r\na\r\n\r\nx\r\ny\r\n\r\n# B\r\n"},
	}, to)
}

func TestPrepend_Section(t *testing.T) {
	to := func(src []byte, ref, content string) ([]byte, error) {
		out, _, err := Apply(t.Context(), src, []Edit{{Op: OpPrepend, Heading: ref, Content: content}})
		return out, err
	}
	check(t, []edited{
		{"before its text", "# A\n\na\n\n# B\nb\n", "A", "new", "# A\n\nnew\n\na\n\n# B\nb\n"},
		{"under a heading without a blank line", "# A\na\n", "A", "new", "# A\n\nnew\n\na\n"},
		{"before its subsections", "# A\n\n## S\n", "A", "new", "# A\n\nnew\n\n## S\n"},
		{"to a list", "# A\n\n- a\n", "A", "- new", "# A\n\n- new\n- a\n"},
		{"to a list under a heading without a blank line", "# A\n- a\n", "A", "- new", "# A\n- new\n- a\n"},
		{"text and an item to such a list", "# A\n- a\n", "A", "text\n\n- new", "# A\n\ntext\n\n- new\n- a\n"},
		{"to an empty section", "# A\n# B\n", "A", "new", "# A\n\nnew\n\n# B\n"},
		{"to an empty section at the end", "# A", "A", "new", "# A\n\nnew"},
		{"a heading in a list", "- ## A\n  - x\n- ## B\n", "A", "- y", "- ## A\n  - y\n  - x\n- ## B\n"},
	}, to)
}

// Models repeat the heading of the section in the content, as replace_section permits. A second
// section of that name would make the next edit ambiguous.
func TestAddToSectionWithItsHeading(t *testing.T) {
	for _, test := range []struct{ src, content, want string }{
		{"# A\n\n## Log\n\n- a\n", "## Log\n- x", "# A\n\n## Log\n\n- a\n- x\n"},
		{"# A\n", "\n## Log\n\n- x\n", "# A\n\n## Log\n\n- x\n"},
		{"# A\n", "## Log", "# A\n\n## Log\n"},
		{"# A\n", "", "# A\n\n## Log\n"},
		{"# A\n\n## Log\n\n- a\n", "", "# A\n\n## Log\n\n- a\n"},
		{"# A\n\n## Log\n\n- a\n", "## Log", "# A\n\n## Log\n\n- a\n"},
		{"# A\n\n## Log\n\n- a\n", "### Log\n\nx", "# A\n\n## Log\n\n- a\n\n### Log\n\nx\n"}, // a section in it
		{"# A\n\n## Log\n\n- a\n", "## Other\n\nx", "# A\n\n## Log\n\n- a\n\n## Other\n\nx\n"},
		{"# A\n\n## Log\n\n- a\n", "## [[B|Log]]\n\nx", "# A\n\n## Log\n\n- a\n\n## [[B|Log]]\n\nx\n"}, // with a link
		{"---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\na ^b\n", "x", "---\nexcalidraw-plugin: parsed\n---\n## Log\n\nx\n\n# Excalidraw Data\na ^b\n"},
	} {
		out, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: OpAppend, Heading: "Log", CreateHeading: true, Content: test.content}})
		require.NoError(t, err, test.content)
		assert.Equal(t, test.want, string(out), test.content)
	}
}

// TestNestedSection_Content: text for a section in a list item is indented as far as the text
// there, or further, since it would otherwise be outside the section.
func TestNestedSection_Content(t *testing.T) {
	for _, test := range []struct{ op, src, content, want string }{
		{OpAppend, "- a\n  - ## R\n    - old\n", "- x\n\t- y", "- a\n  - ## R\n    - old\n    - x\n    \t- y\n"},
		{OpAppend, "- a\n  - ## R\n    - old\n", "  - x\n    - y", "- a\n  - ## R\n    - old\n    - x\n      - y\n"},
		{OpAppend, "- ## R\n    note\n  - a\n", "  - b", "- ## R\n    note\n  - a\n  - b\n"},
		{OpAppend, "- ## R\n\n      code\n", "  text", "- ## R\n\n      code\n\n  text\n"},
		{OpAppend, "-   ## R\n    - old\n", "  - x", "-   ## R\n    - old\n    - x\n"},
		{OpAppend, "-\t## R\n\t- old\n", "  - x", "-\t## R\n\t- old\n\t- x\n"},
		{OpPrepend, "- ## R\n    note\n  - a\n", "  - b", "- ## R\n    - b\n\n    note\n  - a\n"},
		{OpAppend, "## R\n\nold\n", "- ## R\n  text", "## R\n\nold\n\n- ## R\n  text\n"},
		{OpAppend, "- a\n  - ## R\n    - old\n", "\t- x\n\t\t- y", "- a\n  - ## R\n    - old\n\t- x\n\t\t- y\n"},
		{OpReplaceSection, "- a\n  - ## R\n    - old\n", "  - x\n\n  - y", "- a\n  - ## R\n    - x\n\n    - y\n"},
		{OpReplaceSection, "- a\n  - ## R\n    - old\n", "      - x\n      - y", "- a\n  - ## R\n      - x\n      - y\n"},
		{OpReplaceSection, "1. ## R\n   old\n2. next\n", "  new\n  more", "1. ## R\n   new\n   more\n2. next\n"},
		{OpReplaceSection, "-\t## R\n\told\n", "  new\n\tmore", "-\t## R\n  new\n\tmore\n"}, // the lines have no common indentation
	} {
		out, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: test.op, Heading: "R", Content: test.content}})
		require.NoError(t, err, test.content)
		assert.Equal(t, test.want, string(out), test.content)
	}
}

// TestNestedSection_OwnHeading: the heading of a section in a list item is not added again,
// whatever its marker.
func TestNestedSection_OwnHeading(t *testing.T) {
	for _, test := range []struct{ src, content, want string }{
		{"-\t## R\n\told\n", "## R\nnew", "-\t## R\n\told\n\n\tnew\n"},
		{"- ## R\n  old\n", "-\t## R\n\tnew", "- ## R\n  old\n\n  new\n"},
		{"- 1. ## R\n     old\n", "* ## R\n  new", "- 1. ## R\n     old\n\n     new\n"},
		{"- ### R\n  old\n", "## R\nnew", "- ### R\n  old\n\n  ## R\n  new\n"}, // another level
	} {
		out, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: OpAppend, Heading: "R", Content: test.content}})
		require.NoError(t, err, test.content)
		assert.Equal(t, test.want, string(out), test.content)
	}
}

func TestCreateHeading(t *testing.T) {
	for _, test := range []struct{ src, heading, want string }{
		{"# A\na\n", "Maps", "# A\na\n\n## Maps\n\n- x\n"},
		{"# A\na\n", "### Maps", "# A\na\n\n### Maps\n\n- x\n"},
		{"# A\n\n%% a %%\n", "Maps", "# A\n\n## Maps\n\n- x\n\n%% a %%\n"},
		{"# A\na[^1]\n\n[^1]: b\n", "Maps", "# A\na[^1]\n\n## Maps\n\n- x\n\n[^1]: b\n"},
		{"# A\na[^1]\n\n## Notes\n\n[^1]: b\n", "Maps", "# A\na[^1]\n\n## Notes\n\n[^1]: b\n\n## Maps\n\n- x\n"},
		{"", "#Maps", "## Maps\n\n- x\n"},
		{"# A\na\n", "### [[Project X]]", "# A\na\n\n### [[Project X]]\n\n- x\n"},
		{"# A\na\n", "*b* &  `c`", "# A\na\n\n## *b* &  `c`\n\n- x\n"},
		{"a", "Maps", "a\n\n## Maps\n\n- x"},
		{"a\r\n", "Maps", "a\r\n\r\n## Maps\r\n\r\n- x\r\n"},
		{"# A\n## maps\n- y\n# B\n", "Maps", "# A\n## maps\n- y\n- x\n\n# B\n"}, // exists already
	} {
		for _, op := range []string{OpAppend, OpPrepend} {
			out, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: op, Heading: test.heading, CreateHeading: true, Content: "- x"}})
			require.NoError(t, err, test.src)
			if op == OpAppend || !strings.Contains(test.src, "maps") {
				assert.Equal(t, test.want, string(out))
			}
		}
	}
	for _, heading := range []string{"### [[Project X]]", "*b* &  `c`", "[x](y) z"} { // the second edit finds the heading of the first
		edit := Edit{Op: OpAppend, Heading: heading, CreateHeading: true, Content: "- x"}
		out, _, err := Apply(t.Context(), []byte("# A\n"), []Edit{edit, edit})
		require.NoError(t, err, heading)
		assert.True(t, strings.HasSuffix(string(out), heading+"\n\n- x\n- x\n"), "%s", out)
	}
	for _, test := range []struct{ src, heading, wrong string }{
		{"# A\n\n```\ncode\n", "Maps", "no heading can be made at the end of the note"}, // the end is in a code block
		{"# A\n", "^id", "a block"},
		{"# A\n", "A > Maps", "the text of one heading"},
		{"# A\n", "Maps (line 3)", "the text of one heading"},
		{"# A\n", "a\nb", "the text of one heading"},
		{"# A\n\n# A\n", "A", "more than one section"},
	} {
		_, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: OpAppend, Heading: test.heading, CreateHeading: true, Content: "x"}})
		assert.ErrorContains(t, err, test.wrong, test.heading)
	}
	_, _, err := Apply(t.Context(), []byte("# A\n\n## S\n"), []Edit{{Op: OpAppend, Heading: "Maps", Content: "x"}})
	require.ErrorIs(t, err, markdown.ErrMissing)
	var missing *markdown.SectionError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, []string{"A (line 1)", "A > S (line 3)"}, missing.Candidates)
}

// The front matter of a note that is merged into another one would become a heading there.
func TestInsert_FrontMatterOnlyAtTheStart(t *testing.T) {
	const whole = "---\ntags: [a]\n---\n# B\n"
	for src, edit := range map[string]Edit{
		"# A\n":                 {Op: OpAppend},
		"# A\n\ntext\n":         {Op: OpPrepend, Heading: "A"},
		"---\nx: 1\n---\n# A\n": {Op: OpPrepend},
		"text\n\n# A\n":         {Op: OpInsertBefore, Heading: "A"},
	} {
		edit.Content = whole
		_, _, err := Apply(t.Context(), []byte(src), []Edit{edit})
		require.ErrorIs(t, err, ErrInvalid, src)
		assert.ErrorContains(t, err, "the content starts with front matter", src)
	}
	for src, edit := range map[string]Edit{"": {Op: OpAppend, Content: whole}, "# A\n": {Op: OpPrepend, Content: whole}, "# B\n": {Op: OpAppend, Content: "---\ntext\n---\n"}} {
		_, _, err := Apply(t.Context(), []byte(src), []Edit{edit})
		assert.NoError(t, err, src)
	}
}

// Text below a heading in a list item is in the item, however wide its marker is.
func TestAppend_InItemOfHeading(t *testing.T) {
	for src, want := range map[string]string{
		"- # A\n- b\n":        "- # A\n\n  new\n\n- b\n",
		"1. # A\n2. b\n":      "1. # A\n\n   new\n\n2. b\n",
		"-   # A\n- b\n":      "-   # A\n\n    new\n\n- b\n",
		"- - # A\n- b\n":      "- - # A\n\n    new\n\n- b\n",
		"- # A\n\t- c\n- b\n": "- # A\n\t- c\n\n\tnew\n\n- b\n",
	} {
		out, _, err := Apply(t.Context(), []byte(src), []Edit{{Op: OpAppend, Heading: "A", Content: "new"}})
		require.NoError(t, err)
		assert.Equal(t, want, string(out))
		doc := markdown.Parse(out)
		assert.Contains(t, string(out[doc.Headings[0].ContentStart:doc.Headings[0].End]), "new")
	}
}
