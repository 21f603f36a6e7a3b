package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Hosts' JSON files belong to their users, who write comments into some of them
// and order them as they like. So an entry is put into the text, and what was
// there stays as it was, byte for byte.

// setJSONServer returns the text of a host's settings with the server as member
// `name` of the object `servers`. had is the entry that was there, nil if none;
// what it has beside the server's own members (environment, timeouts) stays.
func setJSONServer(text []byte, servers, name string, s server) (with, had []byte, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := scanObject(text, 0)
	if err != nil {
		return nil, nil, err
	}
	value, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	at, ok := root.member(servers)
	if !ok {
		inner, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return nil, nil, err
		}
		return root.insert(text, servers, inner), nil, nil
	}
	object, err := scanObject(text, at.value)
	if err != nil {
		return nil, nil, fmt.Errorf("%q: %w", servers, err)
	}
	old, ok := object.member(name)
	if !ok {
		return object.insert(text, name, value), nil, nil
	}
	if had, err = json.Marshal(decodeJSONC(text[old.value:old.end])); err != nil {
		return nil, nil, err
	}
	with, err = updateEntry(text, old, s)
	return with, had, err
}

// updateEntry gives an entry that is there the server's members.
func updateEntry(text []byte, entry member, s server) ([]byte, error) {
	if before, _ := decodeJSONC(text[entry.value:entry.end]).(map[string]any); !hasOthers(before) {
		return replaceEntry(text, entry, before, s)
	}
	for _, m := range s.members() {
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		object, err := scanObject(text, entry.value)
		if err != nil {
			return nil, err
		}
		old, ok := object.member(m.name)
		switch {
		case !ok:
			text = object.insert(text, m.name, value)
		case !reflect.DeepEqual(decodeJSONC(text[old.value:old.end]), decodeJSONC(value)):
			indented := indentJSON(value, lineIndent(text, old.key), indentUnit(text))
			text = slices.Concat(text[:old.value], indented, text[old.end:])
		}
	}
	return text, nil
}

// hasOthers reports whether an entry has members that are not a server's own.
func hasOthers(entry map[string]any) bool {
	own := map[string]bool{"type": true, "command": true, "args": true}
	for name := range entry {
		if !own[name] {
			return true
		}
	}
	return false
}

// replaceEntry lays an entry out anew, unless it says the same already.
func replaceEntry(text []byte, entry member, before map[string]any, s server) ([]byte, error) {
	value, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(any(before), decodeJSONC(value)) {
		return text, nil
	}
	indented := indentJSON(value, lineIndent(text, entry.key), indentUnit(text))
	return slices.Concat(text[:entry.value], indented, text[entry.end:]), nil
}

// object is where the members of an object stand in a text.
type object struct {
	start, end int // of { and }
	members    []member
	comma      bool // a comma follows the last member
}

type member struct {
	name            string
	key, value, end int // where the key and the value begin, and the value ends
}

func (o object) member(name string) (member, bool) {
	for _, m := range slices.Backward(o.members) { // of duplicates the last counts
		if m.name == name {
			return m, true
		}
	}
	return member{}, false
}

// insert adds a member at the end.
func (o object) insert(text []byte, name string, value []byte) []byte {
	quoted, _ := json.Marshal(name) // of a string
	outer, unit := lineIndent(text, o.start), indentUnit(text)
	indent := outer + unit
	at, lead := o.start+1, ""
	if n := len(o.members); n > 0 {
		at = o.members[n-1].end
		indent = lineIndent(text, o.members[0].key)
		if !o.comma {
			lead = ","
		} else {
			at = o.end - len(trailingSpace(text[:o.end]))
		}
	}
	added := lead + "\n" + indent + string(quoted) + ": " + string(indentJSON(value, indent, unit))
	rest := text[at:]
	if len(o.members) == 0 {
		added += "\n" + outer
		rest = bytes.TrimLeft(rest, " \t\r\n")
	}
	return slices.Concat(text[:at], []byte(added), rest)
}

func trailingSpace(text []byte) []byte { return text[len(bytes.TrimRight(text, " \t\r\n")):] }

// indentJSON lays a value out as a member of something indented by indent.
func indentJSON(value []byte, indent, unit string) []byte {
	var b bytes.Buffer
	if json.Indent(&b, value, indent, unit) != nil {
		return value
	}
	return b.Bytes()
}

