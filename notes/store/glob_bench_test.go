package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// BenchmarkResolve_Glob selects notes by their paths, as the excluded files of Obsidian do.
func BenchmarkResolve_Glob(b *testing.B) {
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprintf("Folder %d/Note %d.md", i%50, i)] = fmt.Sprintf("---\nstatus: open\nsource: https://example.org/%d\n---\n# Note\n", i)
	}
	w := newWorld(b, files)
	for b.Loop() {
		ids, err := w.Resolve(b.Context(), notes.Filter{Glob: "Folder 7/*.md"})
		require.NoError(b, err)
		require.Equal(b, 100, ids.Len())
	}
}
