package eval_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/search/eval"
	"notesd/search/index"
)

// engine writes a judged set as a vault and returns an engine for it.
func engine(t testing.TB, s *eval.Set) *search.Engine {
	t.Helper()
	ctx := context.Background()
	root, state := t.TempDir(), t.TempDir()
	require.NoError(t, s.WriteVault(root))
	store, err := store.Open(ctx, state)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	vault, err := vault.New(ctx, store, root, vault.Options{})
	require.NoError(t, err)
	index, err := index.Open(ctx, filepath.Join(state, "index"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, index.Close()) })
	vault.Follow(index)
	require.NoError(t, vault.Reconcile(ctx))
	return search.NewEngine(store, index, nil, search.EngineOptions{})
}

// asking returns what an engine finds.
func asking(e *search.Engine) eval.Ask {
	return func(ctx context.Context, mode search.Mode, query string) (paths []string, err error) {
		r, err := e.Search(ctx, search.Query{Text: query, Mode: mode, Limit: 10})
		for _, h := range r.Hits {
			paths = append(paths, h.Path)
		}
		return paths, err
	}
}

func load(t testing.TB, dir string) *eval.Set {
	t.Helper()
	s, err := eval.Load(filepath.Join(dir, "docs.jsonl"), filepath.Join(dir, "queries.jsonl"), filepath.Join(dir, "qrels.tsv"))
	require.NoError(t, err)
	return s
}

var update = flag.Bool("update", false, "write the golden file anew")

// TestRanking compares the results of every query of a small set in twelve languages with
// a golden file, to detect any change of ranking. After an intended change, run go test
// ./search/eval -update, and review the difference.
func TestRanking(t *testing.T) {
	ctx := context.Background()
	s := load(t, filepath.Join("testdata", "judged"))
	e := engine(t, s)
	report, err := s.Run(ctx, asking(e), search.ModeText)
	require.NoError(t, err)
	scores := report.Modes[search.ModeText]
	var b strings.Builder
	fmt.Fprintf(&b, "ndcg@10 %.4f  recall@5 %.4f  recall@10 %.4f  mrr@10 %.4f  queries %d\n", scores.NDCG10, scores.Recall5, scores.Recall10, scores.MRR10, scores.Queries)
	for _, q := range s.Queries {
		r, err := e.Search(ctx, search.Query{Text: q.Text, Mode: search.ModeText, Limit: 5})
		require.NoError(t, err)
		fmt.Fprintf(&b, "\n%s %s\n", q.ID, q.Text)
		for _, h := range r.Hits {
			doc := strings.TrimSuffix(h.Path, ".md")
			mark := " "
			if s.Judgements[q.ID][doc] > 0 {
				mark = "*"
			}
			fmt.Fprintf(&b, "%s %-12s %6.2f\n", mark, doc, h.Score)
		}
	}
	golden := filepath.Join("testdata", "ranking.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
	assert.GreaterOrEqual(t, scores.NDCG10, .99)
}

// TestJudgedSets prints the scores of the judged sets in NOTESD_JUDGED.
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
		report, err := s.Run(context.Background(), asking(e), search.ModeText)
		require.NoError(t, err)
		fmt.Printf("%-12s %+v %v a query\n", dir.Name(), report.Modes[search.ModeText], (time.Since(start) / time.Duration(len(s.Queries))).Round(time.Microsecond))
	}
}
