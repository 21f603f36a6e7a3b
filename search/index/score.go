package index

import (
	"context"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"notesd/notes"
)

// Parameters of BM25F: Robertson, Zaragoza and Taylor, "Simple BM25 Extension to Multiple
// Weighted Fields" (CIKM 2004). Bleve's own BM25 uses the square root of the frequencies and
// the number of distinct terms as the average length, and scores every field separately, so
// that a word that is rare in titles outweighs its occurrences in the body.
var (
	bm25K1 float32 = 1.2 // saturation of repeated words
	bm25B  float32 = 0.5 // normalization by length
	// labelBonus is the weight of a term in a folder or tag of a note whose name has another term:
	// a query may name the note by both, such as "atlas roadmap" for Atlas/Roadmap.
	labelBonus float32 = 0.4
)

// Ranked is a note that matched.
type Ranked struct {
	Note     int64
	Score    float64
	Modified uint32 // in seconds; of equal scores, the later is better
	Terms    uint64 // bit i: it has the plan's term i; bit 63 is shared by all terms from 63 on
}

// Ranking is the result of a plan.
type Ranking struct {
	Best  []Ranked // by descending score, then by descending time and id
	Total int      // notes that matched
	Docs  int      // readable notes
	With  []int    // number of these with the plan's term i

	scored []*accumulator // by segment, for TextOf until Release
}

// Release frees the scores of all notes.
func (r *Ranking) Release() {
	for _, a := range r.scored {
		if a != nil { // the ranking may have failed
			a.release()
		}
	}
	r.scored = nil
}

// TextOf returns the text scores of admitted notes at any rank. Notes without any of the terms
// are omitted.
func (r *Ranking) TextOf(of *notes.IDSet) map[int64]Ranked {
	found := make(map[int64]Ranked, of.Len())
	for _, a := range r.scored {
		for doc, id := range a.data.notes {
			if of.Has(id) && a.terms[doc] != 0 {
				found[id] = Ranked{Note: id, Score: float64(a.score[doc]), Modified: a.data.modified[doc], Terms: a.terms[doc]}
			}
		}
	}
	return found
}

// rank is [Index.Rank] in a snapshot.
func (s *snapshot) rank(ctx context.Context, p *Plan, admitted *notes.IDSet, limit int) (Ranking, error) {
	if err := s.expandTerms(p); err != nil {
		return Ranking{}, err
	}
	docs, average := s.shape()
	r := Ranking{Docs: docs, With: make([]int, len(p.Terms))}
	segments := s.Segments()
	lists := make([]termLists, len(segments))
	open := func(which []int) error {
		err := s.eachSegment(func(_, i int) error { return lists[i].open(segments[i], s.hidden[i], p.Terms, which) })
		if err != nil {
			return err
		}
		for _, t := range which {
			r.With[t] = notesWithTerm(lists, t)
		}
		return nil
	}
	all := make([]int, len(p.Terms))
	for t := range all {
		all[t] = t
	}
	if err := open(all); err != nil {
		return r, err
	}
	if p.Unknown != nil {
		if unknown := p.Unknown(r.With); len(unknown) > 0 {
			if err := s.suggest(ctx, p, unknown); err != nil {
				return r, err
			}
			if err := open(unknown); err != nil {
				return r, err
			}
		}
	}
	weights := make([]float32, len(p.Terms))
	for t, term := range p.Terms {
		weights[t] = Idf(docs, r.With[t]) * float32(term.Weight*term.Times)
	}
	var tops [maxWorkers]*top
	var totals [maxWorkers]int
	r.scored = make([]*accumulator, len(segments))
	err := s.eachSegment(func(worker, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if tops[worker] == nil {
			tops[worker] = newTop(limit)
		}
		acc := newAccumulator(s.data[i], average)
		r.scored[i] = acc
		for t, weight := range weights {
			if err := acc.add(t, lists[i].fields[t], weight); err != nil {
				return err
			}
		}
		totals[worker] += acc.collect(tops[worker], weights, admitted)
		return nil
	})
	if err != nil {
		return r, err
	}
	best := newTop(limit)
	for worker, t := range tops {
		r.Total += totals[worker]
		if t != nil {
			best.found = append(best.found, t.found...)
		}
	}
	r.Best = best.best()
	return r, nil
}

// shape returns the number of documents that are not hidden, and their average length.
func (s *snapshot) shape() (docs int, average float32) {
	sum := 0.0
	for i, d := range s.data {
		docs += len(d.notes)
		sum += d.sum
		if hidden := s.hidden[i]; hidden != nil {
			docs -= int(hidden.GetCardinality())
			hidden.Iterate(func(doc uint32) bool {
				sum -= float64(d.lengths[doc]) // exact, because lengths are integers
				return true
			})
		}
	}
	return docs, float32(max(1, sum/float64(max(1, docs))))
}

// Idf returns the inverse document frequency of a term that with of docs notes have. It is
// positive, even if with is the sum over several words.
func Idf(docs, with int) float32 {
	with = min(with, docs)
	return float32(math.Log(1 + (float64(docs)-float64(with)+0.5)/(float64(with)+0.5)))
}

// termLists are the postings of the plan's terms in one segment.
type termLists struct {
	fields [][len(searchedFields)][]postingsIter // by term and field
	counts [][len(searchedFields)]int            // number of notes, summed over the lists
}

type postingsIter = segment.PostingsIterator

// open opens the lists of some of the terms.
func (l *termLists) open(seg *scorch.SegmentSnapshot, hidden *roaring.Bitmap, terms []PlanTerm, which []int) error {
	if l.fields == nil {
		l.fields, l.counts = make([][len(searchedFields)][]postingsIter, len(terms)), make([][len(searchedFields)]int, len(terms))
	}
	var buf []byte
	for f, field := range searchedFields {
		dict, err := seg.Segment().Dictionary(field.name)
		if err != nil {
			return err
		}
		for _, t := range which {
			l.fields[t][f], l.counts[t][f] = nil, 0
			for o := -1; o < len(terms[t].Others); o++ {
				text := terms[t].Text
				if o >= 0 {
					text = terms[t].Others[o]
				}
				buf = append(buf[:0], text...)
				list, err := dict.PostingsList(buf, hidden, nil)
				if err != nil {
					return err
				}
				n := list.Count()
				if n == 0 {
					continue
				}
				if hidden != seg.Deleted() { // an iterator skips many documents more slowly than collect does
					if list, err = dict.PostingsList(buf, seg.Deleted(), list); err != nil {
						return err
					}
				}
				l.counts[t][f] += int(n)
				l.fields[t][f] = append(l.fields[t][f], list.Iterator(true, false, false, nil))
			}
		}
	}
	return nil
}

// notesWithTerm estimates the number of notes with the plan's term t, as the number in the
// field where most have it.
func notesWithTerm(lists []termLists, t int) int {
	most := 0
	for f := range searchedFields {
		n := 0
		for _, l := range lists {
			n += l.counts[t][f]
		}
		most = max(most, n)
	}
	return most
}
