package notes

import "errors"

// A Batch is one write to the log of a vault shared by several nodes. Either all of its
// changes are made or none.
type Batch struct {
	ID      string // random, unique to this attempt
	Kind    string // create, edit, move, delete, restore, …
	Author  Author
	Changes []FileChange

	// Seen is the newest batch of the log that is in the folder, set if the changes
	// were found there. A file in a newer batch is then a conflict, whatever its
	// content: otherwise, a file that this node created would reappear after another
	// node deleted it.
	Seen *uint64
}

// A FileChange is the change to one file, a note or an attachment. All removals of a
// batch are made before its additions.
type FileChange struct {
	OldPath string // "" for a new file
	Path    string // "" for a deletion
	Before  string // hash of the file at OldPath; "" if there is none
	After   string // hash of the file at Path afterwards; "" if there is none
	Data    []byte // the new bytes, unless unchanged
	Folder  bool   // the paths are of a folder, which is moved with all its files in the log; without hashes
}

// A LogConflict is the error of a batch computed from files that differ from those in
// the log. Nothing was written.
type LogConflict struct {
	Path string // of the file in the log
	Hash string // its current hash; "" if there is no such file
	Text []byte // its current bytes
}

func (c *LogConflict) Error() string {
	return Quote(c.Path) + " was changed in the log in the meantime"
}

// ErrOutcomeUnknown is wrapped by the error of a batch that may or may not have been
// committed. The batch can later be looked up by its ID.
var ErrOutcomeUnknown = errors.New("the database did not say whether the change was committed")
