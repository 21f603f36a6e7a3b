package mirror

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
	"notesd/notes/pglog"
)

// BenchmarkFollow measures how many new notes of 2 KB per second a node places, in
// batches of one and of 100.
func BenchmarkFollow(b *testing.B) {
	s := pgtest.New(b)
	for name, size := range map[string]int{"one": 1, "100": 100} {
		b.Run(name+" in a batch", func(b *testing.B) {
			db, err := pglog.Open(s.URL(), slog.New(slog.DiscardHandler))
			require.NoError(b, err)
			defer func() { require.NoError(b, db.Close()) }()
			l := db.Log(b.Name())
			n := newNode(b, s.URL(), b.Name(), nil)
			n.sync()
			for from := 0; from < b.N; from += size {
				var changes []notes.FileChange
				for i := from; i < min(b.N, from+size); i++ {
					text := fmt.Appendf(nil, "%d %s", i, strings.Repeat("words ", 350))
					changes = append(changes, notes.FileChange{Path: fmt.Sprintf("%d/%d.md", i%20, i), After: notes.Hash(text), Data: text})
				}
				_, err := l.Commit(b.Context(), notes.Batch{ID: rand.Text(), Kind: "create", Changes: changes})
				require.NoError(b, err)
			}
			b.ResetTimer()
			require.NoError(b, n.m.sync(b.Context(), nil, false))
			b.StopTimer()
			require.EqualValues(b, (b.N+size-1)/size, n.m.at.Seq)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notes/s")
		})
	}
}
