package vectors

import (
	"context"
)

// Embedder turns text into vectors of unit length. It is safe for concurrent
// use.
type Embedder interface {
	// ID names the model and changes if and only if its vectors change.
	ID() string
	// Dim is the vectors' dimension; 0 as long as an embedder that asks another
	// program has had no answer. See [Learner].
	Dim() int
	// EmbedQuery embeds what a user is looking for, at once, whatever else is
	// being embedded.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// EmbedPassages embeds passages of notes on up to threads processors and
	// calls done with each as it is ready, from one goroutine at a time; the
	// vector is the callee's only until it returns.
	EmbedPassages(ctx context.Context, texts []string, threads int, done func(i int, vector []float32)) error
	// Batch is how many passages to embed on so many processors at a time: what
	// is kept or lost together.
	Batch(threads int) int
	// Weight is the share, from 0 to 1, that meaning should have in the score of
	// this query's hits; 0 when the model does not know the query's script.
	Weight(text string) float64
}

// Calibrated is an Embedder that knows whether its cosines are on the scale of
// [Hit.Near]. Those of the others are compared with the background.
type Calibrated interface {
	Embedder
	Calibrated() bool
}

// Learner is an Embedder that learns its dimension from the first vector that
// it is given.
type Learner interface {
	Embedder
	// Expect sets the dimension that its vectors had in an earlier run.
	Expect(dim int)
}

// Preparer is an Embedder that wants to know when it is about to embed many
// passages, batch after batch, and when that is over.
type Preparer interface {
	Embedder
	Prepare(threads int) (over func())
}
