package edit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// otherReader returns the front matter of a note as read by another YAML library,
// converted to the types that package markdown promises.
func otherReader(t *testing.T, src []byte) map[string]any {
	t.Helper()
	fm := markdown.Parse(src).FrontMatter
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(src[fm.InnerStart:fm.InnerEnd], &doc), "%s", src)
	return nodeValue(t, doc.Content[0]).(map[string]any)
}

func nodeValue(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		values := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			values[n.Content[i].Value] = nodeValue(t, n.Content[i+1])
		}
		return values
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, nodeValue(t, item))
		}
		return list
	}
	var value any
	switch n.ShortTag() {
	case "!!int":
		var i int64
		require.NoError(t, n.Decode(&i))
		value = i
	case "!!float":
		var f float64
		require.NoError(t, n.Decode(&f))
		value = f
	case "!!bool":
		var b bool
		require.NoError(t, n.Decode(&b))
		value = b
	case "!!null":
	default: // text, and dates, which are read as text
		value = n.Value
	}
	return value
}

// hardTexts are texts that some YAML reader would, without quotes, not read as text, or
// read as the end of a text or of front matter.
var hardTexts = []string{
	"", " ", "a", "Plan B", " x", "x ", "-", "- a", "--- ", "---", "...", "?", "? a", ":", "a:", "a: b", ":a", "#", "# a", "a #b", "a#b", "a # b",
	"~", "null", "Null", "true", "True", "yes", "No", "on", "OFF", "y", "n", "nan", ".nan", ".inf", "-.INF", "inf",
	"0", "007", "+1", "-0", "1_000", "0x1F", "0o17", "0b101", "1e3", "1.", ".5", "1.5e-3", "12:30", "12:30:45", "190:20:30", "0.1.2", "1,000", "=", "<<",
	"2026-01-31", "2026-01-31 10:00", "2026-01-31T10:00:00Z", "2026-1-1", "10:00", "1/2", "50%", "%a", "@ann", "`code`", "&a", "*a", "!a", "!!str x", "|", "> a", "|-",
	"[a]", "[[Note]]", "[[a]], [[b]]", "{a: b}", "{{title}}", "}", "]", "a, b", ",", "'", "''", "it's", "'a'", "\"", "\"a\"", "a\"b", `\`, `a\nb`,
	"a\nb", "a\n", "\n", "a\r\nb", "\t", "a\tb", "\x1b", "\x7f", "\u0085", "\u00a0", "a\u2028b", "\ufeff", "\u200b", "\U0001f4c5 soon", "日本", "e\u0301", "\u0301",
	"http://a.b/c#d", "C:\\dir", "a: 'b' # c", "key: [", "- ", "+", "+a", "*", "**bold**", "_", "__a__", "1a", "a1", "0a", "$x", "(a)", "<b>", "a=b", "a;b", "--a", "-a", "- - a", "\ue000", "\U0010ffff",
}

// TestSetFrontMatter_OtherReaders: for every value and style, this package and another
// YAML library read back the value that was written.
func TestSetFrontMatter_OtherReaders(t *testing.T) {
	s := styled{rand.New(rand.NewPCG(61, 1))}
	styles := []string{"key: old\n", "key: 'old' # c\n", "key: \"old\"\n", "key: [a, b]\n", "key:\n- a\n- 'b' # c\n", "key:\n    - a\n    - b\n", "key: |\n  old\n  lines\n", "key:\n", "key: {a: b}\n", "key: old\n  and more\n", ""}
	for round := range 6000 {
		want := s.value(0)
		if round < len(hardTexts) {
			want = hardTexts[round]
		}
		key := s.any("key", "key", "key", s.any(hardTexts...))
		if want == nil || key == "" {
			continue
		}
		src := "---\nbefore: 1\n" + s.any(styles...) + "after: [x]\n---\n# Body\n"
		out, err := edit.SetFrontMatter([]byte(src), key, want)
		form := fmt.Sprintf("%q = %#v in %q", key, want, src)
		require.NoError(t, err, form)
		require.Equal(t, want, markdown.Parse(out).FrontMatter.Values[key], form)
		require.Equal(t, want, otherReader(t, out)[key], "%s\n%s", form, out)
	}
}
