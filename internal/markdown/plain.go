package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/phrase"
)

// PlainText returns inline text as it is displayed: without markup, links replaced by
// their text, white space collapsed, in NFC, truncated to maxText bytes.
func PlainText(b []byte) string {
	if len(b) > maxText {
		b = []byte(phrase.Cut(string(b[:maxText+1]), maxText))
	}
	if !bytes.ContainsAny(b, "\\`*_~=[]<&!\n\t%") && utf8.Valid(b) {
		return NFC(string(bytes.TrimSpace(b)))
	}
	var out strings.Builder
	writePlain(&out, b, 0)
	return NFC(strings.Join(strings.Fields(strings.ToValidUTF8(out.String(), "\uFFFD")), " "))
}

// writePlain appends the plain form of b; depth bounds the nesting of links.
func writePlain(out *strings.Builder, b []byte, depth int) {
	for i := 0; i < len(b); {
		n := 0
		switch b[i] {
		case '\\':
			if i+1 < len(b) && isPunctuation(b[i+1]) {
				out.WriteByte(b[i+1])
				n = 2
			}
		case '`':
			n = writeCode(out, b[i:])
		case '!', '[':
			n = writeLink(out, b[i:], depth)
		case '<':
			if n = len(autolink.Find(b[i:])); n > 0 {
				out.Write(b[i+1 : i+n-1])
			} else {
				n = len(htmlTag.Find(b[i:]))
			}
		case '&':
			if n = CharacterReference(b[i:]); n > 0 {
				out.WriteString(unescape(b[i : i+n]))
			}
		case '*', '_', '~', '=', '%':
			n = markup(b, i)
		case '\n':
			n = 1
			for i+n < len(b) && bytes.IndexByte([]byte(" \t>"), b[i+n]) >= 0 {
				n++
			}
			out.WriteByte(' ')
		}
		if n == 0 {
			out.WriteByte(b[i])
			n = 1
		}
		i += n
	}
}

// maxLinkText bounds the search for the end of a link's text, in bytes.
const maxLinkText = 300

// writeCode appends the code span at the start of b, or the backticks if they open
// none, and returns the number of bytes read.
func writeCode(out *strings.Builder, b []byte) int {
	ticks, n := codeSpan(b)
	if n > ticks {
		out.Write(bytes.TrimSpace(b[ticks : n-ticks]))
	} else {
		out.Write(b[:n])
	}
	return n
}

// writeLink appends the text of the link or image at the start of b and returns the
// number of bytes read, or 0 if there is none.
func writeLink(out *strings.Builder, b []byte, depth int) int {
	open := 0
	if b[0] == '!' {
		open = 1
	}
	rest := b[open:]
	if depth > 4 || len(rest) == 0 || rest[0] != '[' {
		return 0
	}
	if bytes.HasPrefix(rest, []byte("[[")) {
		end := bytes.Index(rest, []byte("]]"))
		if end < 3 {
			return 0
		}
		text := rest[2:end]
		if bar := bytes.IndexByte(text, '|'); bar >= 0 {
			text = text[bar+1:]
		}
		out.Write(text)
		return open + end + 2
	}
	closing := closingBracket(rest[:min(len(rest), maxLinkText)])
	if closing < 0 || closing+1 >= len(rest) {
		return 0
	}
	next := 0
	switch rest[closing+1] {
	case '(':
		_, next = destination(rest, closing+2)
	case '[':
		if end := bytes.IndexByte(rest[closing+1:], ']'); end > 0 {
			next = closing + 1 + end + 1
		}
	}
	if next == 0 {
		return 0
	}
	writePlain(out, rest[1:closing], depth+1)
	return open + next
}

// closingBracket returns the index of the bracket that closes the '[' or '(' at b[0], or
// -1.
func closingBracket(b []byte) int {
	closing := byte(']')
	if b[0] == '(' {
		closing = ')'
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case b[0]:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// markup returns the length of the run of marks at i if it is emphasis, which is not
// displayed, or 0. The run must not be surrounded by white space; one of '_' must not
// be within a word, and one of '~', '=' or '%' must be two bytes long.
func markup(b []byte, i int) int {
	n := i
	for n < len(b) && b[n] == b[i] {
		n++
	}
	n -= i
	before, _ := utf8.DecodeLastRune(b[:i])
	after, _ := utf8.DecodeRune(b[i+n:])
	spaceBefore := i == 0 || unicode.IsSpace(before)
	spaceAfter := i+n == len(b) || unicode.IsSpace(after)
	switch b[i] {
	case '~', '=', '%':
		if n != 2 {
			return 0
		}
	case '_':
		if isWord(before) && isWord(after) {
			return 0
		}
	}
	if spaceBefore && spaceAfter {
		return 0
	}
	return n
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
