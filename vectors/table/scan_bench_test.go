package table

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
)

// memorySource is a table that exists nowhere else.
type memorySource [][]float32

func (s memorySource) head(context.Context, int64) (int, int64, error) {
	return len(s), int64(len(s)), nil
}

func (s memorySource) numbers(context.Context, int64) ([]int64, error) {
	rows := make([]int64, len(s))
	for i := range rows {
		rows[i] = int64(i + 1)
	}
	return rows, nil
}

func (s memorySource) vectors(_ context.Context, _, after int64, do func(int64, []float32) error) error {
	for i, v := range s {
		if int64(i) >= after {
			if err := do(int64(i+1), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// datasets are what recall is measured on: embeddings as they lie, and the
// hardest there is, where no vector is near another.
var datasets = map[string]func(rng *rand.Rand, n, dim int) [][]float32{
	"clustered": func(rng *rand.Rand, n, dim int) [][]float32 {
		var out [][]float32
		for len(out) < n {
			out = append(out, notestest.Clustered(rng, min(10_000, n-len(out)), dim, 500)...)
		}
		return out
	},
	"topics": func(rng *rand.Rand, n, dim int) [][]float32 { return notestest.Clustered(rng, n, dim, 500) },
	"normal": func(rng *rand.Rand, n, dim int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, dim)
			for j := range out[i] {
				out[i][j] = float32(rng.NormFloat64())
			}
		}
		return out
	},
	"positive": func(rng *rand.Rand, n, dim int) [][]float32 {
		out := notestest.Clustered(rng, n, dim, 500)
		for _, v := range out {
			for j := range v {
				v[j] = max(0, v[j])
			}
		}
		return out
	},
}

// loadedSample is a copy of n vectors, without a database, and queries: half
// of them near a row, half from the same distribution.
func loadedSample(t testing.TB, kind string, metric Metric, n, dim int) (*tableCopy, [][]float32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	all := datasets[kind](rng, n+20, dim)
	queries := all[n:]
	for i := range queries {
		if i%2 == 0 {
			near := slices.Clone(all[i*n/20])
			for j := range near {
				near[j] += queries[i][j] * 0.3
			}
			queries[i] = near
		}
	}
	c := newTableCopy(tableRow{Info: Info{Dimension: dim, Metric: metric}}, filepath.Join(t.TempDir(), "copy"))
	require.NoError(t, c.load(t.Context(), memorySource(all[:n])))
	t.Cleanup(func() { require.NoError(t, c.unload()) })
	return c, queries
}

// recall returns the share of the ten highest scores by bytes that rank finds.
func recall(c *tableCopy, queries [][]float32) float64 {
	found, wanted := 0, 0
	for _, q := range queries {
		p := c.prepare(q)
		exact := c.scoreAll(&p, nil, 10)
		slices.SortFunc(exact, compareScores)
		got := c.candidates(&p, nil, 10)
		for _, e := range exact[:10] {
			wanted++
			if slices.ContainsFunc(got[:min(10, len(got))], func(s scored) bool { return s.row == e.row }) {
				found++
			}
		}
	}
	return float64(found) / float64(wanted)
}

func TestRecallOfEstimates(t *testing.T) {
	for kind := range datasets {
		for metric, dim := range map[Metric]int{Cosine: 384, Dot: 96, L2: 200} {
			t.Run(fmt.Sprint(kind, metric), func(t *testing.T) {
				c, queries := loadedSample(t, kind, metric, estimateFrom/dim+5000, dim)
				require.True(t, c.estimates())
				require.GreaterOrEqual(t, recall(c, queries), 0.98)
			})
		}
	}
}

// BenchmarkTableScan: a million rows of 384 numbers, the ten nearest by bytes,
// of queries near some row and of queries that are near none.
func BenchmarkTableScan(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	for _, kind := range []string{"clustered", "normal"} {
		for _, metric := range []Metric{Cosine, L2} {
			b.Run(fmt.Sprint(kind, "-", metric), func(b *testing.B) {
				c, queries := loadedSample(b, kind, metric, n, 384)
				var sets [2][][]float32
				for i, q := range queries {
					sets[i%2] = append(sets[i%2], q)
				}
				b.Run("near", func(b *testing.B) { benchmarkScan(b, c, sets[0]) })
				b.Run("far", func(b *testing.B) { benchmarkScan(b, c, sets[1]) })
			})
		}
	}
}

func benchmarkScan(b *testing.B, c *tableCopy, queries [][]float32) {
	i, scores := 0, 0
	for b.Loop() {
		r, _ := c.rank(queries[i%len(queries)], nil, -1, 10)
		scores += len(r.rows)
		i++
	}
	b.ReportMetric(float64(scores)/float64(i), "scored/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(i)/float64(len(c.rows)), "ns/row")
	b.ReportMetric(recall(c, queries), "recall@10")
}

// BenchmarkTableSearch: all of a search, in the database and with a filter.
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
