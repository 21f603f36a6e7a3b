package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
)

// historyBegin is the time of the first revision that longHistory makes.
var historyBegin = time.Unix(1_700_000_000, 0)

// longHistory fills the history with revisions of documents, each an hour after the
// document's last and with a text of its own.
func longHistory(t testing.TB, s *store.Store, documents, revisions int) {
	t.Helper()
	err := s.History().Write(t.Context(), func(tx *sql.Tx) error {
		for d := 1; d <= documents; d++ {
			if _, err := tx.Exec(`INSERT INTO documents (id, path, live) VALUES (?, ?, 1)`, d, fmt.Sprintf("Note %d.md", d)); err != nil {
				return err
			}
		}
		for r := range revisions {
			for d := 1; d <= documents; d++ {
				text := fmt.Appendf(nil, "%d %d", d, r)
				hash := sha256.Sum256(text)
				if _, err := tx.Exec(`INSERT INTO blobs (hash, size, codec, data) VALUES (?, ?, 0, ?)`, hash[:], len(text), text); err != nil {
					return err
				}
				if _, err := tx.Exec(`INSERT INTO revisions (document, time, author, author_version, operation, path, hash, size, added, removed)
					VALUES (?, ?, 'outside', '', 'edit', ?, ?, ?, 1, 1)`, d, historyBegin.Add(time.Duration(r)*time.Hour).UnixNano(), fmt.Sprintf("Note %d.md", d), hash[:], len(text)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
}

func countRows(t testing.TB, s *store.Store, table string) int {
	t.Helper()
	n, err := sqlite.First[int](t.Context(), s.History().Reader(), `SELECT count(*) FROM `+table)
	require.NoError(t, err)
	return n
}

// TestPrune_LongHistory checks pruning in several steps.
func TestPrune_LongHistory(t *testing.T) {
	notestest.SkipInShort(t)
	s := openStore(t, t.TempDir())
	longHistory(t, s, 15, 100)
	require.NoError(t, s.Prune(t.Context(), notes.HistoryLimits{Revisions: 20}))
	assert.Equal(t, 15*20, countRows(t, s, "revisions"))
	assert.Equal(t, 15*20, countRows(t, s, "blobs"))
	s.Now = func() time.Time { return historyBegin.Add(124 * time.Hour) }
	require.NoError(t, s.Prune(t.Context(), notes.HistoryLimits{Age: 9*time.Hour + time.Minute}))
	assert.Equal(t, 15*11, countRows(t, s, "revisions"), "ten that were replaced since, and the present one")
	assert.Equal(t, 15*11, countRows(t, s, "blobs"))
	page, err := s.Page(t.Context(), "Note 15.md", notes.HistoryQuery{Limit: 100})
	require.NoError(t, err)
	require.Len(t, page.Revisions, 11)
	assert.True(t, page.Revisions[10].Time.Equal(historyBegin.Add(89*time.Hour)), "the oldest")
}

// TestPrune_Operations checks that the texts of old operations are removed with them.
func TestPrune_Operations(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, t.TempDir())
	op := editOf("Board.canvas", "{}", `{"nodes": []}`)
	require.NoError(t, s.Begin(ctx, op, nil))
	op.Files[0].State = store.StateDone
	_, err := s.Finish(ctx, op, nil, op.Written())
	require.NoError(t, err)
	require.NoError(t, s.Prune(ctx, notes.HistoryLimits{}))
	assert.Equal(t, 2, countRows(t, s, "blobs"), "with them, the operation can be undone")
	s.Now = func() time.Time { return time.Now().Add(store.JournalAge + time.Hour) }
	require.NoError(t, s.Prune(ctx, notes.HistoryLimits{}))
	assert.Zero(t, countRows(t, s, "operations"))
	assert.Zero(t, countRows(t, s, "blobs"))
}

// BenchmarkLongHistory prunes a history that is within its limits, and finds the state of
// the vault at three times.
func BenchmarkLongHistory(b *testing.B) {
	s := openStore(b, b.TempDir())
	const revisions = 150
	longHistory(b, s, 500, revisions)
	benchmark := func(name string, do func(ctx context.Context) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, do(b.Context()))
			}
		})
	}
	benchmark("Prune", func(ctx context.Context) error { return s.Prune(ctx, notes.HistoryLimits{}) })
	for _, part := range []int{0, 1, 2} {
		at := historyBegin.Add(time.Duration(part*revisions/2) * time.Hour)
		benchmark(fmt.Sprintf("AsOf/%d%%", part*50), func(ctx context.Context) error {
			_, err := s.AsOf(ctx, at, &sync.Mutex{})
			return err
		})
	}
}
