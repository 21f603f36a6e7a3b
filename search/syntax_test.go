package search

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The reference of queries documents every filter, and each form that it shows is parsed as a
// filter.
func TestReferenceOfQueries(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/queries.md")
	require.NoError(t, err)
	forms := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ").FindAllStringSubmatch(string(page), -1)
	shown := map[string]bool{}
	for _, form := range forms {
		text := form[1]
		name, _, isFilter := strings.Cut(text, ":")
		if shown[name] = isFilter; !isFilter && !strings.ContainsAny(text, `"-*`) {
			continue // an operator of where
		}
		nodes := parseQuery(text, parseTime)
		if assert.Len(t, nodes, 1, text) && !strings.HasSuffix(text, "*") {
			assert.True(t, nodes[0].kind != kindWord || nodes[0].not, text)
		}
	}
	for name := range filters {
		assert.True(t, shown[name], "docs/reference/queries.md has no filter %s:", name)
	}
}
