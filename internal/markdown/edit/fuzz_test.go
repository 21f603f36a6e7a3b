package edit

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/mdtest"
	"notesd/internal/textdiff"
)

var fuzzKeys = []string{"status", "a key", "ключ", "true", "x.y", "- a", "\"q\"", "#", "title"}

// fuzzValue derives a value from fuzzed text.
func fuzzValue(kind uint8, text string) any {
	switch kind % 8 {
	case 0:
		return text
	case 1:
		return len(text)
	case 2:
		return float64(len(text)) + 0.5
	case 3:
		return len(text)%2 == 0
	case 4:
		return []any{text, int64(1), true}
	case 5:
		return map[string]any{"k": text, "list": []any{text, map[string]any{"x": text, "y": []any{}}}}
	case 6:
		return []string{text, text}
	}
	return []any{[]any{text}, map[string]any{}, map[string]any{"a": map[string]any{"b": text}}}
}

func FuzzSetFrontMatter(f *testing.F) {
	for i, seed := range mdtest.Seeds {
		f.Add([]byte(seed), uint8(i), uint8(i), "value: \"x\" # 'y'\n2024-01-02")
	}
	f.Add([]byte("---\r\n# c\r\nstatus: 'a' # keep\r\nlist:\r\n- a\r\n# end\r\n\r\n---\r\nx"), uint8(0), uint8(4), "yes")
	f.Add([]byte("+++\nstatus = 1 # keep\nx = '''\na\n'''\n[t]\ny = 1\n+++\n"), uint8(0), uint8(5), "1e3")
	f.Fuzz(func(t *testing.T, src []byte, key, kind uint8, text string) {
		name := fuzzKeys[int(key)%len(fuzzKeys)]
		value := fuzzValue(kind, text)
		for _, note := range []string{"---\na: 1\n---\n", "+++\r\na = 1\r\n+++\r\n"} {
			_, err := SetFrontMatter([]byte(note), name, value)
			if utf8.ValidString(text) {
				require.NoError(t, err, "any value can be set")
			}
		}
		out, err := SetFrontMatter(src, name, value)
		if err != nil {
			require.Nil(t, out)
			return
		}
		want, err := metaValueOf(value, 0)
		require.NoError(t, err)
		before, after := markdown.Parse(src).FrontMatter, markdown.Parse(out).FrontMatter
		require.Equal(t, want, after.Values[name])
		require.Equal(t, src[:before.Start], out[:after.Start])
		require.Equal(t, src[before.End:], out[after.End:], "only front matter changes")
		requireLinesKept(t, src[before.Start:before.End], out[after.Start:after.End], before, name)

		again, err := SetFrontMatter(out, name, value)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again), "setting twice is setting once")

		removed, err := SetFrontMatter(out, name, nil)
		if _, existed := before.Values[name]; !existed && before.InnerEnd > before.InnerStart || before.Format == "" {
			require.NoError(t, err)
			require.Equal(t, string(src), string(removed), "removing a new key restores the note")
		}
	})
}

// requireLinesKept checks that every line of the block except those of the key is
// unchanged and in order.
func requireLinesKept(t *testing.T, old, new []byte, fm markdown.FrontMatter, key string) {
	t.Helper()
	if _, exists := fm.Values[key]; exists || fm.Format == "" {
		return
	}
	rest := new
	for _, line := range bytes.SplitAfter(old, []byte{'\n'}) {
		i := bytes.Index(rest, line)
		require.GreaterOrEqual(t, i, 0, "line %q is kept", line)
		rest = rest[i+len(line):]
	}
}

func FuzzApply(f *testing.F) {
	for i, seed := range mdtest.Seeds {
		f.Add([]byte(seed), uint8(i), "H", "# H\n\nnew text", "text")
	}
	f.Fuzz(func(t *testing.T, src []byte, op uint8, ref, content, old string) {
		original := bytes.Clone(src)
		edit := Edit{Op: operations[int(op)%len(operations)].op}
		switch edit.Op {
		case OpReplaceText:
			edit.Old, edit.New, edit.Count = old, content, 1
		case OpSetFrontMatter:
			edit.Key, edit.Value = "k", content
		case OpReplaceAll:
			edit.Content = content
		default:
			edit.Heading, edit.Content = ref, content
		}
		if edit.Op == OpAppend || edit.Op == OpPrepend {
			edit.CreateHeading = ref != "" && len(old)%2 == 0
		}
		out, _, err := Apply(t.Context(), src, []Edit{edit})
		require.Equal(t, original, src, "the source is not modified")
		if err != nil {
			var edited *EditError
			require.ErrorAs(t, err, &edited)
			require.NotEmpty(t, err.Error())
			require.Nil(t, out)
			return
		}
		switch edit.Op {
		case OpAppend, OpPrepend, OpInsertBefore, OpInsertAfter:
			requireInserted(t, src, out)
		}
		diff := textdiff.Unified(src, out, "n.md", 3, 2000)
		require.Equal(t, bytes.Equal(src, out), diff == "")
	})
}

// requireInserted checks that out is src with one run of bytes inserted.
func requireInserted(t *testing.T, src, out []byte) {
	t.Helper()
	require.GreaterOrEqual(t, len(out), len(src))
	prefix := 0
	for prefix < len(src) && src[prefix] == out[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < len(src)-prefix && src[len(src)-1-suffix] == out[len(out)-1-suffix] {
		suffix++
	}
	require.Equal(t, len(src), prefix+suffix)
}

func FuzzRewriteLinks(f *testing.F) {
	for _, seed := range mdtest.Seeds {
		f.Add([]byte(seed), "new name.md")
	}
	f.Add([]byte("---\na: 'it''s [[x]]'\nb: [[y]]\nc: \"[[z \\u00e9]]\"\n---\n[[a]] ![b](<c d.md>#e) [f](g%20h.md)"), "it's (a) \"b\".md")
	f.Fuzz(func(t *testing.T, src []byte, target string) {
		doc := markdown.Parse(src)
		same := RewriteLinks(src, doc, func(l markdown.Link) (string, bool) { return l.Target, true })
		require.Equal(t, string(src), string(same))
		if len(doc.Links) == 0 {
			return
		}
		out := RewriteLinks(src, doc, func(markdown.Link) (string, bool) { return target, true })
		requireOnlyTargetsChanged(t, src, out, doc)
	})
}

// requireOnlyTargetsChanged checks that only the targets of links differ.
func requireOnlyTargetsChanged(t *testing.T, src, out []byte, doc *markdown.Document) {
	t.Helper()
	rest, at := out, 0
	links := slices.Clone(doc.Links)
	slices.SortStableFunc(links, func(a, b markdown.Link) int { return a.TargetStart - b.TargetStart })
	for _, l := range links {
		if l.TargetStart < at {
			continue
		}
		between := src[at:l.TargetStart]
		i := bytes.Index(rest, between)
		require.GreaterOrEqual(t, i, 0, "%q is kept", between)
		rest = rest[i+len(between):]
		at = l.TargetEnd
	}
	require.True(t, bytes.HasSuffix(rest, src[at:]))
}
