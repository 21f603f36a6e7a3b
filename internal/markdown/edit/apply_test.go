package edit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
)

func TestApply(t *testing.T) {
	var edits []Edit
	require.NoError(t, json.Unmarshal([]byte(`[
		{"op": "set_front_matter", "key": "status", "value": ["open", 1]},
		{"op": "replace_text", "old": "one", "new": "two", "count": 2},
		{"op": "replace_section", "heading": "A", "content": "two"},
		{"op": "insert_before", "heading": "A", "content": "before"},
		{"op": "insert_after", "heading": "A", "content": "after"},
		{"op": "append", "content": "end"},
		{"op": "prepend", "content": "start"}
	]`), &edits))
	src := []byte("# A\none\n\n# B\none\n")
	out, _, err := Apply(t.Context(), src, edits)
	require.NoError(t, err)
	assert.Equal(t, "---\nstatus:\n  - open\n  - 1\n---\nstart\n\nbefore\n\n# A\ntwo\n\nafter\n\n# B\ntwo\n\nend\n", string(out))
	assert.Equal(t, "# A\none\n\n# B\none\n", string(src))
}

func TestApply_TagsAndHeadings(t *testing.T) {
	out, renames, err := Apply(t.Context(), []byte("# A\n#x text\n\n[[#A]]\n"), []Edit{
		{Op: OpAddTag, Tag: "#new"},
		{Op: OpRemoveTag, Tag: "x"},
		{Op: OpRenameHeading, Heading: "A", New: "B & C"},
		{Op: OpRenameHeading, Heading: "B & C", New: "D"},
	})
	require.NoError(t, err)
	assert.Equal(t, "---\ntags:\n  - new\n---\n# D\ntext\n\n[[#A]]\n", string(out))
	require.Len(t, renames, 2)

	for _, edits := range [][]Edit{
		{{Op: OpAddTag, Tag: "two words"}},
		{{Op: OpAddTag, Tag: "new"}, {Op: OpRenameHeading, Heading: "B", New: "C"}},
		{{Op: OpRenameHeading, Heading: "A", New: "B\nC"}},
		{{Op: OpRenameHeading, Heading: "A"}},
	} {
		out, renames, err := Apply(t.Context(), []byte("# A\n"), edits)
		require.Error(t, err)
		assert.Nil(t, out)
		assert.Empty(t, renames)
	}
}

// TestApply_ValueInText: some clients pass every value as text, which must not change the
// type of a property.
func TestApply_ValueInText(t *testing.T) {
	for _, c := range []struct{ old, value, want string }{
		{"1998", "1999", "1999"}, {"4", "4.5", "4.5"}, {"-1.5", "-2", "-2"}, {"true", "false", "false"},
		{"1", "007", `"007"`}, {"1", "1e3", `"1e3"`}, {"1", "12345678901234567890", `"12345678901234567890"`}, {"1", "NaN", `"NaN"`}, {"1", "9007199254740993", "9007199254740993"},
		{"1", "true", `"true"`}, {"true", "1", `"1"`}, {"true", "yes", `"yes"`}, {"true", " false", `" false"`}, {`"1"`, "2", `"2"`}, {"x", "true", `"true"`},
	} {
		src := "\ufeff---\nkey: " + c.old + " # c\n---\ntext\n"
		out, _, err := Apply(t.Context(), []byte(src), []Edit{{Op: OpSetFrontMatter, Key: "key", Value: c.value}})
		require.NoError(t, err)
		assert.Equal(t, "\ufeff---\nkey: "+c.want+" # c\n---\ntext\n", string(out), c)
	}
}

func TestApply_AllOrNothing(t *testing.T) {
	out, _, err := Apply(t.Context(), []byte("a\n"), []Edit{{Op: OpAppend, Content: "b"}, {Op: OpReplaceText, Old: "c", New: "d"}})
	assert.Nil(t, out)
	var failed *EditError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 1, failed.Index)
	assert.Equal(t, OpReplaceText, failed.Op)
	assert.ErrorIs(t, err, markdown.ErrMissing)
	assert.ErrorContains(t, err, "edit 2 (replace_text): ")

	_, _, err = Apply(t.Context(), []byte("a"), []Edit{{Op: "rename"}})
	assert.ErrorIs(t, err, ErrInvalid)
	assert.ErrorContains(t, err, "replace_text, replace_section, insert_before")
	_, _, err = Apply(t.Context(), []byte("a"), nil)
	assert.ErrorIs(t, err, ErrInvalid)
}

