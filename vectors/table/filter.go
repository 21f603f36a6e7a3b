package table

import (
	"context"
	"encoding/json"
	"fmt"

	"notesd/notes"
)

// tableFilter is a set of conditions on metadata.
type tableFilter struct {
	where map[string]any
	key   string // canonical JSON of where, for the cache
}

func newTableFilter(where map[string]any) (*tableFilter, error) {
	if len(where) == 0 {
		return nil, nil
	}
	if err := notes.CheckWhere(where); err != nil {
		return nil, err
	}
	key, err := json.Marshal(where) // sorts the keys
	if err != nil {
		return nil, err
	}
	return &tableFilter{where: where, key: string(key)}, nil
}

func (f *tableFilter) matches(metadata string) (bool, error) {
	values := map[string]any{}
	if err := json.Unmarshal([]byte(metadata), &values); err != nil {
		return false, fmt.Errorf("metadata: %w", err)
	}
	return notes.WhereMatches(f.where, values), nil
}

// filterCache holds the rows that match the last few filters, because agents often
// send many queries with the same filter.
type filterCache struct {
	filters [4]cachedFilter
	next    int
}

type cachedFilter struct {
	key  string
	rows bitset
}

func (c *filterCache) get(key string) (bitset, bool) {
	for _, f := range c.filters {
		if f.key == key {
			return f.rows, true
		}
	}
	return nil, false
}

func (c *filterCache) put(key string, rows bitset) {
	c.filters[c.next] = cachedFilter{key, rows}
	c.next = (c.next + 1) % len(c.filters)
}

func (c *filterCache) clear() { *c = filterCache{} }

// passing reads the metadata of all rows and returns the positions of those that
// match a filter, with the generation of these positions.
func (t *Tables) passing(ctx context.Context, c *tableCopy, f *tableFilter) (set bitset, generation int, err error) {
	c.mu.RLock()
	rows, version, generation := c.rows, c.version, c.generation // rows appended later are not considered
	set, ok := c.filters.get(f.key)
	c.mu.RUnlock()
	if ok {
		return set, generation, nil
	}
	set = make(bitset, len(rows)/64+1)
	at := 0
	err = t.rows.metadata(ctx, c.info.id, func(row int64, metadata string) error {
		passes, err := f.matches(metadata)
		if err != nil || !passes {
			return err
		}
		for at < len(rows) && rows[at] < row {
			at++
		}
		if at < len(rows) && rows[at] == row {
			set.set(at)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version == version && c.generation == generation {
		c.filters.put(f.key, set)
	}
	return set, generation, nil
}

// filtered returns the candidates that match the filter and may be among the k
// highest-scoring rows that do. ok is false if there may be such rows beyond the
// candidates.
func (t *Tables) filtered(ctx context.Context, from ranking, f *tableFilter, k int) (rows []int64, ok bool, err error) {
	const batch = 64
	var kth float32
	for start := 0; start < len(from.rows); start += batch {
		if len(rows) >= k && from.scores[start] < kth-from.margin {
			return rows, true, nil
		}
		end := min(start+batch, len(from.rows))
		passes := make(map[int64]bool, batch)
		err := t.rows.metadataOf(ctx, from.rows[start:end], func(row int64, metadata string) (err error) {
			passes[row], err = f.matches(metadata)
			return err
		})
		if err != nil {
			return nil, false, err
		}
		for i := start; i < end; i++ {
			if !passes[from.rows[i]] {
				continue
			}
			if rows = append(rows, from.rows[i]); len(rows) == k {
				kth = from.scores[i]
			}
		}
	}
	return rows, from.whole, nil
}
