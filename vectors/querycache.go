package vectors

import "sync"

// queryCache holds the vectors of the last few queries. A search asks for
// the vector of its text several times, and again for each further page.
type queryCache struct {
	mu    sync.Mutex
	slots [8]cachedQuery
	next  int
}

type cachedQuery struct {
	query  string // with the model
	vector []float32
}

func (c *queryCache) get(query string) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.slots {
		if q.query == query {
			return q.vector, true
		}
	}
	return nil, false
}

func (c *queryCache) put(query string, v []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots[c.next] = cachedQuery{query, v}
	c.next = (c.next + 1) % len(c.slots)
}
