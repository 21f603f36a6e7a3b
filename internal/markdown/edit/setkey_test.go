package edit

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetFrontMatter(t *testing.T) {
	for _, test := range []struct {
		name, src, key string
		value          any
		want           string
	}{
		{"creates", "# A\n", "k", "v", "---\nk: v\n---\n# A\n"},
		{"creates in CRLF after BOM", "\xef\xbb\xbf# A\r\n", "k", []any{"v"}, "\xef\xbb\xbf---\r\nk:\r\n  - v\r\n---\r\n# A\r\n"},
		{"creates in an empty note", "", "k", 1, "---\nk: 1\n---\n"},
		{"creates before a rule", "---\ntext\n", "k", 1, "---\nk: 1\n---\n---\ntext\n"},
		{"adds at the end", "---\na: 1 # x\n\n# end\n---\nb", "k", true, "---\na: 1 # x\n\n# end\nk: true\n---\nb"},
		{"adds after a list", "---\na:\n- x\n---\n", "k", []any{"z", int64(2)}, "---\na:\n- x\nk:\n- z\n- 2\n---\n"},
		{"adds to nothing", "---\n---\nx", "k", "v", "---\nk: v\n---\nx"},
		{"adds to comments", "---\n# c\n---\nx", "k", "v", "---\n# c\nk: v\n---\nx"},
		{"in a template", "---\na: {{date}} # x\nb: [{{y}}]\n---\n", "a", "{{n}}", "---\na: \"{{n}}\" # x\nb: [{{y}}]\n---\n"},
		{"adds to a template", "---\na: {{date}}\n---\n", "k", "v", "---\na: {{date}}\nk: v\n---\n"},
		{"adds to indented keys", "---\n  a: 1\n  b: 2\n---\n", "k", []any{"v"}, "---\n  a: 1\n  b: 2\n  k:\n    - v\n---\n"},
		{"replaces, keeping quotes and comment", "---\na: \"x\" # why\nb: 'y'  # z\n---\n", "b", "n", "---\na: \"x\" # why\nb: 'n'  # z\n---\n"},
		{"replaces a list by a scalar", "---\na:\n  - x # c\n  - y\n\n# next\nb: 1\n---\n", "a", "z", "---\na: z\n\n# next\nb: 1\n---\n"},
		{"keeps the lines of items that stay", "---\na: # c\n- 'x' # d\n-   \"y\"\n- b: 1\n  c: 2\n- z\nb: 1\n---\n", "a",
			[]any{"new", "x", map[string]any{"b": 1, "c": 2}, "y", "x"},
			"---\na: # c\n- new\n- 'x' # d\n- b: 1\n  c: 2\n-   \"y\"\n- x\nb: 1\n---\n"},
		{"replaces a list in brackets", "---\na: [x, y] # c\nb: 1\n---\n", "a", []any{"p", "q: r"}, "---\na: [p, \"q: r\"] # c\nb: 1\n---\n"},
		{"replaces block text", "---\na: |\n  x\n\n  # y\nb: 1\n---\n", "a", "l1\n\n  l2 # \"x\"", "---\na: |-\n  l1\n\n    l2 # \"x\"\nb: 1\n---\n"},
		{"replaces block text with a final line break", "---\r\n  a: >-\r\n    x\r\n  b: |- # c\r\n    x\r\n---\r\n", "b", "l1\nl2\n", "---\r\n  a: >-\r\n    x\r\n  b: | # c\r\n    l1\r\n    l2\r\n---\r\n"},
		{"replaces block text with text that cannot be one", "---\na: |\n  x\n---\n", "a", " l1\nl2", "---\na: \" l1\\nl2\"\n---\n"},
		{"replaces block text with blank lines at its end", "---\na: |\n  x\n---\n", "a", "l1\n\n", "---\na: \"l1\\n\\n\"\n---\n"},
		{"replaces with a map", "---\na: 1\nb: 2\n---\n", "a", map[string]any{"w": []any{"z"}, "v": 1.5}, "---\na:\n  v: 1.5\n  w:\n    - z\nb: 2\n---\n"},
		{"lists of maps", "---\na: 1\n---\n", "a", []any{map[string]any{"p": 1, "q": nil}, []any{"r"}}, "---\na:\n  - p: 1\n    q: null\n  -\n    - r\n---\n"},
		{"empty ones", "---\na: 1\n---\n", "a", map[string]any{"l": []any{}, "m": map[string]any{}}, "---\na:\n  l: []\n  m: {}\n---\n"},
		{"a key with a dot", "---\na: 1\nb.c: 1\n---\n", "a.b", 2, "---\na: 1\nb.c: 1\na.b: 2\n---\n"},
		{"an existing key with a dot", "---\na: {b: 1}\na.b: 1\n---\n", "a.b", 2, "---\na: {b: 1}\na.b: 2\n---\n"},
		{"the same value", "---\na:   \"x\"\n---\n", "a", "x", "---\na:   \"x\"\n---\n"},
		{"CRLF", "---\r\na: 1\r\nb: 2\r\n---\r\nx\r\n", "a", []string{"p"}, "---\r\na:\r\n  - p\r\nb: 2\r\n---\r\nx\r\n"},
		{"removes", "---\na: 1\nb:\n  - x\n# c\nd: 2\n---\n", "b", nil, "---\na: 1\n# c\nd: 2\n---\n"},
		{"removes the last key with its block", "---\na: 1\n---\nx", "a", nil, "x"},
		{"removes the last key, not comments", "---\n# c\na: 1\n---\nx", "a", nil, "---\n# c\n---\nx"},
		{"removes what is not there", "---\na: 1\n---\nx", "b", nil, "---\na: 1\n---\nx"},
		{"removes from nothing", "x", "b", nil, "x"},
		{"keeps a block before a block", "---\na: 1\n---\n---\nb: 2\n---\n", "a", nil, "---\n---\n---\nb: 2\n---\n"},
		{"odd keys", "---\na: 1\n---\n", "x: y", "v", "---\na: 1\n\"x: y\": v\n---\n"},
		{"no final newline", "---\na: 1\n---", "a", 2, "---\na: 2\n---"},
		{"a comment after quotes that has quotes", "---\nstatus: \"open\" # was \"todo\" before\n---\n", "status", "done", "---\nstatus: \"done\" # was \"todo\" before\n---\n"},
		{"an apostrophe in a comment", "---\nname: 'it''s'  # don't use\n---\n", "name", "that", "---\nname: 'that'  # don't use\n---\n"},
		{"brackets in a comment", "---\ntags: [a, b] # see [1]\n---\n", "tags", []any{"c"}, "---\ntags: [c] # see [1]\n---\n"},
		{"brackets over several lines", "---\ntags: [a,\n  \"b]\"] # see\n---\n", "tags", []any{"c"}, "---\ntags: [c] # see\n---\n"},
		{"a comment instead of a value", "---\nstatus: # to be filled in\nb: 1\n---\n", "status", "done", "---\nstatus: done # to be filled in\nb: 1\n---\n"},
		{"a comment instead of a value, and a list", "---\nstatus: # later\n---\n", "status", []any{"a"}, "---\nstatus: # later\n  - a\n---\n"},
		{"a scalar with a comment by a list", "---\na: x # c\n---\n", "a", []any{"z"}, "---\na: # c\n  - z\n---\n"},
		{"a list with a comment by a scalar", "---\na: # c\n  - x\n---\n", "a", "z", "---\na: z # c\n---\n"},
		{"an indented comment after it", "---\na: 1\n  # about b\nb: 2\n---\n", "a", 3, "---\na: 3\n  # about b\nb: 2\n---\n"},
		{"an indented comment after a list", "---\na:\n  - x\n  # the end\nb: 2\n---\n", "a", []any{"x", "z"}, "---\na:\n  - x\n  - z\n  # the end\nb: 2\n---\n"},
		{"an indented comment after it goes not with it", "---\na: 1\n  # about b\nb: 2\n---\n", "a", nil, "---\n  # about b\nb: 2\n---\n"},
		{"text of an item that looks like a comment", "---\na:\n  - |\n    x\n    # y\nb: 1\n---\n", "a", "z", "---\na: z\nb: 1\n---\n"},
		{"a tab before value and comment", "---\ndue:\t2024\t# c\n---\n", "due", 2025, "---\ndue: 2025\t# c\n---\n"},
		{"a hash in text", "---\na: C# and A#1 # c\n---\n", "a", "F#", "---\na: F# # c\n---\n"},
		{"a hash in quotes", "---\na: \"x # y\"\n---\n", "a", "z", "---\na: \"z\"\n---\n"},
		{"a hash in quotes after a tag", "---\na: !!str \"x # y\"\n---\n", "a", "z", "---\na: z\n---\n"},
		{"brackets in brackets", "---\na: [x, [y, z], {k: v}] # c\nb: 1\n---\n", "a", []any{"x", []any{"z"}, map[string]any{"k": "w", "l": true}}, "---\na: [x, [z], {k: w, l: true}] # c\nb: 1\n---\n"},
		{"an item of brackets less", "---\na: [ \"x, y\", 'z' ,w] # c\n---\n", "a", []any{"x, y", "w"}, "---\na: [ \"x, y\", w] # c\n---\n"},
		{"large and small numbers", "---\na: 1\n---\n", "a", []any{1e21, 1e-7, float64(1 << 60), -0.5}, "---\na:\n  - 1000000000000000000000.0\n  - 0.0000001\n  - 1152921504606847000.0\n  - -0.5\n---\n"},
		{"one key without a second", "---\na: 1\n---\n", "a", map[string]any{"b": "c\r\n"}, "---\na:\n  b: \"c\\r\\n\"\n---\n"},
		{"a comment after a quoted escape", "---\na: \"x\\\" # y\" # z\n---\n", "a", "w", "---\na: \"w\" # z\n---\n"},
		{"text over lines with a comment", "---\na: x\n  y\nb: 1\n---\n", "a", "z", "---\na: z\nb: 1\n---\n"},
		{"TOML in a quoted key with escapes", "+++\n\"a\\\"b\" = 1\n+++\n", "a\"b", 2, "+++\n\"a\\\"b\" = 2\n+++\n"},
		{"a key with a question mark", "---\n? a\n: 1\nb: 2\n---\n", "a", 3, "---\n? a\n: 3\nb: 2\n---\n"},
		{"a comment after text over lines", "---\na: x\n  y # c\nb: 1\n---\n", "a", "z", "---\na: z # c\nb: 1\n---\n"},
		{"a comment after a tag", "---\na: !!str x # c\nb: 1\n---\n", "a", "z", "---\na: z # c\nb: 1\n---\n"},
		{"a comment after a block's indicator", "---\na: | # c\n  x\nb: 1\n---\n", "a", "z", "---\na: z # c\nb: 1\n---\n"},
		{"a map in braces with a comment", "---\na: {b: 1} # c\n---\n", "a", 2, "---\na: 2 # c\n---\n"},
		{"a map without braces", "---\na:\n  b: 1 # c\n---\n", "a", 2, "---\na: 2\n---\n"},
		{"the comment of the next key", "---\na: 1\nb: 2 # c\n---\n", "a", 3, "---\na: 3\nb: 2 # c\n---\n"},
		{"a list and a map as new items", "---\na:\n- x # c\n---\n", "a", []any{"x", []any{"p"}, map[string]any{"k": "v"}}, "---\na:\n- x # c\n-\n  - p\n- k: v\n---\n"},
		{"a list with tabs", "---\na: [\n\tx,\t\"y\"\n]\n---\n", "a", []any{"x", "y", "z"}, "---\na: [\n\tx,\t\"y\",\tz\n]\n---\n"},
		{"a list with tabs before its brackets", "---\na:\t[x,\t\"y\"\t]\n---\n", "a", []any{"x", "y", "z"}, "---\na: [x, \"y\", z]\n---\n"},
		{"a list indented unlike the first", "---\na:\n- x\nb:\n    - y\n---\n", "b", []any{"y", "z"}, "---\na:\n- x\nb:\n    - y\n    - z\n---\n"},
		{"a list below an indented key", "---\n  a: 1\n  b:\n    - x # c\n    - y\n---\n", "b", []any{"x", "z"}, "---\n  a: 1\n  b:\n    - x # c\n    - z\n---\n"},
		{"TOML keeps the lines of items", "+++\na = [\n  'x',\n  2,\n  \"y\",\n] # c\nb = 1\n+++\n", "a", []any{"x", "y", "z"}, "+++\na = [\n  'x',\n  \"y\",\n  \"z\",\n] # c\nb = 1\n+++\n"},
		{"TOML with a list in a list", "+++\na = [[1], 'x']\n+++\n", "a", []any{[]any{1}, "x", "z"}, "+++\na = [[1], \"x\", \"z\"]\n+++\n"},
		{"removes a key without a value", "---\na:\nb: 1\n---\n", "a", nil, "---\nb: 1\n---\n"},
		{"block text with a blank line after it", "---\na: |\n  x\n\nb: 1\n---\n", "a", "z", "---\na: z\n\nb: 1\n---\n"},
		{"TOML with lists in a list", "+++\na = [[1, 2], [], {}, 'x']\n+++\n", "a", []any{[]any{1, 2}, "x"}, "+++\na = [[1, 2], \"x\"]\n+++\n"},
		{"a key that is merged in", "---\n<<: {a: 1} # c\n---\n", "a", 3, "---\n<<: {a: 1} # c\na: 3\n---\n"},
		{"a key in quotes", "---\n\"k\": 2\n'it''s: so': 3\n---\n", "k", 3, "---\n\"k\": 3\n'it''s: so': 3\n---\n"},
		{"a key in quotes that needs them", "---\n'it''s: so': 3 # c\n---\n", "it's: so", 4, "---\n'it''s: so': 4 # c\n---\n"},
		{"a key that some readers take for a bool", "---\nn: 1\n---\n", "n", 2, "---\nn: 2\n---\n"},
		{"a key with a colon in it", "---\na:b: 1\n---\n", "a:b", 2, "---\na:b: 2\n---\n"},
		{"a key with a space before its colon", "---\nkey : 1 # c\n---\n", "key", 2, "---\nkey : 2 # c\n---\n"},
		{"TOML keeps the key's spelling", "+++\n\"a\"  = 1 # c\n'b = c' = 2\n+++\n", "a", 3, "+++\n\"a\"  = 3 # c\n'b = c' = 2\n+++\n"},
		{"TOML keeps the spelling of a key with =", "+++\n'b = c' = 2\n+++\n", "b = c", 3, "+++\n'b = c' = 3\n+++\n"},
		{"TOML adds before tables", "+++\na = 1 # c\n\n[t]\nb = 2\n+++\n", "k", []any{"v", 1}, "+++\na = 1 # c\nk = [\"v\", 1]\n\n[t]\nb = 2\n+++\n"},
		{"TOML adds first", "+++\n[t]\nb = 2\n+++\n", "k", map[string]any{"a b": 1.5}, "+++\nk = {\"a b\" = 1.5}\n[t]\nb = 2\n+++\n"},
		{"TOML replaces", "+++\r\na = [\r\n 1, # x\r\n] # c\r\nb = 2\r\n+++\r\n", "a", "v", "+++\r\na = \"v\" # c\r\nb = 2\r\n+++\r\n"},
		{"TOML removes", "+++\na = '''\nx\n'''\nb = 2\n+++\n", "a", nil, "+++\nb = 2\n+++\n"},
	} {
		out, err := SetFrontMatter([]byte(test.src), test.key, test.value)
		if assert.NoError(t, err, test.name) {
			assert.Equal(t, test.want, string(out), test.name)
		}
	}
}

