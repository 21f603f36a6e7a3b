package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"notesd/notes"
	"notesd/notes/store"
)

// BenchmarkOneClientAtItsLimits measures the latency of other clients (a read, a list and
// an edit) while one client continuously makes requests at its limits. The metrics are the
// median, the 95th percentile, and the ratio of the median to that without such a client;
// the goal is at most 3.
func BenchmarkOneClientAtItsLimits(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	for i := range 2000 {
		name := filepath.Join(dir, fmt.Sprintf("folder %d", i%20), fmt.Sprintf("note %d.md", i))
		require.NoError(b, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(b, os.WriteFile(name, fmt.Appendf(nil, "# Note %d\n\nSome text with a [[note %d]] and a #tag%d.\n", i, i/2, i%50), 0o644))
	}
	word := strings.Repeat("GATTACA", 6<<20/7)
	lines := strings.Repeat("a line of text\n", 1<<20/15)
	for name, text := range map[string]string{"victim.md": "mine\n", "word.md": "word\n", "long.md": lines} {
		require.NoError(b, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	store, err := store.Open(ctx, b.TempDir())
	require.NoError(b, err)
	defer func() { require.NoError(b, store.Close()) }()
	v, err := New(ctx, store, dir, Options{})
	require.NoError(b, err)
	require.NoError(b, v.Reconcile(ctx))

	appends := slices.Repeat([]notes.Edit{{Op: "append", Content: "x"}}, 200)
	list := func(ctx context.Context, f notes.Filter) error {
		_, err := v.List(ctx, notes.ListQuery{Filter: f})
		return err
	}
	var turn atomic.Int64
	quiet := 0.0
	for _, client := range []struct {
		name string
		work func(ctx context.Context) error // nil: no such client
	}{
		{"nobody", nil},
		{"an ordinary client", func(ctx context.Context) error { return list(ctx, notes.Filter{Folder: "folder 1"}) }},
		{"a glob", func(ctx context.Context) error {
			return list(ctx, notes.Filter{Glob: strings.Repeat("{?,?}", 6) + "*zzz"})
		}},
		{"a glob of stars", func(ctx context.Context) error {
			return list(ctx, notes.Filter{Glob: "**/" + strings.Repeat("*?", 400) + "zzz"})
		}},
		{"tags", func(ctx context.Context) error {
			return list(ctx, notes.Filter{Tags: slices.Repeat([]string{"tag1"}, notes.MaxConditions)})
		}},
		{"edits", func(ctx context.Context) error {
			_, err := v.Edit(ctx, notes.EditRequest{Note: "long.md", Edits: appends, DryRun: true})
			return err
		}},
		{"a long word", func(ctx context.Context) error {
			_, err := v.Edit(ctx, notes.EditRequest{Note: "word.md", Edits: []notes.Edit{{Op: "replace_all", Content: fmt.Sprint(turn.Add(1), word)}}})
			return err
		}},
	} {
		b.Run(client.name, func(b *testing.B) {
			busy, cancel := context.WithCancel(ctx)
			done := make(chan error, 1)
			go func() {
				var err error
				for client.work != nil && busy.Err() == nil && err == nil {
					err = client.work(busy)
				}
				done <- err
			}()
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := v.Read(ctx, "folder 3/note 3.md", notes.Scope{})
				require.NoError(b, err)
				require.NoError(b, list(ctx, notes.Filter{Folder: "folder 2"}))
				_, err = v.Edit(ctx, notes.EditRequest{Note: "victim.md", Edits: []notes.Edit{{Op: "replace_all", Content: fmt.Sprintln(turn.Add(1))}}})
				require.NoError(b, err)
				took = append(took, time.Since(began))
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				require.NoError(b, err)
			}
			slices.Sort(took)
			median := float64(took[len(took)/2])
			if client.work == nil {
				quiet = median
			}
			b.ReportMetric(median/1e6, "ms-median")
			b.ReportMetric(float64(took[len(took)*95/100])/1e6, "ms-p95")
			if quiet > 0 {
				b.ReportMetric(median/quiet, "×nobody")
			}
		})
	}
}
