package index

import (
	"strconv"

	index "github.com/blevesearch/bleve_index_api"
)

// The fields of an indexed note. They are scored together (see score.go). Text that has no
// other field is only in the body.
const (
	fieldID      = "_id"     // the note's id in decimal, as Bleve requires
	FieldName    = "name"    // title, aliases, file name
	fieldHeading = "heading" // headings of every level
	fieldTag     = "tag"
	fieldFolder  = "folder" // the folders of the path
	fieldBody    = "body"   // the whole file
	// fieldSize has one term, so that one postings list has the lengths and the modification
	// times of all notes. Its frequency is one more than the number of terms in the body, plus
	// the shifted time in seconds. Each has 31 bits, because zap adds a bit to the sum.
	fieldSize     = "size"
	sizeTerm      = "n"
	modifiedShift = 31
)

// document is a note as Bleve passes it from a batch to the segment. It has only an id, because
// a builder has already counted the terms.
type document struct {
	id      string
	counted *builder
}

var _ index.Document = document{}

func documentID(noteID int64) string { return strconv.FormatInt(noteID, 10) }

func (d document) ID() string                                 { return d.id }
func (d document) AddIDField()                                {}
func (d document) VisitFields(index.FieldVisitor)             {}
func (d document) VisitComposite(index.CompositeFieldVisitor) {}
func (d document) HasComposite() bool                         { return false }
func (d document) NumPlainTextBytes() uint64                  { return 0 }
func (d document) StoredFieldsBytes() uint64                  { return uint64(len(d.id)) }
func (d document) Size() int                                  { return len(d.id) }
func (d document) Indexed() bool                              { return true }
