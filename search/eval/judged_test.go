package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/search"
	"notesd/search/eval"
)

// engine makes a vault of a judged set and an engine over it.
func engine(t testing.TB, s *eval.Set) *search.Engine {
	t.Helper()
	ctx := context.Background()
	root, state := t.TempDir(), t.TempDir()
	require.NoError(t, s.WriteVault(root))
	store, err := notes.OpenStore(ctx, state, notes.StoreOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	vault, err := notes.NewVault(ctx, store, root, notes.VaultOptions{})
	require.NoError(t, err)
	index, err := search.OpenIndex(ctx, filepath.Join(state, "index"), search.IndexOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, index.Close()) })
	vault.Follow(index)
	require.NoError(t, vault.Reconcile(ctx))
	return search.NewEngine(store, index, nil, search.EngineOptions{})
}

func load(t testing.TB, dir string) *eval.Set {
	t.Helper()
	s, err := eval.Load(filepath.Join(dir, "docs.jsonl"), filepath.Join(dir, "queries.jsonl"), filepath.Join(dir, "qrels.tsv"))
	require.NoError(t, err)
	return s
}

// TestJudgedSets prints the scores of the judged sets below NOTESD_JUDGED.
func TestJudgedSets(t *testing.T) {
	root := os.Getenv("NOTESD_JUDGED")
	if root == "" {
		t.Skip("NOTESD_JUDGED names no folder with judged sets")
	}
	sets, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, dir := range sets {
		s := load(t, filepath.Join(root, dir.Name()))
		e := engine(t, s)
		start := time.Now()
		report, err := s.Run(context.Background(), e, search.ModeText)
		require.NoError(t, err)
		fmt.Printf("%-12s %+v %v a query\n", dir.Name(), report.Modes[search.ModeText], (time.Since(start) / time.Duration(len(s.Queries))).Round(time.Microsecond))
	}
}
