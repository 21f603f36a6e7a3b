package terms

import "unicode/utf8"

// cluster is one character of a run together with the marks on it.
type cluster struct {
	Start, End int
	Text       string // folded
}

// NextCluster reads the cluster of a run that starts at pos.
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

// joins reports whether r continues any character before it: the voicing of
// kana, the vowels and finals of a Hangul syllable written apart, a mark. Beside
// those, only the Burmese letter ဦ is also written as two.
func joins(r rune) bool {
	return isKanaVoicing(r) || r >= 0x1160 && r <= 0x11FF || ClassOf(r) == classMark
}

// Characters of a term in scripts that are cut into n-grams. The ends of a run
// make shorter terms as well, so that every character of it begins a term and
// a query shorter than n finds it as a prefix.
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

// GramsFrom appends the n-grams of a run that begin with one of the initials
// (nil: with any).
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

// appendGram makes one term of some clusters, without copying when they fold
// to themselves.
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

// Initial distinguishes first characters, roughly: the last byte of the first.
func Initial(s string) byte {
	if s == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[size-1]
}
