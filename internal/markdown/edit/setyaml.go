package edit

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"notesd/internal/markdown"
)

// locateYAML finds the lines of the key. A panic caused by an unexpected syntax tree of
// the library becomes an error.
func (e *keyEditor) locateYAML() (err error) {
	defer func() {
		if recover() != nil {
			err = e.refuse(markdown.ErrParser.Error())
		}
	}()
	e.start, e.end, e.listIndent = len(e.inner), len(e.inner), "  "
	file, err := markdown.ParseYAML(e.inner)
	if err != nil {
		return e.refuse(markdown.YAMLError(err).Error())
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.NullType {
		return nil
	}
	body, ok := file.Docs[0].Body.(*ast.MappingNode)
	switch {
	case !ok:
		return e.refuse("front matter is not a plain list of keys; use replace_text")
	case body.IsFlowStyle:
		return e.refuse("front matter is written in braces; use replace_text")
	}
	return e.locatePair(body.Values)
}

// locatePair finds the lines of the key among the pairs of the block.
func (e *keyEditor) locatePair(pairs []*ast.MappingValueNode) error {
	starts := markdown.LineStarts(e.inner)
	var reader markdown.YAMLReader
	found := -1
	for i, pair := range pairs {
		if name, err := reader.Key(pair.Key); err == nil && name == e.key {
			if _, merge := pair.Key.(*ast.MergeKeyNode); merge || found >= 0 {
				return e.refuse("it is ambiguous")
			}
			found = i
		}
		e.noteList(pair.Value, found == i, starts)
	}
	lineOfPair := func(i int) int { return starts[pairs[i].Key.GetToken().Position.Line-1] }
	first := e.inner[lineOfPair(0):]
	e.indent = string(first[:len(first)-len(bytes.TrimLeft(first, " "))])
	if found < 0 {
		return nil
	}
	e.exists = true
	e.start = lineOfPair(found)
	if found+1 < len(pairs) {
		e.end = lineOfPair(found + 1)
	}
	e.trimEntry()
	if e.end <= e.start {
		return e.refuse("it shares its line with another key; use replace_text")
	}
	return nil
}

// noteList records the indentation of lists, preferring the key's own list to the first
// one in the block, and the starts of the lines of the key's items.
func (e *keyEditor) noteList(value ast.Node, own bool, starts []int) {
	list, ok := value.(*ast.SequenceNode)
	if !ok || list.IsFlowStyle {
		return
	}
	if own || e.listIndent == "  " {
		e.listIndent = strings.Repeat(" ", max(0, list.Start.Position.Column-1-len(e.indent)))
	}
	if own {
		for _, item := range list.Entries {
			e.items = append(e.items, starts[item.Start.Position.Line-1])
		}
	}
}

func (e *keyEditor) refuse(reason string) error {
	return &FrontMatterError{Key: e.key, Reason: reason}
}

// writeYAML returns the lines of the key with its new value. It keeps the style of the
// old entry: the spelling of the key, quotes, brackets and the comment on its line.
func (e *keyEditor) writeYAML(value any) string {
	w := &yamlWriter{eol: e.eol, listIndent: e.listIndent}
	key := e.indent + yamlKey(e.key) + ":"
	if e.exists {
		if old, ok := oldYAMLEntry(e.inner[e.start:e.end]); ok {
			key, e.comment, w.quote, w.brackets = old.key, old.comment, old.quote, old.brackets
		}
	}
	w.value(value, e.indent, true)
	firstLine, rest, several := strings.Cut(w.out.String(), e.eol)
	if several {
		rest = e.eol + rest
	}
	return key + firstLine + e.comment + rest + e.eol
}

// yamlStyle is the style of an entry.
type yamlStyle struct {
	key      string // with its indentation and colon
	quote    byte   // quote of a scalar, or 0
	brackets bool
	comment  string // with the white space before it
}

// oldYAMLEntry returns the style of an entry. It reports false if the entry does not
// start with a key and a colon.
func oldYAMLEntry(entry []byte) (style yamlStyle, ok bool) {
	colon := yamlColon(entry)
	if colon < 0 {
		return style, false
	}
	style.key = string(entry[:colon+1])
	lineEnd, _ := markdown.LineAt(entry, colon)
	start := colon + 1
	for start < lineEnd && (entry[start] == ' ' || entry[start] == '\t') {
		start++
	}
	end := start // end of the value
	switch {
	case start == lineEnd || entry[start] == '#':
		end = colon + 1
	case entry[start] == '"' || entry[start] == '\'':
		style.quote = entry[start]
		end = yamlQuoteEnd(entry, start)
	case entry[start] == '[' || entry[start] == '{':
		style.brackets = entry[start] == '['
		end = yamlFlowEnd(entry, start)
	case bytes.IndexByte([]byte("&!*|>"), entry[start]) >= 0:
		return style, true // the text may contain what looks like a comment
	default:
		for end < lineEnd && !startsYAMLComment(entry, end) {
			end++
		}
		if rest := bytes.TrimSpace(entry[lineEnd:]); len(rest) > 0 && rest[0] != '#' {
			return style, true // the text continues below, and a comment with it
		}
	}
	lineEnd, _ = markdown.LineAt(entry, end)
	if rest := entry[end:lineEnd]; startsYAMLComment(bytes.TrimLeft(rest, " \t"), 0) && len(rest) > 0 && rest[0] != '#' {
		style.comment = string(rest)
	}
	return style, true
}

// startsYAMLComment reports whether b[i:] is white space and a comment, or a
// comment at the start of b.
func startsYAMLComment(b []byte, i int) bool {
	rest := bytes.TrimLeft(b[i:], " \t")
	return len(rest) > 0 && rest[0] == '#' && (i == 0 || len(rest) < len(b)-i)
}

// yamlColon returns the offset of the colon after the key of an entry, or -1.
func yamlColon(entry []byte) int {
	lineEnd, _ := markdown.LineAt(entry, 0)
	i := 0
	for i < lineEnd && entry[i] == ' ' {
		i++
	}
	if i < lineEnd && (entry[i] == '"' || entry[i] == '\'') {
		i = yamlQuoteEnd(entry[:lineEnd], i)
	} else if i < lineEnd && bytes.IndexByte([]byte("?&!*[{"), entry[i]) >= 0 {
		return -1
	}
	for ; i < lineEnd; i++ {
		if entry[i] == ':' && (i+1 == lineEnd || entry[i+1] == ' ' || entry[i+1] == '\t') {
			return i
		}
	}
	return -1
}

// yamlQuoteEnd returns the offset after the quoted text at i.
func yamlQuoteEnd(b []byte, i int) int {
	quote := b[i]
	for i++; i < len(b); i++ {
		switch {
		case b[i] == '\\' && quote == '"':
			i++
		case b[i] != quote:
		case quote == '\'' && i+1 < len(b) && b[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(b)
}

// yamlFlowEnd returns the offset after the list or map in brackets at i.
func yamlFlowEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case (c == '"' || c == '\'') && (markdown.StartsValue(b[:i]) || bytes.HasSuffix(bytes.TrimRight(b[:i], " \t"), []byte("\n"))):
			i = yamlQuoteEnd(b, i)
			continue
		case c == '#' && (b[i-1] == ' ' || b[i-1] == '\t' || b[i-1] == '\n'):
			i, _ = markdown.LineAt(b, i)
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
