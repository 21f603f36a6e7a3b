package markdown

import (
	"bytes"
	"slices"
)

// htmlEnd is the end condition of an HTML block. The numbers in the comments refer to
// the conditions in CommonMark 0.31, section 4.6.
type htmlEnd uint8

const (
	htmlNone        htmlEnd = iota
	htmlRaw                 // 1: <script>, <pre>, <style>, <textarea>
	htmlComment             // 2
	htmlInstruction         // 3: <?
	htmlDeclaration         // 4: <!X
	htmlCDATA               // 5
	htmlBlank               // 6 and 7: a blank line
)

var rawElements = []string{"script", "pre", "style", "textarea"}

var blockElements = func() map[string]bool {
	names := "address article aside base basefont blockquote body caption center col colgroup dd details dialog " +
		"dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html " +
		"iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary " +
		"table tbody td tfoot th thead title tr track ul"
	set := map[string]bool{}
	for _, name := range bytes.Fields([]byte(names)) {
		set[string(name)] = true
	}
	return set
}()

// htmlBlock returns the end condition of the HTML block that line starts, or htmlNone.
func htmlBlock(line []byte, interrupts bool) htmlEnd {
	rest := line[1:]
	switch {
	case bytes.HasPrefix(rest, []byte("!--")):
		return htmlComment
	case bytes.HasPrefix(rest, []byte("?")):
		return htmlInstruction
	case bytes.HasPrefix(rest, []byte("![CDATA[")):
		return htmlCDATA
	case len(rest) > 1 && rest[0] == '!' && isLetter(rest[1]):
		return htmlDeclaration
	}
	closing := len(rest) > 0 && rest[0] == '/'
	if closing {
		rest = rest[1:]
	}
	name := elementName(rest)
	after := byte(' ')
	if len(name) < len(rest) {
		after = rest[len(name)]
	}
	delimited := after == ' ' || after == '\t' || after == '>'
	lower := string(bytes.ToLower(name[:min(len(name), 16)]))
	if !closing && delimited && slices.Contains(rawElements, lower) {
		return htmlRaw
	}
	if blockElements[lower] && (delimited || bytes.HasPrefix(rest[len(name):], []byte("/>"))) {
		return htmlBlank
	}
	if interrupts || len(name) == 0 {
		return htmlNone
	}
	if n := htmlTag(line); n > 0 && len(bytes.Trim(line[n:], " \t")) == 0 {
		return htmlBlank
	}
	return htmlNone
}

// startHTML opens an HTML block, which may end on the same line.
func (s *scanner) startHTML(end htmlEnd, line []byte) {
	s.startLeaf(leafHTML)
	s.htmlEnd = end
	if end == htmlComment {
		line = line[2:] // "<!-->" and "<!--->" are whole comments
	}
	if endsHTML(end, line) {
		s.endLeaf()
	}
}

// continueHTML handles a line inside an HTML block and reports whether it is part of
// the block.
func (s *scanner) continueHTML() bool {
	if s.htmlEnd == htmlBlank {
		if _, next := s.indent(); next >= s.lineEnd {
			s.closeLeaf()
			return false
		}
		return true
	}
	if endsHTML(s.htmlEnd, s.src[s.pos:s.lineEnd]) {
		s.endLeaf()
	}
	return true
}

func endsHTML(end htmlEnd, line []byte) bool {
	switch end {
	case htmlComment:
		return bytes.Contains(line, []byte("-->"))
	case htmlInstruction:
		return bytes.Contains(line, []byte("?>"))
	case htmlDeclaration:
		return bytes.IndexByte(line, '>') >= 0
	case htmlCDATA:
		return bytes.Contains(line, []byte("]]>"))
	case htmlRaw:
		return endsRawElement(line)
	}
	return false
}

func endsRawElement(line []byte) bool {
	for {
		i := bytes.Index(line, []byte("</"))
		if i < 0 {
			return false
		}
		line = line[i+2:]
		for _, raw := range rawElements {
			if len(line) > len(raw) && line[len(raw)] == '>' && bytes.EqualFold(line[:len(raw)], []byte(raw)) {
				return true
			}
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func elementName(b []byte) []byte {
	n := 0
	for n < len(b) && (isLetter(b[n]) || n > 0 && (isDigit(b[n]) || b[n] == '-')) {
		n++
	}
	return b[:n]
}

// htmlTag returns the length of the complete open or closing tag at the start of b, or
// 0. b must start with '<'.
func htmlTag(b []byte) int {
	if len(b) > 1 && b[1] == '/' {
		name := elementName(b[2:])
		i := skipSpace(b, 2+len(name))
		if len(name) == 0 || i >= len(b) || b[i] != '>' {
			return 0
		}
		return i + 1
	}
	name := elementName(b[1:])
	if len(name) == 0 {
		return 0
	}
	i := 1 + len(name)
	for {
		next := skipSpace(b, i)
		if next >= len(b) {
			return 0
		}
		if b[next] == '>' {
			return next + 1
		}
		if b[next] == '/' {
			if next+1 < len(b) && b[next+1] == '>' {
				return next + 2
			}
			return 0
		}
		if next == i {
			return 0
		}
		if i = htmlAttribute(b, next); i == 0 {
			return 0
		}
	}
}

// htmlAttribute returns the end of the attribute at i, or 0 if there is none.
func htmlAttribute(b []byte, i int) int {
	start := i
	for i < len(b) && (isLetter(b[i]) || b[i] == '_' || b[i] == ':' || i > start && (isDigit(b[i]) || b[i] == '.' || b[i] == '-')) {
		i++
	}
	if i == start {
		return 0
	}
	equals := skipSpace(b, i)
	if equals >= len(b) || b[equals] != '=' {
		return i
	}
	i = skipSpace(b, equals+1)
	if i >= len(b) {
		return 0
	}
	if quote := b[i]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(b[i+1:], quote)
		if end < 0 {
			return 0
		}
		return i + 1 + end + 1
	}
	start = i
	for i < len(b) && !bytes.ContainsRune([]byte(" \t\r\n\"'=<>`"), rune(b[i])) {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
