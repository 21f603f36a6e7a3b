package store

import (
	"context"
	"database/sql"
	"fmt"
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

// TestFilter_DistantDates checks bounds that nanoseconds since 1970 cannot express.
func TestFilter_DistantDates(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Apply(t.Context(), []Entry{{Kind: notes.Created, Path: "a.md", DiskPath: "a.md", Note: notes.Parse("a.md", []byte("---\ndate: 1751-06-28\n---\n"), time.Now())}}, nil, false)
	require.NoError(t, err)
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, f := range []struct {
		notes.Filter
		matches int
	}{
		{notes.Filter{After: year(1500)}, 1},
		{notes.Filter{Before: year(1500)}, 0},
		{notes.Filter{After: year(3000)}, 0},
		{notes.Filter{Before: year(3000)}, 1},
		{notes.Filter{After: year(1751), Before: year(1752)}, 1},
	} {
		set, err := s.Resolve(t.Context(), f.Filter)
		require.NoError(t, err)
		assert.Equal(t, f.matches, set.Len(), "%+v", f)
	}
}

// A condition on tags sees those in the text of a note.
func TestStore_WhereTags(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var entries []Entry
	for path, text := range map[string]string{"a.md": "---\ntags: x\n---\n", "b.md": "An #x and #y\n", "c.md": "None\n"} {
		entries = append(entries, Entry{Kind: notes.Created, Path: path, DiskPath: path, Note: notes.Parse(path, []byte(text), time.Now())})
	}
	_, err = s.Apply(t.Context(), entries, nil, false)
	require.NoError(t, err)
	has := func(tag string) map[string]any { return map[string]any{"tags": map[string]any{"has": tag}} }
	for want, where := range map[string]map[string]any{
		"[a.md b.md]": has("x"), "[b.md]": {"or": []any{has("y"), map[string]any{"file.tags": map[string]any{"has": "y"}}}},
		"[c.md]": {"Tags": map[string]any{"exists": false}}, "[a.md c.md]": {"tags": map[string]any{"not": map[string]any{"has": "Y"}}},
	} {
		paths, err := s.Paths(t.Context(), notes.Filter{Where: where})
		require.NoError(t, err)
		assert.Equal(t, want, fmt.Sprint(paths))
	}
}
