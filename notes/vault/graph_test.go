package vault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// The graph contains each pair of linked notes once, and only notes within the scope.
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
