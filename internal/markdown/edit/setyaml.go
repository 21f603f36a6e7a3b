package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

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
	e.lines = markdown.LineStarts(e.inner)
	lineOfPair := func(i int) int { return e.lines[pairs[i].Key.GetToken().Position.Line-1] }
	e.indent = leadingSpace(e.inner[lineOfPair(0):])
	found := -1
	for i, pair := range pairs {
		if name, err := markdown.YAMLKey(pair.Key); err == nil && name == e.key {
			if _, merge := pair.Key.(*ast.MergeKeyNode); merge {
				return e.refuse("it is ambiguous")
			}
			found = i
		}
		// The key's own list takes precedence over the first one in the block.
		if list, ok := pair.Value.(*ast.SequenceNode); ok && !list.IsFlowStyle && (found == i || e.listIndent == "  ") {
			e.listIndent = strings.Repeat(" ", max(0, list.Start.Position.Column-1-len(e.indent)))
		}
	}
	if found < 0 {
		return nil
	}
	e.start = lineOfPair(found)
	if found+1 < len(pairs) {
		e.end = lineOfPair(found + 1)
	}
	e.trimEntry()
	e.readStyle(pairs[found])
	return nil
}

func (e *keyEditor) refuse(reason string) error {
	return &FrontMatterError{Key: e.key, Reason: reason}
}

// readStyle records how the entry is written: the spelling of the key, quotes, brackets,
// the items of a list, and the comment after the value.
func (e *keyEditor) readStyle(pair *ast.MappingValueNode) {
	colon := e.offset(pair.Start)
	if colon < e.start {
		return
	}
	e.name = string(e.inner[e.start : colon+1])
	lineEnd, _ := markdown.LineAt(e.inner, colon)
	if rest := e.inner[colon+1 : lineEnd]; bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("#")) {
		e.comment = string(rest)
	}
	last := pair.Start.Next // a token of the value, after which its comment follows
	switch v := pair.Value.(type) {
	case *ast.SequenceNode:
		if e.brackets = v.IsFlowStyle; !e.brackets {
			e.findLineItems(v)
			return
		}
		last = v.End
		e.findFlowItems(v.Start)
	case *ast.MappingNode:
		e.readKeys(v)
		if e.brackets = v.IsFlowStyle; !e.brackets {
			e.findLinesOfKeys(v)
			return
		}
		last = v.End
		e.findFlowItems(v.Start)
	case *ast.StringNode:
		switch v.Token.Type {
		case token.SingleQuoteType:
			e.quote = '\''
		case token.DoubleQuoteType:
			e.quote = '"'
		}
	case *ast.LiteralNode:
		if v.Start.Type == token.LiteralType {
			e.quote = '|'
		}
	}
	for t := last; e.comment == "" && t != nil && e.lines[t.Position.Line-1] < e.end; t = t.Next {
		if t.Type == token.CommentType {
			e.comment = e.commentAfterText(t)
		}
	}
}

// commentAfterText returns a comment with the white space before it, or "" if it is alone
// on its line.
func (e *keyEditor) commentAfterText(t *token.Token) string {
	start := e.lines[t.Position.Line-1]
	end, _ := markdown.LineAt(e.inner, start)
	text := bytes.TrimRight(e.inner[start:start+max(0, bytes.LastIndex(e.inner[start:end], []byte("#"+t.Value)))], " \t")
	if len(text) == 0 {
		return ""
	}
	return string(e.inner[start+len(text) : end])
}

// offset returns the offset of a token of one character, or -1 if it is not there: the
// library miscounts some columns after tabs.
func (e *keyEditor) offset(t *token.Token) int {
	if t == nil {
		return -1
	}
	at := e.lines[t.Position.Line-1]
	for range t.Position.Column - 1 {
		_, n := utf8.DecodeRune(e.inner[at:])
		at += n
	}
	if !bytes.HasPrefix(e.inner[at:], []byte(t.Value)) {
		return -1
	}
	return at
}

