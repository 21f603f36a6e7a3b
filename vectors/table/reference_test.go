package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite/vec" //nolint:depguard // adds vec_distance_…, the reference of this test

	"notesd/internal/notestest"
)

// Scores and order agree with sqlite-vec, which uses its own format of vectors.
func TestTables_AgainstSQLiteVec(t *testing.T) {
	ctx := t.Context()
	tables := newTables(t, t.TempDir(), Options{})
	for metric, score := range map[Metric]string{
		Cosine: "1 - vec_distance_cosine(v.vector, ?)",
		L2:     "-vec_distance_l2(v.vector, ?)",
	} {
		t.Run(string(metric), func(t *testing.T) {
			const dim = 96
			name := fmt.Sprint("reference-", metric)
			createTable(t, tables, name, dim, metric)
			rng := rand.New(rand.NewPCG(31, 32))
			for range 4 {
				var rows []NewRow
				for _, v := range notestest.Clustered(rng, 500, dim, 7) {
					rows = append(rows, NewRow{Vector: v})
				}
				_, err := tables.Add(ctx, AddRequest{Table: name, Rows: rows})
				require.NoError(t, err)
			}
			for _, q := range notestest.Clustered(rng, 10, dim, 7) {
				got, err := tables.Search(ctx, Query{Table: name, Vector: q, Limit: 20})
				require.NoError(t, err)
				rows, err := tables.db.Reader().QueryContext(ctx, `SELECT r.id, `+score+` AS score FROM vector_rows r
					JOIN vector_values v ON v.row = r.row JOIN vector_tables t ON t.id = r.table_id
					WHERE t.name = ? ORDER BY score DESC LIMIT 20`, packFloats(q), name)
				require.NoError(t, err)
				defer func() { assert.NoError(t, rows.Close()) }()
				i := 0
				for ; rows.Next(); i++ {
					var id string
					var want float64
					require.NoError(t, rows.Scan(&id, &want))
					require.InDelta(t, want, got[i].Score, 2e-6)
					if i > 0 && got[i-1].Score-got[i].Score > 1e-5 && i+1 < len(got) && got[i].Score-got[i+1].Score > 1e-5 {
						require.Equal(t, id, got[i].ID, "place %d", i)
					}
				}
				require.NoError(t, rows.Err())
				require.Equal(t, len(got), i)
			}
		})
	}
}
