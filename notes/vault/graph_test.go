package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// The graph has each pair of linked notes once, and only notes of the scope.
func TestGraph(t *testing.T) {
	f := newFixture(t, "A/One.md", "# One\n\n[[Two]] and [[Two]] again, and [[One]]\n", "Two.md", "# Second\n\n[[One]] [[Nowhere]]\n")
	g, err := f.store.Graph(t.Context(), notes.Scope{})
	require.NoError(t, err)
	assert.Equal(t, []notes.Node{{Path: "A/One.md"}, {Path: "Two.md", Title: "Second"}}, g.Nodes)
	assert.ElementsMatch(t, [][2]int{{0, 1}, {1, 0}}, g.Links, "in any order")
	g, err = f.store.Graph(t.Context(), notes.Scope{Read: []string{"A"}})
	require.NoError(t, err)
	assert.Equal(t, notes.Graph{Nodes: []notes.Node{{Path: "A/One.md"}}, Links: [][2]int{}}, g)
}

// Notes count from the earliest date that is known of them.
func TestGrowthOfNotes(t *testing.T) {
	f := newFixture(t, "a.md", "---\ndate: 2020-03-04\n---\n", "b.md", "---\ndate: 2020-03-30\n---\n", "c.md", "---\ncreated: 2019-12-31\ndate: 2021-01-01\n---\n")
	months, err := f.store.Growth(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []notes.MonthCount{{Month: "2019-12", Notes: 1}, {Month: "2020-03", Notes: 2}}, months)
}
