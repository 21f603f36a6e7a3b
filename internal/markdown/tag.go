package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTag bounds the length of a tag in bytes; longer ones are text.
const maxTag = 200

// tagSet collects tags that are unique regardless of case.
type tagSet struct {
	list []string
	seen map[string]bool
}

// TagName returns the name of a tag as written, with or without '#' and brackets.
func TagName(tag string) string {
	tag = strings.TrimLeft(strings.TrimSpace(tag), "#")
	if inner, ok := strings.CutPrefix(tag, "[["); ok {
		tag = strings.TrimSuffix(inner, "]]")
	}
	return strings.Trim(strings.TrimSpace(tag), "/")
}

// add adds a tag as written.
func (t *tagSet) add(tag string) {
	tag = TagName(tag)
	if tag == "" || len(tag) > maxTag {
		return
	}
	tag = NFC(strings.ToValidUTF8(tag, "\uFFFD"))
	folded := strings.ToLower(tag)
	if t.seen[folded] {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[folded] = true
	t.list = append(t.list, tag)
}

// tag reads the tag whose '#' is at i and returns the offset at which to continue.
func (in *inlineScanner) tag(i int) int {
	if !in.startsTag(i) || in.isPriority(i) {
		return i + 1
	}
	if in.at(i+1) == '[' && in.at(i+2) == '[' {
		before := len(in.doc.Links)
		next := in.wikilink(i+1, i+1, false)
		if next == 0 {
			return i + 1
		}
		if len(in.doc.Links) > before {
			l := &in.doc.Links[before]
			l.Kind = LinkTag
			in.addTag(l.Target, l.TargetStart, l.TargetEnd)
		}
		return next
	}
	end := tagEnd(in.src[:in.end], i+1)
	if end > i+1 {
		in.addTag(string(in.src[i+1:end]), i+1, end)
		return end
	}
	return i + 1
}

// isPriority reports whether a '#' at i belongs to a Logseq priority, [#A] to [#C], as
// opposed to the text of a link.
func (in *inlineScanner) isPriority(i int) bool {
	letter := in.at(i + 1)
	return in.at(i-1) == '[' && letter >= 'A' && letter <= 'C' && in.at(i+2) == ']' && in.at(i+3) != '('
}

func (in *inlineScanner) addTag(tag string, start, end int) {
	in.tags.add(tag)
	in.doc.InlineTags = append(in.doc.InlineTags, InlineTag{Start: start, End: end})
}

// startsTag reports whether a '#' at i can start a tag: at the start of the text, or
// after white space, an opening bracket or quote, emphasis, a separator, or non-ASCII
// punctuation. {{#include}} of mdBook and {{#if}} of Handlebars are none.
func (in *inlineScanner) startsTag(i int) bool {
	if i == in.start {
		return true
	}
	c := in.src[i-1]
	if c < utf8.RuneSelf {
		return (c != '{' || in.at(i-2) != '{') && bytes.IndexByte([]byte(" \t\n\r([{\"'*_~|,;>"), c) >= 0
	}
	r, _ := utf8.DecodeLastRune(in.src[in.start:i])
	return unicode.IsPunct(r) || unicode.IsSpace(r)
}

// tagEnd returns the end of the tag that starts at i, or i if there is none. A tag
// consists of letters, digits, '_', '-', '/', and symbols such as emoji. It must
// contain one that is not a digit, '-' or '/', or else both digits and dashes.
func tagEnd(src []byte, i int) int {
	start := i
	var digit, dash, other bool
scan:
	for i < len(src) && i-start <= maxTag {
		size := 1
		switch c := src[i]; {
		case isLetter(c) || c == '_':
			other = true
		case isDigit(c):
			digit = true
		case c == '-':
			dash = true
		case c == '/':
		case c < utf8.RuneSelf:
			break scan
		default:
			var r rune
			if r, size = utf8.DecodeRune(src[i:]); !isTagRune(r) {
				break scan
			}
			other = true
		}
		i += size
	}
	if other || digit && dash {
		return i
	}
	return start
}

// IsTag reports whether '#' followed by text is a single tag to every program.
func IsTag(text string) bool {
	return text != "" && len(text) <= maxTag && tagEnd([]byte(text), 0) == len(text) && !strings.Contains(text, "//") && text[0] != '/' && text[len(text)-1] != '/'
}

func isTagRune(r rune) bool {
	const joiner, textStyle, emojiStyle = '\u200d', '\ufe0e', '\ufe0f'
	switch r {
	case utf8.RuneError:
		return false
	case joiner, textStyle, emojiStyle:
		return true
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || unicode.IsSymbol(r)
}
