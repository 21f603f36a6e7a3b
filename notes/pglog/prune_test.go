package pglog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/pgtest"
	"notesd/notes"
)

// Changes beyond the limits are removed, with the contents and vectors that nothing else
// uses; files, newer changes and the identity of positions stay.
func TestPrune(t *testing.T) {
	s := pgtest.New(t)
	l := open(t, s.URL(), "prune")
	beginning, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	for _, changes := range [][]notes.FileChange{
		{create("A.md", "1"), create("B.md", "b"), create("Gone.md", "gone")},
		{edit("A.md", "1", "2")}, {remove("Gone.md", "gone")}, {edit("A.md", "2", "3")}, {edit("A.md", "3", "2")}, {edit("A.md", "2", "4")},
	} {
		_, err := commit(l, changes...)
		require.NoError(t, err)
	}
	blobs := func() (n int) {
		require.NoError(t, l.db.pool.QueryRow(t.Context(), `SELECT count(*) FROM blobs`).Scan(&n))
		return n
	}
	prune := func(limits notes.HistoryLimits) {
		s.Exec(`UPDATE vaults SET pruned = now() - interval '7 hours'`)
		require.NoError(t, l.Prune(t.Context(), limits))
	}
	require.NoError(t, l.db.KeepVectors(t.Context(), "m", map[string][]byte{notes.Hash([]byte("old")): {1}, notes.Hash([]byte("new")): {2}}))
	before, _, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, blobs())
	require.NoError(t, l.Prune(t.Context(), notes.HistoryLimits{Age: 1}))
	prune(notes.HistoryLimits{})
	require.Equal(t, 6, blobs(), "a moment after it was begun, and with the default limits, nothing goes")

	s.Exec(`UPDATE batches SET at = at - interval '3 days' WHERE seq <= 3`)
	s.Exec(`UPDATE vectors SET claimed = claimed - interval '31 days' WHERE data = '\x01'`)
	prune(notes.HistoryLimits{Age: 48 * time.Hour})
	assert.Equal(t, map[string]string{"A.md": "4", "B.md": "b"}, files(t, l))
	assert.Equal(t, 4, blobs(), "gone and 1 are removed; 2 is named by a change that is kept")
	found, _, err := l.db.Vectors(t.Context(), "m", []string{notes.Hash([]byte("old")), notes.Hash([]byte("new"))})
	require.NoError(t, err)
	assert.Len(t, found, 1)
	_, err = l.Changes(t.Context(), beginning, 10)
	require.ErrorIs(t, err, ErrPruned)
	_, err = l.Changes(t.Context(), Position{Seq: 2, Mark: "other"}, 10)
	require.ErrorIs(t, err, ErrForeign)
	var third Position
	require.NoError(t, l.db.pool.QueryRow(t.Context(), `SELECT seq, id FROM batches WHERE seq = 3`).Scan(&third.Seq, &third.Mark))
	entries, err := l.Changes(t.Context(), third, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 3)

	prune(notes.HistoryLimits{Bytes: 1})
	assert.Equal(t, map[string]string{"A.md": "4", "B.md": "b"}, files(t, l))
	assert.Equal(t, 3, blobs(), "2 is named by the newest change")
	_, err = l.Changes(t.Context(), third, 10)
	require.ErrorIs(t, err, ErrPruned)
	entries, err = l.Changes(t.Context(), before, 10)
	require.NoError(t, err)
	assert.Empty(t, entries)
	_, err = commit(l, edit("A.md", "4", "1"))
	require.NoError(t, err)
	assert.Equal(t, "1", files(t, l)["A.md"], "a content that was removed comes again")

	for i := range pruneStep {
		_, err := commit(l, create(fmt.Sprintf("%d.md", i), strings.Repeat("x", i)))
		require.NoError(t, err)
	}
	s.Exec(`UPDATE batches SET at = at - interval '3 days'`)
	prune(notes.HistoryLimits{Age: 48 * time.Hour})
	var rest int
	require.NoError(t, l.db.pool.QueryRow(t.Context(), `SELECT count(*) FROM feed`).Scan(&rest))
	assert.Equal(t, 1, rest)
	assert.Len(t, files(t, l), pruneStep+2)
}
