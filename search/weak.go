package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"notesd/notes"
)

// Bounds of nearness, see [notes.SemanticHit]: a note that has none of the query's words is a
// hit if it reaches the floor. They apply to unrelated passages with mean 0 and deviation
// floorUnit, and are converted to the spread of the model. docs/retrieval.md has what they lose
// and exclude on judged sets.
var (
	// floorMost is the floor for many passages. With fewer, the nearest passage unrelated to a
	// query is farther: the greatest of n samples grows with the root of ln n.
	floorMost = 0.36
	// clearBelow is how far below the bound the other hits may be if a query has a clear hit.
	// Such a query is about the vault, and its answers differ in how much of it they repeat.
	clearBelow = 0.12
	// scatterShare is the increase of the bound of a hybrid search per unit by which the
	// nearest passages are less similar to each other than usual: a question on another topic
	// is near passages about many subjects.
	scatterShare = 0.3
	// unknownShare is the increase of the bound that one hit must reach, per share of the query
	// in words that no note has: such a question is more often on another topic.
	unknownShare = 0.3
	// gapBelow is the decrease of the bound of clear hits at a [semanticResult.languageGap] of 1, and
	// for notes in another language at a [search.answersAcross] of 1: answers in another language
	// have lower cosines.
	gapBelow = 0.3
)

const (
	floorUnit = 0.095
	// wordlessAbove raises the floor in a hybrid search for hits without any of the words,
	// unless the notes may be in another language than the query. With a multilingual model, words
	// that no note has suggest that they are, and lower it.
	wordlessAbove = 0.06
	// A hit is clear if the whole query (see idealCap) occurs together in it, or if its
	// nearness plus clearShare times the share that does is at least clearAbove above the
	// floor. If the text of a hit was not read, that share is estimated as unreadShare of the
	// share it contains. If the nearness is unknown, the share wordsMeet suffices.
	clearAbove  = 0.18
	clearShare  = 0.50
	unreadShare = 0.7
	wordsMeet   = 0.33
	// usualAlike is the mean cosine between the alikeAmong nearest passages at which the bound
	// of clear hits is clearAbove.
	usualAlike = 0.37
	alikeAmong = 30
	// unknownMost limits the increase for unknown words: an answer may use synonyms.
	unknownMost = 0.1
	// closeAbove raises the bound of a hybrid search for models whose unrelated passages are
	// close to a query, in the model's measure.
	closeAbove = 0.07
	// fluent is the weight of meaning for queries that the model understands well. Cosines are
	// lower in another language, and for words of no language, for which a low floor would
	// admit everything.
	fluent = 0.55
)

// floor returns the least nearness of a hit without any of the words, and the bound of a clear
// hit. foreign reports whether the query may be in another language than the notes; unknown is
// the share of it in words that no note has.
func floor(m semanticResult, mode Mode, foreign bool, unknown float64) (hit float64, clear bound) {
	f := floorMost
	if m.passages > 0 {
		f = min(f, floorUnit*math.Sqrt(2*math.Log(float64(m.passages)+1)))
	}
	clear = bound{value: f + clearAbove, spread: notes.Spread{Mean: m.here.Mean, Deviation: m.usual.Deviation}}
	switch {
	case foreign && m.weight >= fluent: // few words match, and the notes have another mean
		clear.value = f
	case foreign:
		understood := m.weight / fluent
		f *= understood
		clear.value *= understood
	default:
		gap := m.languageGap()
		if mode == ModeHybrid {
			above := wordlessAbove * (1 - gap)
			clear.value += scatterShare * m.scatter
			if m.usual.Mean != 0 {
				clear.value += closeAbove
				above *= 1 - 2*unknown
			}
			f += above
		}
		clear.value = max(f, clear.value-gapBelow*gap)
	}
	least := m.here
	least.Mean = min(least.Mean, m.usual.Mean) // a hit too many can be marked as weak, one that is missing not
	return onSpread(least, f), clear
}

// unknownRaise returns the increase of the bound of clear hits for words that no note has. It is 0 if
// the notes are in another language than the query, because most words are unknown then.
func (s *search) unknownRaise(m *semanticResult, foreign bool) float64 {
	if foreign || s.q.Mode == ModeSemantic || m.usual.Mean != 0 {
		return 0
	}
	return min(unknownMost, unknownShare*s.rescorer.unknown)
}

// bound is the least nearness of a clear hit without any of the words.
type bound struct {
	value  float64
	spread notes.Spread
	across float64 // how much lower it is for notes in another language than the query
}

// reached reports whether a hit reaches the bound lowered by below, by its nearness or by how
// much of the query occurs together in it.
func (b bound) reached(c *candidate, below float64) bool {
	const all = .999 // allows for rounding
	value := b.value
	if c.across {
		value -= b.across
	}
	unknown := !c.embedded || c.missing > 0 // a passage without a vector may be near
	return c.togetherShare >= all || unknown && c.togetherShare >= wordsMeet-below/clearShare ||
		c.embedded && c.nearness() >= onSpread(b.spread, value-below-clearShare*c.togetherShare)
}

// onSpread converts a bound to the spread.
func onSpread(s notes.Spread, bound float64) float64 {
	if s.Deviation == 0 {
		return bound
	}
	return s.Mean + bound*s.Deviation/floorUnit
}

// markWeak marks the weak hits, and adds a remark if all hits are weak or there are none.
func (s *search) markWeak(list *rankedList) {
	for i := range list.found {
		if c := &list.found[i]; c.togetherShare == 0 {
			c.togetherShare = unreadShare * s.rescorer.share(c.terms)
		}
	}
	best := list.found[:min(len(list.found), rescoredNotes)]
	answered := slices.ContainsFunc(best, func(c candidate) bool {
		n := s.read[c.note]
		return list.clearBound.reached(&c, -list.clearRaise) && (s.q.FromPath == "" || n == nil || n.Path != s.q.FromPath)
	})
	for i := range list.found {
		c := &list.found[i]
		c.weak = !answered || !list.clearBound.reached(c, clearBelow)
	}
	list.weak = len(list.found) > 0 && !answered
	switch {
	case len(list.found) == 0 && len(s.r.phrases) > 0:
		var missing []string
		for _, p := range s.r.phrases {
			missing = append(missing, notes.Quote(p.text))
		}
		list.remarks = append(list.remarks, fmt.Sprintf("found no note with %s that fits the rest of the query; without quotation marks, its words are searched", strings.Join(missing, " and ")))
	case len(list.found) == 0 && list.semantic.State == StateReady:
		near := " or is semantically close"
		if s.byDigits() {
			near = ""
		}
		list.remarks = append(list.remarks, s.noNote(s.admitted != s.allowed)+"has these words"+near)
	case list.weak:
		list.remarks = append(list.remarks, "no note matches well: the hits have few of the words or are only remotely related")
	}
	const ask = "if the notes are in another language, ask in that"
	switch { // the language of a single word is unknown
	case answered:
	case list.poorlySupported && s.r.foreign:
		list.remarks = append(list.remarks, "the model supports this language poorly: "+ask)
	case len(list.found) == 0 && (list.poorlySupported || list.semantic.State == StateUnsupported):
		list.remarks = append(list.remarks, ask)
	}
}

// noNote begins a remark about what no note has, of those that meet the conditions of the query:
// its filter and others.
func (s *search) noNote(others bool) string {
	asked := s.r.filter
	if asked.Scope, asked.Exclude = nil, nil; others || !asked.IsZero() {
		return "no note that meets the other conditions "
	}
	return "no note "
}
