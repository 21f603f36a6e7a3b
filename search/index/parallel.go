package index

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// maxWorkers bounds the goroutines of [InParallel]: each step of a search takes less than a
// millisecond.
const maxWorkers = 4

// ExtraGoroutines is the number of goroutines that compute for the same searches in addition to
// those of [InParallel]. While passages are embedded there are more threads than processors, so one more
// goroutine would take processor time from these.
var ExtraGoroutines atomic.Int32

// InParallel calls do for each of n parts, on several goroutines if that helps. After an error
// or a panic it starts no more parts, and returns the error or panics in turn. Workers are
// numbered from 0 to less than maxWorkers.
func InParallel(n int, do func(worker, part int) error) error {
	workers := max(1, min(n, maxWorkers, runtime.NumCPU()-int(ExtraGoroutines.Load()), runtime.GOMAXPROCS(0))) // embedding raises GOMAXPROCS
	errs := make([]error, workers)
	panics := make([]any, workers)
	var next atomic.Int64
	work := func(worker int) {
		defer func() {
			if p := recover(); p != nil {
				panics[worker] = fmt.Sprintf("%v\n%s", p, debug.Stack())
				next.Store(int64(n))
			}
		}()
		for part := int(next.Add(1)) - 1; part < n; part = int(next.Add(1)) - 1 {
			if errs[worker] = do(worker, part); errs[worker] != nil {
				next.Store(int64(n))
				return
			}
		}
	}
	if workers == 1 {
		work(0)
	} else {
		// The last goroutine runs on this thread as soon as this one waits. If this one worked
		// itself, the scheduler would take some 60 µs to run the last one elsewhere.
		var wait sync.WaitGroup
		for worker := range workers {
			wait.Go(func() { work(worker) })
		}
		wait.Wait()
	}
	if p := cmp.Or(panics...); p != nil {
		panic(p) // on the caller's goroutine, which can recover
	}
	return cmp.Or(errs...)
}
