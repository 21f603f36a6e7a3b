package notes

import "errors"

// A Batch is one write to the log of a vault that several nodes share: its changes
// are made all or none.
type Batch struct {
	ID      string // random, of this attempt alone
	Kind    string // create, edit, move, delete, restore, …
	Author  Author
	Changes []FileChange

	// Seen is the newest batch of the log that the folder has, where the changes are what
	// was found in it: a file of a newer batch is a conflict, whatever it says. A file
	// that this node has created itself would else come back after another deleted it.
	Seen *uint64
}

// A FileChange is what becomes of one file, a note or an attachment. All removals of
// a batch are made before what it adds.
type FileChange struct {
	OldPath string // "": the file is new
	Path    string // "": the file is deleted
	Before  string // hash of the bytes that OldPath has; "" with it
	After   string // hash of the bytes that Path gets; "" with it
	Data    []byte // the bytes, unless they are those before
	Folder  bool   // the paths are of a folder, which moves with all files that the log has in it; no hashes
}

// A LogConflict is the error of a batch that was computed from other files than the
// log has. Nothing was written.
type LogConflict struct {
	Path string // of the file as the log has it
	Hash string // of its bytes now; "": there is no such file
	Text []byte // its bytes
}

func (c *LogConflict) Error() string {
	return Quote(c.Path) + " was changed in the log in the meantime"
}

// ErrOutcomeUnknown is wrapped by the error of a batch of which it is not known
// whether it was committed. Its id finds that out later.
var ErrOutcomeUnknown = errors.New("the database did not say whether the change was committed")
