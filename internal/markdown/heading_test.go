package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReferences(t *testing.T) {
	for name, tc := range map[string]struct {
		src  string
		want []string
	}{
		"none":                 {"text\n", []string{}},
		"paths":                {"# A\n## B\n### C\n## D\n", []string{"A", "A > B", "A > B > C", "A > D"}},
		"one ends another":     {"# A\n## B\n# B\n", []string{"A", "A > B", "B (line 3)"}},
		"twice":                {"# A\n# A\n", []string{"A (line 1)", "A (line 2)"}},
		"levels left out":      {"### A\n# B\n#### C\n## D\n", []string{"A", "B", "B > C", "B > D"}},
		"in a list":            {"# A\n\n- # B\n\n  ## C\n- text\n\n## D\n", []string{"A", "A > B", "A > B > C", "A > D"}},
		"in a quote: no own":   {"# A\n> ## B\n\n## C\n", []string{"A", "A > C"}},
		"without text":         {"# A\n##\n### C\n", []string{"A", "", "A >  > C"}},
		"without text, first":  {"#\n## B\n", []string{"", "> B (line 2)"}},
		"a separator":          {"# a > b\n## c\n# b\n", []string{"a > b", "a > b > c", "b (line 3)"}},
		"like a block's id":    {"# ^a-1\n", []string{"^a-1 (line 1)"}},
		"like a level":         {"# \\## A\n", []string{"## A (line 1)"}},
		"like a line":          {"# A\n# A (line 1)\n", []string{"A", "A (line 1) (line 2)"}},
		"quotes and no letter": {"# \"?\"\n# \"?\"\n", []string{`"?" (line 1)`, `"?" (line 2)`}},
		"too long":             {"# " + strings.Repeat("a", maxReference+1) + "\n## B\n# C\n", []string{"", "", "C"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := Parse([]byte(tc.src))
			assert.Equal(t, tc.want, References(doc))
			requireReferences(t, []byte(tc.src), doc)
		})
	}
}

// requireReferences checks that every reference finds its heading, or a sample of them if
// there are very many.
func requireReferences(t *testing.T, src []byte, doc *Document) {
	t.Helper()
	for i, ref := range References(doc) {
		if ref == "" || i%(1+len(doc.Headings)/100) != 0 {
			continue
		}
		section, err := FindSection(doc, src, ref)
		require.NoError(t, err, "%q", ref)
		require.Equal(t, doc.Headings[i].Line, section.Line, "%q", ref)
	}
}
