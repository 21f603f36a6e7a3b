package vectors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"notesd/internal/notestest"
	"notesd/vectors/flat"
)

// BenchmarkNearest: a million chunks of 384 dimensions, the ten nearest, with
// the recall against exact search.
func BenchmarkNearest(b *testing.B) {
	const n, dim = 1_000_000, 384
	rng := rand.New(rand.NewPCG(7, 8))
	e := newEntries(dim)
	values := make([]int8, n*dim)
	scales := make([]float32, n)
	vector := func(i uint32) flat.Vector {
		return flat.Vector{Scale: scales[i], Values: values[int(i)*dim : int(i+1)*dim]}
	}
	const batch = 10_000
	var queries [][]float32
	for start := 0; start < n; start += batch {
		for i, v := range notestest.Clustered(rng, batch, dim, 500) {
			row := start + i
			scales[row] = flat.Quantise(v, values[row*dim:(row+1)*dim])
			e.add(int64(row), 0, uint32(row), vector(uint32(row)))
			if i < 1 {
				queries = append(queries, v)
			}
		}
	}
	found, wanted := 0, 0
	for _, q := range queries[:20] {
		exact := map[int64]chunkHit{}
		for row := range n {
			e.score(int32(row), flat.NewQuery(q), vector, exact)
		}
		want := ranked(exact, 10)
		got := e.nearest(q, nil, 10, vector)
		for _, w := range want {
			wanted++
			if slices.ContainsFunc(got, func(h chunkHit) bool { return h.note == w.note }) {
				found++
			}
		}
	}
	i := 0
	for b.Loop() {
		e.nearest(queries[i%len(queries)], nil, 10, vector)
		i++
	}
	b.ReportMetric(float64(found)/float64(wanted), "recall@10")
}
