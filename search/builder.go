package search

import (
	"path"
	"strings"
	"sync"

	index "github.com/blevesearch/bleve_index_api"

	"notesd/notes"
)

// Words of a builder's memory: enough for the vocabulary that makes up nearly
// all of a text, little enough to forget and learn again.
const (
	maxKnownWords = 1 << 16
	maxKnownWord  = 32 // bytes
)

// builder turns notes into Bleve documents. It remembers the terms of the
// words that it has met, so that a word costs one look-up, and reuses the
// documents' memory from one batch to the next. One goroutine uses it.
type builder struct {
	words map[string][]*counter // a word as written → its terms
	terms map[string]*counter
	batch *index.Batch
	used  int // documents of the batch
	docs  []*document
	field uint64 // identifies the field of the document that is being counted, from 1
	found []*counter
	spare []term
}

// counter counts a term within one field.
type counter struct {
	term  string
	field uint64
	n     int
}

func newBuilder() *builder {
	return &builder{batch: index.NewBatch(), field: 1, words: map[string][]*counter{}, terms: map[string]*counter{}}
}

// builders are kept between batches of a long build, and left to the collector
// after it.
var builders = sync.Pool{New: func() any { return newBuilder() }}

// reset begins a batch. The documents of the last one are no longer used by
// anyone, as Bleve has made a segment of them; the batch itself may be looked
// at by a goroutine of Bleve's for a moment longer.
func (b *builder) reset() {
	b.batch = index.NewBatch()
	b.used = 0
}

// add puts a note into the batch, in place of what the batch had of it.
func (b *builder) add(n *notes.Note) {
	if b.used == len(b.docs) {
		b.docs = append(b.docs, newDocument())
	}
	d := b.docs[b.used]
	b.used++
	d.id, d.bytes = documentID(n.ID), uint64(len(n.Content))
	id := &d.fields[0]
	id.value = []byte(d.id)
	clear(id.terms)
	id.terms[d.id] = frequency(1)

	base := path.Base(n.Path)
	b.count(n.Title, strings.TrimSuffix(base, path.Ext(base)))
	b.count(n.Aliases...)
	b.finish(&d.fields[1])
	for _, h := range n.Headings {
		b.count(h.Text)
	}
	b.finish(&d.fields[2])
	b.count(n.Tags...)
	b.finish(&d.fields[3])
	b.count(path.Dir(n.Path))
	b.finish(&d.fields[4])
	b.count(n.Content)
	length := b.finish(&d.fields[5])
	clear(d.fields[6].terms)
	d.fields[6].terms[sizeTerm] = frequency(length + 1)

	b.batch.Update(d)
}

func newDocument() *document {
	d := &document{}
	for _, name := range []string{fieldID, fieldName, fieldHeading, fieldTag, fieldFolder, fieldBody, fieldSize} {
		d.fields = append(d.fields, documentField{name: name, options: index.IndexField, terms: index.TokenFrequencies{}})
	}
	d.fields[0].options |= index.StoreField
	return d
}

// delete puts a deletion into the batch.
func (b *builder) delete(noteID int64) { b.batch.Delete(documentID(noteID)) }

// count counts the terms of texts for the field that is finished next.
func (b *builder) count(texts ...string) {
	for _, text := range texts {
		for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
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
func (b *builder) countersOf(text string, s span) []*counter {
	raw := text[s.start:s.end]
	if known, ok := b.words[raw]; ok {
		return known
	}
	b.spare = expand(b.spare[:0], text, s)
	counters := make([]*counter, len(b.spare))
	for i, t := range b.spare {
		c := b.terms[t.text]
		if c == nil {
			c = &counter{term: strings.Clone(t.text)}
			b.terms[c.term] = c
		}
		counters[i] = c
	}
	if s.kind() == classWord && len(raw) <= maxKnownWord {
		b.words[strings.Clone(raw)] = counters
	}
	return counters
}

// finish hands the counts to the field, begins the next, and returns their sum.
func (b *builder) finish(f *documentField) int {
	clear(f.terms)
	sum := 0
	for _, c := range b.found {
		f.terms[c.term] = frequency(c.n)
		sum += c.n
	}
	b.found = b.found[:0]
	b.field++
	if len(b.terms) > maxKnownWords || len(b.words) > maxKnownWords {
		clear(b.words)
		clear(b.terms)
	}
	return sum
}

// frequencies are shared by all documents: Bleve only reads them.
var frequencies = func() (table [256]index.TokenFreq) {
	for n := range table {
		table[n].SetFrequency(n)
	}
	return table
}()

func frequency(n int) *index.TokenFreq {
	if n < len(frequencies) {
		return &frequencies[n]
	}
	f := new(index.TokenFreq)
	f.SetFrequency(n)
	return f
}
