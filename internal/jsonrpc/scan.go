package jsonrpc

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Span is a half-open range of bytes within a line. The zero span means absent, because
// no JSON value is empty.
type Span struct{ From, To int }

// Found reports whether the value is present.
func (s Span) Found() bool { return s.To > s.From }

// Of returns the bytes of line in the range.
func (s Span) Of(line []byte) []byte { return line[s.From:s.To] }

// Message holds the positions of the members of a JSON-RPC message within its line.
// Values are never decoded and encoded again, so forwarded messages keep their exact
// bytes: the digits of numbers, the order of keys, escapes.
type Message struct {
	ID, Method, Params, Result Span
	Failure                    Span // the member "error"
}

// Scan finds the members of the JSON-RPC message in line. It returns false if line is not
// a single object. As in encoding/json, the last of several members with the same name
// wins, and an explicit null is a value.
//
// Scan does not validate: on a line that is not JSON the result is unspecified, but it
// never reads outside the line.
func Scan(line []byte) (Message, bool) {
	var m Message
	object := Value(line, 0)
	if !object.Found() || line[object.From] != '{' || skipSpace(line, object.To) != len(line) {
		return m, false
	}
	for name, at := range members(line, object) {
		switch {
		case named(name, "id"):
			m.ID = at
		case named(name, "method"):
			m.Method = at
		case named(name, "params"):
			m.Params = at
		case named(name, "result"):
			m.Result = at
		case named(name, "error"):
			m.Failure = at
		}
	}
	return m, true
}

// Lookup follows the path of member names from the object at and returns the value found,
// or the zero span.
func Lookup(line []byte, at Span, path ...string) Span {
	for _, want := range path {
		next := Span{}
		for name, v := range members(line, at) {
			if named(name, want) {
				next = v
			}
		}
		if !next.Found() {
			return Span{}
		}
		at = next
	}
	return at
}

// members yields the raw key, including quotes, and the value of each member of the
// object at. It stops where the text is not a valid object. It cannot leave the object,
// whose last byte is a bracket: a key, a value and the space around them end before it, as
// brackets and strings in them are skipped in the same way as in the object.
func members(line []byte, at Span) iter.Seq2[[]byte, Span] {
	return func(yield func([]byte, Span) bool) {
		if !at.Found() || line[at.From] != '{' {
			return
		}
		pos := at.From + 1
		for {
			key := Value(line, pos)
			if !key.Found() || line[key.From] != '"' {
				return
			}
			pos = skipSpace(line, key.To)
			if line[pos] != ':' {
				return
			}
			v := Value(line, pos+1)
			if !v.Found() || !yield(key.Of(line), v) {
				return
			}
			pos = skipSpace(line, v.To)
			if line[pos] != ',' {
				return
			}
			pos++
		}
	}
}

// Value returns the span of the JSON value that starts at or after pos.
func Value(line []byte, pos int) Span {
	pos = skipSpace(line, pos)
	if pos >= len(line) {
		return Span{}
	}
	var end int
	switch line[pos] {
	case '"':
		end = skipString(line, pos)
	case '{', '[':
		end = skipContainer(line, pos)
	default:
		end = pos
		for end < len(line) && !isDelimiter(line[end]) {
			end++
		}
	}
	if end <= pos {
		return Span{}
	}
	return Span{pos, end}
}

func skipSpace(line []byte, pos int) int {
	for pos < len(line) && isSpace(line[pos]) {
		pos++
	}
	return pos
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func isDelimiter(c byte) bool {
	return isSpace(c) || c == ',' || c == ':' || c == '}' || c == ']' || c == '{' || c == '[' || c == '"'
}

// skipString returns the position after the string that starts at pos, or 0 if it does
// not end. It jumps from quote to quote and from escape to escape, because most of a
// large message is the inside of a few long strings. It searches for the next quote only
// after an escape has consumed the last one found, so each byte is searched once for
// either.
func skipString(line []byte, pos int) int {
	pos++
	for quote := -1; ; {
		if quote < pos {
			next := bytes.IndexByte(line[pos:], '"')
			if next < 0 {
				return 0
			}
			quote = pos + next
		}
		escape := bytes.IndexByte(line[pos:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		pos += escape + 2
		if pos > len(line) {
			return 0
		}
	}
}

// skipContainer returns the position after the object or array that starts at pos, or 0
// if it does not end. It counts brackets without distinguishing the two kinds, which is
// exact for valid JSON.
func skipContainer(line []byte, pos int) int {
	depth := 0
	for pos < len(line) {
		switch line[pos] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return pos + 1
			}
		case '"':
			if pos = skipString(line, pos); pos == 0 {
				return 0
			}
			continue
		}
		pos++
	}
	return 0
}

// named reports whether the raw key, including quotes, is name, with or without escapes.
func named(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1:len(key)-1]) == name
	}
	return Text(key) == name
}

// Text returns the value of a raw JSON string, or "" if raw is not a string.
func Text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
