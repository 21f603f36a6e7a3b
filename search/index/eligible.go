package index

import (
	"cmp"
	"context"

	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"notesd/notes"
)

// eligibleOf returns the documents of a segment whose notes are in a set; nil means all.
func eligibleOf(d *segmentData, allowed *notes.IDSet) bitset {
	if allowed == nil {
		return nil
	}
	set := newBitset(len(d.notes))
	for doc, id := range d.notes {
		if allowed.Has(id) {
			set.set(uint32(doc))
		}
	}
	return set
}

// eligibleIn returns the documents of a segment that a plan's clauses and the
// filter admit.
func eligibleIn(ctx context.Context, seg *scorch.SegmentSnapshot, d *segmentData, p Plan, allowed *notes.IDSet) (bitset, error) {
	set := eligibleOf(d, allowed)
	if set == nil {
		set = newBitset(len(d.notes))
		for i := range set {
			set[i] = ^uint64(0)
		}
	}
	for _, c := range p.Require {
		with, err := documentsWith(seg, len(d.notes), c)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		set.and(with)
	}
	for _, c := range p.Exclude {
		with, err := documentsWith(seg, len(d.notes), c)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		set.andNot(with)
	}
	return set, nil
}

// matching is [Index.Matching] in a snapshot.
func (s *snapshot) matching(ctx context.Context, p Plan, allowed *notes.IDSet) (*notes.IDSet, error) {
	set := &notes.IDSet{}
	for i, seg := range s.Segments() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		eligible, err := eligibleIn(ctx, seg, s.data[i], p, allowed)
		if err != nil {
			return nil, err
		}
		for doc, id := range s.data[i].notes {
			if eligible.has(uint32(doc)) && (s.hidden[i] == nil || !s.hidden[i].Contains(uint32(doc))) {
				set.Add(id)
			}
		}
	}
	return set, nil
}

// documentsWith returns the documents for which a clause holds.
func documentsWith(seg *scorch.SegmentSnapshot, n int, c Clause) (bitset, error) {
	all := newBitset(n)
	for i := range all {
		all[i] = ^uint64(0)
	}
	fields := c.Fields
	if len(fields) == 0 {
		for _, f := range searchedFields {
			fields = append(fields, f.name)
		}
	}
	for _, term := range c.Terms {
		with := newBitset(n)
		for _, field := range fields {
			dict, err := seg.Segment().Dictionary(field)
			if err != nil {
				return nil, err
			}
			if err := addDocuments(with, dict, term); err != nil {
				return nil, err
			}
		}
		all.and(with)
	}
	return all, nil
}

// addDocuments adds the documents with a term to a set.
func addDocuments(set bitset, dict segment.TermDictionary, term Lookup) error {
	texts := []string{term.Text}
	if term.Prefix {
		texts = nil
		add := func(text string) error {
			texts = append(texts, text)
			return nil
		}
		if err := eachTerm(dict, term.Text, add); err != nil {
			return err
		}
	}
	for _, text := range texts {
		list, err := dict.PostingsList([]byte(text), nil, nil)
		if err != nil {
			return err
		}
		it := list.Iterator(false, false, false, nil)
		for {
			p, err := it.Next()
			if err != nil {
				return err
			}
			if p == nil {
				break
			}
			set.set(uint32(p.Number()))
		}
	}
	return nil
}
