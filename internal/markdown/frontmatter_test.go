package markdown

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFrontMatterValues(t *testing.T) {
	for src, want := range map[string]string{
		"---\n---\n":            `{}`,
		"---\n# comment\n---\n": `{}`,
		"---\n\u3000\n---\nx\n": `{}`,
		"---\na: 1\nb: -2.5\nc: true\nd: null\ne: text\nf:\n---\n": `{"a":1,"b":-2.5,"c":true,"d":null,"e":"text","f":null}`,
		"---\nd: 2024-01-02\nt: 2024-01-02T10:00:00Z\nz: 00123\nbig: 123456789012345678901234567890\nn: .nan\ni: -.inf\nhex: 0x1F\n---\n": `{"d":"2024-01-02",` +
			`"t":"2024-01-02T10:00:00Z","z":"00123","big":"123456789012345678901234567890","n":".nan","i":"-.inf","hex":31}`,
		"---\na: [x, {b: c}]\nd:\n  - e\n  - f: g\n    h: i\n---\n":                                                              `{"a":["x",{"b":"c"}],"d":["e",{"f":"g","h":"i"}]}`,
		"---\na: |\n  x\n  y\nb: >-\n  x\n  y\nc: \"x\\n\\u00e9\"\n---\n":                                                        `{"a":"x\ny\n","b":"x y","c":"x\né"}`,
		"---\r\na:\r\n- x\r\n- y\r\nb: |\r\n  z\r\n---\r\n":                                                                      `{"a":["x","y"],"b":"z\n"}`,
		"---\na: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n---\n":                                                                  `{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}`,
		"---\n1: x\ntrue: y\n? k\n: z\n---\n":                                                                                    `{"1":"x","true":"y","k":"z"}`,
		"---\na: !!str 1\nb: !x c\n...\n":                                                                                        `{"a":"1","b":"c"}`,
		"---\nx: &x {a: 1, b: 2}\ny: &y {b: 3}\nz:\n  <<: [*y, *x]\n  c: 4\n---\n":                                               `{"x":{"a":1,"b":2},"y":{"b":3},"z":{"a":1,"b":3,"c":4}}`,
		"---\nx: &x {a: 1}\nz:\n  a: 2\n  <<: *x\n---\n":                                                                         `{"x":{"a":1},"z":{"a":2}}`,
		"---\no: 0o17\nb: 0b101\nu: 1_000\np: +7\nl: 2024-01-02 10:00\n---\n":                                                    `{"o":15,"b":5,"u":1000,"p":7,"l":"2024-01-02 10:00"}`,
		"---\na: {b: {c: [1, {d: 2}]}}\n---\n":                                                                                   `{"a":{"b":{"c":[1,{"d":2}]}}}`,
		"+++\na = inf\nb = -inf\nc = 1979-05-27 07:32:00\nd = {e = [{f = 1}]}\ng.h = 0xff\n+++\n":                                `{"a":"+Inf","b":"-Inf","c":"1979-05-27T07:32:00","d":{"e":[{"f":1}]},"g":{"h":255}}`,
		"---\na: {{date}}\nb: {{date: YYYY}} {{time}}\nc: [{{x}}, y]\nd:\n  - {{ }}\n  - '{{x}} '\n\"{{k}}\": {e: {{f}}}\n---\n": `{"a":"{{date}}","b":"{{date: YYYY}} {{time}}","c":["{{x}}","y"],"d":["{{ }}","{{x}} "],"{{k}}":{"e":"{{f}}"}}`,
		"---\na: 9223372036854775807\nb: 9223372036854775808\nc: -9223372036854775808\n---\n":                                    `{"a":9223372036854775807,"b":"9223372036854775808","c":-9223372036854775808}`,
		"--- \na: 1\n---\t\ntext":                                                                                                `{"a":1}`,
		"+++\na = 1\nb = 1979-05-27\nc = 07:32:00\nd = [1.5, \"x\"]\n[e]\nf = true\n+++\n":                                       `{"a":1,"b":"1979-05-27","c":"07:32:00","d":[1.5,"x"],"e":{"f":true}}`,
		"+++\na = nan\nt = 1979-05-27T07:32:00Z\n[[l]]\nx = 1\n[[l]]\nx = 2\n+++\n":                                              `{"a":"NaN","t":"1979-05-27T07:32:00Z","l":[{"x":1},{"x":2}]}`,
	} {
		fm := Parse([]byte(src)).FrontMatter
		require.NoError(t, fm.Err, "%q", src)
		got, err := json.Marshal(fm.Values)
		require.NoError(t, err, "%q", src)
		assert.JSONEq(t, want, string(got), "%q", src)
	}
}

