package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxMessage is the longest message that is accepted from a client: a 16 MiB note, escaped.
const MaxMessage = 48 << 20

const (
	// readBuffer is the length up to which lines are not copied.
	readBuffer = 32 << 10
	// keepBuffer is the largest buffer kept after a long line, so that one large note
	// does not stay in memory for the rest of a session.
	keepBuffer = 256 << 10
)

// ErrLineTooLong reports a line that exceeds the limit. The line has been skipped; the
// next call continues after it.
var ErrLineTooLong = errors.New("message longer than the limit")

// byteOrderMark is written by some Windows programs at the start of a stream.
var byteOrderMark = []byte("\uFEFF")

// Reader splits a stream into lines of one JSON text each. It is not safe for concurrent
// use.
type Reader struct {
	in    *bufio.Reader
	long  []byte
	max   int
	begun bool // a line has been read
}

// NewReader returns a Reader for lines of at most max bytes, not counting the newline.
func NewReader(in io.Reader, max int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, readBuffer), max: max}
}

// Next returns the next line that is not blank, with its newline, which may be missing
// from the last line of a stream; at the end it returns io.EOF. The slice is valid until
// the next call.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return line, err
		}
		if !r.begun {
			line, r.begun = bytes.TrimPrefix(line, byteOrderMark), true
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	if cap(r.long) > keepBuffer {
		r.long = nil
	}
	line := r.long[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > r.max+len("\r\n") {
			return nil, r.skip(err)
		}
		if err == nil && len(line) == 0 {
			return part, nil
		}
		line = append(line, part...)
		r.long = line
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// skip reads to the end of an overlong line. err is the result of the last read.
func (r *Reader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	if err == nil || errors.Is(err, io.EOF) {
		return ErrLineTooLong
	}
	return err
}
