//go:build !unix

package flat

import (
	"errors"
	"io"
	"os"
)

// segment is a part of the file, read into memory.
type segment struct {
	data []byte
}

func mapSegment(f *os.File, offset int64, length int) (segment, error) {
	data := make([]byte, length)
	if _, err := f.ReadAt(data, offset); err != nil && !errors.Is(err, io.EOF) {
		return segment{}, err
	}
	return segment{data: data}, nil
}

func (s segment) unmap() error { return nil }

func (s segment) memory() int64 { return int64(len(s.data)) }

// wrote updates the segment after data was written to the file.
func (s segment) wrote(_ *os.File, at int, data []byte) error {
	copy(s.data[at:], data)
	return nil
}
