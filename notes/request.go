package notes

import (
	"encoding/json"

	"notesd/internal/markdown/edit"
)

// Author is who made a version: a client by its name and version.
type Author struct {
	Name    string
	Version string
}

// Outside is the author of changes that were not made through notesd: by an editor,
// a sync tool, git.
var Outside = Author{Name: "outside"}

// CreateRequest asks for a new note. A Title or Path that names a period, as
// [Periodic.Parse] reads it, without a Folder, means the vault's note of that
// period, which begins with its own template unless Template names another.
type CreateRequest struct {
	Title       string
	Content     string
	Folder      string // where the note goes; "" is the vault itself
	Path        string // instead of Title and Folder: exactly here
	Template    string // a note whose text comes before Content, filled in as [Periodic.Fill] does
	Tags        []string
	FrontMatter map[string]any
	Scope       Scope
	Author      Author
	RequestKey  string // repeats of one request carry one key, and are answered alike; see BindRequest
}

// EditRequest asks for changes to a note, all or none.
type EditRequest struct {
	Note  string // as Lookup takes it
	Edits []Edit // made one after the other, each on what the one before left
	// ExpectedHash, when set, makes the change conditional on the note being
	// the one that the caller read. Without it the change is conditional on
	// the bytes that it was computed from.
	ExpectedHash string
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

// Edit is one change to a note's text: op and the fields that go with it.
type Edit = edit.Edit

// MoveRequest asks for a note, or a folder, to get another path.
type MoveRequest struct {
	Note string // as Lookup takes it, or a folder
	// To is the new path. One that ends in '/', or names a folder that exists,
	// keeps the file name.
	To          string
	UpdateLinks bool // rewrite the links of the vault so that each leads where it led
	DryRun      bool
	Scope       Scope
	Author      Author
	RequestKey  string
}

// RenameTagRequest asks for a tag to get another name in all notes in Scope.
type RenameTagRequest struct {
	Tag, To    string // with or without '#'
	DryRun     bool
	Scope      Scope
	Author     Author
	RequestKey string
}

// DeleteRequest asks for a note to be deleted. Its text stays in history.
type DeleteRequest struct {
	Note         string
	Redirect     string // another note, as Lookup takes it, that links to the deleted one are to lead to; "": they stay, and are broken
	ExpectedHash string
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

// Deletion is what was deleted and what that leaves behind.
type Deletion struct {
	Written
	LinkedFrom []string // notes with links that lead nowhere now; none with Redirect
}

// RestoreRequest asks for an earlier version of a note, or for a change to be undone.
type RestoreRequest struct {
	Note         string // also the path that a deleted note had
	Revision     int64  // from History
	Change       int64  // instead of all else: undo this change in every note, from Written or History
	ExpectedHash string
	DryRun       bool
	Scope        Scope
	Author       Author
	RequestKey   string
}

// Written is what a change to notes has led to.
type Written struct {
	Path     string
	Title    string
	Hash     string // of the note's bytes now; "" after a delete
	Revision int64  // of the note, in its history
	Seq      uint64 // of the store's newest change in the feed
	Change   int64  // undoes all of it, as RestoreRequest.Change; 0: nothing was written
	Diff     string // unified, short; for a dry run what would be changed
	Whole    string `json:"-"` // of an edit's dry run: the diff of all notes with nothing left out; "" when it is too long

	Was        string   `json:",omitempty"` // the hash before; "" for a new note
	OldPath    string   `json:",omitempty"` // of a moved note
	Moved      []string `json:",omitempty"` // the notes in a moved folder, by their new paths
	Relinked   []string `json:",omitempty"` // other notes whose links, or tags, were rewritten
	Made       []string `json:",omitempty"` // folders that were made for it, outermost first
	Left       []string `json:",omitempty"` // canvases and bases that name what moved, and could not be changed
	LinkedFrom []string `json:",omitempty"` // notes with links to a deleted one
	Conflicts  []string `json:",omitempty"` // notes that another program changed in that moment, or since the change that is undone, and which were left alone
}

// BindRequest returns the RequestKey of a request that came with the key and
// asks for this, which marshals to JSON. When the key comes again with something
// else, the request is refused: its answer would be that of the first.
func BindRequest(key string, asks ...any) string {
	if key == "" {
		return ""
	}
	text, err := json.Marshal(asks)
	if err != nil {
		panic(err) // arguments of tools come from JSON
	}
	return key + "\x00" + Hash(text)
}
