// Package model carries the embedding model that is part of the program:
// all-MiniLM-L6-v2, 384 dimensions, in int8. LICENSE and SOURCE.md beside it
// say where it comes from; the command in folder convert made it.
//
// The file is read from the program's own pages as it is needed, so a program
// that imports this package and does not embed anything pays nothing but disk
// space.
package model

import (
	_ "embed"
	"sync"
	"unsafe"

	"notesd/vectors/bert"
)

//go:embed all-MiniLM-L6-v2.ndmodel
var file string

// open opens the file in place: its bytes are read-only, as bert only reads
// them.
var open = sync.OnceValues(func() (*bert.Model, error) {
	return bert.Open(unsafe.Slice(unsafe.StringData(file), len(file)))
})

// Default returns the bundled model: always the same one, safe for concurrent
// use, never to be closed. It fails only if the environment asks for kernels
// that this CPU does not have.
func Default() (*bert.Model, error) { return open() }
