package search

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"notesd/search/terms"
)

// maxNeedles is the number of terms from which reading every word is cheaper
// than looking for each.
const maxNeedles = 16

// needlesOf returns what the words that have one of the terms begin with, in
// lower case; nil if that is not known for all of them. A stem differs from
// its words in the last letter at most (happy: happi; hoping: hope), but for
// dying, lying and tying.
func needlesOf(list map[string]int) []string {
	var needles []string
	for t := range list {
		if len(list) > maxNeedles || t[0] >= utf8.RuneSelf || terms.AsciiClass[t[0]]&terms.ClassWord == 0 {
			return nil
		}
		n := t
		switch {
		case len(t) == len("die") && t[1:] == "ie":
			n = t[:1]
		case len(t) > 2:
			n = t[:len(t)-1]
		}
		for i := range len(n) {
			// the whole of a compound is written with connectors in it
			if i > 0 && terms.AsciiClass[n[i]&0x7f]&terms.ClassWord == 0 || n[i] >= utf8.RuneSelf {
				n = n[:i]
				break
			}
		}
		needles = append(needles, n)
	}
	slices.Sort(needles)
	return slices.CompactFunc(needles, func(a, b string) bool { return len(b) >= len(a) && b[:len(a)] == a })
}

// hides are the bytes that a word with a term may have before or instead of
// what the term begins with: connectors, and characters outside ASCII.
var hides = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= 0xC0 || b < utf8.RuneSelf && terms.AsciiClass[b] == terms.ClassConnector
	}
	return t
}()

// seek returns where in a text the terms may be: where the beginning of one
// stands, and whatever hides beginnings. ok is false when reading every word is better.
func (m *matcher) seek(text string) (places []int, ok bool) {
	if m.needles == nil {
		return nil, false
	}
	m.lower = lowerASCII(m.lower[:0], text)
	if places, ok = hiding(m.places[:0], text, m.lower); !ok {
		return nil, false
	}
	if last := len(m.lower) - 1; last >= 0 {
		for i, b := range m.lower[:last] {
			if pair := uint(b)<<8 | uint(m.lower[i+1]); m.pairs[pair>>6]>>(pair&63)&1 != 0 {
				places = m.needleAt(places, i)
			}
		}
		places = m.needleAt(places, last)
	}
	slices.Sort(places)
	m.places = places
	return places, true
}

// needleAt appends a place of the text if a needle begins there.
func (m *matcher) needleAt(places []int, at int) []int {
	for _, n := range m.needles {
		if rest := m.lower[at:]; len(rest) >= len(n) && string(rest[:len(n)]) == n {
			return append(places, at)
		}
	}
	return places
}

// pairsOf has a bit for each two bytes that a needle begins with.
func pairsOf(needles []string) *[1 << 10]uint64 {
	var pairs [1 << 10]uint64
	for _, n := range needles {
		from, to := uint(n[0])<<8, uint(n[0])<<8|0xff
		if len(n) > 1 {
			from |= uint(n[1])
			to = from
		}
		for pair := from; pair <= to; pair++ {
			pairs[pair>>6] |= 1 << (pair & 63)
		}
	}
	return &pairs
}

// hiding appends the places of text where hides says that a beginning may be,
// eight bytes at a time. ok is false when they are too many to be of use. lower
// is text as lowerASCII has it, which leaves these bytes as they are.
func hiding(places []int, text string, lower []byte) (_ []int, ok bool) {
	i := 0
	for ; i+8 <= len(lower) && len(places) <= len(text)/16; i += 8 {
		w := binary.LittleEndian.Uint64(lower[i:])
		for marks := maybeHides(w); marks != 0; marks &= marks - 1 {
			places = hidingAt(places, text, i+bits.TrailingZeros64(marks)/8)
		}
	}
	if len(places) > len(text)/16 {
		return nil, false
	}
	for ; i < len(text); i++ {
		places = hidingAt(places, text, i)
	}
	return places, true
}

// maybeHides sets the high bit of each byte in w that hides may have: those
// outside ASCII, and the connectors with some of their neighbours.
func maybeHides(w uint64) uint64 {
	low := w &^ high
	between := func(from, to uint64) uint64 { return (low + (0x80-from)*ones) &^ (low + (0x80-to-1)*ones) }
	return ((between('&', '.') | between('@', '@') | between('_', '_')) | w) & high
}

func hidingAt(places []int, text string, i int) []int {
	if b := text[i]; hides[b] && (b >= utf8.RuneSelf || i+1 < len(text) && terms.ByteClass[text[i+1]] != terms.ClassNone) {
		places = append(places, i)
	}
	return places
}

// findAt appends the matches in the words at some places of a text.
func (m *matcher) findAt(dst []match, text string, places []int) []match {
	done := 0
	for _, at := range places {
		if at < done {
			continue
		}
		s, ok := terms.NextSpan(text, max(done, wordBegin(text, at)))
		for ; ok && s.Start <= at; s, ok = terms.NextSpan(text, s.End) {
			dst = m.match(dst, text, s)
			done = s.End
		}
	}
	return dst
}

// wordBegin returns a place before at, or at it, where a word may begin and
// none goes on: behind an ASCII character that is in no word.
func wordBegin(text string, at int) int {
	for at > 0 {
		if b := text[at-1]; b < utf8.RuneSelf && terms.AsciiClass[b] == terms.ClassNone {
			break
		}
		at--
	}
	return at
}

// Eight bytes in one word: the lowest bit of each, and the highest.
const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// lowerASCII appends text to dst with its ASCII letters in lower case, eight
// bytes at a time.
func lowerASCII(dst []byte, text string) []byte {
	dst = append(dst, text...)
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		w := binary.LittleEndian.Uint64(dst[i:])
		low := w &^ high
		// the high bit of each byte that is at least 'A', and that is above 'Z'
		fromA := low + (0x80-'A')*ones
		aboveZ := low + (0x80-'Z'-1)*ones
		upper := fromA &^ aboveZ &^ w & high
		binary.LittleEndian.PutUint64(dst[i:], w|upper>>2)
	}
	for ; i < len(dst); i++ {
		if 'A' <= dst[i] && dst[i] <= 'Z' {
			dst[i] |= 0x20
		}
	}
	return dst
}
