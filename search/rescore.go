package search

import "notesd/notes"

// What the text of a note adds to its score beside its terms, each in units of
// the idf of the words concerned. Chosen on judged sets; docs/retrieval.md has
// the table.
const (
	pairBonus   = 0.30 // two words of the query stand together, in its order
	windowBonus = 0.10 // the words that meet in some twenty words of the text
	exactBonus  = 0.05 // the word itself and not another with its stem

	pairReach  = 3  // words from one to the other of a pair, at most
	windowSize = 20 // words
)

// rescorer looks at the text of the best candidates.
type rescorer struct {
	request *request
	matcher *matcher
	weights []float64 // idf by term of the plan
	pairs   []pair
}

// pair is two words that follow each other in the query.
type pair struct {
	first, second int // terms
	weight        float64
}

// newRescorer takes the number of notes, and of notes with each term.
func newRescorer(r *request, docs int, with []int) *rescorer {
	s := &rescorer{request: r, matcher: newMatcher(r), weights: make([]float64, len(r.plan.terms))}
	for i := range s.weights {
		s.weights[i] = float64(idf(docs, with[i])) * r.plan.terms[i].weight
	}
	for i := 1; i < len(r.words); i++ {
		a, b := r.words[i-1], r.words[i]
		if a.gram || b.gram || b.gap > pairReach-1 || a.term == b.term {
			continue // n-grams of a run overlap: they say no more than it
		}
		s.pairs = append(s.pairs, pair{a.term, b.term, min(s.weights[a.term], s.weights[b.term])})
	}
	return s
}

// score returns what a note's text adds, and the matches in it.
func (s *rescorer) score(n *notes.Note) (bonus float64, matches []match) {
	matches = s.matcher.find(nil, clipTo(n.Content, maxScanned))
	bonus = pairBonus*s.pairsIn(n.Title, matches) + exactBonus*s.exactIn(matches) + windowBonus*s.windowIn(matches)
	return bonus, matches
}

// maxScanned bounds how much of a long note is looked at.
const maxScanned = 256 << 10

// pairsIn sums the pairs that stand together.
func (s *rescorer) pairsIn(title string, matches []match) float64 {
	sum := 0.0
	titled := s.matcher.find(nil, title)
	for _, p := range s.pairs {
		if together(p, matches) || together(p, titled) {
			sum += p.weight
		}
	}
	return sum
}

func together(p pair, matches []match) bool {
	last := -1 << 30
	for _, m := range matches {
		switch m.term {
		case p.first:
			last = m.word
		case p.second:
			if m.word-last <= pairReach && m.word > last {
				return true
			}
		}
	}
	return false
}

// exactIn sums the terms that occur as they were asked for.
func (s *rescorer) exactIn(matches []match) float64 {
	sum := 0.0
	var seen uint64
	for _, m := range matches {
		if bit := uint64(1) << min(m.term, 63); m.exact && seen&bit == 0 {
			seen |= bit
			sum += s.weights[m.term]
		}
	}
	return sum
}

// windowIn returns the greatest sum of terms that meet in a window.
func (s *rescorer) windowIn(matches []match) float64 {
	_, _, sum := s.window(matches, func(first, last match) bool { return last.word-first.word <= windowSize })
	return sum
}

// window returns the stretch of matches, as far as fits allows, whose distinct
// terms weigh most, and their weight. Of equals the first wins.
func (s *rescorer) window(matches []match, fits func(first, last match) bool) (from, to int, best float64) {
	count := make([]int, len(s.weights))
	sum, lo := 0.0, 0
	for hi, m := range matches {
		if count[m.term]++; count[m.term] == 1 {
			sum += s.weights[m.term]
		}
		for !fits(matches[lo], m) {
			if count[matches[lo].term]--; count[matches[lo].term] == 0 {
				sum -= s.weights[matches[lo].term]
			}
			lo++
		}
		if sum > best+1e-9 {
			from, to, best = lo, hi+1, sum
		}
	}
	return from, to, best
}
