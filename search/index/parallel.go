package index

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// MaxWorkers is how many goroutines [InParallel] uses at most: each step of a search
// takes less than a millisecond.
const MaxWorkers = 4

// Beside is how many goroutines compute beside those of [InParallel], for the same searches.
// While passages are embedded there are more threads than processors, and one more
// would take its turn from these.
var Beside atomic.Int32

// InParallel calls do for each of n parts, on several goroutines if that helps, and
// returns an error of one that fails; the parts that have not begun are then left out.
// Workers are numbered from 0 to less than MaxWorkers.
func InParallel(n int, do func(worker, part int) error) error {
	workers := max(1, min(n, MaxWorkers, runtime.NumCPU()-int(Beside.Load()), runtime.GOMAXPROCS(0))) // embedding raises GOMAXPROCS
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
		// The last goroutine runs here as soon as this one waits. If this one worked
		// itself, the scheduler would hesitate some 60 µs before it ran the last one elsewhere.
		var wait sync.WaitGroup
		for worker := range workers {
			wait.Go(func() { work(worker) })
		}
		wait.Wait()
	}
	if p := cmp.Or(panics...); p != nil {
		panic(p) // on the goroutine whose caller handles it
	}
	return cmp.Or(errs...)
}
