package notes

import (
	"cmp"
	"time"
)

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

// HistoryLimits limit what history keeps. The newest text of a note, even a deleted
// one, is always kept and does not count.
type HistoryLimits struct {
	Revisions int           // per note; 0 means 200
	Age       time.Duration // 0 means ten years
	Bytes     int64         // compressed size of all older texts; 0 means 1 GiB
}

// WithDefaults returns the limits with zero values replaced by the defaults.
func (l HistoryLimits) WithDefaults() HistoryLimits {
	return HistoryLimits{cmp.Or(l.Revisions, 200), cmp.Or(l.Age, 10*365*24*time.Hour), cmp.Or(l.Bytes, 1<<30)}
}

// Forgotten is the result of Forget.
type Forgotten struct {
	Paths    []string `json:"paths"` // every path that the notes ever had
	Versions int      `json:"versions"`
	SetAside []string `json:"set_aside"` // names of erased databases and indexes that had been set aside
}