func TestNoFrontMatter(t *testing.T) {
	for _, src := range []string{
		"", "text", "---", "---\n", "---\na: 1\n", "---\nprose here\n\n---\ntext", "---\n\nprose, no\n\n---\n", "---\n# Title\nprose here, no\n---\n", "---\n- a\n- b\n---\n", "----\na: 1\n----\n", " ---\na: 1\n---\n",
		"\n---\na: 1\n---\n", "--- x\na: 1\n---\n", "+++\na = 1\n", "---\na: 1\n+++\n",
	} {
		doc := Parse([]byte(src))
		assert.Empty(t, doc.FrontMatter.Format, "%q", src)
		assert.Zero(t, doc.BodyStart, "%q", src)
	}
}

func TestBrokenFrontMatter(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	bomb := "a: &a [" + strings.Repeat("x,", 50) + "]\nb: &b [" + strings.Repeat("*a,", 50) + "]\nc: &c [" + strings.Repeat("*b,", 50) + "]\n"
	for _, test := range []struct {
		inner, message string
		line           int
	}{
		{"a: [1\nb: 2\n", "YAML", 3},
		{"ok: 1\na: b: c\n", "YAML", 3},
		{"a: 1\na: 2\n", "already defined", 3},
		{"a: \xff\n", "UTF-8", 0},
		{"a: 1\nb: \x00\n", "control character", 3},
		{"title:x\n", "not a list of keys", 2},
		{"a: " + deep + "\n", "deeper than 64", 0},
		{bomb, "more than 100000", 0},
		{"a: " + strings.Repeat("x", maxFrontMatter) + "\n", "larger than 128 KiB", 0},
		{"a: *b\n", "YAML: an alias", 0},
		{"a: 1\n--- # b\nc: 2\n", "more than one YAML document", 0},
		{"a: 1\rb: 2\n", "control character", 2},
		{"? |\n  a\n: c\n", "a key is not text", 0},
		{"# comment\ntitle:x\n", "not a list of keys", 2},
	} {
		doc := Parse([]byte("---\n" + test.inner + "---\n# Body #tag\n"))
		require.Error(t, doc.FrontMatter.Err, "%.40q", test.inner)
		assert.ErrorContains(t, doc.FrontMatter.Err, test.message)
		assert.NotContains(t, doc.FrontMatter.Err.Error(), "\n")
		if test.line > 0 {
			assert.Equal(t, test.line, doc.FrontMatter.ErrLine, "%.40q", test.inner)
		}
		assert.Nil(t, doc.FrontMatter.Values)
		assert.Equal(t, "Body #tag", doc.Headings[0].Text)
		assert.Equal(t, []string{"tag"}, doc.Tags)
	}
	tooDeep := Parse([]byte("+++\na = " + deep + "\n+++\n# A #tag\n"))
	require.ErrorIs(t, tooDeep.FrontMatter.Err, errTooDeep)
	assert.Equal(t, []string{"tag"}, tooDeep.Tags)
	toml := Parse([]byte("+++\na = 1\nb = \n+++\n# A\n"))
	assert.ErrorContains(t, toml.FrontMatter.Err, "TOML")
	assert.Equal(t, 3, toml.FrontMatter.ErrLine)
	assert.Equal(t, "A", toml.Title)
}

// TestFrontMatterValues_JSON: JSON, which is valid YAML, is read with the same values on
// one line and indented.
func TestFrontMatterValues_JSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 5))
	texts := []string{"", "plain", "two words", "a: b", "# no comment", "[[Link|text]]", "- dash", "null", "true", "12", "1e3", "it's", `say "hi"`, `back\slash`, "tab\there", "line\nbreak", "größe 日本 🎉", "{{date}}", "a, b", " padded ", "!tag", "*x", "&y", "%z", "2026-01-31"}
	var value func(depth int) any
	value = func(depth int) any {
		switch n := rng.IntN(8); {
		case n == 0 && depth > 0:
			list := []any{}
			for range rng.IntN(4) {
				list = append(list, value(depth-1))
			}
			return list
		case n == 1 && depth > 0:
			object := map[string]any{}
			for range rng.IntN(4) {
				object[texts[1+rng.IntN(len(texts)-1)]] = value(depth - 1)
			}
			return object
		case n == 2:
			return int64(rng.Uint64() >> rng.IntN(64) / 2)
		case n == 3:
			return rng.Float64() + 1
		case n == 4:
			return []any{true, false, nil}[rng.IntN(3)]
		}
		return texts[rng.IntN(len(texts))]
	}
	for range 3000 {
		want := map[string]any{"first": value(3), "second key": value(3)}
		for _, indent := range []string{"", "  "} {
			var b strings.Builder
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", indent)
			require.NoError(t, encoder.Encode(want))
			src := "---\n" + b.String() + "---\ntext\n"
			fm := Parse([]byte(src)).FrontMatter
			require.NoError(t, fm.Err, "%s", src)
			require.Equal(t, want, fm.Values, "%s", src)
		}
	}
}
