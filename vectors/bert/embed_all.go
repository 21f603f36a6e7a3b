package bert

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// EmbedAll embeds texts with so many goroutines, each taking one text at a
// time; with threads ≤ 0 there is one for each CPU. It calls fn once for every
// text, in any order but never concurrently; vec is valid during the call
// only. It returns when all are done, or, when ctx ends, with its error and
// all goroutines stopped.
func (m *Model) EmbedAll(ctx context.Context, texts []string, threads int, fn func(i int, vec []float32)) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var (
		next    atomic.Int64
		mu      sync.Mutex // guards calls of fn
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
