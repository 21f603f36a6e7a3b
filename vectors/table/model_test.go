package table

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// After random additions, replacements and deletions, before and after the copy is loaded and
// across restarts, every search finds the same as brute force.
func TestTables_AgainstBruteForce(t *testing.T) {
	for i, c := range []struct {
		metric Metric
		dim    int
	}{{Cosine, 8}, {Dot, 65}, {L2, 24}, {Cosine, 1}, {L2, 130}} {
		t.Run(fmt.Sprint(c.metric, c.dim), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			dir := t.TempDir()
			tables := newTables(t, dir, Options{})
			createTable(t, tables, "t", c.dim, c.metric)
			m := &tableModel{metric: c.metric, rows: map[string]modelledRow{}}
			for range 30 {
				step(t, rng, tables, m, c.dim)
				q, _ := randomRow(rng, c.dim, 0)
				for _, where := range []map[string]any{nil, {"group": "g1"}, {"rare": true}, {"n": map[string]any{"lt": 500.0}}, {"group": "none"}} {
					m.requireSame(t, tables, "t", q.Vector, where, 1+rng.IntN(12))
				}
				if rng.IntN(10) == 0 { // as after a restart, with or without the cache
					require.NoError(t, tables.Close())
					if rng.IntN(2) == 0 {
						dir = t.TempDir()
					}
					tables = New(tables.db, dir, nil, Options{})
				}
			}
			infos, err := tables.List(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(m.rows), infos[0].Rows)
			require.NoError(t, tables.Close())
		})
	}
}

func step(t *testing.T, rng *rand.Rand, tables *Tables, m *tableModel, dim int) {
	t.Helper()
	ctx := context.Background()
	switch rng.IntN(5) {
	case 0:
		var ids []string
		for id := range m.rows {
			if rng.IntN(4) == 0 && len(ids) < MaxRowsPerCall {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return
		}
		n, err := tables.DeleteRows(ctx, DeleteRowsRequest{Table: "t", IDs: append(ids, "never was")})
		require.NoError(t, err)
		require.Equal(t, len(ids), n)
		for _, id := range ids {
			delete(m.rows, id)
		}
	case 1:
		where := map[string]any{"group": "g2", "n": map[string]any{"gte": float64(rng.IntN(1000))}}
		gone := m.search(make([]float32, dim), where)
		n, err := tables.DeleteRows(ctx, DeleteRowsRequest{Table: "t", Where: where})
		require.NoError(t, err)
		require.Equal(t, len(gone), n)
		for _, h := range gone {
			delete(m.rows, h.ID)
		}
	default:
		var rows []NewRow
		for _, id := range rng.Perm(1500)[:1+rng.IntN(300)] {
			row, modelled := randomRow(rng, dim, id)
			rows = append(rows, row)
			m.rows[row.ID] = modelled
		}
		ids, err := tables.Add(ctx, AddRequest{Table: "t", Rows: rows})
		require.NoError(t, err)
		require.Len(t, ids, len(rows))
	}
}
