//go:build !unix

package vault

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holdLock opens the note as most programs do, without letting others rename or remove it.
func holdLock(t *testing.T, f *fixture) {
	t.Helper()
	file, err := os.Open(filepath.Join(f.dir, "N.md"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
}

func mkfifo(string) error { return nil } // not supported
