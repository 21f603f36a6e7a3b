package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/search/terms"
)

// maxNeedles is the number of terms above which reading every word is cheaper than searching
// for each.
const maxNeedles = 16

// needlesOf returns lower-case prefixes of the words that have one of the terms, or nil if
// these are not known for all terms. A stem differs from its words in the last letter at most
// (happy: happi; hoping: hope), except for dying, lying and tying.
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
			// in the text, a compound has connectors
			// and a number may have spaces between its digits
			if i > 0 && (terms.AsciiClass[n[i]&0x7f]&terms.ClassWord == 0 || len(t) > 3 && n[i-1] <= '9') || n[i] >= utf8.RuneSelf {
				n = n[:i]
				break
			}
		}
		needles = append(needles, n)
	}
	slices.Sort(needles)
	return slices.CompactFunc(needles, func(a, b string) bool { return len(b) >= len(a) && b[:len(a)] == a })
}

// hides marks the bytes that may precede or replace the beginning of a matching word:
// connectors, and the first bytes of characters outside ASCII.
var hides = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= 0xC0 || b < utf8.RuneSelf && terms.AsciiClass[b] == terms.ClassConnector
	}
	return t
}()

// seeker finds needles in texts.
type seeker struct {
	needles []string
	hiding  bool // it also stops where a needle may be hidden
	first   firstBytes
}

// firstBytes has, for each of the first three bytes of a needle, a bit set of the needle groups
// with that byte there. Few positions in a text match one group in all three.
type firstBytes [3][256]byte

// The last two of the eight groups are for what hides needles.
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

// hiding has the first bytes of what may hide a needle.
var hiding = func() (f firstBytes) {
	for at := range f {
		f.add(longer, at, func(b byte) bool { return at > 0 || b >= utf8.RuneSelf && hides[b] })
		f.add(connectors, at, func(b byte) bool {
			return at > 1 || at == 1 && terms.ByteClass[b] != terms.ClassNone || at == 0 && b < utf8.RuneSelf && hides[b]
		})
	}
	return f
}()

// newSeeker returns a seeker that, if alsoHiding is set, also stops where a needle may be
// hidden.
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
			s.first[at][n[at]&^0x20] |= 1 << group // turns a digit into a control character
		}
	}
	return s
}

// places appends the positions in text, at or after from, of word parts that begin with a
// needle or may hide one, until dst has that many.
func (s *seeker) places(dst []int, text string, from, most int) []int {
	one, two, three := &s.first[0], &s.first[1], &s.first[2]
	var groups, last byte // the groups that match the previous two bytes, and the last byte
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

// next returns the first such position at or after from, or the length of the text if there is
// none or s is nil.
func (s *seeker) next(text string, from int) int {
	if s == nil {
		return len(text)
	}
	var one [1]int
	if places := s.places(one[:0], text, from, 1); len(places) > 0 {
		return places[0]
	}
	return len(text)
}

// stops reports whether a word part begins at a position and begins with a needle or may hide
// one.
func (s *seeker) stops(text string, at int) bool {
	b := text[at]
	if s.hiding && hides[b] {
		// It may be a dash or a quotation mark, or in a run that is cut into n-grams.
		r, _ := utf8.DecodeRuneInString(text[at:])
		return terms.ClassOf(r)&^(terms.ClassDense|terms.ClassRunOn) != terms.ClassNone
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
			if text[at+i]|0x20 != n[i] { // needles consist of letters and digits
				continue next
			}
		}
		return true
	}
	return false
}

// within reports whether a word, without connectors and accents, contains a needle: each of its
// terms is the stem of a part of it.
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

// seekerOf returns a seeker of the words that begin like one of these terms and are not hidden,
// or nil if their beginnings are not known.
func (m *matcher) seekerOf(of uint64) *seeker {
	var missing []string
	for t, i := range m.terms {
		if of&(1<<min(i, 63)) != 0 {
			missing = append(missing, t)
		}
	}
	if needles := needlesOf(missing); needles != nil {
		return newSeeker(needles, false)
	}
	return nil
}

// findAt appends the matches in the words at the given positions.
func (m *matcher) findAt(dst []match, text string, places []int) []match {
	done := 0
	for _, at := range places {
		if at < done {
			continue
		}
		s, ok := terms.NextSpan(text, wordBegin(text, done, at))
		for ; ok && s.Start <= at; s, ok = terms.NextSpan(text, s.End) {
			dst = m.match(dst, text, s)
			done = s.End
		}
	}
	return dst
}

// continuation is how [seeker.eachUnit] continues after a unit.
type continuation int

const (
	readOn continuation = iota // at the next unit
	seekOn                     // at the next position where a needle may begin
	endReading
)

// eachUnit calls fn with the units of a text (see [eachUnit]) of the words in which a needle
// may begin, and of the words after them while fn returns readOn. A nil seeker reads all words.
func (s *seeker) eachUnit(text string, fn func(u []byte, start, end int) continuation) {
	for done := 0; done < len(text); {
		at, from := 0, done
		if s != nil {
			if at = s.next(text, done); at == len(text) {
				return
			}
			from = wordBegin(text, done, at)
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

// wordBegin returns a position at or before at where a word may begin and none continues: after
// an ASCII character that belongs to no word, or least, the end of a word or part of one.
func wordBegin(text string, least, at int) int {
	for at > least {
		if b := text[at-1]; b < utf8.RuneSelf && terms.AsciiClass[b] == terms.ClassNone {
			break
		}
		at--
	}
	return at
}
