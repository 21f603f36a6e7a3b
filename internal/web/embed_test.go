package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEmbed_Unreadable checks that only a target that does not exist is called missing.
func TestEmbed_Unreadable(t *testing.T) {
	v := &vault{dial: dialing(newVault()), changed: func() {}}
	t.Cleanup(func() { require.NoError(t, v.close()) })
	text := string((&embedder{vault: v}).of(t.Context(), nil)("Plan.md", "Log"))
	assert.Contains(t, text, "It cannot be read now: ")
	assert.NotContains(t, text, "missing")
}
