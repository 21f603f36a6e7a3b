package vectors

import (
	"context"
)

// Embedder turns text into vectors of unit length. It is safe for concurrent
// use.
type Embedder interface {
	// ID identifies the model. It changes if and only if the vectors change.
	ID() string
	// Dim returns the dimension of the vectors, or 0 while a remote embedder has
	// not answered yet.
	Dim() int
	// Expect sets the dimension, that of the vectors of an earlier run, if it is 0.
	Expect(dim int)
	// EmbedQuery embeds a query. It does not wait for passages that are being
	// embedded.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// EmbedPassages embeds passages of notes on up to threads processors and
	// calls done with each vector, from one goroutine at a time. done must not
	// retain the vector.
	EmbedPassages(ctx context.Context, texts []string, threads int, done func(i int, vector []float32)) error
	// Batch returns the number of passages to embed and commit together on the
	// given number of threads.
	Batch(threads int) int
	// Weight returns the share, from 0 to 1, of the semantic score in the score of
	// a query's hits. It is 0 if the model does not know the query's script.
	Weight(text string) float64
}

// SharedVectors shares vectors of texts, as little-endian half-precision floats, among several
// nodes, so that only one of them computes each. Texts are identified by their hashes.
type SharedVectors interface {
	// Vectors returns the known vectors, and the hashes of the texts that this node must embed.
	// The others are being embedded by other nodes. It waits while that is true of all of them.
	Vectors(ctx context.Context, model string, hashes []string) (known map[string][]byte, claimed []string, err error)
	// Missing returns the hashes whose vectors are not known. The vectors of the others are
	// retained for some weeks more.
	Missing(ctx context.Context, model string, hashes []string) ([]string, error)
	// KeepVectors stores computed vectors.
	KeepVectors(ctx context.Context, model string, vectors map[string][]byte) error
}

// Calibrated is an Embedder that may have a calibration. The cosines of other
// embedders are scaled by their distribution over unrelated passages.
type Calibrated interface {
	Embedder
	// Calibration returns the calibration and reports whether it is known.
	Calibration() (Calibration, bool)
}

// Calibration relates cosines to [notes.SemanticHit.Near], which is (cosine − Zero) / Unit.
type Calibration struct {
	Zero, Unit float64
	// Mean and Deviation describe the cosines of questions and unrelated passages.
	Mean, Deviation float64
}
