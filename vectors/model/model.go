// Package model carries the embedding models that are part of the program, both
// of 384 dimensions: all-MiniLM-L6-v2 for English in int8, and
// multilingual-e5-small, whose word embeddings have four bits. LICENSE,
// LICENSE-e5 and SOURCE.md beside them say where they come from; the command in
// folder convert made them.
//
// A file is read from the program's own pages as it is needed, so a model that
// embeds nothing costs nothing but disk space.
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

// The models, opened in place: their bytes are read-only, as bert only reads
// them.
var (
	openEnglish      = sync.OnceValues(func() (*bert.Model, error) { return open(english) })
	openMultilingual = sync.OnceValues(func() (*bert.Model, error) { return open(multilingual) })
)

func open(file string) (*bert.Model, error) {
	return bert.Open(unsafe.Slice(unsafe.StringData(file), len(file)))
}

// English returns all-MiniLM-L6-v2: always the same model, safe for concurrent
// use, never to be closed. It fails only if the environment asks for kernels
// that this CPU does not have.
func English() (*bert.Model, error) { return openEnglish() }

// Multilingual returns multilingual-e5-small, which the same holds for.
func Multilingual() (*bert.Model, error) { return openMultilingual() }
