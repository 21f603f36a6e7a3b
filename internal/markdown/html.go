package markdown

import (
	"bytes"
	"regexp"
)

// Open and closing tags, by CommonMark 0.31, section 6.6.
const (
	openTag    = `<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*\s*/?>`
	closingTag = `</[A-Za-z][A-Za-z0-9-]*\s*>`
)

// htmlTag matches the complete tag at the start of a text.
var htmlTag = regexp.MustCompile(`^(?:` + openTag + `|` + closingTag + `)`)

const blockElements = `address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|` +
	`dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|` +
	`iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|` +
	`table|tbody|td|tfoot|th|thead|title|tr|track|ul`

// htmlBlock is a kind of block that is not Markdown: what its first line starts with, and
// what its last line contains. Without an end, the block ends before a blank line.
type htmlBlock struct{ start, end *regexp.Regexp }

// htmlBlocks are the code blocks of Hugo's and Jekyll's templates, and the kinds of HTML
// block of CommonMark 0.31, section 4.6. The last one cannot interrupt a paragraph.
var htmlBlocks = []htmlBlock{
	{regexp.MustCompile(`^\{\{[<%]\s*highlight\s`), regexp.MustCompile(`\{\{[<%]\s*/\s*highlight\s*[>%]\}\}`)},
	{regexp.MustCompile(`^\{%-?\s*highlight\s`), regexp.MustCompile(`\{%-?\s*endhighlight\s*-?%\}`)},
	{regexp.MustCompile(`^<(?i:script|pre|style|textarea)(?:[ \t>]|$)`), regexp.MustCompile(`</(?i:script|pre|style|textarea)>`)},
	{regexp.MustCompile(`^<!--`), regexp.MustCompile(`-->`)},
	{regexp.MustCompile(`^<\?`), regexp.MustCompile(`\?>`)},
	{regexp.MustCompile(`^<![A-Za-z]`), regexp.MustCompile(`>`)},
	{regexp.MustCompile(`^<!\[CDATA\[`), regexp.MustCompile(`\]\]>`)},
	{regexp.MustCompile(`^</?(?i:` + blockElements + `)(?:[ \t]|/?>|$)`), nil},
	{regexp.MustCompile(`^(?:` + openTag + `|` + closingTag + `)[ \t]*$`), nil},
}

// htmlLink matches a tag, or Hugo's shortcode {{< figure >}}, with a path, in group 2, 3 or 4.
// Group 1 is set for a link, unlike for an image or another medium. A value with braces is code
// of a template.
var htmlLink = regexp.MustCompile(`(?i)(?:<(?:(a)|img|source|video|audio|iframe|embed)|\{\{[<%]\s*figure)\s(?:(?:[^>"']|"[^"]*"|'[^']*')*?\s)??(?:href|src)=(?:"([^"{}]+)"|'([^'{}]+)'|([^\s"'>{}]+))`)

// htmlFile matches the paths that are links. Others are of the web page that was copied.
var htmlFile = regexp.MustCompile(`(?i)^[^:?]+\.(?:md|markdown|mdx|qmd|rmd|canvas|pdf|png|jpe?g|gif|svg|webp|avif|bmp|mp3|m4a|ogg|wav|flac|mp4|webm|mov)$`)

// htmlLinks records the links to files in the tags in src[start:end], which starts on the given
// line.
func (in *inlineScanner) htmlLinks(start, end, line int) {
	text, counted := in.src[start:end], 0
	for _, m := range htmlLink.FindAllSubmatchIndex(text, -1) {
		l := splitDestination(in.src, span{start: start + max(m[4], m[6], m[8]), end: start + max(m[5], m[7], m[9])})
		if l.External || !htmlFile.MatchString(l.Target) {
			continue
		}
		line += bytes.Count(text[counted:m[0]], []byte{'\n'})
		counted = m[0]
		l.Kind, l.Start, l.End, l.Line = LinkImage, start+m[0], start+m[1], line
		if m[2] >= 0 {
			l.Kind = LinkMarkdown
		}
		in.add(l)
	}
}

// openHTML opens the HTML block that line starts, after the matched containers, and
// reports whether there is one.
func (s *scanner) openHTML(matched int, line []byte) bool {
	kinds := htmlBlocks
	if s.kind == leafParagraph {
		kinds = kinds[:len(kinds)-1]
	}
	for _, b := range kinds {
		if b.start.Match(line) {
			s.closeContainers(matched)
			s.startLeaf(leafHTML)
			s.htmlEnd = b.end
			s.endHTML(line)
			return true
		}
	}
	return false
}

// continueHTML handles a line inside an HTML block and reports whether it is part of
// the block.
func (s *scanner) continueHTML() bool {
	if _, next := s.indent(); s.htmlEnd == nil && next >= s.lineEnd {
		s.closeLeaf()
		return false
	}
	s.endHTML(s.src[s.pos:s.lineEnd])
	return true
}

// endHTML ends the HTML block if line is its last.
func (s *scanner) endHTML(line []byte) {
	if s.htmlEnd != nil && s.htmlEnd.Match(line) {
		s.endLeaf()
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
