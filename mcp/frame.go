package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"sync"
)

// errLineTooLong is a line of more bytes than the connection accepts. The rest
// of the line has been skipped, so that reading can go on with the next.
var errLineTooLong = errors.New("line too long")

// A frameReader splits a byte stream into lines, one JSON text each.
type frameReader struct {
	r     *bufio.Reader
	max   int
	begun bool // a line has been read
}

// byteOrderMark is what some programs on Windows begin every stream with.
var byteOrderMark = []byte("\uFEFF")

func newFrameReader(r io.Reader, max int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// next returns the next line that is not blank, without its line ending; the
// bytes are the caller's to keep. A last line without a newline counts. For
// errLineTooLong the returned bytes are the end of the line that was skipped.
func (f *frameReader) next() ([]byte, error) {
	for {
		line, err := f.readLine()
		if err != nil {
			return line, err
		}
		if !f.begun {
			line, f.begun = bytes.TrimPrefix(line, byteOrderMark), true
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (f *frameReader) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		if len(line)+len(part) > f.max+len("\r\n") {
			return f.skipLine(part, err)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}

// skipLine reads on to the end of the line and returns its last bytes, in which
// the request's id may be found.
func (f *frameReader) skipLine(part []byte, err error) ([]byte, error) {
	const tail = 1 << 10
	var last []byte
	for {
		last = append(last, part...)
		if len(last) > tail {
			last = append([]byte(nil), last[len(last)-tail:]...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return bytes.TrimSpace(last), errLineTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		part, err = f.r.ReadSlice('\n')
	}
}

// lastID finds the id of a request in the end of its line: most clients write
// it last or last but one. A quote within a JSON string is escaped, and one
// closing brace belongs to the outermost object, so a match cannot come from
// the request's parameters.
var lastID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[,{]\s*"id"\s*:\s*(-?[0-9]{1,16}|"[^"\\]{1,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?}$`)
})

// salvageID returns the id of the request that ends with tail, or nil.
func salvageID(tail []byte) json.RawMessage {
	if m := lastID().FindSubmatch(tail); m != nil {
		return bytes.Clone(m[1])
	}
	return nil
}

// deeperThan reports whether the JSON text nests objects and arrays more than
// max levels deep. It runs before any parser that recurses.
func deeperThan(data []byte, max int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > max {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
