package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	indexapi "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/notes"
)

// A segment has the same contents as one that zap builds from the same terms: in memory, and
// after a merge with another segment and a save.
func TestSegmentWriter_EqualsZap(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and nothing is concurrent in it")
	}
	for name, all := range map[string][]*notes.Note{
		"one":             {note(7, "a word a day")},
		"empty":           {note(7, ""), note(8, "")},
		"few":             someNotes(40, 5),
		"several chunks":  someNotes(3000, 60), // of more than 1024 postings each
		"dense container": someNotes(9000, 2),  // more than 4096 notes with a term
	} {
		t.Run(name, func(t *testing.T) { assertSegmentOf(t, all) })
	}
}

// FuzzSegment writes copies of notes with the texts, which are separated by NUL. zap encodes
// terms of one note, of many, and of more than 1024 differently.
func FuzzSegment(f *testing.F) {
	f.Add("a word a day", uint16(1))
	f.Add("Größe\x00größer words\x00", uint16(3))
	f.Add("word1 word2\x00word1", uint16(1100))
	f.Fuzz(func(t *testing.T, text string, copies uint16) {
		texts := strings.Split(text, "\x00")
		n := max(int(copies)%2500, len(texts)) // a chunk of postings has 1024
		if n*len(text)/len(texts) > 1<<18 {
			t.Skip("large")
		}
		var all []*notes.Note
		for i := range n {
			all = append(all, note(int64(i)*(int64(copies)+1), texts[i%len(texts)]))
		}
		assertSegmentOf(t, all)
	})
}

// assertSegmentOf compares the notes' segment with zap's own, in memory and after zap merged
// each with another segment, without its first note, and saved it.
func assertSegmentOf(t *testing.T, all []*notes.Note) {
	t.Helper()
	b := newBuilder()
	for _, n := range all {
		b.add(n)
	}
	want, got := zapsOwn(t, b), segmentOf(t, b)
	assertSameSegment(t, want, got)

	b = newBuilder()
	for _, n := range someNotes(20, 3) {
		n.ID = -n.ID - 1
		b.add(n)
	}
	merged := func(first, second segment.Segment) segment.Segment {
		path := filepath.Join(t.TempDir(), "merged.zap")
		drop := []*roaring.Bitmap{roaring.BitmapOf(0), nil}
		_, _, err := new(zap.ZapPlugin).Merge([]segment.Segment{first, second}, drop, path, nil, nil)
		require.NoError(t, err)
		s, err := new(zap.ZapPlugin).Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s
	}
	wantSecond, gotSecond := zapsOwn(t, b), segmentOf(t, b)
	assertSameSegment(t, merged(want, wantSecond), merged(got, gotSecond))
}

// someNotes returns notes whose words are distributed as in natural language.
func someNotes(n, words int) []*notes.Note {
	r := rand.New(rand.NewPCG(uint64(n), uint64(words)))
	zipf := rand.NewZipf(r, 1.2, 2, 4000)
	var out []*notes.Note
	for i := range n {
		var text strings.Builder
		for range 1 + r.IntN(2*words) {
			fmt.Fprintf(&text, "word%d ", zipf.Uint64())
		}
		note := note(int64(i*3+1), text.String())
		note.Tags = []string{fmt.Sprintf("tag%d", i%7)}
		note.Headings = []notes.Heading{{Text: "Über word1"}}
		out = append(out, note)
	}
	return out
}

func segmentOf(t *testing.T, b *builder) segment.Segment {
	t.Helper()
	var docs []indexapi.Document
	for _, doc := range b.batch().IndexOps {
		docs = append(docs, doc)
	}
	s, size, err := new(segmentPlugin).New(docs)
	require.NoError(t, err)
	assert.NotZero(t, size)
	return s
}

// zapsOwn returns the segment that zap builds from the counts of a builder.
func zapsOwn(t *testing.T, b *builder) segment.Segment {
	t.Helper()
	docs := make([]indexapi.Document, len(b.ids))
	for doc, id := range b.ids {
		d := &zapDocument{document: document{id: documentID(id)}}
		d.add(fieldID, indexapi.IndexField|indexapi.StoreField, d.id, 1)
		for _, f := range searchedFields {
			d.field(f.name, indexapi.IndexField)
		}
		d.add(fieldSize, indexapi.IndexField, sizeTerm, b.sizes[doc])
		docs[doc] = d
	}
	for f, terms := range b.fields {
		for _, c := range terms {
			for doc, count := range c.in(f).all() {
				docs[doc].(*zapDocument).fields[1+f].set(c.term, count)
			}
		}
	}
	s, _, err := new(zap.ZapPlugin).New(docs)
	require.NoError(t, err)
	return s
}

