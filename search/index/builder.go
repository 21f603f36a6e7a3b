package index

import (
	"encoding/binary"
	"math"
	"path"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"notesd/notes"
	"notesd/search/terms"
)

// Limits of a builder. Its memory is about half the size of the text that was counted. A
// segment of more text has no advantage.
const (
	maxSegmentText  = 16 << 20 // bytes
	maxSegmentTerms = 1 << 18  // also distinct words, of which a table of hashes consists
	maxKnownWord    = 32       // bytes
)

// A builder computes the postings of a segment from notes, one note at a time, as in Heinz and
// Zobel, "Efficient single-pass index construction for text databases" (JASIST 2003): it takes
// a look-up for each word and a few bytes for each term of a note. It is not safe for
// concurrent use.
type builder struct {
	words  map[string][]*counter // a word as written → its terms
	terms  map[string]*counter
	joined int        // numbers counted for the current field in addition to their words
	field  uint64     // sequence number of the field being counted, from 1
	found  []*counter // in this field
	spare  []terms.Term

	ids     []int64  // the segment's notes, by document number
	sizes   []uint64 // see fieldSize
	fields  [len(searchedFields)][]*counter
	deleted []int64 // notes to remove from the index
	text    int     // bytes
}

// counter counts a term within one field of one note, and holds the term's postings. Few terms
// occur outside bodies.
type counter struct {
	term  string
	field uint64
	n     int
	body  postings
	other *[bodyField]postings
}

// postings are the notes that have a term in a field, ordered by document number.
type postings struct {
	data []byte // for each note the distance from the previous one and the count, as uvarints
	next uint32 // least document number of the next note
	n    uint32
}

func (p *postings) add(doc uint32, count uint64) {
	p.data = binary.AppendUvarint(p.data, uint64(doc-p.next))
	p.data = binary.AppendUvarint(p.data, count)
	p.next = doc + 1
	p.n++
}

// in returns the postings of a field.
func (c *counter) in(field int) *postings {
	if field == bodyField {
		return &c.body
	}
	if c.other == nil {
		c.other = new([bodyField]postings)
	}
	return &c.other[field]
}

// newBuilder returns an empty builder.
func newBuilder() *builder {
	return &builder{field: 1, words: map[string][]*counter{}, terms: map[string]*counter{}}
}

// full reports whether the segment is large enough.
func (b *builder) full() bool {
	return b.text >= maxSegmentText || len(b.terms) >= maxSegmentTerms || len(b.words) >= maxSegmentTerms
}

func (b *builder) empty() bool { return len(b.ids)+len(b.deleted) == 0 }

// add adds a note to the segment, which must not contain it yet.
func (b *builder) add(n *notes.Note) {
	b.ids = append(b.ids, n.ID)
	b.text += len(n.Content)
	base := path.Base(n.Path)
	b.count(n.Title, strings.TrimSuffix(base, path.Ext(base)))
	b.count(n.Aliases...)
	b.finish(nameField)
	for _, h := range n.Headings {
		b.count(h.Text)
	}
	b.finish(headingField)
	b.count(n.Tags...)
	b.finish(tagField)
	b.count(path.Dir(n.Path))
	b.finish(folderField)
	b.count(n.SearchText())
	length := uint64(b.finish(bodyField))
	modified := uint64(min(max(n.Modified.Unix(), 0), math.MaxInt32))
	b.sizes = append(b.sizes, 1+length+modified<<modifiedShift)
}

// delete records that a note is to be removed from the index.
func (b *builder) delete(noteID int64) { b.deleted = append(b.deleted, noteID) }

// batch returns the segment as a Bleve batch: documents that refer to the builder with their
// postings. The builder must not be used until Bleve has applied the batch.
func (b *builder) batch() *index.Batch {
	batch := index.NewBatch()
	for _, id := range b.deleted {
		batch.Delete(documentID(id))
	}
	for _, id := range b.ids {
		batch.Update(document{id: documentID(id), counted: b})
	}
	return batch
}

// count counts the terms of texts for the current field.
func (b *builder) count(texts ...string) {
	for _, text := range texts {
		for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
			for _, c := range b.countersOf(text, s) {
				b.countOne(c)
			}
			if n, ok := terms.Number(text, s); ok {
				b.countOne(b.counterOf(n))
				b.joined++
			}
		}
	}
}

// countOne counts a term for the current field.
func (b *builder) countOne(c *counter) {
	if c.field != b.field {
		c.field, c.n = b.field, 0
		b.found = append(b.found, c)
	}
	c.n++
}

// countersOf returns the counters of a span's terms.
func (b *builder) countersOf(text string, s terms.Span) []*counter {
	raw := text[s.Start:s.End]
	if known, ok := b.words[raw]; ok {
		return known
	}
	b.spare = terms.Expand(b.spare[:0], text, s)
	counters := make([]*counter, len(b.spare))
	for i, t := range b.spare {
		counters[i] = b.counterOf(t)
	}
	if s.Kind() == terms.ClassWord && len(raw) <= maxKnownWord {
		b.words[strings.Clone(raw)] = counters
	}
	return counters
}

// counterOf returns the counter of a term.
func (b *builder) counterOf(t terms.Term) *counter {
	c := b.terms[t.Text]
	if c == nil {
		c = &counter{term: strings.Clone(t.Text)}
		b.terms[c.term] = c
	}
	return c
}

// finish adds the counts to the field's postings, and returns their sum.
func (b *builder) finish(field int) int {
	doc := uint32(len(b.ids) - 1)
	sum := 0
	for _, c := range b.found {
		p := c.in(field)
		if p.n == 0 {
			b.fields[field] = append(b.fields[field], c)
		}
		p.add(doc, uint64(c.n))
		sum += c.n
	}
	sum, b.joined = sum-b.joined, 0
	b.found = b.found[:0]
	b.field++
	return sum
}
