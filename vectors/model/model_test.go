package model_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/model"
)

func TestEnglish(t *testing.T) {
	m, err := model.English()
	require.NoError(t, err)
	again, err := model.English()
	require.NoError(t, err)
	assert.Same(t, m, again)
	assert.Equal(t, "all-MiniLM-L6-v2", m.Name())
	assert.Equal(t, 384, m.Dim())
	assert.Len(t, m.TokenIDs(strings.Repeat("the ", 1000)), 256)
	assert.NoError(t, m.Verify(), "the bundled file is whole")
}

// The files beside this test are those described in SOURCE.md.
func TestSource(t *testing.T) {
	source, err := os.ReadFile("SOURCE.md")
	require.NoError(t, err)
	for _, name := range []string{"all-MiniLM-L6-v2.ndmodel", "multilingual-e5-small.ndmodel"} {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		sum := sha256.Sum256(file)
		assert.Contains(t, string(source), hex.EncodeToString(sum[:]), name)
	}
}
