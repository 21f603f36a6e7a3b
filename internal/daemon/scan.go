package daemon

import (
	"bytes"
	"encoding/json"
	"iter"
)

// span is a half-open range of bytes within a line. The zero span means absent:
// no JSON value is empty.
type span struct{ from, to int }

func (s span) found() bool { return s.to > s.from }

func (s span) of(line []byte) []byte { return line[s.from:s.to] }

// message says where the members of a JSON-RPC message lie within its line.
// Values are never decoded and encoded again, so what is passed on keeps its
// exact bytes: the digits of numbers, the order of keys, escapes.
type message struct {
	id, method, params, result, failure span
}

// scan finds the members of the JSON-RPC message in line. It reports false when
// line does not hold one object. As in encoding/json, the last of several
// members of one name counts, and an explicit null is a value.
//
// scan does not validate: on a line that is not JSON it finds nothing, or
// something meaningless, but never reads outside the line.
func scan(line []byte) (message, bool) {
	var m message
	object := value(line, 0)
	if !object.found() || line[object.from] != '{' || skipSpace(line, object.to) != len(line) {
		return m, false
	}
	for name, at := range members(line, object) {
		switch {
		case named(name, "id"):
			m.id = at
		case named(name, "method"):
			m.method = at
		case named(name, "params"):
			m.params = at
		case named(name, "result"):
			m.result = at
		case named(name, "error"):
			m.failure = at
		}
	}
	return m, true
}

// lookup walks from the object at along the path of member names and returns
// the value there, or the zero span.
func lookup(line []byte, at span, path ...string) span {
	for _, want := range path {
		next := span{}
		for name, v := range members(line, at) {
			if named(name, want) {
				next = v
			}
		}
		if !next.found() {
			return span{}
		}
		at = next
	}
	return at
}

// members yields the raw key, quotes included, and the value of each member of
// the object at. It stops where the text stops being an object.
func members(line []byte, at span) iter.Seq2[[]byte, span] {
	return func(yield func([]byte, span) bool) {
		if !at.found() || line[at.from] != '{' {
			return
		}
		pos := at.from + 1
		for {
			key := value(line, pos)
			if !key.found() || line[key.from] != '"' {
				return
			}
			pos = skipSpace(line, key.to)
			if pos >= at.to || line[pos] != ':' {
				return
			}
			v := value(line, pos+1)
			if !v.found() || !yield(key.of(line), v) {
				return
			}
			pos = skipSpace(line, v.to)
			if pos >= at.to || line[pos] != ',' {
				return
			}
			pos++
		}
	}
}

// elements yields the elements of the array at.
func elements(line []byte, at span) iter.Seq[span] {
	return func(yield func(span) bool) {
		if !at.found() || line[at.from] != '[' {
			return
		}
		pos := at.from + 1
		for {
			v := value(line, pos)
			if !v.found() || !yield(v) {
				return
			}
			pos = skipSpace(line, v.to)
			if pos >= at.to || line[pos] != ',' {
				return
			}
			pos++
		}
	}
}

// value returns the span of the JSON value that starts at or after pos.
func value(line []byte, pos int) span {
	pos = skipSpace(line, pos)
	if pos >= len(line) {
		return span{}
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
		return span{}
	}
	return span{pos, end}
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

// skipString returns the position after the string that opens at pos, or 0 when
// it does not close. It jumps from quote to quote and from escape to escape,
// because most of a large message is the inside of a few long strings, and
// searches for the next quote only after an escape has consumed the last one
// found: each byte is searched once for either.
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

// skipContainer returns the position after the object or array that opens at
// pos, or 0 when it does not close. It counts brackets without telling the two
// kinds apart, which is exact on valid JSON.
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

// named reports whether the raw key, quotes included, spells name, with or
// without escapes.
func named(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1:len(key)-1]) == name
	}
	return text(key) == name
}

// text returns the string that a raw JSON string stands for, or "" when raw is
// not a string.
func text(raw []byte) string {
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
