package markdown

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"unicode/utf8"
)

// maxParentheses bounds the nesting of parentheses in a link's destination, as
// CommonMark allows, and with it the cost of an attempt that fails.
const maxParentheses = 32

// closeBracket handles the ']' at i, which closes the text of a link if a
// destination follows.
func (in *inlineScanner) closeBracket(i int) int {
	n := len(in.brackets)
	if n == 0 {
		return i + 1
	}
	b := in.brackets[n-1]
	in.brackets = in.brackets[:n-1]
	inactive := n-1 < in.active && !b.image
	in.active = min(in.active, n-1)
	if inactive || in.at(i+1) != '(' {
		return i + 1
	}
	dest, next := destination(in.src[:in.end], i+2)
	if next == 0 {
		return i + 1
	}
	l := splitDestination(in.src, dest)
	l.Kind, l.Start, l.End, l.Line = pathKind(in.src, dest), b.pos, next, b.line
	l.Alias = cut(PlainText(in.src[b.text:i]))
	if !b.image {
		in.active = n - 1
	} else if l.Kind == LinkMarkdown {
		l.Kind = LinkImage
	}
	in.add(l)
	return next
}

// destination reads `path "title")` at i. It returns the span of the path, without
// angle brackets, and the offset after the parenthesis, or 0 if this is not a
// destination.
func destination(src []byte, i int) (span, int) {
	i = skipSpace(src, i)
	if bytes.HasPrefix(src[i:], []byte("[[")) {
		return span{}, 0 // [text]([[page]]) contains a wikilink
	}
	dest, i := linkPath(src, i)
	if i == 0 {
		return span{}, 0
	}
	after := skipSpace(src, i)
	if after < len(src) && after > i {
		after = skipSpace(src, after+len(linkTitle.Find(src[after:])))
	}
	if after >= len(src) || src[after] != ')' {
		return span{}, 0
	}
	return dest, after + 1
}

// linkPath reads a path at i, <in angle brackets>, with balanced parentheses, in Hugo's
// {{< ref "path" >}}, or in Jekyll's {% post_url name %}. It returns its span and the offset
// after it, or 0 if there is none.
func linkPath(src []byte, i int) (span, int) {
	if i < len(src) && src[i] == '{' {
		for _, tag := range []*regexp.Regexp{hugoRef, jekyllRef} {
			if m := tag.FindSubmatchIndex(src[i:]); m != nil {
				return span{start: i + m[2], end: i + m[3]}, i + m[1]
			}
		}
	}
	if i < len(src) && src[i] == '<' {
		n := len(anglePath.Find(src[i:]))
		if n == 0 {
			return span{}, 0
		}
		return span{start: i + 1, end: i + n - 1}, i + n
	}
	start := i
	depth := 0
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\' && i+1 < len(src) && isPunctuation(src[i+1]):
			i++
		case c == '(':
			if depth++; depth > maxParentheses {
				return span{}, 0
			}
		case c == ')':
			if depth == 0 {
				return span{start: start, end: i}, i
			}
			depth--
		case c <= ' ' || c == 0x7f:
			if depth > 0 {
				return span{}, 0
			}
			return span{start: start, end: i}, i
		}
	}
	if depth > 0 {
		return span{}, 0
	}
	return span{start: start, end: i}, i
}

var (
	hugoRef   = regexp.MustCompile("^\\{\\{[<%]\\s*(?:rel)?ref\\s+[\"`]([^\"`<>{}\n]+)[\"`]\\s*[>%]\\}\\}")
	jekyllRef = regexp.MustCompile(`^(?:\{\{\s*site\.\w+\s*\}\})*\{%-? ?(?:post_url|link) ([^\s{}%][^{}%\n]*?)\s*-?%\}[^\s()]*`)
	anglePath = regexp.MustCompile(`^<(?:[^<>\\\n]|\\.)*>`)
	linkTitle = regexp.MustCompile(`(?s)^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))`)
)

// pathKind returns the kind of a link with this path. Jekyll finds the post or file of a tag by
// its name or its path in the site, as Obsidian does for a wikilink.
func pathKind(src []byte, dest span) LinkKind {
	if before := src[:dest.start]; bytes.HasSuffix(before, []byte("post_url ")) || bytes.HasSuffix(before, []byte("link ")) {
		return LinkWiki
	}
	return LinkMarkdown
}

// Destination returns the target and anchor, as in [Link], of a destination as written.
func Destination(raw []byte) (target, anchor string) {
	l := splitDestination(raw, span{end: len(raw)})
	return l.Target, l.Anchor
}

