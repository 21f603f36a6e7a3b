package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
)

// segmentPlugin makes Bleve create segments from the counts of a builder. zap, whose format
// this is (zap.md in its repository), reads, merges and saves them. To create a segment, zap
// itself requires a map of terms for each note and takes four times as long.
type segmentPlugin struct{ zap.ZapPlugin }

func init() { scorch.RegisterSegmentPlugin(&segmentPlugin{}, false) }

// New is not used by an index.
func (p *segmentPlugin) New(docs []index.Document) (segment.Segment, uint64, error) {
	return p.NewUsing(docs, nil)
}

// NewUsing returns the segment of the builder that counted the documents. Their order is
// ignored in favour of the builder's.
func (p *segmentPlugin) NewUsing(docs []index.Document, config map[string]any) (segment.Segment, uint64, error) {
	d, ok := docs[0].(document)
	if !ok || len(docs) != len(d.counted.ids) {
		return nil, 0, errors.New("the documents were not counted by one builder")
	}
	w := new(segmentWriter)
	if err := w.write(d.counted); err != nil {
		return nil, 0, err
	}
	stats, ok := config[segment.StatsKey].(*segment.Stats)
	if !ok {
		stats = new(segment.Stats)
	}
	s, err := zap.InitSegmentBase(w.out, crc32.ChecksumIEEE(w.out), zap.DefaultChunkMode, uint64(len(d.counted.ids)),
		w.storedAt, w.fieldsAt, config, stats)
	if err != nil {
		return nil, 0, err
	}
	return s, uint64(len(w.out)), nil
}

// segmentWriter writes a segment.
//
// A segment is written sequentially, and its parts refer to each other by offset, so each part
// is written before those that refer to it:
//
//	stored ids         one record for each note, then the offsets of the records
//	for each field     for each of its terms: the frequencies in chunks, then the
//	                   postings, which are a bitmap of notes and the frequencies' offset;
//	                   the dictionary, a finite state transducer from a term to its
//	                   postings; a section with the dictionary's offset
//	index of fields    the name and the section of each field, then their offsets
//
// [zap.InitSegmentBase] is given the offsets of the first and the last of these, which zap
// writes to the footer of a segment on disk. A term that occurs once in a single note has no
// postings: the dictionary has the note in place of their offset.
type segmentWriter struct {
	out      []byte
	storedAt uint64 // where the index of stored ids begins
	fieldsAt uint64 // where the index of fields begins

	docs   uint64
	fst    *vellum.Builder
	fstOut bytes.Buffer
	set    *roaring.Bitmap
	found  []uint32 // documents with the term being written
	counts []byte   // its encoded frequencies, by chunk
	ends   []uint64 // end offsets of the chunks
}

// writtenField is a field whose postings are written.
type writtenField struct {
	name    string
	options index.FieldIndexingOptions
	at      uint64
}

func (w *segmentWriter) write(b *builder) error {
	w.out = make([]byte, 0, b.text*5/8+64*len(b.ids)+4096)
	w.docs = uint64(len(b.ids))
	w.set = roaring.New()
	var err error
	if w.fst, err = vellum.New(&w.fstOut, nil); err != nil {
		return err
	}
	w.storeIDs(b.ids)
	fields := []writtenField{{name: fieldID, options: index.IndexField | index.StoreField}}
	for _, f := range searchedFields {
		fields = append(fields, writtenField{name: f.name, options: index.IndexField})
	}
	fields = append(fields, writtenField{name: fieldSize, options: index.IndexField})
	for i := range fields {
		if err := w.insert(b, i-1); err != nil {
			return err
		}
		if fields[i].at, err = w.finishField(); err != nil {
			return err
		}
	}
	// zap requires the names in order, after that of the id
	slices.SortFunc(fields[1:], func(a, b writtenField) int { return cmp.Compare(a.name, b.name) })
	w.indexFields(fields)
	return nil
}

// storeIDs writes the only stored field, the note's id. A record consists of the length of its
// description, the length of its data, the description and the data. The description is the
// length of the id; the data is the id and the other stored fields, compressed, of which there
// are none.
func (w *segmentWriter) storeIDs(ids []int64) {
	at := make([]uint64, len(ids))
	for i, n := range ids {
		id := documentID(n)
		at[i] = uint64(len(w.out))
		w.out = append(w.out, 1, byte(len(id)+1), byte(len(id)))
		w.out = append(w.out, id...)
		w.out = append(w.out, 0) // empty, in Snappy's encoding
	}
	w.storedAt = uint64(len(w.out))
	for _, a := range at {
		w.out = binary.BigEndian.AppendUint64(w.out, a)
	}
	w.out = append(w.out, 0) // no nested documents
}

// insert writes the postings of a field and adds its terms to the dictionary, in order. The
// first field has the ids and the last one the sizes.
func (w *segmentWriter) insert(b *builder, field int) error {
	switch field {
	case -1:
		return w.insertIDs(b.ids)
	case len(searchedFields):
		var p postings
		for doc, n := range b.sizes {
			p.add(uint32(doc), n)
		}
		return w.insertTerm(sizeTerm, &p)
	}
	terms := b.fields[field]
	slices.SortFunc(terms, func(a, b *counter) int { return cmp.Compare(a.term, b.term) })
	for _, c := range terms {
		if err := w.insertTerm(c.term, c.in(field)); err != nil {
			return err
		}
	}
	return nil
}

