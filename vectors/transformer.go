package vectors

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"notesd/vectors/bert"
)

// knownFrom is the least share of a query's letters for which the model must have
// tokens. Below it the model does not know the script, and its vectors reduce the
// quality (for Thai, MiniLM at half weight from .94 to .61).
const knownFrom = 0.5

// The share of the semantic score, by the share of the query's letters in words that the model
// has as whole tokens. In English, where nine in ten queries have .73 and more, .55 was the
// best or within .003 of it on every judged set. The median of Spanish, French, Italian,
// German, Dutch and Polish queries is .03 to .3; for these, .5 was worse than text alone on one
// set, and .3 to .4 was the best on most (docs/retrieval.md).
const (
	fluentWeight  = 0.55
	foreignWeight = 0.33
	fluentFrom    = 0.7 // share of letters in whole words
)

// Transformer is an [Embedder] that runs a model in this process.
type Transformer struct {
	model    *bert.Model
	encoders sync.Pool // of *bert.Encoder, which holds 3 MB of buffers
}

// NewTransformer returns an embedder that uses the model.
func NewTransformer(model *bert.Model) *Transformer {
	return &Transformer{model: model, encoders: sync.Pool{New: func() any { return model.NewEncoder() }}}
}

// ID returns the name of the model with a hash of its file.
func (t *Transformer) ID() string { return t.model.ID() }

// minilm is the calibration of all-MiniLM-L6-v2, whose file has none.
var minilm = Calibration{Unit: 1, Deviation: unrelatedDeviation}

// Calibration returns the calibration in the model's file.
func (t *Transformer) Calibration() (Calibration, bool) {
	if c := t.model.Calibration(); c != nil {
		return Calibration(*c), true
	}
	return minilm, strings.HasPrefix(t.ID(), "all-MiniLM-L6-v2")
}

// Dim returns the dimension of the vectors.
func (t *Transformer) Dim() int { return t.model.Dim() }

// Expect does nothing, because the dimension is known.
func (t *Transformer) Expect(int) {}

// EmbedQuery runs on the calling goroutine, in parallel to all others.
func (t *Transformer) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	encoder, _ := t.encoders.Get().(*bert.Encoder)
	defer t.encoders.Put(encoder)
	v := make([]float32, t.model.Dim())
	prefix, _ := t.model.Prefixes()
	return v, encoder.Embed(ctx, prefix+text, v)
}

// EmbedPassages runs on threads of lower priority than the rest of the program, unless
// [Hurry] was called. It pauses during searches, see [Index.Yield]: a thread of low priority
// still delays those that wake up on its processor, and the collector waits for it to stop.
// It waits for the calls of other vaults in the process, in their order, so that they
// share the processors.
func (t *Transformer) EmbedPassages(ctx context.Context, texts []string, threads int, done func(i int, vector []float32)) error {
	if err := turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer turn.Release(1)
	threads = min(max(threads, 1), len(texts))
	processors.raise(threads)
	defer processors.raise(-threads) // parallel code would otherwise start more workers than there are processors
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	order := make([]int, len(texts)) // the longest first, so that all threads end at about the same time
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(texts[b]) - len(texts[a]) })
	_, prefix := t.model.Prefixes()
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	for range threads {
		wait.Go(func() {
			if !hurried.Load() {
				runtime.LockOSThread() // never unlocked, so that the low-priority thread ends with the goroutine
				lowerPriority()
			}
			encoder, _ := t.encoders.Get().(*bert.Encoder)
			var patience time.Duration
			encoder.Yield = func() { patience -= searches.wait(patience) }
			defer func() {
				encoder.Yield = nil
				t.encoders.Put(encoder)
			}()
			v := make([]float32, t.model.Dim())
			for n := next.Add(1) - 1; n < int64(len(texts)); n = next.Add(1) - 1 {
				i := order[n]
				patience = longestPause
				if err := encoder.Embed(ctx, prefix+texts[i], v); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done(i, v)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// Hurry makes embedding run at the priority of the rest of the program from now on, because a
// user waits for it: next to a busy program, a thread of low priority hardly runs at all.
func Hurry() { hurried.Store(true) }

var hurried atomic.Bool

// turn is held by the vault that embeds; searches is entered by the searches of all vaults.
var (
	turn     = semaphore.NewWeighted(1)
	searches gate
)

// longestPause bounds the time for which the embedding of one text pauses for searches, so that
// it proceeds under a flood of them. Embedding a text takes some ten milliseconds.
const longestPause = 20 * time.Millisecond

// gate lets embedding wait until no search runs.
type gate struct {
	running atomic.Int32
	mu      sync.Mutex
	open    chan struct{} // closed when the last search ends; nil while none runs
}

func (g *gate) enter() (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running.Add(1) == 1 {
		g.open = make(chan struct{})
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.running.Add(-1) == 0 {
			close(g.open)
			g.open = nil
		}
	}
}

// wait waits until no search runs, for at most the given time, and returns the time it waited.
func (g *gate) wait(most time.Duration) time.Duration {
	if g.running.Load() == 0 || most <= 0 {
		return 0
	}
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return 0
	}
	began := time.Now()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-open:
	case <-timer.C:
	}
	return time.Since(began)
}

var processors raised

// raised is the amount by which GOMAXPROCS is raised.
type raised struct {
	sync.Mutex
	by int
}

// raise raises GOMAXPROCS. The Go scheduler ignores thread priorities, so a thread that
// embeds would occupy a processor of the scheduler that a search needs. With a surplus of
// processors, the operating system decides which thread runs, and it respects priorities.
func (r *raised) raise(by int) {
	r.Lock()
	defer r.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + by)
	r.by += by
}

// allowed returns the number of processors that this process may use.
func (r *raised) allowed() int {
	r.Lock()
	defer r.Unlock()
	return runtime.GOMAXPROCS(0) - r.by
}

// passagesPerThread is the number of passages that a thread embeds between commits.
// They take a tenth of a second or two. A commit takes less than a hundredth of that,
// and some of the threads wait for the last passage before it.
const passagesPerThread = 16

// Batch returns a multiple of threads, so that they are equally busy.
func (t *Transformer) Batch(threads int) int { return passagesPerThread * max(threads, 1) }

// Weight returns less for a query in a language that the model knows less well, and 0 for a
// script that it does not know. A model whose file has a calibration knows its languages
// equally well.
func (t *Transformer) Weight(text string) float64 {
	known, whole := t.model.Knows(text)
	if known < knownFrom {
		return 0
	}
	if t.model.Calibration() != nil {
		return fluentWeight
	}
	fluency := min(whole/fluentFrom, 1)
	return foreignWeight + (fluentWeight-foreignWeight)*fluency
}
