package search

import (
	"slices"
	"sync"
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
func needlesOf(list []string) []string {
	var needles []string
	for _, t := range list {
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

// seeker looks for needles in texts.
type seeker struct {
	needles []string
	pairs   pairSet  // that begin a needle or what may hide one
	begins  *pairSet // see knownPairs
}

// newSeeker returns a seeker that also stops where one of the pairs begins that hide
// needles.
func newSeeker(needles []string, hiding pairSet) *seeker {
	s := &seeker{needles, hiding, &known().begins}
	for _, n := range needles {
		for b := range uint(256) {
			if len(n) == 1 || byte(b)|0x20 == n[1] {
				s.pairs.add(uint(n[0])<<8 | b)
				s.pairs.add(uint(n[0]&^0x20)<<8 | b) // of a digit, a control character
			}
		}
	}
	return s
}

// next returns the first place of a text, from a place on, where a part of a word may
// begin that begins with a needle or may hide one; the length of the text if there is
// none.
func (s *seeker) next(text string, from int) int {
	if from >= len(text) {
		return len(text)
	}
	begins, before := s.begins, uint(text[from]) // the byte before a place and the one at it
	if from > 0 {
		before |= uint(text[from-1]) << 8
	}
	for i, b := range []byte(text[from+1:]) {
		pair := before<<8&0xff00 | uint(b)
		if (s.pairs[pair>>6]>>(pair&63))&(begins[before>>6]>>(before&63))&1 != 0 && s.stops(text[from+i:]) {
			return from + i
		}
		before = pair
	}
	if last := len(text) - 1; (begins[before>>6]>>(before&63))&1 != 0 && s.stops(text[last:]) {
		return last
	}
	return len(text)
}

// stops reports whether text begins with a needle or what may hide one.
func (s *seeker) stops(text string) bool {
	if hides[text[0]] {
		return true
	}
next:
	for _, n := range s.needles {
		if len(text) < len(n) {
			continue
		}
		for i := range len(n) {
			if text[i]|0x20 != n[i] { // needles are of letters and digits
				continue next
			}
		}
		return true
	}
	return false
}

// pairSet is a set of pairs of bytes, the first in the higher eight bits.
type pairSet [1 << 10]uint64

func pairsWhere(has func(a, b byte) bool) (s pairSet) {
	for pair := range uint(1 << 16) {
		if has(byte(pair>>8), byte(pair)) {
			s.add(pair)
		}
	}
	return s
}

func (s *pairSet) add(pair uint) { s[pair>>6] |= 1 << (pair & 63) }

// knownPairs are made when they are first needed.
type knownPairs struct {
	hiding pairSet // that begin with what hides a needle
	begins pairSet // whose second byte may begin a part of a word, or hide it
}

var known = sync.OnceValue(func() *knownPairs {
	return &knownPairs{
		hiding: pairsWhere(func(a, b byte) bool {
			return hides[a] && (a >= utf8.RuneSelf || terms.ByteClass[b] != terms.ClassNone)
		}),
		begins: pairsWhere(func(a, b byte) bool {
			return hides[b] || terms.ByteClass[a]&terms.ClassWord == 0 || terms.ByteClass[b] == terms.ClassUpper
		}),
	}
})

// seek returns where in a text the terms may be: where the beginning of one
// stands, and whatever hides beginnings. ok is false when reading every word is better.
func (m *matcher) seek(text string) (places []int, ok bool) {
	if m.seeker == nil {
		return nil, false
	}
	places = m.places[:0]
	hidden := 0
	for i := m.seeker.next(text, 0); i < len(text); i = m.seeker.next(text, i+1) {
		places = append(places, i)
		if hides[text[i]] {
			if hidden++; hidden > len(text)/16 {
				return nil, false
			}
		}
	}
	m.places = places
	return places, true
}

// next returns the first place of a text, from a place on, where a word of one of these
// terms stands that is not hidden, or one like it; the length of the text if none is
// known.
func (m *matcher) next(text string, from int, of uint64) int {
	s, known := m.seekers[of]
	if !known {
		var missing []string
		for t, i := range m.terms {
			if of&(1<<min(i, 63)) != 0 {
				missing = append(missing, t)
			}
		}
		if needles := needlesOf(missing); needles != nil {
			s = newSeeker(needles, pairSet{})
		}
		m.seekers[of] = s
	}
	if s == nil {
		return len(text)
	}
	return s.next(text, from)
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
