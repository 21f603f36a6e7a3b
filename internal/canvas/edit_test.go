package canvas_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"notesd/internal/canvas"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canvasText writes a value as JSON with random whitespace, member order and escapes.
func canvasText(rng *rand.Rand, v any) string {
	space := func() string { return []string{"", "", " ", "\n\t", "\r\n  "}[rng.IntN(5)] }
	list := func(open, end string, items []string) string {
		return open + space() + strings.Join(items, space()+","+space()) + space() + end
	}
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			members = append(members, canvasText(rng, k)+space()+":"+space()+canvasText(rng, v[k]))
		}
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return list("{", "}", members)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, canvasText(rng, item))
		}
		return list("[", "]", items)
	case string:
		var b strings.Builder
		for _, r := range v {
			if rng.IntN(6) == 0 {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				b.WriteString(strings.Trim(mustJSON(string(r)), `"`))
			}
		}
		return `"` + b.String() + `"`
	}
	return mustJSON(v)
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestEditCanvas checks that only the texts of nodes are edited and no other byte changes,
// regardless of the content and formatting of the canvas.
func TestEditCanvas(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 2))
	text := func() string { return []string{"P/Old.md", "Über.md", "", "#file", "x/y", "nodes"}[rng.IntN(6)] }
	value := func() any {
		return []any{text(), 1.5, nil, true, []any{text(), map[string]any{"file": text()}}, map[string]any{"text": text()}}[rng.IntN(6)]
	}
	keepCard := func(_ string, text []byte) ([]byte, error) { return text, nil }
	keep := func(_, _, value string) (string, error) { return value, nil }
	edited := 0
	for range 2000 {
		nodes := []any{}
		for range rng.IntN(4) {
			node := map[string]any{"id": text(), "x": value(), "deep": map[string]any{"file": text()}}
			for _, key := range []string{"file", "text", "subpath"} {
				if rng.IntN(2) == 0 {
					node[key] = []any{text(), text(), value()}[rng.IntN(3)]
				}
			}
			nodes = append(nodes, []any{node, node, node, nil, text()}[rng.IntN(5)])
		}
		board := map[string]any{"nodes": nodes, "edges": []any{map[string]any{"file": text()}}, "more": value()}
		src := canvasText(rng, board)
		same := canvas.Edit("C.canvas", []byte(src), keepCard, keep)
		require.Equal(t, src, string(same))

		changed := canvas.Edit("C.canvas", []byte(src), func(name string, text []byte) ([]byte, error) {
			require.Equal(t, "C.canvas", name)
			return append(text, "é\n\""...), nil
		}, func(file, key, value string) (string, error) {
			if key == "file" && value == "P/Old.md" || key == "subpath" && file == "x/y" {
				return value + "é\n\"", nil
			}
			return value, nil
		})
		for _, item := range nodes {
			node, _ := item.(map[string]any)
			if card, ok := node["text"].(string); ok && strings.Contains(card, "#") {
				node["text"] = card + "é\n\""
				edited++
			}
			if subpath, ok := node["subpath"].(string); ok && node["file"] == "x/y" {
				node["subpath"] = subpath + "é\n\""
				edited++
			}
			if node["file"] == "P/Old.md" {
				node["file"] = "P/Old.mdé\n\""
				edited++
			}
		}
		require.JSONEq(t, mustJSON(board), string(changed), src)
	}
	assert.Greater(t, edited, 100)

	for _, src := range []string{"", "{", `{"nodes":[{"file":"a"}],}`, `{"nodes":[{"file":"a"}]} x`, "// c\n{}", strings.Repeat("[", 1<<20)} {
		assert.Nil(t, canvas.Edit("C.canvas", []byte(src), keepCard, keep), "no JSON: %.20s", src)
	}
	for _, src := range []string{"[]", "null", `"x"`, `{"nodes":{}}`, `{"nodes":[1,null,"x",[]]}`, `{}`} {
		assert.Equal(t, src, string(canvas.Edit("C.canvas", []byte(src), keepCard, keep)))
	}
	assert.Nil(t, canvas.Edit("C.canvas", []byte(`{"nodes":[{"file":"a"}]}`), keepCard, func(_, _, value string) (string, error) { return value, errors.New("no") }))
}