// all yields documents and counts.
func (p *postings) all() func(yield func(doc, count uint64) bool) {
	return func(yield func(doc, count uint64) bool) {
		next := uint64(0)
		for rest := *p; len(rest.data) > 0; {
			doc, count, size := rest.first()
			rest.data = rest.data[size:]
			if !yield(next+doc, count) {
				return
			}
			next += doc + 1
		}
	}
}

// zapDocument is a note in the form that zap requires: a map of terms for each field.
type zapDocument struct {
	document
	fields []*zapField
}

func (d *zapDocument) field(name string, options indexapi.FieldIndexingOptions) *zapField {
	f := &zapField{name: name, value: d.id, options: options, terms: indexapi.TokenFrequencies{}}
	d.fields = append(d.fields, f)
	return f
}

func (d *zapDocument) add(name string, options indexapi.FieldIndexingOptions, term string, count uint64) {
	d.field(name, options).set(term, count)
}

func (d *zapDocument) VisitFields(visit indexapi.FieldVisitor) {
	for _, f := range d.fields {
		visit(f)
	}
}

type zapField struct {
	name, value string
	options     indexapi.FieldIndexingOptions
	terms       indexapi.TokenFrequencies
}

func (f *zapField) set(term string, count uint64) {
	freq := new(indexapi.TokenFreq)
	freq.SetFrequency(int(count))
	f.terms[term] = freq
}

func (f *zapField) Name() string                                        { return f.name }
func (f *zapField) Value() []byte                                       { return []byte(f.value) }
func (f *zapField) Options() indexapi.FieldIndexingOptions              { return f.options }
func (f *zapField) Analyze()                                            {}
func (f *zapField) ArrayPositions() []uint64                            { return nil }
func (f *zapField) EncodedFieldType() byte                              { return 't' }
func (f *zapField) NumPlainTextBytes() uint64                           { return 0 }
func (f *zapField) AnalyzedLength() int                                 { return leastNorm }
func (f *zapField) AnalyzedTokenFrequencies() indexapi.TokenFrequencies { return f.terms }

func assertSameSegment(t *testing.T, want, got segment.Segment) {
	t.Helper()
	require.Equal(t, want.Count(), got.Count())
	require.Equal(t, want.Fields(), got.Fields())
	for doc := range want.Count() {
		a, err := want.DocID(doc)
		require.NoError(t, err)
		b, err := got.DocID(doc)
		require.NoError(t, err)
		require.Equal(t, a, b)
		found, err := got.DocNumbers([]string{string(a)})
		require.NoError(t, err)
		require.Equal(t, []uint32{uint32(doc)}, found.ToArray())
	}
	for _, field := range want.Fields() {
		require.Equal(t, contents(t, want, field), contents(t, got, field), field)
	}
}

// contents returns the postings of a field: term, document, frequency, norm.
func contents(t *testing.T, s segment.Segment, field string) (out []string) {
	t.Helper()
	dict, err := s.Dictionary(field)
	require.NoError(t, err)
	entries := dict.AutomatonIterator(nil, nil, nil)
	for {
		e, err := entries.Next()
		require.NoError(t, err)
		if e == nil {
			return out
		}
		list, err := dict.PostingsList([]byte(e.Term), nil, nil)
		require.NoError(t, err)
		var line strings.Builder
		fmt.Fprint(&line, e.Term, " ", list.Count())
		for it := list.Iterator(true, true, true, nil); ; {
			p, err := it.Next()
			require.NoError(t, err)
			if p == nil {
				break
			}
			require.Empty(t, p.Locations())
			fmt.Fprintf(&line, " %d:%d:%g", p.Number(), p.Frequency(), p.Norm())
		}
		out = append(out, line.String())
	}
}

// note returns a note with the given text.
func note(id int64, text string) *notes.Note {
	return &notes.Note{ID: id, Path: fmt.Sprintf("n/%d.md", id), Title: fmt.Sprintf("Note %d", id), Content: text}
}

// The writer implements one version of the format. For another version of zapx, read its zap.md
// again and change this test.
func TestSegmentWriter_FormatVersion(t *testing.T) {
	require.EqualValues(t, 17, zap.Version)
	require.Equal(t, "zap", zap.Type)
	data, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	require.Contains(t, string(data), "github.com/blevesearch/zapx/v17 v17.2.3\n", "segmentwriter.go was written for this one")
}
