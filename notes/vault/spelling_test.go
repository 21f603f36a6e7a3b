package vault

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scan of many paths takes linear time on a disk that ignores case. Where it does not, a
// second file makes each name look as if it did.
func TestScan_ListsFoldersOnce(t *testing.T) {
	f := newFixture(t)
	allocations := func(n int) float64 {
		folder := fmt.Sprintf("%d/deep", n)
		var paths []string
		for i := range n {
			name := fmt.Sprintf("%s/note%03d.md", folder, i)
			f.write(name, "x")
			f.write(filepath.Join(folder, strings.ToUpper(filepath.Base(name))), "x")
			paths = append(paths, name)
		}
		root, err := f.disk.Open()
		require.NoError(t, err)
		defer func() { assert.NoError(t, root.Close()) }()
		return testing.AllocsPerRun(1, func() {
			s := &scan{v: f.Vault, root: root}
			w, err := s.walkPaths(t.Context(), paths)
			require.NoError(t, err)
			assert.Len(t, w.notes, n)
		})
	}
	few, many := allocations(50), allocations(400)
	assert.Less(t, many/few, 12.0, "%g and %g", few, many)
}
