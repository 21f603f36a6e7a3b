package index

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
)

// Queries that recur in turn find most of their notes in the cache, even if all of their notes
// together do not fit.
func TestNoteCache_RecurringNotes(t *testing.T) {
	const fit, recurring, rounds = 30, 40, 50
	text := strings.Repeat("x", maxCached/fit-10_000)
	var c noteCache
	found := 0
	for round := range rounds {
		for id := range int64(recurring) {
			hits := map[int64]*notes.Note{}
			missing, changes := c.Get([]int64{id}, hits)
			if round > 0 {
				found += len(hits)
			}
			if len(missing) > 0 {
				c.Put([]*notes.Note{{ID: id, Content: text}}, changes)
			}
			assert.LessOrEqual(t, c.bytes, maxCached)
		}
	}
	assert.Greater(t, found, recurring*(rounds-1)/4)

	c.drop([]int64{0, recurring - 1})
	hits := map[int64]*notes.Note{}
	missing, _ := c.Get([]int64{0, recurring - 1}, hits)
	assert.Len(t, missing, 2)
	sum := 0
	for _, n := range c.notes {
		sum += sizeOf(n)
	}
	assert.Equal(t, sum, c.bytes)
}
