package search

import (
	"slices"
	"strings"
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
	hiding  bool // it also stops at what may hide a needle
	first   firstBytes
}

// firstBytes has the groups of needles, as bits, that have a byte at one of the first
// places. Few places of a text are begun by bytes that one group has.
type firstBytes [3][256]byte

// The last of eight groups are for what hides needles.
const (
	connectors = 6
	longer     = 7 // characters outside ASCII
)

func (f *firstBytes) add(group, at int, has func(b byte) bool) {
	for b := range f[at] {
		if has(byte(b)) {
			f[at][b] |= 1 << group
		}
	}
}

// hiding are the first bytes of what may hide a needle.
var hiding = func() (f firstBytes) {
	for at := range f {
		f.add(longer, at, func(b byte) bool { return at > 0 || b >= utf8.RuneSelf && hides[b] })
		f.add(connectors, at, func(b byte) bool {
			return at > 1 || at == 1 && terms.ByteClass[b] != terms.ClassNone || at == 0 && b < utf8.RuneSelf && hides[b]
		})
	}
	return f
}()

// newSeeker returns a seeker that also stops, if that is wanted, at what may hide a
// needle.
func newSeeker(needles []string, alsoHiding bool) *seeker {
	s := &seeker{needles: needles, hiding: alsoHiding}
	if alsoHiding {
		s.first = hiding
	}
	for i, n := range needles {
		group := i % connectors
		for at := range s.first {
			if at >= len(n) {
				s.first.add(group, at, func(byte) bool { return true })
				continue
			}
			s.first[at][n[at]] |= 1 << group
			s.first[at][n[at]&^0x20] |= 1 << group // of a digit, a control character
		}
	}
	return s
}

// places appends the places of a text, from a place on, where a part of a word begins
// that begins with a needle or may hide one, until dst has so many.
func (s *seeker) places(dst []int, text string, from, most int) []int {
	one, two, three := &s.first[0], &s.first[1], &s.first[2]
	var groups, last byte // that the two bytes before may begin, and the later of them
	for i, b := range []byte(text[from:]) {
		if groups&three[b] != 0 {
			if at := from + i - 2; s.stops(text, at) {
				if dst = append(dst, at); len(dst) == most {
					return dst
				}
			}
		}
		groups, last = one[last]&two[b], b
	}
	for at := max(from, len(text)-2); at < len(text) && len(dst) < most; at++ {
		if s.stops(text, at) {
			dst = append(dst, at)
		}
	}
	return dst
}

// next returns the first of the places, and the length of the text if there is none.
func (s *seeker) next(text string, from int) int {
	var one [1]int
	if places := s.places(one[:0], text, from, 1); len(places) > 0 {
		return places[0]
	}
	return len(text)
}

// stops reports whether a part of a word begins at a place that begins with a needle or
// may hide one.
func (s *seeker) stops(text string, at int) bool {
	b := text[at]
	if s.hiding && hides[b] {
		r, _ := utf8.DecodeRuneInString(text[at:]) // a dash, perhaps, or a quotation mark
		return terms.ClassOf(r) != terms.ClassNone
	}
	if at > 0 && terms.ByteClass[text[at-1]]&terms.ClassWord != 0 && terms.ByteClass[b] != terms.ClassUpper {
		return false
	}
next:
	for _, n := range s.needles {
		if len(text)-at < len(n) {
			continue
		}
		for i := range len(n) {
			if text[at+i]|0x20 != n[i] { // needles are of letters and digits
				continue next
			}
		}
		return true
	}
	return false
}

// within reports whether a word, without connectors and accents, has a needle: each of
// its terms is a stem of a part of that.
func (s *seeker) within(word string) bool {
	var buf [terms.MaxTerm]byte
	folded := terms.Fold(buf[:0], word)
	letters := folded[:0]
	for _, b := range folded {
		if terms.ByteClass[b] != terms.ClassConnector {
			letters = append(letters, b)
		}
	}
	word = string(letters)
	return slices.ContainsFunc(s.needles, func(n string) bool { return strings.Contains(word, n) })
}

// seek returns where in a text the terms may be: where the beginning of one
// stands, and whatever hides beginnings. ok is false when reading every word is better.
func (m *matcher) seek(text string) (places []int, ok bool) {
	if m.seeker == nil {
		return nil, false
	}
	most := 16 + len(text)/16
	m.places = m.seeker.places(m.places[:0], text, 0, most)
	return m.places, len(m.places) < most
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
			s = newSeeker(needles, false)
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

// continuation is how the reading of a text goes on after a unit.
type continuation int

const (
	readOn continuation = iota // with the next unit
	seekOn                     // where a needle may begin next
	endReading
)

// eachUnit calls fn with the units of a text, see [eachUnit], in words where one of the
// needles may begin, and in the words after them for as long as fn asks to read on. A nil
// seeker reads all.
func (s *seeker) eachUnit(text string, fn func(u []byte, start, end int) continuation) {
	for done := 0; done < len(text); {
		at, from := 0, done
		if s != nil {
			if at = s.next(text, done); at == len(text) {
				return
			}
			from = max(done, wordBegin(text, at))
		}
		done = len(text)
		eachUnit(text[from:], func(u []byte, start, end int) bool {
			switch fn(u, from+start, from+end) {
			case endReading:
				return false
			case seekOn:
				if s != nil && from+end > at {
					done = from + end
					return false
				}
			}
			return true
		})
	}
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
