package edit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
)

// entry is an entry of front matter as a user may write it, with its key and value.
// Comments and blank lines have no key.
type entry struct {
	key, text string
	value     any
}

var yamlEntries = []entry{
	{"title", "title: \"Q: a plan\" # shown in tabs\n", "Q: a plan"},
	{"aliases", "aliases:\n  - One\n  - 'it''s two'   # with a remark\n  - \"three \\u00e9\"\n", []any{"One", "it's two", "three é"}},
	{"flat", "flat:\n- a\n- b: 1\n  c: 2\n", []any{"a", map[string]any{"b": int64(1), "c": int64(2)}}},
	{"tags", "tags: [a, \"b/c\",   d]\n", []any{"a", "b/c", "d"}},
	{"due", "due: 2026-01-31\n", "2026-01-31"},
	{"created", "created:   2026-01-31T10:00:00+01:00   # by hand\n", "2026-01-31T10:00:00+01:00"},
	{"rating", "rating: 4.50\n", 4.5},
	{"count", "count: 12\n", int64(12)},
	{"done", "done: true\n", true},
	{"folded", "folded: >-\n  two\n  lines\n", "two lines"},
	{"literal", "literal: |\n  # no comment\n  key: no\n", "# no comment\nkey: no\n"},
	{"map", "map:\n    k: [1, 2]\n    'k 2': {a: b}\n", map[string]any{"k": []any{int64(1), int64(2)}, "k 2": map[string]any{"a": "b"}}},
	{"empty", "empty:\n", nil},
	{"quoted key", "\"quoted key\": x\n", "x"},
	{"with space", "with space: y  \n", "y"},
	{"Größe", "Größe: ö\n", "ö"},
	{"url", "url: https://example.org/a#b\n", "https://example.org/a#b"},
	{"up", "up: \"[[Note|alias]]\"\n", "[[Note|alias]]"},
	{"emoji", "emoji: 📅 soon\n", "📅 soon"},
	{"single", "single: 'it''s'\n", "it's"},
	{"wide", "wide: [one,\n  two,\n  three]\n", []any{"one", "two", "three"}},
	{"plain", "plain: text over\n  two lines\n", "text over two lines"},
	{"", "# people\n", nil},
	{"", "\n", nil},
	{"", "# key: no\n", nil},
}

var tomlEntries = []entry{
	{"title", "title = \"Q: a plan\" # shown\n", "Q: a plan"},
	{"literal", "literal = 'C:\\dir'\n", `C:\dir`},
	{"tags", "tags = [\"a\", 'b/c',\n  \"d\",\n]\n", []any{"a", "b/c", "d"}},
	{"count", "count   =  12\n", int64(12)},
	{"rating", "rating = 4.5\n", 4.5},
	{"done", "done = true\n", true},
	{"map", "map = {a = 1, b = [\"c\"]}\n", map[string]any{"a": int64(1), "b": []any{"c"}}},
	{"long", "long = \"\"\"\ntwo\nlines\"\"\"\n", "two\nlines"},
	{"quoted key", "\"quoted key\" = \"x\"\n", "x"},
	{"", "# people\n", nil},
	{"", "\n", nil},
}

// someEntries returns a random selection of all in random order.
func someEntries(r *rand.Rand, all []entry) []entry {
	var some []entry
	for _, i := range r.Perm(len(all))[:2+r.IntN(6)] {
		some = append(some, all[i])
	}
	return some
}

// note joins entries into a note.
func note(mark string, entries []entry) (text string, values map[string]any) {
	values = map[string]any{}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.text)
		if e.key != "" {
			values[e.key] = e.value
		}
	}
	return mark + "\n" + b.String() + mark + "\n# Body\n\nkey: no\n", values
}

// TestSetFrontMatter_OtherKeysKeepTheirBytes sets and removes each key of many blocks
// with values in different styles. The lines of all other keys must not change.
func TestSetFrontMatter_OtherKeysKeepTheirBytes(t *testing.T) {
	newValues := []any{"text", "a: b # c", int64(7), 2.5, false, []any{"x", "y z"}, []any{}, map[string]any{"k": "v", "l": []any{int64(1)}}, "two\nlines", "", "2026-02-16"}
	for mark, all := range map[string][]entry{"---": yamlEntries, "+++": tomlEntries} {
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 3))
			entries := someEntries(r, all)
			src, values := note(mark, entries)
			if len(values) == 0 {
				continue
			}
			require.Equal(t, values, markdown.Parse([]byte(src)).FrontMatter.Values, "%q", src)
			for i, e := range entries {
				if e.key == "" {
					continue
				}
				before, _ := note(mark, entries[:i])
				before = before[:len(before)-len(mark+"\n# Body\n\nkey: no\n")]
				after := src[len(before)+len(e.text):]
				for _, form := range []func(string) string{func(s string) string { return s }, crlf, func(s string) string { return markdown.ByteOrderMark + s }} {
					value := newValues[r.IntN(len(newValues))]
					what := fmt.Sprintf("seed %d, %s%s = %v of %q", seed, mark, e.key, value, src)
					out, err := edit.SetFrontMatter([]byte(form(src)), e.key, value)
					require.NoError(t, err, what)
					checkEntry(t, string(out), form(before), strings.TrimPrefix(form(after), markdown.ByteOrderMark), what)
					want := maps.Clone(markdown.Parse([]byte(form(src))).FrontMatter.Values) // line breaks in TOML's multi-line strings are part of the value
					want[e.key] = value
					assert.Equal(t, want, markdown.Parse(out).FrontMatter.Values, what)

					again, err := edit.SetFrontMatter(out, e.key, value)
					require.NoError(t, err, what)
					assert.Equal(t, string(out), string(again), "%s, a second time", what)

					removed, err := edit.SetFrontMatter(out, e.key, nil)
					require.NoError(t, err, what)
					delete(want, e.key)
					if len(want) > 0 {
						assert.Equal(t, want, markdown.Parse(removed).FrontMatter.Values, what)
						checkEntry(t, string(removed), form(before), strings.TrimPrefix(form(after), markdown.ByteOrderMark), what+", removed")
					}
				}
			}
		}
	}
}

// checkEntry checks the bytes of a note before and after the lines of a key.
func checkEntry(t *testing.T, out, before, after, what string) {
	t.Helper()
	assert.True(t, strings.HasPrefix(out, before), "%s: what is before the key changed: %q", what, out)
	assert.True(t, strings.HasSuffix(out, after), "%s: what is after the key changed: %q", what, out)
}

// TestSetFrontMatter_NewKey adds a key to the same blocks. No existing line may change.
func TestSetFrontMatter_NewKey(t *testing.T) {
	for mark, all := range map[string][]entry{"---": yamlEntries, "+++": tomlEntries} {
		for seed := range uint64(30) {
			src, values := note(mark, someEntries(rand.New(rand.NewPCG(seed, 4)), all))
			if len(values) == 0 {
				continue
			}
			out, err := edit.SetFrontMatter([]byte(src), "new key", []any{"a", "b"})
			require.NoError(t, err, "%q", src)
			values["new key"] = []any{"a", "b"}
			assert.Equal(t, values, markdown.Parse(out).FrontMatter.Values, "%q", src)
			kept := strings.SplitAfter(src, "\n")
			for line := range strings.Lines(string(out)) {
				if len(kept) > 0 && line == kept[0] {
					kept = kept[1:]
				}
			}
			assert.Equal(t, []string{""}, kept, "the lines of %q stay in %q", src, out)
		}
	}
}
