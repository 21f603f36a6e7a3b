package index

import (
	"sync"

	"notesd/notes"
)

// maxCached bounds the memory of the cache, in bytes. Callers often repeat similar queries, and
// reading a note from the store costs more than the rest of a search.
const maxCached = 24 << 20

// noteCache caches the notes that were shown or rescored last. When it is full, any note makes
// room for the next: unlike the least recent one, that leaves most notes of queries that recur
// in turn. The index drops changed notes within Apply.
type noteCache struct {
	mu    sync.Mutex
	notes map[int64]*notes.Note
	bytes int
	// changes counts invalidations. A note that was read before one may be outdated, and is not
	// cached.
	changes uint64
}

// Get adds the cached notes to found, and returns the ids of the others and the argument for
// Put.
func (c *noteCache) Get(ids []int64, found map[int64]*notes.Note) (missing []int64, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if n := c.notes[id]; n != nil {
			found[id] = n
		} else {
			missing = append(missing, id)
		}
	}
	return missing, c.changes
}

// Put caches notes that were read after the Get that returned changes.
func (c *noteCache) Put(read []*notes.Note, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	for _, n := range read {
		size := sizeOf(n)
		if c.notes[n.ID] != nil || size > maxCached/8 {
			continue
		}
		if c.notes == nil {
			c.notes = map[int64]*notes.Note{}
		}
		for id := range c.notes {
			if c.bytes+size <= maxCached {
				break
			}
			c.remove(id)
		}
		c.notes[n.ID] = n
		c.bytes += size
	}
}

// drop removes notes from the cache; if ids is nil, all of them.
func (c *noteCache) drop(ids []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if ids == nil {
		c.notes, c.bytes = nil, 0
	}
	for _, id := range ids {
		c.remove(id)
	}
}

// remove removes a note if it is cached. The caller must hold mu.
func (c *noteCache) remove(id int64) {
	if n := c.notes[id]; n != nil {
		c.bytes -= sizeOf(n)
		delete(c.notes, id)
	}
}

// sizeOf estimates the memory of a note, in bytes.
func sizeOf(n *notes.Note) int {
	const note, chunk = 1 << 10, 200
	return note + len(n.Content) + chunk*len(n.Chunks)
}
