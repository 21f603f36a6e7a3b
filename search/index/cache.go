package index

import (
	"container/list"
	"sync"

	"notesd/notes"
)

// maxCached bounds the memory of the cache, in bytes. Callers often repeat similar queries, and
// reading a note from the store costs more than the rest of a search.
const maxCached = 16 << 20

// noteCache caches the notes that were shown or rescored last. The index drops changed notes
// within Apply.
type noteCache struct {
	mu    sync.Mutex
	byID  map[int64]*list.Element
	order list.List // of *notes.Note, the most recently used first
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
		if e := c.byID[id]; e != nil {
			c.order.MoveToFront(e)
			found[id] = e.Value.(*notes.Note)
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
	if c.byID == nil {
		c.byID = map[int64]*list.Element{}
	}
	for _, n := range read {
		if c.byID[n.ID] != nil || sizeOf(n) > maxCached/8 {
			continue
		}
		c.byID[n.ID] = c.order.PushFront(n)
		c.bytes += sizeOf(n)
	}
	for c.bytes > maxCached {
		c.remove(c.order.Back())
	}
}

// drop removes notes from the cache; if ids is nil, all of them.
func (c *noteCache) drop(ids []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if ids == nil {
		c.byID, c.bytes = nil, 0
		c.order.Init()
		return
	}
	for _, id := range ids {
		if e := c.byID[id]; e != nil {
			c.remove(e)
		}
	}
}

func (c *noteCache) remove(e *list.Element) {
	n := c.order.Remove(e).(*notes.Note)
	delete(c.byID, n.ID)
	c.bytes -= sizeOf(n)
}

// sizeOf estimates the memory of a note, in bytes.
func sizeOf(n *notes.Note) int {
	const note, chunk = 1 << 10, 200
	return note + len(n.Content) + chunk*len(n.Chunks)
}
