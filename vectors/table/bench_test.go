package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// BenchmarkTableSearch measures whole searches, including the database and filters.
func BenchmarkTableSearch(b *testing.B) {
	const n, dim = 100_000, 384
	ctx := b.Context()
	tables := newTables(b, b.TempDir(), Options{})
	_, err := tables.Create(ctx, CreateTableRequest{Name: "t", Dimension: dim})
	require.NoError(b, err)
	rng := rand.New(rand.NewPCG(7, 8))
	var queries [][]float32
	for i := range n / MaxRowsPerCall {
		r := AddRequest{Table: "t"}
		for j, v := range notestest.Clustered(rng, MaxRowsPerCall, dim, 20) {
			r.Rows = append(r.Rows, NewRow{Vector: v, Metadata: fmt.Appendf(nil, `{"tenth": %t, "batch": %d}`, j%10 == 0, i)})
		}
		queries = append(queries, r.Rows[0].Vector)
		_, err := tables.Add(ctx, r)
		require.NoError(b, err)
	}
	for name, where := range map[string]map[string]any{"all": nil, "tenth": {"tenth": true}, "one batch": {"batch": 7.0}} {
		b.Run(name, func(b *testing.B) {
			i := 0
			ask := func() {
				hits, err := tables.Search(ctx, Query{Table: "t", Vector: queries[i%len(queries)], Where: where})
				if err != nil || len(hits) != 10 {
					b.Fatal(len(hits), err)
				}
				i++
			}
			ask() // loads the copy
			for b.Loop() {
				ask()
			}
		})
	}
}
