package edit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown/edit"
)

// A map keeps its style, the order of its keys, and the text of the values that do not
// change.
func TestSetFrontMatter_Maps(t *testing.T) {
	value := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	list := []any{int64(1), "x"}
	for name, c := range map[string]struct {
		old   string
		value map[string]any
		want  string
	}{
		"braces":         {"m: { z: 1,  b: [1, 'x'] }   # c\n", value("z", int64(2), "b", list), "m: { z: 2,  b: [1, 'x'] }   # c\n"},
		"unchanged":      {"m: { z: 1,  b: [1, 'x'] }   # c\n", value("z", int64(1), "b", list), "m: { z: 1,  b: [1, 'x'] }   # c\n"},
		"new key":        {"m: {z: 1}\n", value("z", int64(1), "a", list), "m: {z: 1, a: [1, x]}\n"},
		"removed key":    {"m: { z: 1, k: 2, x: 3 }\n", value("z", int64(1), "x", int64(3)), "m: { z: 1, x: 3 }\n"},
		"other keys":     {"m: {z: 1}\n", value("a", value("b", "c")), "m: {a: {b: c}}\n"},
		"empty":          {"m: {}\n", value("a", "b"), "m: {a: b}\n"},
		"several lines":  {"m: {\n  z: 1,\n  k: 2\n}\n", value("z", int64(1), "k", int64(3)), "m: {\n  z: 1,\n  k: 3\n}\n"},
		"block":          {"m:\n    z: 1 # one\n    # two\n    k: 'a'\n", value("z", int64(1), "k", "b"), "m:\n    z: 1 # one\n    # two\n    k: b\n"},
		"block, changed": {"m:\n  z: 1\n  # two\n  k: 2\n  # three\n  x: 3\n", value("k", int64(4), "x", int64(3)), "m:\n  # two\n  k: 4\n  # three\n  x: 3\n"},
		"block, comment": {"m:\n  z: 1\n  k: 2 # two\n", value("z", int64(1), "k", int64(3)), "m:\n  z: 1\n  k: 3 # two\n"},
		"block, longer":  {"m:\n  z: 1\n  k: 2 # two\n", value("z", int64(1), "k", list), "m:\n  z: 1\n  k:\n    - 1\n    - x\n"},
		"block, shorter": {"m:\n  z: 1\n  k: # two\n    - 2 # first\n", value("z", int64(1), "k", int64(3)), "m:\n  z: 1\n  k: 3 # two\n"},
		"block, literal": {"m:\n  z: 1\n  k: | # two  \n    text\n", value("z", int64(1), "k", int64(3)), "m:\n  z: 1\n  k: 3 # two  \n"},
		"block, removed": {"m:\n  z: 1\n  # two\n  k: 2\n  # three\n  x: 3\n", value("z", int64(1), "x", int64(3)), "m:\n  z: 1\n  # three\n  x: 3\n"},
		"block, new key": {"m:\n    z: 1\n", value("z", int64(1), "a", list), "m:\n    z: 1\n    a:\n      - 1\n      - x\n"},
		"block, nested":  {"m:\n  z:\n    - 1\n    - x\n  k: {q: 1}\n", value("z", list, "k", "b"), "m:\n  z:\n    - 1\n    - x\n  k: b\n"},
		"quoted keys":    {"m: {\"z z\": 1, k: 2}\n", value("z z", int64(1), "k", int64(3)), "m: {\"z z\": 1, k: 3}\n"},
		"explicit key":   {"m:\n  ? z\n  : 1\n  k: 2\n", value("z", int64(1), "k", int64(3)), "m:\n  k: 3\n  z: 1\n"},
		"CRLF":           {"m: { z: 1, k: 2 }\r\n", value("z", int64(1), "k", int64(3)), "m: { z: 1, k: 3 }\r\n"},
	} {
		before, after := "---\na: 1\n", "b: {x: 1}\n---\ntext\n"
		out, err := edit.SetFrontMatter([]byte(before+c.old+after), "m", c.value)
		require.NoError(t, err, name)
		assert.Equal(t, before+c.want+after, string(out), name)
	}
}
