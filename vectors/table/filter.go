package table

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"notesd/notes"
)

// tableFilter is a set of conditions on metadata.
type tableFilter struct {
	where   map[string]any
	periods notes.Periods
	key     string // canonical JSON of where and the day, for the cache
}

func newTableFilter(where map[string]any, now time.Time) (*tableFilter, error) {
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
	return &tableFilter{where: where, periods: new(notes.Periodic).Filter(now), key: string(key) + now.Format(time.DateOnly)}, nil
}

func (f *tableFilter) matches(metadata string) (bool, error) {
	values := map[string]any{}
	if err := json.Unmarshal([]byte(metadata), &values); err != nil {
		return false, fmt.Errorf("metadata: %w", err)
	}
	return f.periods.WhereMatches(f.where, values), nil
}

// keptFilters is the number of filters whose rows a copy holds.
const keptFilters = 4

// known returns the rows that match a filter, in ascending order, if the copy holds them.
func (c *tableCopy) known(f *tableFilter) (rows []int64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	rows, ok = c.filters[f.key]
	return rows, ok
}

// passing reads the metadata of all rows and returns those that match a filter, in ascending
// order.
func (t *Tables) passing(ctx context.Context, c *tableCopy, f *tableFilter) ([]int64, error) {
	c.mu.RLock()
	filters := c.filters
	c.mu.RUnlock()
	rows := []int64{}
	err := t.rows.metadata(ctx, c.info.id, func(row int64, metadata string) error {
		passes, err := f.matches(metadata)
		if passes {
			rows = append(rows, row)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(filters) == keptFilters {
		clear(filters)
	}
	filters[f.key] = rows
	if c.file != nil {
		c.measure()
	}
	return rows, nil
}

// filtered returns the rows of a ranking of the filterDepth nearest that match the filter and may
// be among the k highest-scoring rows that do. ok is false if there may be such rows beyond the
// filterDepth nearest.
func (t *Tables) filtered(ctx context.Context, from ranking, f *tableFilter, k int) (rows []int64, ok bool, err error) {
	const batch = 64
	if !from.whole { // the rows after the nearest are those with the highest estimates, which omit nearer ones
		from.rows = from.rows[:min(filterDepth, len(from.rows))]
	}
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
