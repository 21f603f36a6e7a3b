package markdown

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTitlesAndAliases: page properties count at the start of the note and after front
// matter.
func TestTitlesAndAliases(t *testing.T) {
	for src, want := range map[string][]string{
		"---\ntitle: F\n---\ntitle:: P\nalias:: , x,,\n\n# H\n": {"F", "x"},
		"title:: P\nalias:: x, [[y]]\n\n# H\n":                  {"P", "x", "y"},
		"- alias:: x\n- title:: y\n":                            {""},
		"> title:: x\n":                                         {""},
		"text\n\nalias:: x\n":                                   {""},
		"type:: x\nnot a property\nalias:: y\n":                 {""},
		"# \tA\n":                                               {"A"},
		"---\ntags: [a\ntitle: \"T\"\naliases:\n - \"x\"\n - y\nother: z\n - w\n---\n": {"T", "x", "y"},
		"---\ntitle: 2026\nAlias: a, b\n---\n":                                         {"2026", "a", "b"},
	} {
		doc := Parse([]byte(src))
		assert.Equal(t, want, append([]string{doc.Title}, doc.Aliases...), "%q", src)
	}
}

// TestBlocks_Places: an id names the text before it. On its own line, it names the block
// above, if it is not nested deeper in lists and quotes than that.
func TestBlocks_Places(t *testing.T) {
	for src, want := range map[string][]string{
		"> quote\n\n^q\n":                {"q", "quote\n\n^q"},
		"- a\n\n^l\n":                    {"l", "- a\n\n^l"},
		"- a\n\n  ^l\n":                  {"l", "a\n\n  ^l"},
		"text\n\n- ^id\n":                nil,
		"text\n^id\n":                    {"id", "text\n^id"},
		"a\t^b\n":                        {"b", "a\t^b"},
		"a ^b-1  \n":                     {"b-1", "a ^b-1  "},
		"a^b\n":                          nil,
		"a ^b c\n":                       nil,
		"a ^b_c\n":                       nil,
		"a ^\n":                          nil,
		"^a\n":                           nil,
		"|a|\n|-|\n\n^t\n":               {"t", "|a|\n|-|\n\n^t"},
		"```\nx ^no\n```\n^c\n":          {"c", "```\nx ^no\n```\n^c"},
		"[a]: b\n\n^d\n":                 {"d", "[a]: b\n\n^d"},
		"a ^x\n\nb\n\n^y\n":              {"x", "a ^x", "y", "b\n\n^y"},
		"  - [ ] a\n\n    more ^m\n":     {"m", "more ^m"},
		"- a\n  - b ^b\n    - c\n- d ^d": {"b", "b ^b", "d", "d ^d"},
	} {
		var got []string
		for _, b := range Parse([]byte(src)).Blocks {
			got = append(got, b.ID, src[b.Start:b.End])
		}
		assert.Equal(t, want, got, "%q", src)
	}
}

// TestBlocks_After: text inserted after a block in a list goes after its children.
func TestBlocks_After(t *testing.T) {
	for _, test := range []struct{ src, id, before, after string }{
		{"- a\n  - b ^b\n    - c\n- d ^d\n", "b", "- a\n  - b ^b\n    - c\n", "- d ^d\n"},
		{"- a\n  - b ^b\n    - c\n- d ^d\n", "D", "- a\n  - b ^b\n    - c\n- d ^d\n", ""},
		{"# H\ntext ^t\nmore\n\nother ^o\nend\n", "t", "", ""},
		{"# H\ntext\nmore ^t\n\nother\n", "t", "# H\ntext\nmore ^t\n", "\nother\n"},
		{"> a ^q\n\nb\n", "q", "> a ^q\n", "\nb\n"},
	} {
		src := []byte(test.src)
		section, err := FindSection(Parse(src), src, " ^"+test.id+" ")
		if test.before == "" {
			assert.ErrorIs(t, err, ErrMissing, test.src)
			continue
		}
		if assert.NoError(t, err, test.src) {
			assert.Equal(t, []string{test.before, test.after}, []string{test.src[:section.After], test.src[section.After:]})
		}
	}
}

