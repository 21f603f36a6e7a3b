package terms

import (
	"strings"
	"unicode/utf8"
)

// Limits of terms. Longer text (encoded data, keys) can still be found by its beginning.
const (
	MaxTerm     = 64  // bytes of a term
	maxCompound = 256 // bytes of a word that is also indexed as a whole
	maxCamel    = 40  // bytes of a word that is split at its capitals
	maxParts    = 64  // parts of a word that are indexed
)

// Term is an entry of the index, with the byte range of the text that it was extracted from.
type Term struct {
	Text       string
	Start, End int
	Part       bool // part of a longer word that is a term as well
	Short      bool // an n-gram at the end of a run with fewer than n characters
}

// Expand appends the terms of a span of text to dst.
func Expand(dst []Term, text string, s Span) []Term {
	switch s.Kind() {
	case ClassDense, ClassRunOn:
		return GramsFrom(dst, text, s, nil)
	case ClassSymbol:
		return append(dst, Term{Text: text[s.Start:s.End], Start: s.Start, End: s.End})
	}
	return expandWord(dst, text, s)
}

func expandWord(dst []Term, text string, s Span) []Term {
	raw := text[s.Start:s.End]
	switch {
	case s.Classes&ClassConnector != 0:
		return compound(dst, text, s)
	case raw[len(raw)-1] == '+' || raw[len(raw)-1] == '#':
		dst = appendTerm(dst, text, s.Start, s.Start+1, true)
		return appendTerm(dst, text, s.Start, s.End, false)
	case s.Classes == classLower:
		return append(dst, Term{Text: Clip(Stem(ClipTo(raw, 4*MaxTerm))), Start: s.Start, End: s.End})
	case s.Classes&ClassUpper != 0 && s.Classes&classLower != 0 && len(raw) <= maxCamel && raw[:2] != "0x":
		return camel(dst, text, s.Start, s.End)
	}
	return appendTerm(dst, text, s.Start, s.End, false)
}

// appendTerm appends text[start:end], folded and stemmed, as one term.
func appendTerm(dst []Term, text string, start, end int, part bool) []Term {
	t := foldTerm(text[start:end])
	if t == "" {
		return dst
	}
	return append(dst, Term{Text: t, Start: start, End: end, Part: part})
}

func foldTerm(raw string) string {
	if len(raw) > 4*MaxTerm {
		raw = ClipTo(raw, 4*MaxTerm)
	}
	var buf [MaxTerm]byte
	return Stem(Clip(string(Fold(buf[:0], raw))))
}

// Clip truncates a term to MaxTerm bytes, at the end of a character.
func Clip(s string) string { return ClipTo(s, MaxTerm) }

// ClipTo truncates s at the end of a character, to the given number of bytes at most.
func ClipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// camel splits a word at its capitals (parseHTTPRequest: parse, HTTP, Request) and appends the
// whole and the parts. It omits parts of one letter.
func camel(dst []Term, text string, start, end int) []Term {
	whole := len(dst)
	dst = append(dst, Term{})
	from := start
	for from < end {
		to := nextHump(text, from, end)
		if to-from > 1 && !(from == start && to == end) {
			dst = appendTerm(dst, text, from, to, true)
		}
		from = to
	}
	t := foldTerm(text[start:end])
	if t == "" {
		return dst[:whole]
	}
	dst[whole] = Term{Text: t, Start: start, End: end}
	return dst
}

// nextHump returns the end of the part that starts at from: before a capital after a small
// letter or a digit, or before the last of several capitals followed by small letters
// (HTTP|Request), but not before a plural s (PDFs).
func nextHump(text string, from, end int) int {
	uppers := 0
	last := from // where the character before i starts
	for i := from; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:end])
		c := ClassOf(r)
		switch {
		case c == ClassUpper && uppers == 0 && i > from:
			return i
		case c == ClassUpper:
			uppers++
		case c == classLower && uppers > 1 && text[i:end] != "s":
			return last
		default:
			uppers = 0
		}
		last = i
		i += size
	}
	return end
}

// compound appends the parts of a word with connectors and the whole without them, so that
// e-mail matches email, and node.js nodejs.
func compound(dst []Term, text string, s Span) []Term {
	first := len(dst)
	var whole strings.Builder
	parts, single := 0, true
	end := s.Start
	for from := s.Start; from < s.End && parts < maxParts; {
		to, next := NextPart(text, from, s.End)
		sep := text[end:from]
		if from > s.Start {
			if drop, done := apostrophe(text, s.Start, from, to, sep); done {
				break
			} else if drop {
				dst, parts = dst[:first], 0
				whole.Reset()
				sep = ""
			}
		}
		if keepsConnector(text, from, sep) {
			whole.WriteString(sep)
		}
		whole.WriteString(text[from:to])
		dst = camel(dst, text, from, to)
		parts++
		single = single && to-from == 1 && (sep == "" || sep == ".")
		end, from = to, next
	}
	if parts < 2 || end-s.Start > maxCompound {
		return dst
	}
	if single { // the parts of U.S.A. are useless
		dst = dst[:first]
	}
	for i := first; i < len(dst); i++ {
		dst[i].Part = true
	}
	if t := foldTerm(whole.String()); t != "" {
		dst = append(dst, Term{Text: t, Start: s.Start, End: end})
	}
	return dst
}

// NextPart returns the end of the part of a word that starts at from, and the start of the next
// part.
func NextPart(text string, from, end int) (to, next int) {
	for to = from; to < end; {
		r, size := utf8.DecodeRuneInString(text[to:end])
		if ClassOf(r)&ClassWord == 0 {
			break
		}
		to += size
	}
	for next = to; next < end; {
		r, size := utf8.DecodeRuneInString(text[next:end])
		if ClassOf(r)&ClassWord != 0 {
			break
		}
		next += size
	}
	return to, next
}

// keepsConnector reports whether the connector before from is kept in the whole: between digits
// it is (3.14, 2026-01-15), unless it separates thousands.
func keepsConnector(text string, from int, sep string) bool {
	if sep == "" || sep == "_" || sep == "'" {
		return false
	}
	before := text[from-len(sep)-1]
	return AsciiClass[before&0x7f] == classDigit && before < utf8.RuneSelf &&
		text[from] < utf8.RuneSelf && AsciiClass[text[from]] == classDigit
}

// elisions are the words that French and Italian elide before a vowel.
var elisions = wordSet("l d j m t s n c qu jusqu lorsqu puisqu quoiqu un dell all nell sull dall quell gl")

// contractions are the endings that English attaches with an apostrophe.
var contractions = wordSet("s re ve ll d m")

// apostrophe decides which part next to an apostrophe to drop: an article before it (l'été), an
// ending after it (John's, they're), or neither (O'Brien, don't).
func apostrophe(text string, start, from, to int, sep string) (dropBefore, dropAfter bool) {
	if sep != "'" && sep != "’" && sep != "ʼ" {
		return false, false
	}
	before := strings.ToLower(text[start : from-len(sep)])
	after := strings.ToLower(text[from:to])
	if contractions[after] {
		return false, true
	}
	return elisions[before], false
}
