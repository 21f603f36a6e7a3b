package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFields(t *testing.T) {
	for src, want := range map[string][]Field{
		"status:: open\nand more\n":                          {{"status", "open"}},
		"---\na: b\n---\n\n**Due Date**:: 2026-02-01\r\n":    {{"Due Date", "2026-02-01"}},
		"- [ ] call (who:: [[Ann]]) at [at:: 9:00]\n":        {{"who", "[[Ann]]"}, {"at", "9:00"}},
		"- a\n  - rating:: 8\n  id:: 64-a\n":                 {{"rating", "8"}, {"id", "64-a"}},
		"> mood:: good\n":                                    {{"mood", "good"}},
		"[:: a] and b\n(**::c)\n:: d\n":                      nil, // no key
		"empty::\n":                                          {{"empty", ""}},
		"[list:: [[A]], [[B]]]":                              {{"list", "[[A]], [[B]]"}},
		"std::vector is a type\n":                            nil,
		"a `x:: y` and `[k:: v]`\n":                          nil,
		"``a` [k:: v] ```\n":                                 {{"k", "v"}},
		"a `` b ` [k:: v] `[c:: d]`\n":                       {{"c", "d"}},
		"```\nkey:: value\n```\n\n    key:: value\n":         nil,
		"# head:: no\n\n$$\na:: b\n$$\n%%\nc:: d\n%%\n":      nil,
		"see [[note]] and [text](url)\n":                     nil,
		"über größe:: 3\n[日本:: 語]\n":                         {{"über größe", "3"}, {"日本", "語"}},
		strings.Repeat("w ", 100) + ":: not a key\n[a:: b\n": nil,
		"a::b::c [x::y::z]\n":                                {{"x", "y::z"}},
	} {
		assert.Equal(t, want, Parse([]byte(src)).Fields([]byte(src)), src)
	}
	for _, many := range []string{strings.Repeat("[", 20_000) + strings.Repeat("\nk:: v", 3000), strings.Repeat("[a:: 1]", 3000), "k:: v\n" + strings.Repeat("(a:: 1) ", 3000) + "\nk:: v"} {
		assert.Len(t, Parse([]byte(many)).Fields([]byte(many)), maxFields)
	}
}

// TestFields_Composed: in a note generated from blocks with known fields, exactly those
// are read.
func TestFields_Composed(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 41))
	key := func() string { return []string{"status", "Due Date", "größe", "a-b", "k_1", "日本"}[rng.IntN(6)] }
	value := func() string {
		return []string{"open", "", "[[Ann]], [[Bob]]", "a::b", "2026-02-16", "x, y; z."}[rng.IntN(6)]
	}
	for range 2000 {
		src := ""
		var want []Field
		for range rng.IntN(8) {
			k, v, k2, v2 := key(), value(), key(), value()
			field := func(key, value string) {
				want = append(want, Field{key, strings.TrimSpace(value)})
			}
			var block string
			switch rng.IntN(9) {
			case 0:
				block = k + ":: " + v + "\nmore text\n" + k2 + ":: " + v2 + "\n"
				field(k, v)
				field(k2, v2)
			case 1:
				block = "- [ ] do (" + k + ":: " + v + ") or `code` [" + k2 + "::" + v2 + "] it\n"
				field(k, v)
				field(k2, v2)
			case 2:
				block = "> **" + k + "**:: " + v + "\n"
				field(k, v)
			case 3:
				block = "1. item\n   - " + k + ":: " + v + "\n"
				field(k, v)
			case 4:
				block = "```\n" + k + ":: " + v + "\n```\n"
			case 5:
				block = "# " + k + ":: " + v + "\n"
			case 6:
				block = "<!-- " + k + ":: " + v + " -->\n"
			case 7:
				block = "text with `" + k + ":: v` in it, std::vector and [a link](b)\n"
			default:
				block = "$$\n" + k + ":: " + v + "\n$$\n"
			}
			src += block + "\nend\n\n"
		}
		if rng.IntN(4) == 0 {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		require.Equal(t, want, Parse([]byte(src)).Fields([]byte(src)), "%s", src)
	}
}
