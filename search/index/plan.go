package index

// Plan is a query in terms of the index.
type Plan struct {
	Terms   []PlanTerm
	Require []Clause // all must hold
	Exclude []Clause // none may hold
	// Unknown, if not nil, returns the indexes in Terms of the terms that may be misspelt,
	// given the number of notes with each. [Index.Rank] sets their Others to the terms that may
	// have been meant.
	Unknown func(with []int) []int
	// Open means that no word shows the language of the query: the terms have families only if
	// most notes are not in English.
	Open bool
}

// PlanTerm is a term that adds to the score of the notes that have it.
type PlanTerm struct {
	Lookup
	Weight float64
	Times  float64 // occurrences in the query
	// Others are terms that count as the same: those that begin with a prefix, the suggestions
	// for a word that no note has, or the inflected forms of a word.
	Others []string
	Family bool // inflected forms count as the word; see [Plan.Open]
	// Date, if not empty, is a date as YYYYMMDD that counts as the word. '?' is any digit, or at
	// the end also none. Notes may have connectors between its digits, or write it as DD.MM.YYYY.
	Date        string
	ForeignDate bool // it counts only if most notes are not in English
	Dated       bool // set by [Index.Rank] if notes have the date
	// Guess is set by [Index.Rank] if Others are suggestions and none of them begins with the
	// term.
	Guess bool
}

// Lookup is a term to look up in the index.
type Lookup struct {
	Text   string
	Prefix bool // matches every term that begins with Text
}

// Clause holds for notes that have each of its terms in at least one of its fields; without
// fields, in any searched field.
type Clause struct {
	Terms  []Lookup
	Fields []string
}

// searchedFields are the searched fields with their weights: an occurrence counts as this many
// in the body.
var searchedFields = [...]struct {
	name   string
	weight float32
}{
	{FieldName, 4},
	{fieldHeading, 1},
	{fieldTag, 2},
	{fieldFolder, 0.5},
	{fieldBody, 1}, // must be last: see accumulator.add
}

// Indexes into searchedFields.
const (
	nameField = iota
	headingField
	tagField
	folderField
	bodyField
)
