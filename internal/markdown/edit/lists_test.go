package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// listItem is an item of a list as written, with its value.
type listItem struct {
	text  string
	value any
}

var listItems = []listItem{
	{"a", "a"}, {"b c", "b c"}, {`"d, e"`, "d, e"}, {"'it''s'", "it's"}, {`"#f"`, "#f"}, {"2024", int64(2024)}, {"1.5", 1.5}, {"true", true}, {"Ünï", "Ünï"}, {`"[[Ann]]"`, "[[Ann]]"},
}

// writeList writes a list in one of the styles of YAML and TOML, with a comment on each
// line.
func writeList(rng *rand.Rand, items []listItem, style int) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.text
	}
	comment := func() string { return []string{"", " # c: [x], \"y\""}[rng.IntN(2)] }
	var b strings.Builder
	switch style {
	case 0, 1: // items below the key
		b.WriteString("list:" + comment() + "\n")
		for _, text := range texts {
			b.WriteString([]string{"- ", "   - "}[style] + text + comment() + "\n")
		}
	case 2:
		b.WriteString("list: [" + strings.Join(texts, []string{",", ", ", " ,  "}[rng.IntN(3)]) + "]" + comment() + "\n")
	case 3: // one item per line, in brackets
		b.WriteString("list: [\n")
		for i, text := range texts {
			if b.WriteString("    " + text); i+1 < len(texts) || rng.IntN(2) == 0 {
				b.WriteString(",")
			}
			b.WriteString("\n")
		}
		b.WriteString("  ]" + comment() + "\n")
	}
	return b.String()
}

// TestSetFrontMatter_Lists: in every style, an edited list has the requested value,
// remaining items keep their text, and no other line changes.
func TestSetFrontMatter_Lists(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 9))
	for range 2000 {
		var items []listItem
		for _, i := range rng.Perm(len(listItems))[:1+rng.IntN(5)] {
			items = append(items, listItems[i])
		}
		before, rest := "---\nk: v # first\n", "z:\n  y: [1, 2]\n---\ntext\n---\n- list: [a]\n"
		list := writeList(rng, items, rng.IntN(4))
		if rng.IntN(5) == 0 {
			for _, part := range []*string{&before, &list, &rest} {
				*part = strings.ReplaceAll(*part, "\n", "\r\n")
			}
		}
		src := before + list + rest
		kept := slices.Clone(items)
		added := 0
		switch rng.IntN(4) {
		case 0:
			added = 1 + rng.IntN(2)
		case 1:
			at := rng.IntN(len(kept))
			kept = slices.Delete(kept, at, at+1)
		case 2:
			at := rng.IntN(len(kept))
			kept = slices.Delete(kept, at, at+1)
			added = 1
		case 3:
			rng.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		}
		want := []any{}
		for _, item := range kept {
			want = append(want, item.value)
		}
		for i := range added {
			want = append(want, []any{fmt.Sprintf("new %d", i), int64(90 + i), false, "x: y"}[rng.IntN(4)])
		}
		out, err := edit.SetFrontMatter([]byte(src), "list", want)
		require.NoError(t, err, src)
		values := markdown.Parse(out).FrontMatter.Values
		require.Equal(t, want, values["list"], "%s\n%s", src, out)
		require.Equal(t, map[string]any{"y": []any{int64(1), int64(2)}}, values["z"])
		require.True(t, strings.HasPrefix(string(out), before) && strings.HasSuffix(string(out), rest), "%s\n%s", src, out)
		if len(want) > 0 {
			for _, item := range kept {
				assert.Contains(t, string(out), item.text, src)
			}
		}
		if slices.Equal(kept, items) && added == 0 {
			require.Equal(t, src, string(out))
		}
	}
}
