package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFields(t *testing.T) {
	for src, want := range map[string][]Field{
		"status:: open\nand more\n":                          {{"status", "open", 1}},
		"---\na: b\n---\n\n**Due Date**:: 2026-02-01\r\n":    {{"Due Date", "2026-02-01", 5}},
		"- [ ] call (who:: [[Ann]]) at [at:: 9:00]\n":        {{"who", "[[Ann]]", 1}, {"at", "9:00", 1}},
		"- a\n  - rating:: 8\n  id:: 64-a\n":                 {{"rating", "8", 2}, {"id", "64-a", 3}},
		"> mood:: good\n":                                    {{"mood", "good", 1}},
		"empty::\n":                                          {{"empty", "", 1}},
		"[list:: [[A]], [[B]]]":                              {{"list", "[[A]], [[B]]", 1}},
		"std::vector is a type\n":                            nil,
		"a `x:: y` and `[k:: v]`\n":                          nil,
		"```\nkey:: value\n```\n\n    key:: value\n":         nil,
		"# head:: no\n\n$$\na:: b\n$$\n%%\nc:: d\n%%\n":      nil,
		"see [[note]] and [text](url)\n":                     nil,
		"über größe:: 3\n[日本:: 語]\n":                         {{"über größe", "3", 1}, {"日本", "語", 2}},
		strings.Repeat("w ", 100) + ":: not a key\n[a:: b\n": nil,
		"a::b::c [x::y::z]\n":                                {{"x", "y::z", 1}},
	} {
		assert.Equal(t, want, Parse([]byte(src)).Fields([]byte(src)), src)
	}
	many := []byte(strings.Repeat("[", 20_000) + strings.Repeat("\nk:: v", 3000))
	assert.Len(t, Parse(many).Fields(many), maxFields)
}