// splitDestination splits a destination at '#' and decodes it.
func splitDestination(src []byte, dest span) Link {
	raw := src[dest.start:dest.end]
	l := Link{TargetStart: dest.start, TargetEnd: dest.end}
	if IsExternal(raw) {
		l.External = true
		l.Target = NFC(unescape(raw))
		return l
	}
	if path, found := bytes.CutPrefix(raw, []byte("@site/")); found { // as Docusaurus writes the root of the site
		l.TargetStart = dest.end - len(path) - 1
		raw, dest.start = src[l.TargetStart:dest.end], l.TargetStart
	}
	if i := anchorMark(raw); i >= 0 {
		l.Anchor = NFC(percentDecode(unescape(raw[i+1:])))
		l.AnchorStart, l.AnchorEnd = dest.start+i+1, dest.end
		raw = raw[:i]
		l.TargetEnd = dest.start + i
	}
	l.Target = NFC(percentDecode(unescape(raw)))
	return l
}

// escape matches a backslash escape or a character reference such as "&#233;".
const escape = `\\[[:punct:]]|&#?[A-Za-z0-9]{1,32};`

var (
	escapes            = regexp.MustCompile(escape)
	escapesAndHashes   = regexp.MustCompile(escape + `|#`)
	characterReference = regexp.MustCompile(`^&#?[A-Za-z0-9]{1,32};`)
)

// anchorMark returns the offset of the '#' before a destination's anchor, or -1.
func anchorMark(raw []byte) int {
	if bytes.IndexByte(raw, '#') < 0 {
		return -1
	}
	for _, m := range escapesAndHashes.FindAllIndex(raw, -1) {
		if raw[m[0]] == '#' {
			return m[0]
		}
	}
	return -1
}

// unescape decodes backslash escapes and character references.
func unescape(b []byte) string {
	if !bytes.ContainsAny(b, `\&`) { // most; an image in a data URI has megabytes
		return string(b)
	}
	return escapes.ReplaceAllStringFunc(string(b), func(s string) string {
		if s[0] == '\\' {
			return s[1:]
		}
		return html.UnescapeString(s)
	})
}

// CharacterReference returns the length of the character reference at the start of b,
// such as "&amp;", or 0.
func CharacterReference(b []byte) int { return len(characterReference.Find(b)) }

// percentDecode decodes %XX. If the result is not UTF-8, it returns s.
func percentDecode(s string) string {
	if decoded, err := url.PathUnescape(s); err == nil && utf8.ValidString(decoded) {
		return decoded
	}
	return s
}

// isPunctuation reports whether c is ASCII punctuation, which '\' can escape.
func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c)
}

// skipSpace returns the offset after the white space at i.
func skipSpace(b []byte, i int) int { return len(b) - len(bytes.TrimLeft(b[i:], " \t\r\n")) }

// readDefinitions removes the link reference definitions, "[label]: path", from the
// start of the paragraph and records them as links.
func (s *scanner) readDefinitions() {
	p := &s.paragraph
	for p.start < p.end && s.src[p.start] == '[' {
		dest, end := s.definition(s.src[:p.end], p.start)
		if end == 0 {
			return
		}
		l := splitDestination(s.src, dest)
		l.Kind, l.Start, l.End, l.Line = pathKind(s.src, dest), p.start, end, p.line
		s.inline.add(l)
		next := skipBreak(s.src[:p.end], end, s.quotes > 0)
		p.line += bytes.Count(s.src[p.start:next], []byte{'\n'})
		p.start = next
	}
}

// definition returns the span of the path in the link reference definition at i, and
// the end of the definition, or 0 if there is none. Path and title may each be on
// their own line.
func (s *scanner) definition(src []byte, i int) (dest span, end int) {
	n := i + 1
	for ; n < min(len(src), i+maxText) && src[n] != '[' && src[n] != ']'; n++ {
		if src[n] == '\\' {
			n++
		}
	}
	if n+1 >= len(src) || src[n] != ']' || src[n+1] != ':' || src[i+1] == '^' || len(bytes.TrimSpace(src[i+1:n])) == 0 {
		return span{}, 0
	}
	i = skipBreak(src, n+2, s.quotes > 0)
	dest, after := linkPath(src, i)
	if after == 0 || after == i {
		return span{}, 0
	}
	if title := skipBreak(src, after, s.quotes > 0); title > after && title < len(src) {
		if n := title + len(linkTitle.Find(src[title:])); n > title {
			if end, _ = LineAt(src, n); skipSpace(src[:end], n) == end {
				return dest, end
			}
		}
	}
	if end, _ = LineAt(src, after); skipSpace(src[:end], after) < end {
		return span{}, 0
	}
	return dest, end
}

// skipBreak skips white space, including line breaks and, if quoted, the quote markers
// after them.
func skipBreak(src []byte, i int, quoted bool) int {
	for start := i; i < len(src); i++ {
		if c := src[i]; c != ' ' && c != '\t' && c != '\n' && c != '\r' && (c != '>' || !quoted || bytes.IndexByte(src[start:i], '\n') < 0) {
			break
		}
	}
	return i
}