func TestSetFrontMatter_QuotesAmbiguousText(t *testing.T) {
	for value, want := range map[string]string{
		"text": "text", "two words": "two words", "🟢 active": "🟢 active", "✅": "✅", "„ja“": "„ja“", "\u200b": "\"\u200b\"", "2024-01-02": "2024-01-02", "2024-01-02T10:00": "2024-01-02T10:00",
		"true": `"true"`, "No": `"No"`, "~": `"~"`, "": `""`, "12": `"12"`, "1e3": `"1e3"`, "0x1F": `"0x1F"`, "12:30": `"12:30"`,
		"010": `"010"`, ".5": `".5"`, "a: b": `"a: b"`, "a #b": `"a #b"`, "a#b": "a#b", "#a": `"#a"`, "- a": `"- a"`, "[[a]]": `"[[a]]"`,
		"https://x.y/z?a=b": "https://x.y/z?a=b", " a": `" a"`, "a ": `"a "`, "a:": `"a:"`, "it's": "it's", `say "x"`: `"say \"x\""`,
		"日本 語": "日本 語", "a\tb": `"a\tb"`, "a\u2028b": `"a\u2028b"`, "3 apples": "3 apples", "@x": `"@x"`, "*x": `"*x"`, "a, b": "a, b",
		"beef": "beef", "null": `"null"`,
	} {
		out, err := SetFrontMatter(nil, "k", value)
		if assert.NoError(t, err, value) {
			assert.Equal(t, "---\nk: "+want+"\n---\n", string(out))
		}
	}
}

