package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// styled writes values in random styles that people and programs use.
type styled struct{ *rand.Rand }

func (s styled) any(of ...string) string { return of[s.IntN(len(of))] }

// text returns a random text, which may be one or two of hardTexts.
func (s styled) text() string {
	text := s.any("plain text", "two\nlines", "é", "x", "a\t\tb \tc", s.any(hardTexts...), s.any(hardTexts...), s.any(hardTexts...))
	if s.IntN(4) == 0 {
		text += s.any(" ", ": ", "", ", ", "\n") + s.any(hardTexts...)
	}
	return text
}

// key returns a text that is also valid as a key without quotes. It excludes "<<", which
// merges (the library even accepts it as a suffix), and "...", which ends a document.
func (s styled) key() string {
	for {
		if text := s.text(); text != "..." && !strings.HasSuffix(text, "<<") {
			return text
		}
	}
}

// value returns a random value of any type that front matter can have.
func (s styled) value(depth int) any {
	switch n := s.IntN(12); {
	case n < 2 && depth < 3:
		list := []any{}
		for range s.IntN(4) {
			list = append(list, s.value(depth+1))
		}
		return list
	case n < 4 && depth < 3:
		values := map[string]any{}
		for range s.IntN(4) {
			values[s.key()] = s.value(depth + 1)
		}
		return values
	case n == 4:
		return []any{s.Int64() - s.Int64(), math.Ldexp(s.Float64()-0.5, s.IntN(80)-40), int64(s.IntN(1000)), s.IntN(2) == 0, nil}[s.IntN(5)]
	}
	return s.text()
}

// frontMatter writes keys and values in random styles. ok is false if another YAML
// library does not read the intended values.
func (s styled) frontMatter(t *testing.T) (inner string, values map[string]any, ok bool) {
	var b strings.Builder
	values = map[string]any{}
	for range 1 + s.IntN(4) {
		key, v := s.key(), s.value(1)
		if _, twice := values[key]; twice {
			continue
		}
		values[key] = v
		b.WriteString(s.scalar(key) + ":")
		s.block(&b, v, "", false)
	}
	inner = b.String()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(inner), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return "", nil, false
	}
	return inner, values, assert.ObjectsAreEqual(any(values), nodeValue(t, doc.Content[0]))
}

func (s styled) scalar(value any) string {
	text, isText := value.(string)
	if !isText {
		if value == nil {
			return s.any("null", "~", "Null")
		}
		return fmt.Sprint(value)
	}
	switch s.IntN(4) {
	case 0:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "é", `\u00e9`).Replace(text) + `"`
	case 1:
		if !strings.ContainsAny(text, "\n\t") {
			return "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
	}
	return text
}

func (s styled) flow(value any) string {
	switch v := value.(type) {
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, s.flow(item))
		}
		return "[" + strings.Join(items, s.any(", ", ",  ", " , ")) + s.any("", "", ",") + "]"
	case map[string]any:
		var items []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			items = append(items, fmt.Sprintf("%q: ", k)+s.flow(v[k]))
		}
		return s.any("{", "{ ") + strings.Join(items, ", ") + s.any("}", " }")
	}
	if text, ok := value.(string); ok && strings.ContainsAny(text, ":,[]{}#") {
		return fmt.Sprintf("%q", text)
	}
	return s.scalar(value)
}

// block writes the value after "key:" or "-".
func (s styled) block(b *strings.Builder, value any, indent string, inList bool) {
	end := s.any("\n", "\n", " # note\n", "\n\n", "  \n")
	switch v := value.(type) {
	case []any:
		if len(v) == 0 || s.IntN(3) == 0 {
			b.WriteString(" " + s.flow(v) + end)
			return
		}
		inner := indent + s.any("  ", "    ", "")
		if inList {
			inner = indent + "  "
		}
		b.WriteString("\n")
		for _, item := range v {
			b.WriteString(inner + "-")
			s.block(b, item, inner, true)
		}
	case map[string]any:
		if len(v) == 0 || s.IntN(3) == 0 {
			b.WriteString(" " + s.flow(v) + end)
			return
		}
		inner := indent + s.any("  ", "    ")
		b.WriteString("\n")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(inner + s.scalar(k) + ":")
			s.block(b, v[k], inner, false)
		}
	case string:
		lines := strings.Split(strings.TrimSuffix(v, "\n"), "\n")
		if s.IntN(4) == 0 && strings.TrimSpace(v) != "" && !strings.HasSuffix(lines[len(lines)-1], " ") {
			mark := "|-"
			if strings.HasSuffix(v, "\n") {
				mark = "|"
			}
			b.WriteString(" " + mark + "\n")
			for _, line := range lines {
				b.WriteString(indent + "    " + line + "\n")
			}
			return
		}
		b.WriteString(s.any(" ", " ", "   ", "\t") + s.scalar(v) + end)
	default:
		b.WriteString(" " + s.scalar(v) + end)
	}
}

// TestFrontMatter_AnotherReader: if another YAML library reads the intended values from
// front matter, so does this package.
func TestFrontMatter_AnotherReader(t *testing.T) {
	s := styled{rand.New(rand.NewPCG(62, 1))}
	read := 0
	for range 8000 {
		inner, meant, ok := s.frontMatter(t)
		if !ok {
			continue
		}
		read++
		fm := markdown.Parse([]byte("---\n" + inner + "---\n")).FrontMatter
		require.NoError(t, fm.Err, inner)
		require.Equal(t, meant, fm.Values, inner)
	}
	require.Greater(t, read, 1000)
}

// TestSetFrontMatter_KeepsTheRest: an edit of one key in front matter of any style
// preserves all other values, every line outside the entry, and the body.
func TestSetFrontMatter_KeepsTheRest(t *testing.T) {
	s := styled{rand.New(rand.NewPCG(65, 1))}
	edited, refused := 0, 0
	for range 8000 {
		inner, meant, ok := s.frontMatter(t)
		if !ok {
			continue
		}
		eol := s.any("\n", "\r\n")
		src := []byte(strings.ReplaceAll("---\n"+inner+"---\n# Body #tag\n", "\n", eol))
		for _, key := range slices.Sorted(maps.Keys(meant)) {
			for _, value := range []any{s.value(0), nil} {
				out, err := edit.SetFrontMatter(src, key, value)
				if errors.Is(err, edit.ErrFrontMatter) || key == "" {
					require.Nil(t, out)
					refused++
					continue
				}
				require.NoError(t, err, "%q: %s", key, src)
				edited++
				want := maps.Clone(meant)
				if want[key] = value; value == nil {
					delete(want, key)
				}
				form := fmt.Sprintf("%q = %#v in\n%s\n%s", key, value, src, out)
				got := markdown.Parse(out).FrontMatter
				require.NoError(t, got.Err, form)
				require.True(t, maps.EqualFunc(want, got.Values, assert.ObjectsAreEqual), form)
				require.True(t, strings.HasSuffix(string(out), "# Body #tag"+eol), form)
				require.Equal(t, strings.Count(string(out), "\n")*(len(eol)-1), strings.Count(string(out), "\r"), form)
				if value == nil && len(want) > 0 { // only the entry is removed
					at := 0
					for at < len(out) && src[at] == out[at] {
						at++
					}
					require.True(t, bytes.HasSuffix(src, out[at:]), form)
				}
			}
		}
	}
	require.Greater(t, edited, 100*refused)
}
