package notestest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write generated files instead of comparing them")

// Generated compares a generated file with the text that the program generates now. With
// -update it writes the file instead. name is a slash-separated path relative to the
// module's root.
func Generated(tb testing.TB, name, text string) {
	tb.Helper()
	file := filepath.Join(Root(tb), filepath.FromSlash(name))
	if *update {
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(tb, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	had, err := os.ReadFile(file)
	require.NoError(tb, err)
	assert.Equal(tb, string(had), text, "%s is out of date; run: go generate ./cmd/notesd ./internal/config", name)
}

// Root returns the root of the module that contains the working directory.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	require.NoError(tb, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(tb, parent, dir, "no go.mod above the working directory")
		dir = parent
	}
}
