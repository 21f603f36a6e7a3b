package index

// Plan is a query in terms of the index.
type Plan struct {
	Terms   []PlanTerm
	Require []Clause // every one must hold
	Exclude []Clause // none may hold
	// Unknown, if not nil, returns the terms, by their place in Terms, that may be
	// misspelt, given how many notes have each. [Index.Rank] sets their Others to the
	// terms that may have been meant.
	Unknown func(with []int) []int
}

// PlanTerm is a term that adds to the score of the notes that have it.
type PlanTerm struct {
	Lookup
	Weight float64
	Times  float64 // that the query has it
	// Others are terms that count as the same: those that a short word of a
	// script cut into n-grams begins, those like a word that no note has, or
	// the forms of a word.
	Others []string
	Family bool // forms of the word count as the word
	// Guess is set by [Index.Rank] if no note has a word that begins with the term, and
	// Others are what may have been meant.
	Guess bool
}

// Lookup is a term as it is looked for in the index.
type Lookup struct {
	Text   string
	Prefix bool // the beginning of terms
}

// Clause holds for notes that have all of its terms, in one of its fields
// each (in any, when there are none).
type Clause struct {
	Terms  []Lookup
	Fields []string
}

// searchedFields are the fields in which words are looked for, and their
// weight: how many times in the body a word counts that stands there once.
var searchedFields = [...]struct {
	name   string
	weight float32
}{
	{FieldName, 4},
	{fieldHeading, 1},
	{fieldTag, 2},
	{fieldFolder, 0.5},
	{fieldBody, 1}, // last: it completes a note's count
}

// The searched fields, by their place in the list.
const (
	nameField = iota
	headingField
	tagField
	folderField
	bodyField
)
