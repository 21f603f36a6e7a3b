package vectors

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"notesd/vectors/bert"
)

// knownFrom is the share of a query's letters that the model must have words
// for. Below it the script is foreign to the model, and its vectors would
// only do harm (MiniLM at half weight takes Thai from .94 to .61).
const knownFrom = 0.5

// The share of meaning in the score. Half and half was the best, or within .003 of
// it, on every judged set in English, of whose queries nine in ten have .73 of
// their letters and more in words that the model has whole. Of Spanish, French,
// Italian, German, Dutch and Polish ones the middle has .03 to .3, and there half
// was below text alone on one set, and .3 to .4 the best on most of them
// (docs/retrieval.md).
const (
	fluentWeight  = 0.5
	foreignWeight = 0.3
	fluentFrom    = 0.7 // share of letters in whole words
)

// Transformer is an [Embedder] that runs a model in this process.
type Transformer struct {
	model    *bert.Model
	encoders sync.Pool // of *bert.Encoder: one keeps 3 MB, too much to make for each batch
}

// NewTransformer returns an embedder that uses the model.
func NewTransformer(model *bert.Model) *Transformer {
	return &Transformer{model: model, encoders: sync.Pool{New: func() any { return model.NewEncoder() }}}
}

// ID names the model and the bytes of its file.
func (t *Transformer) ID() string { return t.model.ID() }

// Calibrated reports whether this is the model that [Hit.Near] is the scale of.
func (t *Transformer) Calibrated() bool { return strings.HasPrefix(t.ID(), "all-MiniLM-L6-v2") }

// Dim is the vectors' dimension.
func (t *Transformer) Dim() int { return t.model.Dim() }

// EmbedQuery runs on the calling goroutine, whatever the others are doing.
func (t *Transformer) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	encoder, _ := t.encoders.Get().(*bert.Encoder)
	defer t.encoders.Put(encoder)
	v := make([]float32, t.model.Dim())
	return v, encoder.Embed(ctx, t.model.Prefix(bert.Query)+text, v)
}

// EmbedPassages runs on threads of lower priority than the rest of the
// program, so that a search finds the processors free.
func (t *Transformer) EmbedPassages(ctx context.Context, texts []string, threads int, done func(i int, vector []float32)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	var mu sync.Mutex
	for range min(max(threads, 1), len(texts)) {
		wait.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread, whose priority is spoilt, ends with the goroutine
			lowerPriority()
			encoder, _ := t.encoders.Get().(*bert.Encoder)
			defer t.encoders.Put(encoder)
			v := make([]float32, t.model.Dim())
			for i := next.Add(1) - 1; i < int64(len(texts)); i = next.Add(1) - 1 {
				if err := encoder.Embed(ctx, t.model.Prefix(bert.Passage)+texts[i], v); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done(int(i), v)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// Prepare gives the Go scheduler one processor more for each thread. A thread
// that embeds holds one for as long as it likes, whatever its priority, so a
// search would find that much less of the machine; with one more, it is the
// system that decides who runs, and there priority counts. It is not left so,
// because what spreads over all processors would count on more than there are.
func (*Transformer) Prepare(threads int) (over func()) {
	add := func(n int) {
		processors.Lock()
		defer processors.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	add(threads)
	return func() { add(-threads) }
}

// processors guards the process's one GOMAXPROCS.
var processors sync.Mutex

// passagesPerThread is how many passages a thread embeds between commits: a
// tenth of a second's work, of which a commit is less than a hundredth.
const passagesPerThread = 8

// Batch keeps the threads about equally busy.
func (t *Transformer) Batch(threads int) int { return passagesPerThread * max(threads, 1) }

// Weight is less for a query in a language that the model knows less, and 0 in a
// script that it does not know.
func (t *Transformer) Weight(text string) float64 {
	if t.model.Knows(text) < knownFrom {
		return 0
	}
	fluency := min(t.model.Whole(text)/fluentFrom, 1)
	return foreignWeight + (fluentWeight-foreignWeight)*fluency
}
