package watcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fill creates a folder of n notes, 50 per directory.
func fill(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	text := make([]byte, 1000)
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("area%d", i/500), fmt.Sprintf("topic%d", i/50))
		if i%50 == 0 {
			require.NoError(b, os.MkdirAll(dir, 0o755))
		}
		require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.md", i)), text, 0o644))
	}
	return root
}

// BenchmarkSave reports the time from the end of a save to the batch that contains it,
// in a vault of 10 000 notes.
func BenchmarkSave(b *testing.B) {
	root := fill(b, 10_000)
	saves := map[string]func(string, []byte) error{
		"in place": func(name string, text []byte) error { return os.WriteFile(name, text, 0o644) },
		"atomic": func(name string, text []byte) error {
			if err := os.WriteFile(name+".tmp", text, 0o644); err != nil {
				return err
			}
			return os.Rename(name+".tmp", name)
		},
	}
	for _, with := range backends[:2] {
		for _, kind := range []string{"in place", "atomic"} {
			b.Run(with.name+"/"+kind, func(b *testing.B) {
				v := newVault(b, root, Options{}, with.adapt)
				var took []time.Duration
				for b.Loop() {
					rel := fmt.Sprintf("area%d/topic%d/%05d.md", len(took)%20, len(took)%20*10, len(took)%20*500)
					require.NoError(b, saves[kind](v.abs(rel), fmt.Append(nil, len(took))))
					saved := time.Now()
					for batch := (Batch{}); !slices.Contains(batch.Paths, rel); {
						batch = <-v.batches
					}
					took = append(took, time.Since(saved))
				}
				slices.Sort(took)
				for _, p := range []int{50, 95, 99} {
					b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkCheckout reports the time from the end of a checkout that rewrites 2 000 files
// to the last batch.
func BenchmarkCheckout(b *testing.B) {
	v := newVault(b, b.TempDir(), Options{})
	n := 0
	for b.Loop() {
		n++
		b.StopTimer()
		checkout(v, n)
		want := v.disk()
		b.StartTimer()
		for seen := map[string]bool{}; len(seen) < len(want)-40; { // excluding the folders
			for _, p := range (<-v.batches).Paths {
				if want[p] != "dir" {
					seen[p] = true
				}
			}
		}
	}
}

// BenchmarkWatch10000Directories reports the time to the first batch, and the memory of
// the process that the watches use.
func BenchmarkWatch10000Directories(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		dir := filepath.Join(root, fmt.Sprintf("a quite ordinary folder %d/project %d", i/100, i))
		require.NoError(b, os.MkdirAll(dir, 0o755))
		require.NoError(b, os.WriteFile(filepath.Join(dir, "note.md"), nil, 0o644))
	}
	for _, with := range backends[:2] {
		b.Run(with.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				w := New(root, Options{})
				with.adapt(w)
				ctx, cancel := context.WithCancel(b.Context())
				w.Run(ctx, func(Batch) {
					b.ReportMetric(float64(heap()-before)/(1<<20), "heap-MB")
					st := w.Status()
					require.Equal(b, 10_101, st.Directories+st.Polled, "%+v", st)
					cancel()
				})
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkIdle reports the CPU time per minute while nothing happens to 10 000 notes.
// Run it with -benchtime=60x; each iteration takes a second.
func BenchmarkIdle(b *testing.B) {
	root := fill(b, 10_000)
	for _, with := range backends[:2] {
		b.Run(with.name, func(b *testing.B) {
			v := newVault(b, root, Options{}, with.adapt)
			v.view = nil
			runtime.GC()
			before, start := cpuTime(b), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			used := cpuTime(b) - before
			b.ReportMetric(float64(used.Microseconds())/1000/time.Since(start).Minutes(), "cpu-ms/min")
		})
	}
}
