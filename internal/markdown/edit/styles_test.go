package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"notesd/internal/markdown"
)

// styled writes a value in styles that people and programs use, chosen at random.
type styled struct{ *rand.Rand }

func (s styled) any(of ...string) string { return of[s.IntN(len(of))] }

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
		for k, item := range v {
			items = append(items, fmt.Sprintf("%q: ", k)+s.flow(item))
		}
		return s.any("{", "{ ") + strings.Join(items, ", ") + s.any("}", " }")
	}
	if text, ok := value.(string); ok && strings.ContainsAny(text, ":,[]{}#") {
		return fmt.Sprintf("%q", text)
	}
	return s.scalar(value)
}

// block writes what stands after "key:" or "-".
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
		for k, item := range v {
			b.WriteString(inner + s.scalar(k) + ":")
			s.block(b, item, inner, false)
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

// TestFrontMatter_AnotherReader: front matter in any style in which another YAML library
// reads what was meant has these values.
func TestFrontMatter_AnotherReader(t *testing.T) {
	s := styled{rand.New(rand.NewPCG(62, 1))}
	texts := append([]string{"plain text", "two\nlines", "é", "x", "a\t\tb \tc"}, hardTexts...)
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "..." || s == "<<" }) // keys that have a meaning without quotes
	var value func(depth int) any
	value = func(depth int) any {
		switch n := s.IntN(10); {
		case n < 2 && depth < 3:
			list := []any{}
			for range s.IntN(4) {
				list = append(list, value(depth+1))
			}
			return list
		case n < 4 && depth < 3:
			values := map[string]any{}
			for range s.IntN(4) {
				values[s.any(texts...)] = value(depth + 1)
			}
			return values
		case n == 4:
			return []any{int64(s.IntN(1000)), 1.5, true, nil}[s.IntN(4)]
		}
		return s.any(texts...)
	}
	read := 0
	for range 8000 {
		var b strings.Builder
		meant := map[string]any{}
		for range 1 + s.IntN(4) {
			key, v := s.any(texts...), value(1)
			if _, twice := meant[key]; twice {
				continue
			}
			meant[key] = v
			b.WriteString(s.scalar(key) + ":")
			s.block(&b, v, "", false)
		}
		inner := b.String()
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(inner), &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
			continue
		}
		if !assert.ObjectsAreEqual(any(meant), nodeValue(t, doc.Content[0])) {
			continue // the style is wrong for this value
		}
		read++
		fm := markdown.Parse([]byte("---\n" + inner + "---\n")).FrontMatter
		require.NoError(t, fm.Err, inner)
		require.Equal(t, meant, fm.Values, inner)
	}
	require.Greater(t, read, 1000)
}