func (w *segmentWriter) insertIDs(ids []int64) error {
	type entry struct {
		id  string
		doc int
	}
	sorted := make([]entry, len(ids))
	for doc, n := range ids {
		sorted[doc] = entry{documentID(n), doc}
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	for _, e := range sorted {
		if err := w.fst.Insert([]byte(e.id), zap.FSTValEncode1Hit(uint64(e.doc), leastNorm)); err != nil {
			return err
		}
	}
	return nil
}

// leastNorm is the norm of each posting, which zap uses for the length of the field. The scorer
// takes lengths from fieldSize, so this is the least value that zap accepts.
const leastNorm = 1

// insertTerm writes the postings of a term and adds the term to the dictionary. A term that
// occurs once in a single note is only in the dictionary.
func (w *segmentWriter) insertTerm(term string, p *postings) error {
	if doc, count, _ := p.first(); p.n == 1 && count == 1 {
		return w.fst.Insert([]byte(term), zap.FSTValEncode1Hit(doc, leastNorm))
	}
	w.encode(p)
	counts := uint64(len(w.out))
	w.out = binary.AppendUvarint(w.out, uint64(len(w.ends)))
	for _, end := range w.ends {
		w.out = binary.AppendUvarint(w.out, end)
	}
	w.out = append(w.out, w.counts...)

	at := uint64(len(w.out))
	w.out = binary.AppendUvarint(w.out, counts)
	w.out = append(w.out, 0) // no positions
	w.set.Clear()
	w.set.AddMany(w.found)
	set, err := w.set.ToBytes()
	if err != nil {
		return err
	}
	w.out = binary.AppendUvarint(w.out, uint64(len(set)))
	w.out = append(w.out, set...)
	return w.fst.Insert([]byte(term), at)
}

// first returns the first note, its count, and the offset of the next posting.
func (p *postings) first() (doc, count uint64, size int) {
	doc, a := binary.Uvarint(p.data)
	count, b := binary.Uvarint(p.data[a:])
	return doc, count, a + b
}

// chunkPostings is how many postings zap wants in a chunk of frequencies.
const chunkPostings = 1024

// encode fills found, counts and ends from the postings of a term.
func (w *segmentWriter) encode(p *postings) {
	chunk := w.docs / (uint64(p.n)/chunkPostings + 1) // documents
	w.found, w.counts = w.found[:0], w.counts[:0]
	w.ends = append(w.ends[:0], make([]uint64, (w.docs-1)/chunk+1)...)
	next := uint64(0)
	for rest := *p; len(rest.data) > 0; {
		doc, count, size := rest.first()
		rest.data = rest.data[size:]
		doc += next
		next = doc + 1
		w.found = append(w.found, uint32(doc))
		w.counts = binary.AppendUvarint(w.counts, count<<1) // the lowest bit: whether there are positions
		w.counts = append(w.counts, leastNorm)
		w.ends[doc/chunk] = uint64(len(w.counts))
	}
	for i := 1; i < len(w.ends); i++ {
		w.ends[i] = max(w.ends[i], w.ends[i-1])
	}
}

// finishField writes the dictionary of the field whose terms were inserted, and starts the next
// field. It returns the offset of the field's section.
func (w *segmentWriter) finishField() (at uint64, err error) {
	if err := w.fst.Close(); err != nil {
		return 0, err
	}
	dictionary := uint64(len(w.out))
	w.out = binary.AppendUvarint(w.out, uint64(w.fstOut.Len()))
	w.out = append(w.out, w.fstOut.Bytes()...)
	w.fstOut.Reset()
	if err := w.fst.Reset(&w.fstOut); err != nil {
		return 0, err
	}
	at = uint64(len(w.out))
	w.out = binary.AppendUvarint(w.out, math.MaxUint64) // no values by document:
	w.out = binary.AppendUvarint(w.out, math.MaxUint64) // neither start nor end
	w.out = binary.AppendUvarint(w.out, dictionary)
	return at, nil
}

// indexFields writes the index of the fields.
func (w *segmentWriter) indexFields(fields []writtenField) {
	at := make([]uint64, len(fields))
	for i, f := range fields {
		at[i] = uint64(len(w.out))
		w.out = binary.AppendUvarint(w.out, uint64(len(f.name)))
		w.out = append(w.out, f.name...)
		w.out = binary.AppendUvarint(w.out, uint64(f.options))
		w.out = append(w.out, 1) // kind of index:
		w.out = binary.BigEndian.AppendUint16(w.out, zap.SectionInvertedTextIndex)
		w.out = binary.BigEndian.AppendUint64(w.out, f.at)
	}
	w.fieldsAt = uint64(len(w.out))
	w.out = binary.AppendUvarint(w.out, uint64(len(fields)))
	for _, a := range at {
		w.out = binary.BigEndian.AppendUint64(w.out, a)
	}
}
