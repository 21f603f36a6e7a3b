package vectors

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/vectors/model"
)

// BenchmarkNearest searches the vectors of a vault that was embedded by one of the models in
// the program, and reports the share of the nearest passages that it finds. No daemon may be
// running on the state directory. The questions are in the format of notesd eval:
//
//	EMBED_STATE=folder EMBED_QUESTIONS=file go test -run '^$' -bench Nearest ./vectors
func BenchmarkNearest(b *testing.B) {
	state := os.Getenv("EMBED_STATE")
	if state == "" {
		b.Skip("EMBED_STATE is the state directory of a vault")
	}
	var file struct{ Queries []struct{ Query string } }
	data, err := os.ReadFile(os.Getenv("EMBED_QUESTIONS"))
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(data, &file))
	english, err := model.English()
	require.NoError(b, err)
	multilingual, err := model.Multilingual()
	require.NoError(b, err)
	for _, e := range []*Transformer{NewTransformer(english), NewTransformer(multilingual)} {
		vectors, err := os.ReadFile(slotPath(state, e.ID()))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(b, err)
		dir := b.TempDir()
		require.NoError(b, os.WriteFile(slotPath(dir, e.ID()), vectors, 0o600))
		b.Run(e.ID(), func(b *testing.B) { benchmarkNearest(b, dir, e, file.Queries) })
	}
}

func benchmarkNearest(b *testing.B, dir string, e *Transformer, queries []struct{ Query string }) {
	s, err := newSpace(dir, 1, e)
	require.NoError(b, err)
	defer func() { require.NoError(b, s.slots.Close()) }()
	for _, slot := range s.slots.byKey {
		s.entries.add(int64(slot), 0, slot)
	}
	s.entries.grow()
	require.True(b, s.entries.ranker.Estimates(), "the vault is too small: all rows are scored")
	embedded := make([][]float32, len(queries))
	for i, q := range queries {
		embedded[i], err = e.EmbedQuery(b.Context(), q.Query)
		require.NoError(b, err)
	}
	const k = 100
	for i := 0; b.Loop(); i++ {
		s.entries.nearest(embedded[i%len(embedded)], nil, k)
	}
	ranker := &s.entries.ranker
	var missed [k + 1]int // number missed among the n nearest, by n
	for _, q := range embedded {
		p := ranker.Prepare(q)
		found := map[int32]bool{}
		for _, c := range ranker.Candidates(p, nil, s.entries.sure, scoredFor(k)) {
			found[c.Row] = true
		}
		for i, c := range ranker.All(p, nil, k) {
			if !found[c.Row] {
				for n := i + 1; n <= k; n++ {
					missed[n]++
				}
			}
		}
	}
	for _, n := range []int{1, sureRows, 10, k} {
		b.ReportMetric(1-float64(missed[n])/float64(n*len(embedded)), "recall@"+strconv.Itoa(n))
	}
	b.ReportMetric(float64(s.entries.len()), "passages")
}
