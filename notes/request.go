package notes

import (
	"encoding/json"

	"notesd/internal/markdown/edit"
)

// Author is the client that made a version.
type Author struct {
	Name    string
	Version string
}

// Outside is the author of changes not made through notesd: by an editor, a sync tool,
// git.
var Outside = Author{Name: "outside"}

// CreateRequest is a request for a new note. Without a Folder, a Title or Path that
// names a period, as parsed by [Periodic.Parse], means the vault's note of that period,
// which is created from its own template unless Template is set.
type CreateRequest struct {
	Title       string
	Content     string
	Folder      string // folder of the note; "" is the vault itself
	Path        string // exact path, instead of Title and Folder
	Template    string // a note whose text, expanded by [Periodic.Fill], precedes Content
	Tags        []string
	FrontMatter map[string]any
	Scope       Scope
	Author      Author
	RequestKey  string // repeats of a request have the same key and get the same answer; see BindRequest
}

// EditRequest is a request to change a note. Either all edits are made or none.
type EditRequest struct {
	Note  string // as accepted by Lookup
	Edits []Edit // applied in order, each to the result of the previous one
	// ExpectedHash, if set, makes the change conditional on the note having this hash,
	// the one that the caller read, or the first 12 or more digits of it. Otherwise, it
	// is conditional on the bytes from which it was computed.
	ExpectedHash string
	PartOf       int64 // number of an earlier change, to be undone with it; 0 for a change of its own
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

// Edit is one change to the text of a note: an operation and its arguments.
type Edit = edit.Edit

// SameLine reports whether the line of before with this number has the same number in after,
// where its text may be another.
func SameLine(before, after []byte, number int) bool { return edit.SameLine(before, after, number) }

// MoveRequest is a request to change the path of a note or a folder.
type MoveRequest struct {
	Note string   // as accepted by Lookup, or a folder
	More []string // further notes, to be moved with it into the folder To
	// To is the new path. If it ends in '/', or names an existing folder, the file name
	// is kept.
	To          string
	UpdateLinks bool // rewrite the links of the vault so that they keep their targets
	DryRun      bool
	Scope       Scope
	Author      Author
	RequestKey  string
}

// RenameTagRequest is a request to rename a tag in all notes in Scope.
type RenameTagRequest struct {
	Tag, To    string // with or without '#'
	DryRun     bool
	Scope      Scope
	Author     Author
	RequestKey string
}

// DeleteRequest is a request to delete a note. Its text stays in history.
type DeleteRequest struct {
	Note         string
	Redirect     string // new target, as accepted by Lookup, for links to the deleted note; if "", they are left broken
	ExpectedHash string
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

// RestoreRequest is a request to restore an earlier version of a note, or to undo a
// change.
type RestoreRequest struct {
	Note         string // also the former path of a deleted note
	Revision     int64  // from History
	Change       int64  // from Written or History, instead of Note and Revision: undo this change in all notes
	ExpectedHash string
	// Seen, if set, returns the ExpectedHash of the note at a path where none is given: that
	// note is only known once Note is resolved, also among the deleted ones.
	Seen       func(path string) (hash string)
	DryRun     bool
	Scope      Scope
	Author     Author
	RequestKey string
}

// Written is the result of a change to notes.
type Written struct {
	Path     string
	Title    string
	Hash     string // of the new text; "" after a deletion
	Revision int64  // of the note, in its history
	Change   int64  // number for RestoreRequest.Change, to undo the whole change; 0 if nothing was written
	Diff     string // unified, short; for a dry run, of the changes that would be made
	Whole    string `json:"-"` // for the dry run of an edit, the complete diff of all notes; "" if too long

	Was        string   `json:",omitempty"` // the hash before; "" for a new note
	OldPath    string   `json:",omitempty"` // path before a move
	Moved      []string `json:",omitempty"` // notes in a moved folder, or moved together with this one, by their new paths
	From       []string `json:",omitempty"` // the former paths of those moved together with this one
	Relinked   []string `json:",omitempty"` // other notes whose links, or tags, were rewritten
	Made       []string `json:",omitempty"` // folders created for it, outermost first
	Left       []string `json:",omitempty"` // canvases and bases that name a moved note, or a renamed tag, and could not be updated, any that could not be read, and symlinks to a moved file
	LinkedFrom []string `json:",omitempty"` // notes with links that a deletion has broken, or that led to another note before this one was created
	Conflicts  []string `json:",omitempty"` // notes that kept their text because another program changed it concurrently, or since the change being undone

	Others []Rewrite `json:"-"` // the texts of the notes in Relinked, and of those in Moved that have From
}

// Rewrite is the change of one note from the text Old to the text New.
type Rewrite struct {
	OldPath, Path string
	Old, New      []byte
}

// BindRequest returns the RequestKey for a request that came with this key. asks, which
// must marshal to JSON, is the content of the request. If the key is reused with
// different content, the request is rejected, because the stored answer belongs to the
// first one.
func BindRequest(key string, asks ...any) string {
	if key == "" {
		return ""
	}
	text, err := json.Marshal(asks)
	if err != nil {
		panic(err) // tool arguments are decoded from JSON
	}
	return key + "\x00" + Hash(text)
}
