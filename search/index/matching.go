package index

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"notesd/notes"
)

// matching is [Index.Matching] in a snapshot.
func (s *snapshot) matching(ctx context.Context, p Plan, allowed *notes.IDSet) (*notes.IDSet, error) {
	set := &notes.IDSet{}
	for i, seg := range s.Segments() {
		docs := every(seg)
		if s.hidden[i] != nil {
			docs.AndNot(s.hidden[i])
		}
		for _, c := range p.Require {
			with, err := documentsWith(ctx, seg, c)
			if err != nil {
				return nil, err
			}
			docs.And(with)
		}
		for _, c := range p.Exclude {
			with, err := documentsWith(ctx, seg, c)
			if err != nil {
				return nil, err
			}
			docs.AndNot(with)
		}
		docs.Iterate(func(doc uint32) bool {
			if id := s.data[i].notes[doc]; allowed.Has(id) {
				set.Add(id)
			}
			return true
		})
	}
	return set, nil
}

// every returns all documents of a segment.
func every(seg *scorch.SegmentSnapshot) *roaring.Bitmap {
	docs := roaring.New()
	docs.AddRange(0, seg.Segment().Count())
	return docs
}

// documentsWith returns the documents for which a clause holds.
func documentsWith(ctx context.Context, seg *scorch.SegmentSnapshot, c Clause) (*roaring.Bitmap, error) {
	docs := every(seg)
	fields := c.Fields
	if len(fields) == 0 {
		for _, f := range searchedFields {
			fields = append(fields, f.name)
		}
	}
	for _, term := range c.Terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		with := roaring.New()
		for _, field := range fields {
			dict, err := seg.Segment().Dictionary(field)
			if err != nil {
				return nil, err
			}
			add := func(text string) error { return addDocuments(with, dict, text) }
			if term.Prefix {
				err = eachTerm(dict, term.Text, add)
			} else {
				err = add(term.Text)
			}
			if err != nil {
				return nil, err
			}
		}
		docs.And(with)
	}
	return docs, nil
}

// addDocuments adds the documents with a term to a set.
func addDocuments(docs *roaring.Bitmap, dict segment.TermDictionary, term string) error {
	list, err := dict.PostingsList([]byte(term), nil, nil)
	if err == nil {
		list.(*zap.PostingsList).OrInto(docs)
	}
	return err
}
