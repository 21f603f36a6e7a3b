package notes

// ListQuery is a request for a page of notes.
type ListQuery struct {
	Filter Filter
	Sort   string   // "modified" (default, newest first), "date", "created" (newest first), "title", "path", "size" (largest first)
	Limit  int      // 1 to 1000; 0 means 50
	Cursor string   // ListPage.Next of the previous page
	Fields []string // to return in Meta.Fields, named as in Filter.Where
}

// ListPage is one page of a list.
type ListPage struct {
	Notes []Meta
	Total int    // of the whole list
	Next  string // "" on the last page
}

// LinkQuery is a request for the links of a note.
type LinkQuery struct {
	Direction string              // "out", "in", or "both" (default)
	Depth     int                 // number of links to follow; 1 (default) to 3
	Limit     int                 // total number of links; 0 means 100
	Skip      int                 // backlinks to skip: those already returned
	Bare      bool                // leave out FromHash, Context and Near, for which texts are read
	Lines     func(line int) bool // if set, only links from these lines of their notes
	Scope     Scope
}

// LinkReport lists the links from and to a note.
type LinkReport struct {
	Path       string
	Outgoing   []LinkedNote
	Backlinks  []LinkedNote
	Unresolved []LinkedNote // links from the note to a missing note, or to a missing part of one (NoAnchor)
	Truncated  bool
}

// LinkedNote is one link, relative to the note of the query.
type LinkedNote struct {
	Direction string // "out" or "in"; in both cases From links to To
	From      string // path of the linking note
	FromTitle string
	FromHash  string // hash of the linking note
	To        string // path of the linked note or attachment; "" if unresolved
	ToTitle   string
	Kind      LinkKind
	Target    string // as written
	Anchor    string
	Alias     string
	Line      int    // in From
	Context   string // the line in From, truncated
	Depth     int
	Ambiguous bool // several notes match; To is empty

	Attachment bool // To is an attachment

	// NoAnchor means that the note To has no heading or block Anchor. Near lists
	// similar headings or, if there is no note To, paths of notes that have Target as
	// title or alias; it is set only in Unresolved.
	NoAnchor bool
	Near     []string
}
