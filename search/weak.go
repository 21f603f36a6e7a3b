package search

// How near a passage is, see [SemanticHit], that has none of the query's words:
// below the floor it is no hit, below clear it is a weak one. On the judged sets
// docs/retrieval.md has what each bound loses and keeps out.
const (
	floorNear = 0.30
	clearNear = 0.42
	// clearShare is how much of the query's idf a note has that is found by
	// words and is no weak hit.
	clearShare = 0.4
)

// judge marks the hits that have little of what was asked for, and says so
// when no hit has more, or there is none.
func (s *search) judge(list *rankedList) {
	list.weak = len(list.found) > 0
	for i := range list.found {
		c := &list.found[i]
		c.weak = c.near < clearNear && s.rescorer.share(c.terms) < clearShare
		list.weak = list.weak && c.weak
	}
	switch {
	case len(list.found) == 0 && list.semantic.State == StateReady:
		list.remarks = append(list.remarks, "no note has these words, or is near them in meaning")
	case list.weak:
		list.remarks = append(list.remarks, "no note matches well: these hits have few of the words, or are only remotely near in meaning")
	}
}

// share is the part of the request's weight that a set of its terms has.
func (s *rescorer) share(terms uint64) float64 {
	sum := 0.0
	for i, w := range s.weights {
		if terms&(1<<min(i, 63)) != 0 {
			sum += w
		}
	}
	return sum / max(s.total(), 1e-9)
}
