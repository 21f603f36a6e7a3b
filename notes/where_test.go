package notes

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The filter reference lists every operator, and its examples are valid.
func TestReferenceOfFilters(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/queries.md")
	require.NoError(t, err)
	for operator := range whereOperators {
		assert.Contains(t, string(page), "`"+operator+"`")
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	assert.NotEmpty(t, examples)
	for _, example := range examples {
		var where map[string]any
		require.NoError(t, json.Unmarshal(example[1], &where))
		assert.NoError(t, CheckWhere(where), string(example[1]))
	}
}