// deep returns deeply nested lists.
func deep() (value any) {
	for range 40 {
		value = []any{value}
	}
	return value
}

func TestSetFrontMatter_Rejects(t *testing.T) {
	for _, test := range []struct {
		src, key string
		value    any
		is       error
		message  string
	}{
		{"---\na: [\n---\n", "k", 1, ErrFrontMatter, "correct it first"},
		{"---\na: 1\na: 2\n---\n", "a", 1, ErrFrontMatter, "already defined"},
		{"---\nTags: x\n---\n", "tags", 1, ErrFrontMatter, `the note has "Tags"`},
		{"---\n{a: 1, b: 2}\n---\n", "a", 3, ErrFrontMatter, "braces"},
		{"---\na:\n  b: 1\n---\n", "a.b", 3, ErrFrontMatter, `"a" has keys of its own`},
		{"---\na: {b: {c: 1}}\n---\n", "A.b.c", nil, ErrFrontMatter, `"a" has keys of its own`},
		{"---\na: &x 1\nb: *x\n---\n", "a", 3, ErrFrontMatter, "would not parse"},
		{"---\n<<: {a: 1}\n---\n", "<<", 1, ErrFrontMatter, "ambiguous"},
		{"---\n1: x\n\"1\": y\n---\n", "1", "z", ErrFrontMatter, "already defined"},
		{"+++\n[a]\nb = 1\n+++\n", "a", 3, ErrFrontMatter, "table"},
		{"+++\na.b = 1\n+++\n", "a", 3, ErrFrontMatter, "dotted"},
		{"+++\na = 1\n+++\n", "b", []any{nil}, ErrFrontMatter, "would not parse"},
		{"+++\na = [{b = [1, # c\n2]}]\n+++\n", "a", []any{1}, ErrFrontMatter, "comments"},
		{"", "", 1, ErrInvalid, "needs a key"},
		{"", "k", "\xff", ErrInvalid, "UTF-8"},
		{"", "k", struct{}{}, ErrInvalid, "not a JSON value"},
		{"", "k", []any{struct{}{}}, ErrInvalid, "not a JSON value"},
		{"", "k", map[string]any{"a": "\xff"}, ErrInvalid, "UTF-8"},
		{"", "k", map[string]any{"\xff": 1}, ErrInvalid, "UTF-8"},
		{"", "k", math.NaN(), ErrInvalid, "no JSON number"},
		{"", "k", math.Inf(-1), ErrInvalid, "no JSON number"},
		{"", "k", deep(), ErrInvalid, "deeper than 32 levels"},
	} {
		out, err := SetFrontMatter([]byte(test.src), test.key, test.value)
		assert.Nil(t, out, "%q", test.src)
		assert.ErrorIs(t, err, test.is, "%q", test.src)
		assert.ErrorContains(t, err, test.message, "%q", test.src)
	}
	_, err := SetFrontMatter([]byte("---\nok: 1\na: b: c\n---\n"), "k", 1)
	var refused *FrontMatterError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 3, refused.Line)
}

// TestSetFrontMatter_RejectsJSONFrontMatter checks that no YAML block is put before the JSON of a Hugo page.
func TestSetFrontMatter_RejectsJSONFrontMatter(t *testing.T) {
	src := []byte("{\n  \"title\": \"T\",\n  \"tags\": [\"a\"]\n}\n\nText\n")
	_, err := SetFrontMatter(src, "draft", true)
	require.ErrorIs(t, err, ErrFrontMatter)
	assert.ErrorContains(t, err, "JSON")
	_, err = AddTag(src, "b")
	assert.ErrorIs(t, err, ErrFrontMatter)
	for _, text := range []string{"{{title}}\n", "{}\n", "{a: b}\n", "{\"a\": 1\n"} {
		out, err := SetFrontMatter([]byte(text), "k", "v")
		require.NoError(t, err)
		assert.Equal(t, "---\nk: v\n---\n"+text, string(out))
	}
}
