package markdown

import (
	"bytes"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// locateYAML finds the lines of the key.
func (e *keyEditor) locateYAML() (err error) {
	defer func() {
		if recover() != nil {
			err = e.refuse(errParserBug.Error())
		}
	}()
	e.start, e.end, e.listIndent = len(e.inner), len(e.inner), "  "
	file, err := parseYAML(e.inner)
	if err != nil {
		return e.refuse(yamlError(err).Error())
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.NullType {
		return nil
	}
	var pairs []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		if body.IsFlowStyle {
			return e.refuse("front matter is written in braces; use replace_text")
		}
		pairs = body.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{body}
	default:
		return e.refuse("front matter is not a plain list of keys; use replace_text")
	}
	return e.locatePair(pairs)
}

// locatePair finds the lines of the key among those of the pairs.
func (e *keyEditor) locatePair(pairs []*ast.MappingValueNode) error {
	starts := lineStarts(e.inner)
	var reader yamlReader
	found := -1
	for i, pair := range pairs {
		token := pair.Key.GetToken()
		if token == nil || token.Position == nil || token.Position.Line > len(starts) {
			return e.refuse(errParserBug.Error())
		}
		if name, err := reader.key(pair.Key); err == nil && name == e.key {
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

// noteList takes over how lists are indented, the key's own, else the first in
// the block, and where the lines of the key's items start.
func (e *keyEditor) noteList(value ast.Node, own bool, starts []int) {
	list, ok := value.(*ast.SequenceNode)
	if !ok || list.IsFlowStyle || list.Start == nil || list.Start.Position == nil {
		return
	}
	if own || e.listIndent == "  " {
		e.listIndent = strings.Repeat(" ", max(0, list.Start.Position.Column-1-len(e.indent)))
	}
	if own {
		for _, item := range list.Entries {
			if item.Start == nil || item.Start.Position == nil || item.Start.Position.Line > len(starts) {
				e.items = nil
				return
			}
			e.items = append(e.items, starts[item.Start.Position.Line-1])
		}
	}
}

func (e *keyEditor) refuse(reason string) error {
	return &FrontMatterError{Key: e.key, Reason: reason}
}

func lineStarts(b []byte) []int {
	starts := []int{0}
	for i, c := range b {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// writeYAML returns the lines of the key with its new value, in the style of
// the old: its quotes, its brackets, and a comment after a value on one line.
func (e *keyEditor) writeYAML(value any) string {
	w := &yamlWriter{eol: e.eol, listIndent: e.listIndent}
	if e.exists {
		old := oldYAMLValue(e.inner[e.start:e.end])
		e.comment, w.quote, w.brackets = old.comment, old.quote, old.brackets
	}
	w.out.WriteString(e.indent)
	w.out.WriteString(yamlKey(e.key))
	w.out.WriteByte(':')
	w.value(value, e.indent, true)
	text := w.out.String()
	if !strings.Contains(text, e.eol) {
		text += e.comment
	}
	return text + e.eol
}

// yamlStyle is how a value on one line was written.
type yamlStyle struct {
	quote    byte // of a scalar, 0 without
	brackets bool
	comment  string // with the white space before it
}

// oldYAMLValue looks at the lines of an entry.
func oldYAMLValue(entry []byte) yamlStyle {
	var style yamlStyle
	lineEnd, next := lineAt(entry, 0)
	line := entry[:lineEnd]
	colon := bytes.Index(line, []byte(": "))
	if colon < 0 {
		return style
	}
	text := bytes.TrimLeft(line[colon+1:], " \t")
	if len(text) == 0 {
		return style
	}
	end := 0
	switch text[0] {
	case '"', '\'':
		style.quote = text[0]
		end = bytes.LastIndexByte(text, text[0])
	case '[':
		style.brackets = true
		end = bytes.LastIndexByte(text, ']')
	}
	if next < len(entry) || end < 0 {
		return style
	}
	if i := bytes.Index(text[end:], []byte(" #")); i >= 0 {
		rest := text[end:]
		style.comment = string(rest[len(bytes.TrimRight(rest[:i], " \t")):])
	}
	return style
}
