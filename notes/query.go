package notes

import (
	"cmp"
	"fmt"
	"time"
)

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
	Direction string // "out", "in", or "both" (default)
	Depth     int    // number of links to follow; 1 (default) to 3
	Limit     int    // total number of links; 0 means 100
	Skip      int    // backlinks to skip: those already returned
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

// HistoryQuery is a request for the history of a note, which may be deleted and named
// by a path that it had, or, without a note, for the newest changes of all notes.
type HistoryQuery struct {
	Note   string
	Folder string    // without a note: only changes of notes in it and below, or moved out of it
	Since  time.Time // only revisions at or after this time
	Limit  int       // 0 means 20
	Cursor string
	Scope  Scope
}

// HistoryPage is a page of history, newest first.
type HistoryPage struct {
	Revisions []Revision
	Next      string // "" at the end
}

// Revision is one version of a note in its history.
type Revision struct {
	Revision  int64 // as in RestoreRequest; increases over time; 0 for a current version that is not in history yet
	Time      time.Time
	Author    Author
	Operation string // create, edit, move, delete, restore, rename_tag; relink: links updated after a move or deletion; found: first version of a file seen by notesd
	Path      string // the note's path after it
	OldPath   string // path before a move
	Hash      string // "" if the note was deleted
	Size      int64
	Added     int // lines, compared with the previous revision
	Removed   int
	Change    int64 // number for RestoreRequest.Change, to undo the whole change; 0 if made by another program
}

// ErrBadCursor wraps ErrInvalid; protocol lists report it with a separate code.
var ErrBadCursor = fmt.Errorf("bad cursor: %w", ErrInvalid)

// HistoryLimits limit what history keeps. The newest text of a note, even a deleted
// one, is always kept and does not count.
type HistoryLimits struct {
	Revisions int           // per note; 0 means 200
	Age       time.Duration // 0 means ten years
	Bytes     int64         // compressed size of all older texts; 0 means 1 GiB
}

// Forgotten is the result of Forget.
type Forgotten struct {
	Paths    []string `json:"paths"` // every path that the notes ever had
	Versions int      `json:"versions"`
	SetAside []string `json:"set_aside"` // names of erased databases and indexes that had been set aside
}

// Attachment is a file linked from a note, such as a picture, a PDF or a recording. Its
// URI has the same form as that of a note.
type Attachment struct {
	Path      string // vault-relative, NFC
	MediaType string // determined by the extension, else by the first bytes
	Size      int64
	Modified  time.Time
	Data      []byte // nil in lists
}

// MaxAttachmentBytes is the size of the largest attachment that can be read: the same
// as for a note, and small enough for a message that clients accept.
const MaxAttachmentBytes = 16 << 20

// WithDefaults returns the limits with zero values replaced by the defaults.
func (l HistoryLimits) WithDefaults() HistoryLimits {
	return HistoryLimits{cmp.Or(l.Revisions, 200), cmp.Or(l.Age, 10*365*24*time.Hour), cmp.Or(l.Bytes, 1<<30)}
}

// Status is the state of the vault.
type Status struct {
	Root         string            // the vault's folder, or "NAME=PATH,…" if there are several
	Dirs         map[string]string // folder paths by name, which is "" if there is one folder
	Notes        int
	Seq          uint64 // of the newest change
	Scanning     bool
	Scanned      int // out of ToScan, while Scanning
	ToScan       int
	Incomplete   bool      // notes are known to be missing or out of date
	Skipped      []Skipped // the first skipped files
	SkippedTotal int
	Unavailable  string // why the vault cannot be used at the moment; "" if it can
	Remedy       string // what to do about it, in full sentences
	Trouble      string // why changes on disk cannot be recorded; recording is retried
	Warnings     []string
}

// Skipped is a file with the name of a note that cannot be one, and the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}
