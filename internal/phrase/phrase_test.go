package phrase

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClip(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{{"short", 5, "short"}, {"longer", 5, "lo…"}, {"äöü", 5, "ä…"}, {"abc", 1, "…"}} {
		assert.Equal(t, tc.want, Clip(tc.text, tc.n))
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "ab"}, {"aéb", 2, "a"}, {"aéb", 3, "aé"}, {"é", 1, ""}, {"日本", 5, "日"}, {"", 0, ""}} {
		assert.Equal(t, tc.want, Cut(tc.text, tc.n), "%q at %d", tc.text, tc.n)
	}
}

func TestOneLine(t *testing.T) {
	assert.Equal(t, "Täg 🎉", OneLine("Täg 🎉"))
	assert.Equal(t, "a b c d", OneLine("a\nb\u2028c\u202ed"))
	assert.Equal(t, "Chat - \u200eDana בדיקה\u200f", OneLine("Chat - \u200eDana בדיקה\u200f"), "marks of direction are part of a name")
	assert.Equal(t, "\"می\u200cخواهم \\\"x\\\" y\"", Quote("می\u200cخواهم \"x\"\ny"))
}

func TestSnakeCase(t *testing.T) {
	for given, want := range map[string]string{"maxResults": "max_results", "top-k": "top_k", "Note Path": "note_path", "ID": "id"} {
		assert.Equal(t, want, SnakeCase(given))
	}
}

func TestNearest(t *testing.T) {
	names := []string{"search_notes", "read_note", "list_notes", "to", "tags"}
	for given, want := range map[string]string{
		"serch_notes": "search_notes", "search": "search_notes", "readnote": "read_note", "tag": "tags",
		"rm": "", "delete_everything": "", "": "", "too": "to",
	} {
		assert.Equal(t, want, Nearest(given, names), given)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		assert.Equal(t, tc.want, Distance([]rune(tc.a), []rune(tc.b)), "%q %q", tc.a, tc.b)
		assert.Equal(t, tc.want, Distance([]rune(tc.b), []rune(tc.a)), "%q %q", tc.b, tc.a)
	}
}
