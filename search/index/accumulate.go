package index

import (
	"slices"
	"sync"

	"notesd/notes"
)

// accumulator adds up the scores of one segment's documents, term by term.
type accumulator struct {
	data  *segmentData
	base  float32
	slope float32
	*scratch
}

// scratch is the memory of an accumulator, which is pooled. All but score and the sets of terms is
// zero between searches.
type scratch struct {
	score   []float32
	terms   []uint64
	names   []uint64  // the terms in the name, one bit each
	labels  []uint64  // the terms in a tag or a folder
	count   []float32 // weighted frequency of the term being added, outside the body
	touched []uint32  // documents with a count
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func newAccumulator(d *segmentData, average float32) *accumulator {
	s := scratches.Get().(*scratch)
	n := len(d.notes)
	s.score, s.count = zeroed(s.score, n), slices.Grow(s.count[:0], n)[:n]
	s.terms, s.names, s.labels = zeroed(s.terms, n), zeroed(s.names, n), zeroed(s.labels, n)
	return &accumulator{
		data: d, scratch: s,
		base: bm25K1 * (1 - bm25B), slope: bm25K1 * bm25B / average,
	}
}

func zeroed[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

func (a *accumulator) release() { scratches.Put(a.scratch) }

// add scores the term with this index in the plan. It sums the counts of the small fields
// first, and adds those of the body while scoring.
func (a *accumulator) add(term int, fields [len(searchedFields)][]postingsIter, weight float32) error {
	const body = len(searchedFields) - 1
	bit := uint64(1) << min(term, 63)
	for f := range searchedFields {
		for n, it := range fields[f] {
			if f == body && n == len(fields[f])-1 {
				if err := a.complete(it, bit, weight); err != nil {
					return err
				}
				break
			}
			var in []uint64
			switch f {
			case nameField:
				in = a.names
			case tagField, folderField:
				in = a.labels
			}
			if err := a.gather(it, searchedFields[f].weight, in, bit); err != nil {
				return err
			}
		}
	}
	for _, doc := range a.touched {
		if n := a.count[doc]; n > 0 {
			a.saturate(doc, n, bit, weight)
			a.count[doc] = 0
		}
	}
	a.touched = a.touched[:0]
	return nil
}

// gather adds the counts of one postings list to the documents.
func (a *accumulator) gather(it postingsIter, weight float32, in []uint64, bit uint64) error {
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return err
		}
		doc := uint32(p.Number())
		if a.count[doc] == 0 {
			a.touched = append(a.touched, doc)
		}
		a.count[doc] += weight * float32(p.Frequency())
		if in != nil {
			in[doc] |= bit
		}
	}
}

// complete adds the counts of the last list of a term, usually the longest, and scores its
// documents.
func (a *accumulator) complete(it postingsIter, bit uint64, weight float32) error {
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return err
		}
		doc := uint32(p.Number())
		n := float32(p.Frequency())
		if more := a.count[doc]; more > 0 {
			n += more
			a.count[doc] = 0
		}
		a.saturate(doc, n, bit, weight)
	}
}

// saturate adds the score of a term with the weighted frequency n in a document.
func (a *accumulator) saturate(doc uint32, n float32, bit uint64, weight float32) {
	a.score[doc] += weight * n / (n + a.base + a.slope*a.data.lengths[doc])
	a.terms[doc] |= bit
}

// collect completes the score of every document of admitted that has a term, offers it to top, and
// counts these documents. weights are those of the terms.
func (a *accumulator) collect(top *top, weights []float32, admitted *notes.IDSet) int {
	n := 0
	for doc, terms := range a.terms {
		if terms == 0 || !admitted.Has(a.data.notes[doc]) {
			continue
		}
		n++
		if name := a.names[doc]; name != 0 {
			a.score[doc] += labelBonus * weightOf(a.labels[doc]&^name, weights)
		}
		if score := float64(a.score[doc]); top.admits(score) {
			top.offer(Ranked{Note: a.data.notes[doc], Score: score, Modified: a.data.modified[doc], Terms: terms})
		}
	}
	return n
}

// weightOf returns the weight of a set of terms, without those that share its last bit.
func weightOf(set uint64, weights []float32) (sum float32) {
	for t, w := range weights[:min(len(weights), 63)] {
		if set&(1<<t) != 0 {
			sum += w
		}
	}
	return sum
}
