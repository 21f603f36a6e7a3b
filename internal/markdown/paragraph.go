package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/markdown/tasks"
)

// maxTaskMark is an upper bound on the length of a task's mark in bytes.
const maxTaskMark = 24

// closeParagraph reads the links, tags, task and block id of the paragraph that
// ended.
func (s *scanner) closeParagraph() {
	p := &s.paragraph
	first := s.properties
	s.properties = false
	whole := p.span
	s.readDefinitions()
	if p.start >= p.end {
		s.finishBlock(p.end)
		return
	}
	if p.opensItem && p.start == whole.start {
		if mark, _, _ := tasks.Marked(string(s.src[p.start:min(p.end, p.start+maxTaskMark)])); mark != "" {
			s.doc.Tasks = append(s.doc.Tasks, tasks.Place{Line: p.line, Start: p.start, End: p.end})
		}
	}
	if first && len(s.containers) == 0 {
		s.readProperties(p.start, p.end)
	}
	s.inline.scan(p.start, p.end, p.line)
	s.addBlock()
}

// addBlock records the block id at the end of the paragraph. An id on its own names
// the block before it.
func (s *scanner) addBlock() {
	p := &s.paragraph
	id, at := BlockID(s.src[p.lastStart:p.end])
	if id == "" {
		s.finishBlock(p.end)
		return
	}
	if at == 0 && p.lastStart == p.start {
		if s.previous.end > 0 && s.previous.containers >= len(s.containers) {
			b := s.previous
			s.doc.Blocks = append(s.doc.Blocks, Block{
				ID: id, Line: b.line, Start: b.start, End: p.end, lineStart: b.lineStart, itemEnd: p.end,
			})
			s.previous.list = 0 // an item below begins another list
		}
		return
	}
	b := Block{ID: id, Line: p.line, Start: p.start, End: p.end, lineStart: p.lineStart}
	if b.item = p.opensItem; !b.item {
		b.itemEnd = p.end
	}
	s.doc.Blocks = append(s.doc.Blocks, b)
	s.finishBlock(p.end)
}

// BlockID returns the block id at the end of line, without '^', and the offset of
// the '^'. The id is "" if there is none.
func BlockID(line []byte) (string, int) {
	line = bytes.TrimRight(line, " \t")
	at := bytes.LastIndexByte(line, '^')
	if at < 0 || !isBlockID(line[at+1:]) || at > 0 && line[at-1] != ' ' && line[at-1] != '\t' {
		return "", 0
	}
	return string(line[at+1:]), at
}

// readProperties reads tags, aliases and title from Logseq's page properties: lines
// "key:: value" in the first paragraph of a note.
func (s *scanner) readProperties(pos, paragraphEnd int) {
	for pos < paragraphEnd {
		end, next := LineAt(s.src[:paragraphEnd], pos)
		line, lineStart := s.src[pos:end], pos
		pos = next
		i := bytes.Index(line, []byte("::"))
		if i <= 0 || bytes.ContainsAny(line[:i], " \t:`[(") {
			return
		}
		value := strings.TrimSpace(string(line[i+2:]))
		if value != "" && line[i+2] != ' ' && line[i+2] != '\t' { // such as std::vector
			return
		}
		s.doc.PropertiesEnd = pos
		switch strings.ToLower(string(line[:i])) {
		case "tags", "tag":
			for _, item := range propertyItems(line[i+2:]) {
				start, end := lineStart+i+2+item.start, lineStart+i+2+item.end
				s.inline.tags.add(string(s.src[start:end]))
				s.doc.InlineTags = append(s.doc.InlineTags, InlineTag{Start: start, End: end, Property: true})
			}
		case "alias", "aliases":
			for _, item := range propertyItems(line[i+2:]) {
				addAlias(s.doc, string(line[i+2+item.start:i+2+item.end]))
			}
		case "title":
			if s.doc.Title == "" {
				s.doc.Title = cut(NFC(value))
			}
		}
	}
}

// propertyItem matches an item of a property: a page reference, a tag, or text
// between commas. Logseq requires no commas between the first two.
var propertyItem = regexp.MustCompile(`#*\[\[([^\[\]]+)\]\]|#+([^\s,#]+)|([^\s,#](?:[^,]*[^\s,])?)`)

// propertyItems returns the spans of the items in a property's value, without '#' and
// brackets.
func propertyItems(value []byte) []span {
	var items []span
	for _, m := range propertyItem.FindAllSubmatchIndex(value, -1) {
		for ; m[2] < 0; m = m[2:] {
		}
		items = append(items, span{start: m[2], end: m[3]})
	}
	return items
}

// addAlias adds an alias unless the document already has it.
func addAlias(doc *Document, alias string) {
	alias = cut(NFC(strings.TrimSpace(alias)))
	if alias != "" && !slices.Contains(doc.Aliases, alias) {
		doc.Aliases = append(doc.Aliases, alias)
	}
}
