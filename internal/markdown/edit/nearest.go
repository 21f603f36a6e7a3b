package edit

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
)

const (
	// nearestText bounds, in bytes, how much of a text is compared.
	nearestText = 400
	// nearestLikeness is the least likeness, of 1, worth showing.
	nearestLikeness = 0.5
)

// nearest returns the passage of src most like text, and its line; empty when
// nothing is like it. A passage has as many lines as text, and a longer line is
// compared in pieces of half the length of text. Likeness is the share of trigrams
// that both have (Dice's coefficient), in one pass over src.
func nearest(src []byte, text string) (string, int) {
	text = markdown.CutAt(strings.TrimSpace(text), nearestText)
	var grams gramSet
	want := grams.count([]byte(text), nil)
	wanted := grams // a piece counts what this set has, once
	width := strings.Count(text, "\n") + 1
	long := max(len(text), 60)

	type piece struct{ start, all, shared int }
	var window []piece // the last pieces, as many as a passage may have
	best, bestStart, bestEnd := nearestLikeness, 0, 0
	for at := 0; at < len(src); {
		end, next := markdown.LineAt(src, at)
		if end-at > 2*long { // continue within the line
			end = at + len(markdown.CutAt(string(src[at:at+long/2+4]), long/2))
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
	return markdown.CutAt(strings.ToValidUTF8(string(bytes.TrimSpace(passage)), "\uFFFD"), 2*nearestText), line
}

// gramSet is a set of trigrams by a hash of 16 bits: of the few hundred of a
// passage hardly two are taken for the same.
type gramSet struct {
	seen   [1 << 16]int32 // the number of the last text that had it
	text   int32
	shared int // of the last text: those that the other set has
}

// count makes the set that of text, in any case, and returns how many trigrams
// that has and, in shared, how many other has too. The first two count as well: of one
// byte and of two.
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
