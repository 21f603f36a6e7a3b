package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRows_JoinTables(t *testing.T) {
	const table = "| a |\n|---|\n| b |\n"
	for _, test := range []struct {
		name string
		edit Edit
		src  string
		want string
	}{
		{"append to a section", Edit{Op: OpAppend, Heading: "A"}, "# A\n\n" + table + "\n# B\n", "# A\n\n" + table + "| c |\n\n# B\n"},
		{"append to a tight section", Edit{Op: OpAppend, Heading: "A"}, "# A\n" + table + "# B\n", "# A\n" + table + "| c |\n# B\n"},
		{"append to a table between prose", Edit{Op: OpAppend, Heading: "A"}, "| x |\n|---|\n\n# A\n\ntext\n\n" + table + "\ntext\n\n```\n" + table + "```\n# B\n\n" + table, "| x |\n|---|\n\n# A\n\ntext\n\n" + table + "| c |\n\ntext\n\n```\n" + table + "```\n# B\n\n" + table},
		{"append to a table in a quote before prose", Edit{Op: OpAppend, Heading: "A"}, "# A\n> | a |\n> |---|\n> | b |\n\ntext\n", "# A\n> | a |\n> |---|\n> | b |\n> | c |\n\ntext\n"},
		{"append below prose and a table", Edit{Op: OpAppend}, "text\n" + table, "text\n" + table + "| c |\n"},
		{"append to a header", Edit{Op: OpAppend}, "| a |\n|:-:|\n", "| a |\n|:-:|\n| c |\n"},
		{"append without a final newline", Edit{Op: OpAppend}, "| a |\n|---|", "| a |\n|---|\n| c |"},
		{"append to a table without outer bars", Edit{Op: OpAppend}, "a | b\n- | -\n1 | 2\n", "a | b\n- | -\n1 | 2\n| c |\n"},
		{"append to a table in a list", Edit{Op: OpAppend, Heading: "A"}, "# A\n- | a |\n  |---|\n  | b |\n", "# A\n- | a |\n  |---|\n  | b |\n  | c |\n"},
		{"append to a table in a quote", Edit{Op: OpAppend}, "> [!info]\n> | a |\n> |---|\n> | b |\n", "> [!info]\n> | a |\n> |---|\n> | b |\n> | c |\n"},
		{"append to a table with an id", Edit{Op: OpAppend, Heading: "A"}, "# A\n" + table + "\n^id\n\n# B\n", "# A\n" + table + "| c |\n\n^id\n\n# B\n"},
		{"insert after a table with an id", Edit{Op: OpInsertAfter, Heading: "^id"}, table + "\n^id\n\ntext\n", table + "| c |\n\n^id\n\ntext\n"},
		{"insert after a table with an id below it", Edit{Op: OpInsertAfter, Heading: "^id"}, table + "^id\n", table + "| c |\n^id\n"},
		{"insert before a heading", Edit{Op: OpInsertBefore, Heading: "B"}, table + "\n# B\n", table + "| c |\n\n# B\n"},
		{"prepend to a section", Edit{Op: OpPrepend, Heading: "A"}, "# A\n\n" + table + "\ntext\n", "# A\n\n| a |\n|---|\n| c |\n| b |\n\ntext\n"},
		{"prepend to a note", Edit{Op: OpPrepend}, "---\na: 1\n---\n" + table, "---\na: 1\n---\n| a |\n|---|\n| c |\n| b |\n"},
		{"prepend to a header", Edit{Op: OpPrepend}, "| a |\n|---|", "| a |\n|---|\n| c |"},
		{"prepend to a table in a list", Edit{Op: OpPrepend, Heading: "A"}, "# A\n- | a |\n  |---|\n  | b |\n", "# A\n- | a |\n  |---|\n  | c |\n  | b |\n"},
		{"insert before a table with an id", Edit{Op: OpInsertBefore, Heading: "^id"}, "text\n\n" + table + "\n^id\n", "text\n\n| a |\n|---|\n| c |\n| b |\n\n^id\n"},
	} {
		test.edit.Content = "| c |\n"
		out, _, err := Apply(t.Context(), []byte(test.src), []Edit{test.edit})
		if assert.NoError(t, err, test.name) {
			assert.Equal(t, test.want, string(out), test.name)
		}
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		out, _, err = Apply(t.Context(), []byte(crlf(test.src)), []Edit{test.edit})
		if assert.NoError(t, err, test.name) {
			assert.Equal(t, crlf(test.want), string(out), test.name)
		}
	}
	out, err := Append([]byte("> | a |\n> |---|\n"), "\n  | c | d |\n  | e | f |\n")
	require.NoError(t, err)
	assert.Equal(t, "> | a |\n> |---|\n> | c | d |\n> | e | f |\n", string(out), "several rows")
	out, err = Prepend([]byte("---\na: 1\n---\n| a |\r\n|---|\r\n"), "| c |\n| d |")
	require.NoError(t, err)
	assert.Equal(t, "---\na: 1\n---\n| a |\r\n|---|\r\n| c |\r\n| d |\r\n", string(out), "the line ending of the table")
}

func TestRows_NeedATable(t *testing.T) {
	for _, src := range []string{
		"", "text\n", "# A\n", "# A\n\n| a |\n|---|\n\ntext\n", "| a |\n", "---\na: b | c\n---\n", "a\n|---|\ntext\n",
		"text\n\n|---|\n| b |\n", "| a |\n|---|\n| b |\ntext\n", "| a |\n\n|---|\n", "a | b\n---\n", "```\n| a |\n|---|\n```\n", "text ^id\n",
	} {
		for _, op := range []string{OpAppend, OpPrepend} {
			if op == OpPrepend && strings.HasPrefix(strings.TrimPrefix(src, "# A\n\n"), "| a |\n|---|") {
				continue
			}
			_, _, err := Apply(t.Context(), []byte(src), []Edit{{Op: op, Content: "| c |"}})
			require.ErrorIs(t, err, ErrInvalid, "%s: %q", op, src)
			assert.ErrorContains(t, err, `"| c |" is a row, but there is no table at line `)
		}
	}
	_, _, err := Apply(t.Context(), []byte("# A\n\ntext\n\n# B\n"), []Edit{{Op: OpAppend, Heading: "A", Content: "| c |" + strings.Repeat(" ", 999) + "|"}})
	require.ErrorContains(t, err, "at line 4: give a table")
	for _, src := range []string{"# A\n\n| a |\n|---|\n\n| b |\n|---|\n\ntext\n", "# A\n\n```\n| a |\n|---|\n```\n# B\n\n| a |\n|---|\n"} {
		_, _, err := Apply(t.Context(), []byte(src), []Edit{{Op: OpAppend, Heading: "A", Content: "| c |"}})
		require.ErrorContains(t, err, "there is no table at line", "two tables, or none: %q", src)
	}
	assert.Less(t, len(err.Error()), 300, "a long row is shortened")
}

func TestRows_OtherTextWithBars(t *testing.T) {
	const table = "| a |\n|---|\n| b |\n"
	for _, content := range []string{"| x |\n|---|\n| y |", "|x| is the norm", "|", "| x |\n\n| y |", "| x |\ntext"} {
		out, err := Append([]byte(table), content)
		require.NoError(t, err, content)
		assert.Equal(t, table+"\n"+content+"\n", string(out), "separated by a blank line")
	}
}
