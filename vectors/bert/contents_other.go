//go:build !unix

package bert

import (
	"io"
	"os"
)

// contents reads a file into memory. On Windows a mapping would prevent the file
// from being replaced.
func contents(f *os.File, _ int64) (data []byte, unmap func() error, err error) {
	data, err = io.ReadAll(f)
	return data, func() error { return nil }, err
}
