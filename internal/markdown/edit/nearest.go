package edit

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/markdown"
	"notesd/internal/phrase"
)

const (
	// nearestText bounds the part of a text that is compared, in bytes.
	nearestText = 400
	// nearestLikeness is the minimum likeness, from 0 to 1, of a passage to report.
	nearestLikeness = 0.5
)

// nearest returns the passage of src that differs from text only in white space and
// typography, else the one most similar to it, and its line, or "" if none is similar
// enough. A passage has at most about as many lines as text; long lines are
// compared in pieces of half the length of text. Likeness is Dice's coefficient of the
// trigrams. It takes one pass over src.
func nearest(src []byte, text string) (string, int) {
	if start, end, ok := findPlain(src, text); ok {
		return phrase.Cut(string(src[start:end]), 2*nearestText), 1 + bytes.Count(src[:start], []byte{'\n'})
	}
	text = phrase.Cut(strings.TrimSpace(text), nearestText)
	var grams gramSet
	want := grams.count([]byte(text), nil)
	wanted := grams // a copy: count reuses grams for each piece
	width := strings.Count(text, "\n") + 1
	long := max(len(text), 60)

	type piece struct{ start, all, shared int }
	var window []piece // the last pieces, up to the size of a passage
	best, bestStart, bestEnd := nearestLikeness, 0, 0
	for at := 0; at < len(src); {
		end, next := markdown.LineAt(src, at)
		if end-at > 2*long { // continue within the line
			end = at + len(phrase.Cut(string(src[at:at+long/2+4]), long/2))
			next = end
		}
		p := piece{start: at}
		p.all = grams.count(src[at:end], &wanted)
		p.shared = grams.shared
		if window = append(window, p); len(window) > max(width, 4) {
			window = window[1:]
		}
		all, shared := 0, 0
		for n := len(window) - 1; n >= 0 && (len(window)-n <= width || end-window[n].start <= 2*long); n-- {
			all, shared = all+window[n].all, shared+window[n].shared
			if likeness := 2 * float64(min(shared, want)) / float64(all+want); likeness > best {
				best, bestStart, bestEnd = likeness, window[n].start, end
			}
		}
		at = next
	}
	passage := bytes.TrimLeft(src[bestStart:bestEnd], " \t\r\n")
	if len(passage) == 0 {
		return "", 0
	}
	line := 1 + bytes.Count(src[:bestEnd-len(passage)], []byte{'\n'})
	return phrase.Cut(strings.ToValidUTF8(string(bytes.TrimSpace(passage)), "\uFFFD"), 2*nearestText), line
}

// findPlain returns the first run of bytes of src that is text except for white space
// and typography.
func findPlain(src []byte, text string) (start, end int32, ok bool) {
	wanted, _ := plain([]byte(strings.TrimSpace(text)))
	found, at := plain(src)
	i := bytes.Index(found, wanted)
	if len(wanted) == 0 || i < 0 {
		return 0, 0, false
	}
	return at[i], at[i+len(wanted)], true
}

// plain returns src with single spaces and with the quotation marks and dashes of ASCII,
// and the offset in src of each of its bytes and of its end.
func plain(src []byte) (text []byte, at []int32) {
	space := false
	for i, r := range string(src) {
		if unicode.IsSpace(r) {
			if space {
				continue
			}
			r = ' '
		}
		space = r == ' '
		switch r {
		case '“', '”', '„', '«', '»':
			r = '"'
		case '‘', '’', '‚':
			r = '\''
		case '‐', '‑', '–', '—':
			r = '-'
		}
		text = utf8.AppendRune(text, r)
		for len(at) < len(text) {
			at = append(at, int32(i))
		}
	}
	return text, append(at, int32(len(src)))
}

// gramSet is a set of trigrams by 16-bit hash. Collisions are rare among the few
// hundred trigrams of a passage.
type gramSet struct {
	seen   [1 << 16]int32 // number of the last text with this trigram
	text   int32          // number of the current text
	shared int            // trigrams of the current text that are in the other set
}

// count sets g to the trigrams of text, ignoring the case of ASCII letters, and returns
// their number. It sets g.shared to the number that are also in other, if other is not
// nil. The incomplete trigrams of the first two bytes count too.
func (g *gramSet) count(text []byte, other *gramSet) (n int) {
	g.text++
	g.shared = 0
	var gram uint32
	for _, c := range text {
		gram = (gram<<8 | uint32(c|0x20)) & 0xffffff
		h := gram * 2654435761 >> 16
		if g.seen[h] == g.text {
			continue
		}
		g.seen[h] = g.text
		n++
		if other != nil && other.seen[h] == other.text {
			g.shared++
		}
	}
	return n
}
