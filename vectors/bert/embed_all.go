package bert

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// EmbedAll embeds texts with the given number of goroutines, or one for each CPU if
// threads ≤ 0. It calls fn once for every text, in any order but never
// concurrently; vec is valid only during the call. It returns after all goroutines
// have stopped; if ctx is cancelled, it returns ctx's error.
func (m *Model) EmbedAll(ctx context.Context, texts []string, threads int, fn func(i int, vec []float32)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var (
		next    atomic.Int64
		mu      sync.Mutex // guards failure and calls of fn
		failure error
		workers sync.WaitGroup
	)
	work := func() {
		e := m.NewEncoder()
		vec := make([]float32, m.Dim())
		for {
			i := int(next.Add(1)) - 1
			if i >= len(texts) {
				return
			}
			err := e.Embed(ctx, texts[i], vec)
			mu.Lock()
			if err != nil {
				failure = err
				mu.Unlock()
				return
			}
			fn(i, vec)
			mu.Unlock()
		}
	}
	for range min(threads, len(texts)) {
		workers.Go(work)
	}
	workers.Wait()
	return failure
}
