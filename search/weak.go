package search

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of nearness, see [SemanticHit]: a note that has none of the query's
// words is a hit from the floor on. They are for unrelated passages of the mean 0 and
// the deviation floorUnit, and moved to where a model has them. docs/retrieval.md has
// what the bounds lose and keep out on judged sets.
var (
	// floorMost is the floor of many passages. The nearest of few passages that
	// have nothing to do with a query is farther: the greatest of n samples
	// grows with the root of ln n.
	floorMost = 0.36
	// clearBelow is how far below the bound of clear hits the other hits of a query are
	// that has a clear one. Such a query is about the vault, and its answers differ in
	// how much of it they repeat.
	clearBelow = 0.12
	// scatterShare is how much higher the bound of a hybrid search is, as a part of how much
	// less alike the nearest passages are than usual: a question about something else is
	// near passages about many subjects.
	scatterShare = 0.3
	// unknownShare is how much higher the bound is that one hit must reach, as a part of how
	// much of what was asked for is in words that no note has: such a question is more often
	// about something else.
	unknownShare = 0.3
	// gapBelow is how much lower the bound of clear hits is across a whole
	// [meaning.languageGap]: answers in another language have lower cosines than others.
	gapBelow = 0.3
)

const (
	floorUnit = 0.095
	// wordlessAbove is how far above the floor a hit of a hybrid search is that has
	// none of the words, unless the notes may be in another language than the query.
	wordlessAbove = 0.06
	// A hit is clear if all that the query asks for, see idealCap, meets in it, or if
	// its nearness, with clearShare of the part that meets, is clearAbove above the
	// floor. Of a hit whose text was not read, unreadShare of the part that it has is
	// taken to meet. wordsMeet is the part that suffices if its nearness is not known.
	clearAbove  = 0.18
	clearShare  = 0.50
	unreadShare = 0.7
	wordsMeet   = 0.33
	// usualAlike is the mean cosine of the alikeAmong nearest passages at which the bound
	// of clear hits is clearAbove.
	usualAlike = 0.37
	alikeAmong = 30
	// unknownMost is how much higher the bound is at most for unknown words: an answer may
	// say the same in others.
	unknownMost = 0.1
	// closeAbove is how much higher the bound of a hybrid search is for a model whose
	// unrelated passages are close to a query, in its measure.
	closeAbove = 0.07
	// fluent is the weight of meaning in queries that the model understands well.
	// In another language cosines are lower. So are those of words that no
	// language has, for which a low floor would let everything pass.
	fluent = 0.55
)

// floor returns how near a passage must be, of so many, to be a semantic hit,
// and to be clearly one. foreign reports whether the query may be in another language
// than the notes.
func floor(m meaning, mode Mode, foreign bool) (hit float64, clear bound) {
	f := floorMost
	if m.passages > 0 {
		f = min(f, floorUnit*math.Sqrt(2*math.Log(float64(m.passages)+1)))
	}
	clear = bound{f + clearAbove, Spread{m.here.Mean, m.usual.Deviation}}
	switch {
	case foreign && m.weight >= fluent: // few words meet, and the notes have another mean
		clear.value = f
	case foreign:
		understood := m.weight / fluent
		f *= understood
		clear.value *= understood
	default:
		gap := m.languageGap()
		if mode == ModeHybrid {
			f += wordlessAbove * (1 - gap)
			clear.value += scatterShare * m.scatter
			if m.usual.Mean != 0 {
				clear.value += closeAbove
			}
		}
		clear.value = max(f, clear.value-gapBelow*gap)
	}
	return m.here.of(f), clear
}

// raised returns how much higher the bound of clear hits is for words that no note has. In
// another language than the notes most words are such.
func (s *search) raised(m *meaning, foreign bool) float64 {
	if foreign || s.q.Mode == ModeSemantic || m.usual.Mean != 0 {
		return 0
	}
	return min(unknownMost, unknownShare*s.rescorer.unknown)
}

// bound is the nearness from which on a hit without any of the words is clear.
type bound struct {
	value  float64
	spread Spread
}

// reached reports whether a hit is so near, or so much of what was asked for meets in
// it, that it is at most so far below the bound.
func (b bound) reached(c *candidate, below float64) bool {
	const all = .999                        // rounded
	unknown := !c.embedded || c.missing > 0 // a passage without a vector may be near
	return c.met >= all || unknown && c.met >= wordsMeet-below/clearShare ||
		c.embedded && c.nearness() >= b.spread.of(b.value-below-clearShare*c.met)
}

// of moves a bound to the spread.
func (s Spread) of(bound float64) float64 {
	if s.Deviation == 0 {
		return bound
	}
	return s.Mean + bound*s.Deviation/floorUnit
}

// judge marks the hits that have little of what was asked for, and says so
// when no hit has more, or there is none.
func (s *search) judge(list *rankedList) {
	for i := range list.found {
		if c := &list.found[i]; c.met == 0 {
			c.met = unreadShare * s.rescorer.share(c.terms)
		}
	}
	best := list.found[:min(len(list.found), rescored)]
	answered := slices.ContainsFunc(best, func(c candidate) bool {
		n := s.read[c.note]
		return list.clear.reached(&c, -list.raised) && (s.q.Of == "" || n == nil || n.Path != s.q.Of)
	})
	for i := range list.found {
		c := &list.found[i]
		c.weak = !answered || !list.clear.reached(c, clearBelow)
	}
	list.weak = len(list.found) > 0 && !answered
	switch {
	case len(list.found) == 0 && list.semantic.State == StateReady:
		list.remarks = append(list.remarks, "no note has these words or is semantically close")
	case list.weak:
		list.remarks = append(list.remarks, "no note matches well: the hits have few of the words or are only remotely related")
	}
	if list.halfRead && !answered {
		list.remarks = append(list.remarks, "the model supports this language poorly: if the notes are in another language, ask in that")
	}
}

// withParts adds to a set of terms the parts of the compounds in it: a note that has
// "sm5" has all of "SM-5".
func (r *request) withParts(terms uint64) uint64 {
	for _, part := range r.parts {
		for _, w := range r.words {
			if terms&(1<<min(w.term, 63)) != 0 && w.start <= part.start && part.end <= w.end {
				terms |= 1 << min(part.term, 63)
			}
		}
	}
	return terms
}

// needless reports whether a note may have what a term stands for that no note has: a
// compound, in parts that notes have, or initials, which may have spaces between them.
func (r *request) needless(term int, with []int) bool {
	return slices.ContainsFunc(r.words, func(w queryWord) bool {
		return w.term == term && (slices.ContainsFunc(r.parts, func(part queryWord) bool {
			return w.start <= part.start && part.end <= w.end && with[part.term] > 0
		}) || !w.gram && !slices.ContainsFunc(strings.Split(w.shown, "."), func(part string) bool {
			return utf8.RuneCountInString(part) != 1
		}))
	})
}

// share is the part of what the request asks for that a set of its terms has.
func (s *rescorer) share(terms uint64) float64 {
	sum := 0.0
	for i, t := range s.request.plan.Terms {
		if terms&(1<<min(i, 63)) != 0 {
			sum += s.weights[i] * t.Times
		}
	}
	return sum / s.asked
}
