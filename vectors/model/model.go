// Package model embeds the models that are part of the program, both with 384 dimensions:
// all-MiniLM-L6-v2 for English in int8, and multilingual-e5-small, whose word embeddings
// have four bits. LICENSE, LICENSE-e5 and SOURCE.md document their origin; the command in
// folder convert builds them.
//
// A model is paged in from the executable on demand, so an unused model takes only disk
// space.
package model

import (
	_ "embed"
	"sync"
	"unsafe"

	"notesd/vectors/bert"
)

var (
	//go:embed all-MiniLM-L6-v2.ndmodel
	english string
	//go:embed multilingual-e5-small.ndmodel
	multilingual string
)

// open opens a model in place. Package bert does not write to it.
func open(file string) (*bert.Model, error) {
	return bert.Open(unsafe.Slice(unsafe.StringData(file), len(file)))
}

// English returns all-MiniLM-L6-v2. It always returns the same model, which is safe for
// concurrent use and must not be closed. It fails only if the environment selects kernels
// that this CPU does not support.
var English = sync.OnceValues(func() (*bert.Model, error) { return open(english) })

// Multilingual returns multilingual-e5-small under the same conditions.
var Multilingual = sync.OnceValues(func() (*bert.Model, error) { return open(multilingual) })