// addLines records the lines of an item, from the given one on, with the comments above it
// and the one beside mark, its '-' or ':'. Those above the first item stay where they are.
func (e *keyEditor) addLines(line int, mark *token.Token) {
	start := e.lines[line]
	item := place{start, e.end}
	if n := len(e.items); n > 0 {
		indent := leadingSpace(e.inner[start:])
		for ; e.isComment(line-1, len(indent)); line-- {
			item.start = e.lines[line-1]
		}
		e.items[n-1].end = item.start
	}
	e.items = append(e.items, item)
	tail := ""
	for t := mark.Next; tail == "" && t != nil && t.Position.Line == mark.Position.Line; t = t.Next {
		if t.Type == token.CommentType {
			tail = e.commentAfterText(t)
		}
	}
	e.leads, e.tails = append(e.leads, start-item.start), append(e.tails, tail)
}

// isComment reports whether a line is a comment. With more than indent, it could be text of a
// block scalar.
func (e *keyEditor) isComment(line, indent int) bool {
	text := e.inner[e.lines[line]:]
	space := leadingSpace(text)
	return len(space) <= indent && text[len(space)] == '#'
}

// findLineItems records the lines of the items of a list.
func (e *keyEditor) findLineItems(list *ast.SequenceNode) {
	for _, item := range list.Entries {
		e.addLines(item.Start.Position.Line-1, item.Start)
	}
	e.itemText = func(item any) string {
		w := &yamlWriter{eol: e.eol, listIndent: e.listIndent}
		w.value(item, e.indent+e.listIndent, false)
		return e.indent + e.listIndent + "-" + w.out.String() + e.eol
	}
}

// readKeys records the keys of a map, none if one of them is not plain text.
func (e *keyEditor) readKeys(m *ast.MappingNode) {
	for _, pair := range m.Values {
		text, ok := pair.Key.(*ast.StringNode)
		if !ok {
			e.keys = nil
			return
		}
		e.keys = append(e.keys, text.Value)
	}
}

// findLinesOfKeys records the lines of the keys of a map without braces.
func (e *keyEditor) findLinesOfKeys(m *ast.MappingNode) {
	if len(e.keys) == 0 {
		return
	}
	for _, pair := range m.Values {
		e.addLines(pair.Key.GetToken().Position.Line-1, pair.Start)
	}
	indent := leadingSpace(e.inner[e.items[0].start:])
	e.itemText = func(item any) string {
		w, m := &yamlWriter{eol: e.eol, listIndent: e.listIndent}, item.(mapItem)
		w.value(m.value, indent, true)
		return indent + yamlKey(m.key) + ":" + w.out.String() + e.eol
	}
}

// findFlowItems records the items of a list in brackets or a map in braces.
func (e *keyEditor) findFlowItems(opening *token.Token) {
	e.itemText, e.separator = flowYAML, ", "
	start, depth, found := e.offset(opening)+1, 0, true
	for t := opening.Next; ; t = t.Next {
		switch t.Type {
		case token.CommentType:
			e.innerComments = true
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth == 0 && t.Type == token.CollectEntryType || depth < 0 {
			end := e.offset(t)
			if found = found && 0 < start && start <= end; found {
				text := bytes.TrimSpace(e.inner[start:end])
				if at := start + bytes.Index(e.inner[start:end], text); len(text) > 0 {
					e.items = append(e.items, place{at, at + len(text)})
				}
			}
			start = end + 1
		}
		if depth < 0 {
			break
		}
	}
	if !found {
		e.items = nil
	}
}

// writeYAML returns the lines of the key with its new value, in the style of the old
// entry.
func (e *keyEditor) writeYAML(value any) string {
	name := e.name
	if name == "" {
		name = e.indent + yamlKey(e.key) + ":"
	}
	w := &yamlWriter{eol: e.eol, listIndent: e.listIndent, quote: e.quote, brackets: e.brackets}
	w.value(value, e.indent, true)
	firstLine, rest, several := strings.Cut(w.out.String(), e.eol)
	if several {
		rest = e.eol + rest
	}
	return name + firstLine + e.comment + rest + e.eol
}
