package markdown

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	out, err := Apply(src, edits)
	require.NoError(t, err)
	assert.Equal(t, "---\nstatus:\n  - open\n  - 1\n---\nstart\n\nbefore\n\n# A\ntwo\n\nafter\n\n# B\ntwo\n\nend\n", string(out))
	assert.Equal(t, "# A\none\n\n# B\none\n", string(src))
}

func TestApplyIsAllOrNothing(t *testing.T) {
	out, err := Apply([]byte("a\n"), []Edit{{Op: OpAppend, Content: "b"}, {Op: OpReplaceText, Old: "c", New: "d"}})
	assert.Nil(t, out)
	var failed *EditError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 1, failed.Index)
	assert.Equal(t, OpReplaceText, failed.Op)
	assert.ErrorIs(t, err, ErrMissing)
	assert.ErrorContains(t, err, "edit 2 (replace_text): ")

	_, err = Apply([]byte("a"), []Edit{{Op: "rename"}})
	assert.ErrorIs(t, err, ErrInvalid)
	assert.ErrorContains(t, err, "replace_text, replace_section, insert_before")
	_, err = Apply([]byte("a"), nil)
	assert.ErrorIs(t, err, ErrInvalid)
}

func TestReplaceAllKeepsTheFormOfTheFile(t *testing.T) {
	for _, test := range []struct{ src, content, want string }{
		{"a\r\nb\r\n", "c\nd\r\n", "c\r\nd\r\n"},
		{"a\nb", "c\r\nd", "c\nd"},
		{"", "c\r\nd", "c\r\nd"},
		{"\xef\xbb\xbfa", "b", "\xef\xbb\xbfb"},
		{"a", "", ""},
	} {
		out, err := Apply([]byte(test.src), []Edit{{Op: OpReplaceAll, Content: test.content}})
		require.NoError(t, err)
		assert.Equal(t, test.want, string(out))
	}
}
