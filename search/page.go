package search

import (
	"context"
	"slices"

	"notesd/search/index"
)

// page builds the result from the requested part of the list. It skips notes that have been
// deleted or no longer match the filter.
func (s *search) page(ctx context.Context, at pageStart, list *rankedList) (Result, error) {
	res := Result{Hits: []Hit{}, Total: list.total, Weak: list.weak, Semantic: list.semantic, Notes: slices.Clone(list.remarks)}
	next := min(at.offset, len(list.found))
	share := min(s.q.Limit, len(list.found)-next)
	for next < len(list.found) && len(res.Hits) < s.q.Limit {
		part := list.found[next:min(len(list.found), next+s.q.Limit-len(res.Hits))]
		if err := s.readNotes(ctx, part); err != nil {
			return Result{}, err
		}
		next += len(part)
		part = slices.DeleteFunc(slices.Clone(part), func(c candidate) bool { return s.read[c.note] == nil || !s.allowed.Has(c.note) })
		hits := make([]Hit, len(part))
		first := at.offset == 0 && len(res.Hits) == 0
		err := index.InParallel(len(part), func(_, i int) error {
			var second *Hit
			if hits[i], second = s.hit(part[i], len(res.Hits)+i, share, first && i == 0); second != nil {
				res.Second = second
			}
			return nil
		})
		if err != nil {
			return Result{}, err
		}
		res.Hits = append(res.Hits, hits...)
	}
	if s.allowed != nil && s.allowed.Len() == 0 {
		why, err := s.store.WhyNothing(ctx, s.r.filter)
		if err != nil {
			return Result{}, err
		}
		if len(why) == 0 {
			why = []string{"the filter matches no note"}
		}
		res.Excluded, res.Notes = true, why // rather than remarks on the words
	}
	res.Truncated = next < len(list.found) || list.canGrow()
	if res.Truncated {
		res.Next = at.after(next)
	}
	return res, nil
}

// hit returns a candidate as a hit, with a snippet for its rank among hits. If two is set and
// the note is the topic of the query, second is another passage of it.
func (s *search) hit(c candidate, rank, hits int, two bool) (h Hit, second *Hit) {
	n, r := s.read[c.note], s.rescorer
	matches, ok := s.matches[c.note]
	if !ok {
		matches = r.find(n.Content, c.terms)
	}
	matches = r.marked(n.Content, matches)
	show := func(chunk int) Hit {
		heading, passage := "", n.Content
		if chunk >= 0 {
			c := n.Chunks[chunk]
			heading, passage = c.Heading(), n.Content[c.Start:c.End]
		}
		h := r.show(n, matches, chunk, s.q.snippetSize(n, heading, passage, rank, hits))
		h.Score, h.Weak = c.score, c.weak
		h.Why = Why{TextRank: c.textRank, VectorRank: c.vectorRank, TextScore: c.text + c.bonus, VectorScore: c.cosine, Terms: r.shown(c.terms)}
		h.Why.Forms = r.forms(h.Snippet, h.Why.Terms)
		return h
	}
	chunk := r.bestChunk(n, matches, c.chunk)
	if two && !c.weak {
		if i := r.secondChunk(n, matches, chunk); i >= 0 {
			other := show(i)
			second = &other
		}
	}
	return show(chunk), second
}
