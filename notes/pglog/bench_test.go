package pglog

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
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
				var err error
				logs[i], err = New(s.URL(), fmt.Sprintf("%s %d", b.Name(), i%vaults), slog.New(slog.DiscardHandler))
				require.NoError(b, err)
				defer func() { require.NoError(b, logs[i].Close()) }()
				_, err = commit(logs[i])
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
