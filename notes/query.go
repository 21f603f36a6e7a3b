package notes

import (
	"cmp"
	"fmt"
	"time"
)

// ListQuery asks for a page of notes.
type ListQuery struct {
	Filter Filter
	Sort   string   // "modified" (the default, newest first), "date", "created" (newest first), "title", "path", "size" (largest first)
	Limit  int      // 1 to 1000; 0 is 50
	Cursor string   // ListPage.Next of the page before
	Fields []string // of each note, as where names them, to be returned in Meta.Fields
}

// ListPage is one page of a list.
type ListPage struct {
	Notes []Meta
	Total int    // of the whole list
	Next  string // "" on the last page
}

// LinkQuery asks for the links of a note.
type LinkQuery struct {
	Direction string // "out", "in", or "both", the default
	Depth     int    // how many links to follow; 1 (the default) to 3
	Limit     int    // links in all; 0 is 100
	Skip      int    // backlinks to leave out: those of earlier answers
	Scope     Scope
}

// LinkReport is what a note links to and what links to it.
type LinkReport struct {
	Path       string
	Outgoing   []LinkedNote
	Backlinks  []LinkedNote
	Unresolved []LinkedNote // of the note itself: to no note, or to a part that its note lacks (NoAnchor)
	Truncated  bool
}

// LinkedNote is one link, seen from the note that was asked about.
type LinkedNote struct {
	Direction string // "out": From links to To; "in": the same, found backwards
	From      string // path of the linking note
	FromTitle string
	FromHash  string // of the linking note's bytes
	To        string // path of the linked note or attachment; "" when unresolved
	ToTitle   string
	Kind      LinkKind
	Target    string // as written
	Anchor    string
	Alias     string
	Line      int    // in From
	Context   string // the line in From, cut
	Depth     int
	Ambiguous bool // several notes are meant; To is empty

	Attachment bool // To is an attachment

	// NoAnchor: the note To has no heading or block Anchor. Near are headings
	// that may be meant, in Unresolved.
	NoAnchor bool
	Near     []string
}

// HistoryQuery asks for the history of a note, also of a deleted one by the
// path that it had, or without a note for the newest changes of all notes.
type HistoryQuery struct {
	Note   string
	Since  time.Time // only what is not older
	Limit  int       // 0 is 20
	Cursor string
	Scope  Scope
}

// HistoryPage is part of a note's history, newest first.
type HistoryPage struct {
	Revisions []Revision
	Next      string // "" at the end
}

// Revision is one version of a note in its history.
type Revision struct {
	Revision  int64 // what RestoreRequest takes; grows with time; 0 for a present version that history does not have yet
	Time      time.Time
	Author    Author
	Operation string // create, edit, move, delete, restore, rename_tag; relink: the links of a note that followed a move or deletion; found: the first version that notesd saw of a file
	Path      string // the note's path after it
	OldPath   string // where it was, for a move
	Hash      string // "" where the note was deleted
	Size      int64
	Added     int // lines, against the revision before
	Removed   int
	Change    int64 // undoes what was made together with it, as RestoreRequest.Change; 0: another program made it
}

// ErrBadCursor is an ErrInvalid too; protocol lists answer it with a
// code of its own.
var ErrBadCursor = fmt.Errorf("bad cursor: %w", ErrInvalid)

// HistoryLimits bound what history keeps. A note's newest text is always kept,
// also of a deleted note, and does not count.
type HistoryLimits struct {
	Revisions int           // of one note; 0 is 200
	Age       time.Duration // 0 is ten years
	Bytes     int64         // of all older texts, compressed; 0 is 1 GiB
}

// Forgotten is what Forget has erased.
type Forgotten struct {
	Paths    []string `json:"paths"` // every path that the notes ever had
	Versions int      `json:"versions"`
	SetAside []string `json:"set_aside"` // the names of databases and indexes that had been set aside
}

// Attachment is a picture, a PDF, a recording or another file of the vault that a note
// links to. Its URI is that of a note with its path.
type Attachment struct {
	Path      string // vault-relative, NFC
	MediaType string // by the name's extension, else by the first bytes
	Size      int64
	Modified  time.Time
	Data      []byte // nil where attachments are only listed
}

// MaxAttachmentBytes is the largest attachment that can be read: as much as a
// note, and still one message that clients accept.
const MaxAttachmentBytes = 16 << 20

// WithDefaults returns the limits with a default for each that is zero.
func (l HistoryLimits) WithDefaults() HistoryLimits {
	return HistoryLimits{cmp.Or(l.Revisions, 200), cmp.Or(l.Age, 10*365*24*time.Hour), cmp.Or(l.Bytes, 1<<30)}
}

// Status is what the vault can say of itself.
type Status struct {
	Root         string            // the vault's folder, or "NAME=PATH,…" of several
	Dirs         map[string]string // the folders' paths by name; that of the only one is ""
	Notes        int
	Seq          uint64 // of the newest change
	Scanning     bool
	Scanned      int // of ToScan, while Scanning
	ToScan       int
	Incomplete   bool      // notes are known to be missing, or to be other ones by now
	Skipped      []Skipped // the first few files that could be notes and are not
	SkippedTotal int
	Unavailable  string // why the vault cannot be used at the moment; "" when it can
	Remedy       string // of that: a sentence or more
	Trouble      string // why changes on disk cannot be recorded; they are tried again
	Warnings     []string
}

// Skipped is a file that could be a note and is not, with the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}
