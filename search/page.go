package search

import (
	"context"
	"slices"
)

// page makes the result from the part of the list that the query asks for.
func (s *search) page(ctx context.Context, at place, list *rankedList) (Result, error) {
	res := Result{Hits: []Hit{}, Total: list.total, Semantic: list.semantic, Notes: slices.Clone(list.remarks)}
	allowed, err := s.store.Resolve(ctx, s.r.filter)
	if err != nil {
		return Result{}, err
	}
	next := min(at.offset, len(list.found))
	for next < len(list.found) && len(res.Hits) < s.q.Limit {
		part := list.found[next:min(len(list.found), next+s.q.Limit-len(res.Hits))]
		if err := s.readNotes(ctx, part); err != nil {
			return Result{}, err
		}
		for _, c := range part {
			if n := s.read[c.note]; n != nil && allowed.Has(c.note) {
				res.Hits = append(res.Hits, s.hit(c))
			}
		}
		next += len(part)
	}
	res.Truncated = next < len(list.found) || next < list.total && next < maxResults
	if next >= at.offset && next == len(list.found) && len(list.found) < min(pool, list.total) {
		res.Truncated = false // the index was changed: there is no more
	}
	if res.Truncated {
		res.Next = at.after(next)
	}
	return res, nil
}

// hit shows a candidate.
func (s *search) hit(c candidate) Hit {
	n := s.read[c.note]
	matches, ok := s.matches[c.note]
	if !ok {
		matches = s.rescorer.find(n.Content, c.terms)
	}
	h := s.rescorer.show(n, matches, c.chunk, s.q.snippetSize())
	h.Score = c.score
	h.Why = Why{TextRank: c.textRank, VectorRank: c.vectorRank, Terms: s.r.shown(c.terms)}
	if s.q.Explain {
		h.Why.TextScore, h.Why.VectorScore = c.text, c.cosine
	}
	return h
}