var firstIndent = regexp.MustCompile(`\{\s*?\n(\t| {1,8})[^\s]`)

// indentUnit is what a text indents by: as its first member does.
func indentUnit(text []byte) string {
	if m := firstIndent.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "  "
}

// lineIndent is the white space at the beginning of the line of at.
func lineIndent(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

var errNotObject = errors.New("it is not a JSON object")

// scanObject finds the members of the object that begins at or after from. It
// knows the comments and trailing commas of JSONC.
func scanObject(text []byte, from int) (object, error) {
	s := jsonScanner{text: text, at: from}
	if from == 0 {
		s.at = len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	}
	s.space()
	o := object{start: s.at}
	if !s.take('{') {
		return o, errNotObject
	}
	for {
		s.space()
		if s.take('}') {
			o.end = s.at - 1
			return o, s.endOf(from)
		}
		if len(o.members) > 0 && !o.comma {
			return o, s.errorf("a comma is missing")
		}
		m := member{key: s.at}
		var err error
		if m.name, err = s.name(); err != nil {
			return o, err
		}
		s.space()
		if !s.take(':') {
			return o, s.errorf("a colon is missing")
		}
		s.space()
		m.value = s.at
		if err := s.skip(); err != nil {
			return o, err
		}
		m.end = s.at
		o.members = append(o.members, m)
		s.space()
		o.comma = s.take(',')
	}
}

// jsonScanner walks over JSONC.
type jsonScanner struct {
	text []byte
	at   int
}

func (s *jsonScanner) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(s.text[:min(s.at, len(s.text))], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

func (s *jsonScanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// space skips white space and comments.
func (s *jsonScanner) space() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			s.at += until(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			s.at += until(rest, "*/")
		default:
			return
		}
	}
}

// until is the length of text up to and with end, or all of it.
func until(text []byte, end string) int {
	if i := bytes.Index(text, []byte(end)); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

func (s *jsonScanner) name() (string, error) {
	start := s.at
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return "", s.errorf("a name in quotes is missing")
	}
	if err := s.skip(); err != nil {
		return "", err
	}
	var name string
	if json.Unmarshal(s.text[start:s.at], &name) != nil {
		return "", s.errorf("a name is malformed")
	}
	return name, nil
}

// skip passes over one value.
func (s *jsonScanner) skip() error {
	depth := 0
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			if !s.string() {
				return s.errorf("a string does not end")
			}
		case c == '{' || c == '[':
			depth++
			s.at++
			s.space()
			continue
		case c == '}' || c == ']':
			depth--
			s.at++
		case depth > 0 && (c == ',' || c == ':'):
			s.at++
			s.space()
			continue
		default:
			if !s.literal() {
				return s.errorf("a value is malformed")
			}
		}
		if depth <= 0 {
			return nil
		}
		s.space()
	}
	return s.errorf("the end is missing")
}

func (s *jsonScanner) string() bool {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		case '\n':
			return false
		}
	}
	return false
}

// literal passes over a number, true, false or null.
func (s *jsonScanner) literal() bool {
	start := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", s.text[s.at]) >= 0 {
		s.at++
	}
	return s.at > start
}

// endOf reports what follows a document, which is nothing.
func (s *jsonScanner) endOf(from int) error {
	if from > 0 {
		return nil
	}
	s.space()
	if s.at < len(s.text) {
		return s.errorf("something follows the end")
	}
	return nil
}

// decodeJSONC decodes JSON with comments and trailing commas; nil when it is
// malformed.
func decodeJSONC(text []byte) any {
	s := jsonScanner{text: text}
	var plain []byte
	for {
		s.space()
		if s.at >= len(text) {
			break
		}
		start := s.at
		if text[s.at] == '"' {
			s.string()
		} else {
			s.at++
		}
		if c := text[start]; (c == '}' || c == ']') && len(plain) > 0 && plain[len(plain)-1] == ',' {
			plain = plain[:len(plain)-1]
		}
		plain = append(plain, text[start:min(s.at, len(text))]...)
	}
	var v any
	if json.Unmarshal(bytes.TrimPrefix(plain, []byte("\ufeff")), &v) != nil {
		return nil
	}
	return v
}
