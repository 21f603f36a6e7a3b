package search

import (
	"strconv"

	index "github.com/blevesearch/bleve_index_api"
)

// The fields of an indexed note. They are scored together (see score.go); what
// is not indexed apart is the body's.
const (
	fieldID      = "_id"     // the note's id in decimal, as Bleve requires
	fieldName    = "name"    // title, aliases, file name
	fieldHeading = "heading" // headings of every level
	fieldTag     = "tag"
	fieldFolder  = "folder" // the folders of the path
	fieldBody    = "body"   // the whole file
	// fieldSize has one term, whose frequency is one more than the number of
	// terms in the body: so the lengths of all notes are one postings list.
	fieldSize = "size"
	sizeTerm  = "n"
)

// document is a note as Bleve takes it: already analysed, nothing stored, no
// positions.
type document struct {
	id     string
	fields []documentField
	bytes  uint64
}

var _ index.Document = (*document)(nil)

func documentID(noteID int64) string { return strconv.FormatInt(noteID, 10) }

func (d *document) ID() string { return d.id }

func (d *document) VisitFields(visit index.FieldVisitor) {
	for i := range d.fields {
		visit(&d.fields[i])
	}
}

// AddIDField does nothing: the builder adds the field.
func (d *document) AddIDField() {}

func (d *document) VisitComposite(index.CompositeFieldVisitor) {}
func (d *document) HasComposite() bool                         { return false }
func (d *document) NumPlainTextBytes() uint64                  { return d.bytes }
func (d *document) StoredFieldsBytes() uint64                  { return uint64(len(d.id)) }
func (d *document) Size() int                                  { return int(d.bytes) }
func (d *document) Indexed() bool                              { return true }

// documentField is one analysed field.
type documentField struct {
	name    string
	value   []byte // of fieldID only
	options index.FieldIndexingOptions
	terms   index.TokenFrequencies
}

func (f *documentField) Name() string                        { return f.name }
func (f *documentField) Value() []byte                       { return f.value }
func (f *documentField) Options() index.FieldIndexingOptions { return f.options }
func (f *documentField) Analyze()                            {}
func (f *documentField) ArrayPositions() []uint64            { return nil }
func (f *documentField) EncodedFieldType() byte              { return 't' }
func (f *documentField) NumPlainTextBytes() uint64           { return 0 }

// AnalyzedLength is written with every posting. The scorer takes lengths from
// fieldSize, so this is the least that Bleve accepts.
func (f *documentField) AnalyzedLength() int { return 1 }

func (f *documentField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