func TestApply_LimitsEdits(t *testing.T) {
	edits := make([]Edit, MaxEdits+1)
	for i := range edits {
		edits[i] = Edit{Op: OpAppend, Content: "x"}
	}
	_, _, err := Apply(t.Context(), []byte("a\n"), edits)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "201 edits; at most 200")
	out, _, err := Apply(t.Context(), []byte("a\n"), edits[:MaxEdits])
	require.NoError(t, err)
	assert.Equal(t, MaxEdits, strings.Count(string(out), "x"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = Apply(ctx, []byte("a\n"), edits[:1])
	require.ErrorIs(t, err, context.Canceled)
}

func TestApply_ReplaceAllKeepsLineEndings(t *testing.T) {
	for _, test := range []struct{ src, content, want string }{
		{"a\r\nb\r\n", "c\nd\r\n", "c\r\nd\r\n"},
		{"a\nb", "c\r\nd", "c\nd"},
		{"", "c\r\nd", "c\r\nd"},
		{"\xef\xbb\xbfa", "b", "\xef\xbb\xbfb"},
		{"a", "", ""},
	} {
		out, _, err := Apply(t.Context(), []byte(test.src), []Edit{{Op: OpReplaceAll, Content: test.content}})
		require.NoError(t, err)
		assert.Equal(t, test.want, string(out))
	}
}

// TestApply_RejectsFieldsOfOtherOps: ignoring a field that does not apply to the op would
// make a different edit than requested.
func TestApply_RejectsFieldsOfOtherOps(t *testing.T) {
	src := []byte("# A\na\n")
	for _, test := range []struct {
		edit   Edit
		wanted []string
	}{
		{Edit{Op: OpAppend, Content: "x", Old: "a"}, []string{`append has no field "old"; its fields`, "its fields are content, heading, create_heading"}},
		{Edit{Op: OpReplaceAll, New: "x"}, []string{`replace_all has no field "new"; its fields`, "its fields are content"}},
		{Edit{Op: OpReplaceAll, Old: "a", New: "x"}, []string{`no field "old"`, "to replace a text, use replace_text (count: how often it occurs)"}},
		{Edit{Op: OpReplaceText, Old: "a", Content: "x"}, []string{`replace_text has no field "content"`, "old, new, count"}},
		{Edit{Op: OpReplaceText, Old: "a", New: "b", Heading: "A"}, []string{`no field "heading"`}},
		{Edit{Op: OpInsertAfter, Heading: "A", Content: "x", CreateHeading: true}, []string{`no field "create_heading"; its fields are heading, content`}},
		{Edit{Op: OpInsertAfter, Heading: "A", Content: "x", Count: 2}, []string{`no field "count"`}},
		{Edit{Op: OpInsertAfter, Old: "a", Content: "x"}, []string{`no field "old"`, "its fields are heading, content; to replace a text, use replace_text", "to insert next to a text, repeat it in new"}},
		{Edit{Op: OpAppend, Content: "x", Tag: "a", Line: 1, Text: "a", Due: "none"}, []string{`no field "tag", "line", "text", "due"`}},
		{Edit{Op: OpSetFrontMatter, Key: "a", Value: 1, Content: "x"}, []string{`no field "content"`}},
		{Edit{Op: OpAppend, Content: "x", Key: "a", Value: 1}, []string{`no field "key", "value"`}},
		{Edit{Op: OpAppend, Content: "x", CreateHeading: true}, []string{"create_heading needs heading"}},
		{Edit{Op: OpReplaceSection, Content: "x"}, []string{"replace_section needs heading"}},
	} {
		_, _, err := Apply(t.Context(), src, []Edit{test.edit})
		require.ErrorIs(t, err, ErrInvalid)
		for _, w := range test.wanted {
			assert.ErrorContains(t, err, w)
		}
	}
	out, _, err := Apply(t.Context(), src, []Edit{{Op: OpAppend, Content: "x", Count: 1}})
	require.NoError(t, err, "a client that passes every field cannot pass less than 1")
	assert.Equal(t, "# A\na\n\nx\n", string(out))
}
