package index

import (
	"encoding/binary"
	"path"
	"strings"
	"sync"

	index "github.com/blevesearch/bleve_index_api"

	"notesd/notes"
	"notesd/search/terms"
)

// Limits of a builder. What it holds is about half as large as the text that
// it was made from; a segment of more text is no better.
const (
	maxSegmentText  = 16 << 20 // bytes
	maxSegmentTerms = 1 << 18  // and distinct words: a table of hashes has nothing else
	// maxKnownWords is what a builder remembers from one segment to the next:
	// enough for the vocabulary that makes up nearly all of a text.
	maxKnownWords = 1 << 16
	maxKnownWord  = 32 // bytes
)

// A builder makes the postings of a segment from notes, one note at a time, as
// in Heinz and Zobel, "Efficient single-pass index construction for text
// databases" (JASIST 2003): a word costs one look-up, a term of a note a few
// bytes. It is not safe for concurrent use.
type builder struct {
	words map[string][]*counter // a word as written → its terms
	terms map[string]*counter
	field uint64     // number of the note's field that is counted, from 1
	found []*counter // in the field
	spare []terms.Term

	ids     []int64  // the segment's notes, by document number
	lengths []uint64 // terms in their bodies
	fields  [len(searchedFields)][]*counter
	deleted []int64 // notes to remove from the index
	text    int     // bytes

	writer segmentWriter
}

// counter counts a term within one field of one note, and has the term's
// postings. Few terms occur anywhere but in bodies.
type counter struct {
	term  string
	field uint64
	n     int
	body  postings
	other *[bodyField]postings
}

// postings are the notes that have a term in a field, in the order of their
// document numbers.
type postings struct {
	data []byte // of each the distance from the one before and the count, as uvarints
	next uint32 // least document number of the next
	n    uint32
}

func (p *postings) add(doc uint32, count int) {
	p.data = binary.AppendUvarint(p.data, uint64(doc-p.next))
	p.data = binary.AppendUvarint(p.data, uint64(count))
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

// builders are reused from one segment to the next during a build,
// and left to the collector after it.
var builders = sync.Pool{New: func() any { return newBuilder() }}

// release returns the builder to the pool. One that has grown is left to the collector:
// the pool would keep its memory too long.
func (b *builder) release() {
	if b.knowsMuch() {
		return
	}
	b.reset()
	builders.Put(b)
}

func (b *builder) knowsMuch() bool {
	return len(b.terms) > maxKnownWords || len(b.words) > maxKnownWords
}

// reset begins a segment.
func (b *builder) reset() {
	if b.knowsMuch() {
		b.words, b.terms = map[string][]*counter{}, map[string]*counter{}
	} else {
		for _, terms := range b.fields {
			for _, c := range terms {
				c.body, c.other = postings{}, nil
			}
		}
	}
	for f := range b.fields {
		clear(b.fields[f])
		b.fields[f] = b.fields[f][:0]
	}
	b.ids, b.lengths, b.deleted, b.text = b.ids[:0], b.lengths[:0], b.deleted[:0], 0
}

// full reports whether the segment is large enough.
func (b *builder) full() bool {
	return b.text >= maxSegmentText || len(b.terms) >= maxSegmentTerms || len(b.words) >= maxSegmentTerms
}

func (b *builder) empty() bool { return len(b.ids)+len(b.deleted) == 0 }

// add puts a note into the segment. It must not be in it already.
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
	b.count(n.Prose())
	b.lengths = append(b.lengths, uint64(b.finish(bodyField)))
}

// delete removes a note from the index.
func (b *builder) delete(noteID int64) { b.deleted = append(b.deleted, noteID) }

// batch returns the segment as Bleve takes it: documents that know where their
// postings are. The builder may not be used until Bleve has applied it.
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

// count counts the terms of texts for the field that is finished next.
func (b *builder) count(texts ...string) {
	for _, text := range texts {
		for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
			for _, c := range b.countersOf(text, s) {
				if c.field != b.field {
					c.field, c.n = b.field, 0
					b.found = append(b.found, c)
				}
				c.n++
			}
		}
	}
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
		c := b.terms[t.Text]
		if c == nil {
			c = &counter{term: strings.Clone(t.Text)}
			b.terms[c.term] = c
		}
		counters[i] = c
	}
	if s.Kind() == terms.ClassWord && len(raw) <= maxKnownWord {
		b.words[strings.Clone(raw)] = counters
	}
	return counters
}

// finish adds what was counted to the field's postings, and returns the sum.
func (b *builder) finish(field int) int {
	doc := uint32(len(b.ids) - 1)
	sum := 0
	for _, c := range b.found {
		p := c.in(field)
		if p.n == 0 {
			b.fields[field] = append(b.fields[field], c)
		}
		p.add(doc, c.n)
		sum += c.n
	}
	b.found = b.found[:0]
	b.field++
	return sum
}
