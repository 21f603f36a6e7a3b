package store

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// TestFilter_Canceled checks that a canceled context stops the evaluation of a
// filter between two notes.
func TestFilter_Canceled(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var entries []Entry
	for _, p := range []string{"a.md", "b.md"} {
		entries = append(entries, Entry{Kind: notes.Created, Path: p, DiskPath: p, Note: notes.Parse(p, []byte(p), time.Time{})})
	}
	_, err = s.Apply(t.Context(), entries, nil, false)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	err = s.Notes().Read(t.Context(), func(tx *sql.Tx) error {
		return selectIDs(ctx, tx, notes.Filter{Glob: "*"}, nil, func(int64) { seen++; cancel() })
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, seen)
}
