package terms

import "unicode/utf8"

// cluster is one character of a run with its combining marks.
type cluster struct {
	Start, End int
	Text       string // folded
}

// NextCluster returns the cluster of a run that starts at pos.
func NextCluster(text string, pos, end int) cluster {
	r, size := utf8.DecodeRuneInString(text[pos:end])
	to := pos + size
	for to < end {
		next, n := utf8.DecodeRuneInString(text[to:end])
		if !joins(next) && !(r == 'ဥ' && next == '\u102E') {
			break
		}
		to += n
	}
	if to == pos+size {
		return cluster{pos, to, FoldRune(r)}
	}
	return cluster{pos, to, string(foldUnicode(nil, text[pos:to]))}
}

// joins reports whether r belongs to any character that precedes it: the voicing of kana, the
// separately written vowels and finals of a Hangul syllable, a mark. In addition, only the
// Burmese letter ဦ may be written as two characters.
func joins(r rune) bool {
	return isKanaVoicing(r) || r >= 0x1160 && r <= 0x11FF || ClassOf(r) == classMark
}

// The length of a term, in characters, in scripts that are cut into n-grams. The end of a run
// yields shorter terms as well, so that every character begins a term and a query shorter than
// n can match as a prefix.
var (
	denseLength = 2 // Chinese, Japanese, Korean
	runOnLength = 4 // Thai, Lao, Khmer, Burmese
)

func gramLength(kind class) int {
	if kind == ClassRunOn {
		return runOnLength
	}
	return denseLength
}

// GramsFrom appends the n-grams of a run whose [Initial] is in initials (nil: all).
func GramsFrom(dst []Term, text string, s Span, initials *[256]bool) []Term {
	n := gramLength(s.Kind())
	var room [8]cluster
	window := room[:0]
	add := func(short bool) {
		if initials == nil || initials[Initial(window[0].Text)] {
			dst = appendGram(dst, text, window)
			dst[len(dst)-1].Short = short
		}
	}
	for pos := s.Start; pos < s.End; {
		c := NextCluster(text, pos, s.End)
		pos = c.End
		if c.Text == "" {
			continue
		}
		if len(window) == n {
			copy(window, window[1:])
			window = window[:n-1]
		}
		window = append(window, c)
		if len(window) == n {
			add(false)
		}
	}
	if len(window) == n {
		window = window[1:]
	}
	for ; len(window) > 0; window = window[1:] {
		add(true)
	}
	return dst
}

// appendGram appends the clusters as one term, without copying if they fold to themselves.
func appendGram(dst []Term, text string, window []cluster) []Term {
	start, end := window[0].Start, window[len(window)-1].End
	plain := true
	for _, c := range window {
		plain = plain && c.Text == text[c.Start:c.End]
	}
	t := Term{Text: text[start:end], Start: start, End: end}
	if !plain {
		var b []byte
		for _, c := range window {
			b = append(b, c.Text...)
		}
		t.Text = string(b)
	}
	return append(dst, t)
}

// Initial returns the last byte of the first character, which distinguishes most first
// characters.
func Initial(s string) byte {
	if s == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[size-1]
}