// TestTags_Edges: tags, and text that only resembles them.
func TestTags_Edges(t *testing.T) {
	for src, want := range map[string][]string{
		"#1-2 #1 #-- #1_ #/":                {"1-2", "1_"},
		"#a/ #/b #a//c":                     {"a", "b", "a//c"},
		"x#no é#no 1#no":                    nil,
		"(#a) [#b c] \"#d\" *#e* a,#f":      {"a", "b", "d", "e", "f"},
		"[#A] [#C] [#D] [#B](x) [#b]":       {"D", "B"},
		"\u00a0#nb «#q 。#後":                 {"nb", "q", "後"},
		"#❤️ #a🏳️‍🌈":                        {"❤️", "a🏳️‍🌈"},
		"#[[a b]] #[[ c ]] #[[]] #[[d|e]":   {"a b", "c"},
		"#a #A #Ä #ä":                       {"a", "Ä"},
		"`#a` <b c=#d> [e](#f) %%#g%% $#h$": nil,
	} {
		assert.Equal(t, want, Parse([]byte(src)).Tags, "%q", src)
	}
}

// TestTextEnd: the comments at the end of a note start where only comments follow, or at the rule
// above them.
func TestTextEnd(t *testing.T) {
	for src, want := range map[string]string{
		"a %%b%%\n\n%%c%%\n":           "%%c%%\n",
		"# A\n%%\nx\n%%\n\n%%y%%\n":    "%%\nx\n%%\n\n%%y%%\n",
		"# A\n%%\nx\n%%\ntext\n":       "",
		"# A\n$$\nx\n$$\n":             "",
		"# A\n\n<!-- a -->\n":          "",
		"a\n\n> %%b%%\n":               "",
		"a\n\n%% b\n":                  "",
		"%% kanban:settings\n{}\n%%\n": "%% kanban:settings\n{}\n%%\n",
		"a\n%%b%%":                     "%%b%%",
		"a\n\n---\n%%b%%\n\n%%c%%\n":   "---\n%%b%%\n\n%%c%%\n",
		"# A\n---\n%%b%%\n":            "%%b%%\n",
		"a\n\n> b\n> ***\n\n%%c%%\n":   "%%c%%\n",
		"a\n\n---\n":                   "",
		"a\n\n---\nb\n\n%%c%%\n":       "%%c%%\n",
	} {
		assert.Equal(t, want, src[Parse([]byte(src)).TextEnd:], "%q", src)
	}
}

// TestFrontMatterLinks_Quotes: a link in front matter is decoded according to the quotes
// around it, and one without quotes is a link too.
func TestFrontMatterLinks_Quotes(t *testing.T) {
	for line, want := range map[string][]string{
		`a: '[[b|it''s]]'`:                      {"b||it's"},
		`a: "[[#c]] \" [[d|e\"f]]"`:             {"|c|", `d||e"f`},
		`a: [[[b]], [[c]]]`:                     {"b||", "c||"},
		`a: it's [[b]]`:                         {"b||"},
		`a: [[b]] # [[c]]`:                      {"b||"},
		`a: "# [[b]]"`:                          {"b||"},
		`a: "[[b`:                               nil,
		`a: [[b, c]]`:                           nil,
		`a: ["[[b]]", '[[c#d|e]]', [[f]], "g"]`: {"b||", "c|d|e", "f||"},
		`"[[b]]": c`:                            nil,
		`a: "[[b\u00e9]]"`:                      {"bé||"},
	} {
		var got []string
		for _, l := range Parse([]byte("---\n" + line + "\n---\n")).Links {
			got = append(got, l.Target+"|"+l.Anchor+"|"+l.Alias)
		}
		assert.Equal(t, want, got, "%s", line)
	}
}
