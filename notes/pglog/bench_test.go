package pglog

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
)

// BenchmarkCommit measures how many writes of a 2 KB note a server handles from 16
// writers: all to one vault, whose writes are serialised, or each to its own vault.
func BenchmarkCommit(b *testing.B) {
	s := pgtest.New(b)
	text := fmt.Sprintf("%2000d", 0)
	const writers = 16
	for _, vaults := range []int{1, writers} {
		b.Run(fmt.Sprintf("vaults=%d", vaults), func(b *testing.B) {
			logs := make([]*Log, writers)
			for i := range logs {
				logs[i] = open(b, s.URL(), fmt.Sprintf("%s %d", b.Name(), i%vaults))
				_, err := commit(logs[i])
				require.NoError(b, err)
			}
			var next atomic.Int64
			b.SetParallelism(writers)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				l := logs[int(next.Add(1))%writers]
				for pb.Next() {
					n := next.Add(1)
					if _, err := commit(l, create(fmt.Sprintf("%d.md", n), fmt.Sprint(n, text))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// BenchmarkPrune measures how long a step of Prune, during which commits wait, takes in a log
// of 100 000 changes to 1000 notes.
func BenchmarkPrune(b *testing.B) {
	s := pgtest.New(b)
	l := open(b, s.URL(), "prune")
	_, err := commit(l)
	require.NoError(b, err)
	s.Exec(`INSERT INTO blobs SELECT id, sha256(n::text::bytea), 0, n::text::bytea FROM vaults, generate_series(-999, 100000) n;
		INSERT INTO batches SELECT id, n, n, 'edit', '', '', now() + make_interval(hours => n - 100000) FROM vaults, generate_series(1, 100000) n;
		INSERT INTO feed SELECT id, n, 1, n % 1000, n % 1000, sha256((n - 1000)::text::bytea), sha256(n::text::bytea) FROM vaults, generate_series(1, 100000) n;
		INSERT INTO files SELECT id, n % 1000, n % 1000, sha256(n::text::bytea), n FROM vaults, generate_series(99001, 100000) n;
		UPDATE vaults SET seq = 100000, pruned = '-infinity';
		ANALYZE blobs, batches, feed, files`)
	steps := 0
	for b.Loop() {
		steps++
		require.NoError(b, l.Prune(b.Context(), notes.HistoryLimits{Age: time.Duration(100000-pruneStep*steps) * time.Hour}))
		s.Exec(`UPDATE vaults SET pruned = '-infinity'`)
	}
}
