package markdown

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// nearestText bounds, in bytes, how much of a text is compared.
	nearestText = 400
	// nearestTried is how many passages are compared letter by letter.
	nearestTried = 8
	// nearestLikeness is the least likeness, of 1, worth showing.
	nearestLikeness = 0.5
)

// nearest returns the passage of src most like text, and its line; empty when
// nothing is like it. Passages are chosen by the trigrams that they share with
// text, in one pass over src, and the best few compared by edit distance.
func nearest(src []byte, text string) (string, int) {
	text = cutAt(strings.TrimSpace(text), nearestText)
	if len(text) < 3 || len(src) < 3 {
		return "", 0
	}
	folded := foldBytes([]byte(text))
	best, likeness := span{}, 0.0
	for _, w := range promising(src, folded) {
		w = wholeLines(src, w)
		if l := like(folded, foldBytes(src[w.start:w.end])); l > likeness {
			best, likeness = w, l
		}
	}
	if likeness < nearestLikeness {
		return "", 0
	}
	passage := bytes.TrimLeft(src[best.start:best.end], " \t\r\n")
	line := 1 + bytes.Count(src[:best.end-len(passage)], []byte{'\n'})
	return cutAt(strings.ToValidUTF8(string(bytes.TrimSpace(passage)), "\uFFFD"), 2*nearestText), line
}

// promising returns the windows of src, as wide as text, that share most
// trigrams with it: the best of each stretch of that width.
func promising(src, text []byte) []span {
	grams := map[uint32]bool{}
	for i := 0; i+3 <= len(text); i++ {
		grams[trigram(text[i:])] = true
	}
	var filter [1 << 11]uint64 // over 17 bits of a trigram, before the map
	for g := range grams {
		h := gramHash(g)
		filter[h>>6] |= 1 << (h & 63)
	}
	known := func(i int) bool {
		g := uint32(lower(src[i])) | uint32(lower(src[i+1]))<<8 | uint32(lower(src[i+2]))<<16
		h := gramHash(g)
		return filter[h>>6]&(1<<(h&63)) != 0 && grams[g]
	}
	width := min(len(text), len(src)) - 2
	hits := 0
	ring := make([]bool, width)
	var windows []window
	for i := 0; i+3 <= len(src); i++ {
		slot := i % width
		if ring[slot] {
			hits--
		}
		if ring[slot] = known(i); ring[slot] {
			hits++
		}
		windows = keepBest(windows, window{start: max(0, i-width+1), hits: hits}, width)
	}
	spans := make([]span, len(windows))
	for i, w := range windows {
		spans[i] = span{start: w.start, end: min(w.start+width+2, len(src))}
	}
	return spans
}

// window is a stretch of text with the number of trigrams it shares.
type window struct{ start, hits int }

// keepBest adds w to the best windows, of which no two start within width.
func keepBest(best []window, w window, width int) []window {
	if w.hits == 0 || len(best) == nearestTried && w.hits <= best[len(best)-1].hits {
		return best
	}
	for i, b := range best {
		if w.start-b.start < width {
			if w.hits <= b.hits {
				return best
			}
			best = append(best[:i], best[i+1:]...)
			break
		}
	}
	at := sort.Search(len(best), func(i int) bool { return best[i].hits < w.hits })
	best = append(best, window{})
	copy(best[at+1:], best[at:])
	best[at] = w
	return best[:min(len(best), nearestTried)]
}

func trigram(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

func gramHash(g uint32) uint32 { return g * 2654435761 >> 15 }

func lower(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c | 0x20
	case c == '\n' || c == '\r' || c == '\t':
		return ' '
	}
	return c
}

func foldBytes(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = lower(c)
	}
	return out
}

// wholeLines widens a window to the lines it touches, as far as they are not
// much longer than the window, and else to whole characters.
func wholeLines(src []byte, w span) span {
	width := w.end - w.start
	if i := bytes.LastIndexByte(src[max(0, w.start-width/2):w.start], '\n'); i >= 0 {
		w.start = max(0, w.start-width/2) + i + 1
	} else if w.start <= width/2 {
		w.start = 0
	}
	if i := bytes.IndexByte(src[w.end:min(len(src), w.end+width/2)], '\n'); i >= 0 {
		w.end += i
	} else if len(src)-w.end <= width/2 {
		w.end = len(src)
	}
	for w.start > 0 && !utf8.RuneStart(src[w.start]) {
		w.start--
	}
	for w.end < len(src) && !utf8.RuneStart(src[w.end]) {
		w.end++
	}
	return w
}

// like returns how alike two short texts are, from 0 to 1: what Levenshtein's
// distance leaves of the longer one.
func like(a, b []byte) float64 {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range b {
			cost := diagonal
			if ca != cb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return 1 - float64(row[len(b)])/float64(max(len(a), len(b), 1))
}
