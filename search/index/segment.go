package index

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"notesd/notes"
	"notesd/search/terms"
)

// snapshot is a snapshot of the index, for one search.
type snapshot struct {
	*scorch.IndexSnapshot
	db       *database
	segments *segmentCache
	// By segment; [Index.search] sets these.
	data []*segmentData
	// hidden are the documents that were deleted or that the caller may not read. They are not
	// counted anywhere: not in the number of notes with a term, in the average length, or in
	// suggestions. nil: none.
	hidden []*roaring.Bitmap
}

func (s *snapshot) close() { _ = s.Close() }

// hide hides deleted notes and, if readable is not nil, all notes outside it.
func (s *snapshot) hide(readable *notes.IDSet) {
	s.hidden = make([]*roaring.Bitmap, len(s.data))
	for i, seg := range s.Segments() {
		s.hidden[i] = seg.Deleted()
		if readable == nil {
			continue
		}
		others := make([]uint64, (len(s.data[i].notes)+63)/64) // a bit for each document
		for doc, id := range s.data[i].notes {
			if !readable.Has(id) {
				others[doc/64] |= 1 << (doc % 64)
			}
		}
		s.hidden[i] = roaring.FromDense(others, false)
		if seg.Deleted() != nil {
			s.hidden[i].Or(seg.Deleted())
		}
	}
}

// eachSegment calls do for each segment, on several goroutines. A panic in do becomes an error,
// as in [database.guard].
func (s *snapshot) eachSegment(do func(worker, i int) error) error {
	return InParallel(len(s.Segments()), func(worker, i int) error {
		return s.db.guard(func() error { return do(worker, i) })
	})
}

// segmentData is the data of a segment that scoring needs in addition to its postings: the note
// of each document and its length. Bleve never changes a segment, so the data is loaded once.
type segmentData struct {
	notes    []int64   // by document number
	lengths  []float32 // terms in the body
	modified []uint32  // seconds
	sum      float64   // of lengths
	// english are the documents with a function word of English, and foreign those with one of
	// another language.
	english, foreign *roaring.Bitmap
}

// segmentCache caches the data of the segments in use of one Bleve index, which numbers them.
type segmentCache struct {
	mu   sync.Mutex
	data map[uint64]*segmentData // by segment id
}

// of returns the data of a snapshot's segments, and drops that of others when there are many.
func (c *segmentCache) of(s *scorch.IndexSnapshot) ([]*segmentData, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	segments := s.Segments()
	out := make([]*segmentData, len(segments))
	for i, seg := range segments {
		d := c.data[seg.Id()]
		if d == nil {
			var err error
			if d, err = loadSegment(seg); err != nil {
				return nil, err
			}
			if c.data == nil {
				c.data = map[uint64]*segmentData{}
			}
			c.data[seg.Id()] = d
		}
		out[i] = d
	}
	if len(c.data) > 2*len(segments)+8 {
		kept := make(map[uint64]*segmentData, len(segments))
		for i, seg := range segments {
			kept[seg.Id()] = out[i]
		}
		c.data = kept
	}
	return out, nil
}

func loadSegment(s *scorch.SegmentSnapshot) (*segmentData, error) {
	seg := s.Segment()
	n := seg.Count()
	d := &segmentData{notes: make([]int64, n), lengths: make([]float32, n), modified: make([]uint32, n)}
	for i := range n {
		id, err := seg.DocID(i)
		if err != nil {
			return nil, err
		}
		if d.notes[i], err = strconv.ParseInt(string(id), 10, 64); err != nil {
			return nil, fmt.Errorf("document id: %w", err)
		}
	}
	dict, err := seg.Dictionary(fieldSize)
	if err != nil {
		return nil, err
	}
	list, err := dict.PostingsList([]byte(sizeTerm), nil, nil)
	if err != nil {
		return nil, err
	}
	if err := d.readSizes(list.Iterator(true, true, false, nil)); err != nil {
		return nil, err
	}
	if d.english, err = withAny(seg, terms.EnglishNoteWord); err != nil {
		return nil, err
	}
	d.foreign, err = withAny(seg, terms.ForeignNoteWords...)
	return d, err
}

// withAny returns the documents whose body has one of the terms.
func withAny(seg segment.Segment, any ...string) (*roaring.Bitmap, error) {
	docs := roaring.New()
	dict, err := seg.Dictionary(fieldBody)
	if err != nil {
		return nil, err
	}
	for _, term := range any {
		if err := addDocuments(docs, dict, term); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// isForeign reports whether more notes are in other languages than in English.
func (s *snapshot) isForeign() bool {
	english, foreign := uint64(0), uint64(0)
	for i, d := range s.data {
		english += d.english.GetCardinality()
		foreign += d.foreign.GetCardinality()
		if hidden := s.hidden[i]; hidden != nil {
			english -= d.english.AndCardinality(hidden)
			foreign -= d.foreign.AndCardinality(hidden)
		}
	}
	return foreign > english
}

func (d *segmentData) readSizes(it segment.PostingsIterator) error {
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return err
		}
		if p.Number() >= uint64(len(d.lengths)) {
			return fmt.Errorf("document %d of %d", p.Number(), len(d.lengths))
		}
		size := p.Frequency() - 1
		length := float64(size & (1<<modifiedShift - 1))
		d.lengths[p.Number()], d.modified[p.Number()] = float32(length), uint32(size>>modifiedShift)
		d.sum += length
	}
}
