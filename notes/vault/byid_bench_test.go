package vault

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/notes/store"
)

// BenchmarkByID loads the notes of a typical search result: twelve notes of 7 KB.
func BenchmarkByID(b *testing.B) {
	ctx := context.Background()
	dir, state := b.TempDir(), b.TempDir()
	f := &fixture{dir: dir, state: state}
	for i := range 200 {
		var text strings.Builder
		for j := range 8 {
			fmt.Fprintf(&text, "## Part %d\n\n%s\n\n", j, strings.Repeat(fmt.Sprintf("some words of %d and %d ", i, j), 40))
		}
		require.NoError(b, f.writeFile(fmt.Sprintf("n%d.md", i), text.String()))
	}
	store, err := store.Open(ctx, state)
	require.NoError(b, err)
	defer func() { require.NoError(b, store.Close()) }()
	v, err := New(ctx, store, dir, Options{})
	require.NoError(b, err)
	require.NoError(b, v.Reconcile(ctx))
	ids := make([]int64, 12)
	n := 0
	for b.Loop() {
		for i := range ids {
			ids[i] = int64((n*12+i)%200 + 1)
		}
		found, err := store.ByID(ctx, ids)
		require.NoError(b, err)
		require.Len(b, found, 12)
		n++
	}
}
