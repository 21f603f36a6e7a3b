package daemon

import (
	"bufio"
	"errors"
	"io"
)

const (
	// maxLine bounds one message, either way. A note of 16 MB, whose every byte
	// needs a six-byte escape at worst, is refused by the daemon's own limits
	// long before.
	maxLine = 64 << 20
	// readBuffer is what a line costs nothing extra up to.
	readBuffer = 32 << 10
	// keepBuffer is the largest buffer that is kept after a long line, so that
	// one large note does not stay in memory for the rest of a session.
	keepBuffer = 256 << 10
)

// errLineTooLong reports a line over the limit. The line has been skipped; the
// next call goes on after it.
var errLineTooLong = errors.New("message longer than the limit")

// lineReader splits a stream at newlines.
type lineReader struct {
	in   *bufio.Reader
	long []byte
	max  int
}

func newLineReader(in io.Reader, max int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, readBuffer), max: max}
}

// next returns the next line with its newline. The slice is valid until the next
// call. At the end of the stream it returns what follows the last newline, if
// anything, with io.EOF.
func (r *lineReader) next() ([]byte, error) {
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
func (r *lineReader) skip(err error) error {
	r.long = nil
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.in.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errLineTooLong
}
