package edit

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/phrase"
)

const (
	// nearestText bounds the part of a text that is compared, in bytes.
	nearestText = 400
	// nearestLikeness is the minimum likeness, from 0 to 1, of a passage to report.
	nearestLikeness = 0.5
)

// nearest returns the passage of src most similar to text, and its line, or "" if none
// is similar enough. A passage has at most about as many lines as text; long lines are
// compared in pieces of half the length of text. Likeness is Dice's coefficient of the
// trigrams. It takes one pass over src.
func nearest(src []byte, text string) (string, int) {
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
