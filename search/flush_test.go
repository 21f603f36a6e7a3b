package search

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/search/index"
)

// TestCloseSavesWhatAFirstIndexMade: who asks a small vault one question after
// the other, each in a process of its own, has it indexed once; and Close waits
// for the disk, not for Bleve's nap, here of an hour.
func TestCloseSavesWhatAFirstIndexMade(t *testing.T) {
	defer func(nap int) { index.PersistNap = nap }(index.PersistNap)
	index.PersistNap = 3_600_000
	dir := filepath.Join(t.TempDir(), "index")
	x := openTest(t, dir)
	var all []index.Update
	for id := int64(1); id <= index.WorthSaving/index.NoteWork; id++ {
		all = append(all, updateTo(aNote(id, fmt.Sprintf("number%d", id))))
	}
	require.NoError(t, x.ApplyUpdates(context.Background(), at(90), all))
	require.Equal(t, []int64{7}, has(t, x, "number7"))
	require.NoError(t, x.Close())

	x = openTest(t, dir)
	p, err := x.Position()
	require.NoError(t, err)
	assert.Equal(t, at(90), p)
	assert.Equal(t, []int64{7}, has(t, x, "number7"))
}
