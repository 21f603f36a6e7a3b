package model_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/model"
)

func TestDefault(t *testing.T) {
	m, err := model.Default()
	require.NoError(t, err)
	again, err := model.Default()
	require.NoError(t, err)
	assert.Same(t, m, again)
	assert.Equal(t, "all-MiniLM-L6-v2", m.Name())
	assert.Equal(t, 384, m.Dim())
	assert.Equal(t, 256, m.MaxTokens())
	assert.NoError(t, m.Verify(), "the bundled file is whole")
}

// The file beside this test is the one that SOURCE.md describes.
func TestSource(t *testing.T) {
	file, err := os.ReadFile("all-MiniLM-L6-v2.ndmodel")
	require.NoError(t, err)
	source, err := os.ReadFile("SOURCE.md")
	require.NoError(t, err)
	sum := sha256.Sum256(file)
	assert.Contains(t, string(source), hex.EncodeToString(sum[:]))
}
