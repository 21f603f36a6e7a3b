package jsonrpc

import (
	"bufio"
	"errors"
	"io"
)

const (
	// readBuffer is the length up to which a line is not copied.
	readBuffer = 32 << 10
	// keepBuffer is the largest buffer that is kept after a long line, so that
	// one large note does not stay in memory for the rest of a session.
	keepBuffer = 256 << 10
)

// ErrLineTooLong reports a line over the limit. The line has been skipped; the
// next call goes on after it.
var ErrLineTooLong = errors.New("message longer than the limit")

// ByteOrderMark is what some programs on Windows begin every stream with.
var ByteOrderMark = []byte("\uFEFF")

// Reader splits a stream at newlines. It is not safe for concurrent use.
type Reader struct {
	in   *bufio.Reader
	long []byte
	max  int
}

// NewReader returns a Reader for lines of at most max bytes.
func NewReader(in io.Reader, max int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, readBuffer), max: max}
}

// Next returns the next line with its newline. The slice is valid until the next
// call. At the end of the stream it returns what follows the last newline, if
// anything, with io.EOF.
func (r *Reader) Next() ([]byte, error) {
	if cap(r.long) > keepBuffer {
		r.long = nil
	}
	part, err := r.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	r.long = append(r.long[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.in.ReadSlice('\n')
		if len(r.long)+len(part) > r.max {
			return nil, r.skip(err)
		}
		r.long = append(r.long, part...)
	}
	return r.long, err
}

// skip discards the rest of a line that is too long. err is what reading its
// last part returned.
func (r *Reader) skip(err error) error {
	r.long = nil
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return ErrLineTooLong
}
