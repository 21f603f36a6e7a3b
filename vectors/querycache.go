package vectors

import "sync"

// queryCache holds the vectors of the last few queries. A search embeds its text
// twice, and again for each further page.
type queryCache struct {
	mu    sync.Mutex
	slots [8]cachedQuery
	next  int
}

type cachedQuery struct {
	space  *space
	text   string
	vector []float32
}

func (c *queryCache) get(s *space, text string) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.slots {
		if q.space == s && q.text == text {
			return q.vector, true
		}
	}
	return nil, false
}

func (c *queryCache) put(s *space, text string, v []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots[c.next] = cachedQuery{s, text, v}
	c.next = (c.next + 1) % len(c.slots)
}

// clear drops all entries, which keep replaced spaces in memory.
func (c *queryCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots = [8]cachedQuery{}
}
