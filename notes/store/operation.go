package store

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"path"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/textdiff"
	"notesd/notes"
)

// Operation is a change to files that notesd makes. It is written to the journal, with
// everything needed to finish it, before the first file changes. A crash at any point
// can therefore be recovered at the next start, a repeated request gets the stored
// answer, and every operation can be undone.
//
// [Journal.Begin] adds an entry as pending, with the texts of all its files before and
// after, and the temp name of each. The entry ends in one of two ways: [Journal.Fail]
// closes an operation that changed nothing and frees its request key; [Journal.Finish]
// closes one whose first file is in place, in the same transaction that turns its files
// into revisions, so that the revisions and the answer are stored together or not at
// all. An entry that is pending at startup was interrupted, whatever the state of its
// files.
type Operation struct {
	id         int64
	PartOf     int64 // number of the change that it is part of; 0 if it is one of its own
	RequestKey string
	Kind       string // create, edit, move, delete, restore, rename_tag; of a batch from the shared log, its kind or "sync"
	Author     notes.Author
	Files      []FileChange
	Left       []string // canvases and bases that name a moved note and could not be updated
	LinkedFrom []string // see [notes.Written]; unknown to a recovery
	Moved      []string // notes in a moved folder, by their new paths; unknown to a recovery
	Kept       []string // of an undo: files changed since, which are left unchanged; unknown to a recovery
	Made       []string // folders created for its files, outermost first; a recovery does not know those created before the crash
	Shared     bool     // valid only if the log shared by the vault's nodes has a batch with its ID
}

// ID identifies the operation in a shared log; it is set by Begin.
func (op *Operation) ID() string { return op.Files[0].Temp }

// change returns the number of the change that the operation is, or is part of, or 0 if it
// is not in the journal.
func (op *Operation) change() int64 {
	if op.id == 0 {
		return 0
	}
	return cmp.Or(op.PartOf, op.id)
}

// FileChange is one file of an operation.
type FileChange struct {
	Note     int64  // note ID in the store; 0 for a new note
	OldPath  string // "" for a new note
	NewPath  string // "" for a deletion
	OldDisk  string // the paths as the file system spells them
	NewDisk  string
	Folder   bool   // a folder with its contents; it has no text
	Before   string // path of the file until the operation has moved its folder; "" if it is in none
	Link     string // path of the symlink through which the note is known, if the disk paths are its target's
	Old, New []byte
	Temp     string // file name, in the folder of NewDisk (of OldDisk for a deletion)
	State    string
	Conflict error // set when another program changed the file first

	Author notes.Author // of New, if it is not the operation's; the journal does not keep it
}

// States of operations and of their files.
const (
	StatePending  = "pending"
	StateDone     = "done"
	StateFailed   = "failed"
	StateConflict = "conflict"
)

// IsNote reports whether the file is a note rather than a canvas or base that names
// one; those have no history.
func (f *FileChange) IsNote() bool { return notes.IsNoteName(f.NewPath) || notes.IsNoteName(f.OldPath) }

// IsPureMove reports whether the path changes but the text does not.
func (f *FileChange) IsPureMove() bool {
	return f.OldPath != "" && f.NewPath != "" && f.OldDisk != f.NewDisk && string(f.Old) == string(f.New)
}

// Moves reports whether the path changes.
func (f *FileChange) Moves() bool {
	return f.OldPath != "" && f.NewPath != "" && f.OldPath != f.NewPath
}

// Dir returns the folder of the file after the operation.
func (f *FileChange) Dir() string { return path.Dir(f.FinalDisk()) }

// StageDir returns the folder in which the temp file is written.
func (f *FileChange) StageDir() string { return path.Dir(cmp.Or(f.Before, f.FinalDisk())) }

// Source returns the path of the old text until the first rename.
func (f *FileChange) Source() string { return cmp.Or(f.Before, f.OldDisk) }

// FinalDisk returns the path of the file after the operation, or before it for a deletion.
func (f *FileChange) FinalDisk() string { return cmp.Or(f.NewDisk, f.OldDisk) }

// TempPrefix is the prefix of temp file names. The dot makes them hidden, so that they are
// never taken for notes; Dropbox and Nextcloud do not sync names that begin with ".~".
const TempPrefix = ".~notesd-"

// TempName returns a new name for a temp file.
func TempName() string { return TempPrefix + rand.Text()[:12] + ".tmp" }

// tempNames also matches the names of earlier versions, which had no "~".
var tempNames = regexp.MustCompile(`^\.~?notesd-[A-Z2-7]{12}\.tmp(\.old|\.part)?$`)

// IsTempName reports whether name has the form of a temp file name.
func IsTempName(name string) bool { return tempNames.MatchString(name) }

// followWith adds the files of a later operation, each with the earlier change of the same
// file as one.
func (op *Operation) followWith(later []FileChange) {
	for _, f := range later {
		i := slices.IndexFunc(op.Files, func(g FileChange) bool { return f.OldDisk != "" && g.NewDisk == f.OldDisk })
		switch {
		case i < 0:
			op.Files = append(op.Files, f)
		case f.State == StateConflict: // not changed again
		case op.Files[i].State == StateConflict: // not changed before
			op.Files[i] = f
		case op.Files[i].State == StateDone && f.State == StateDone && bytes.Equal(op.Files[i].New, f.Old):
			op.Files[i].New = f.New
		default:
			op.Files[i].State = StateFailed
		}
	}
}

// followFolder gives a file in a folder that the operation moves its paths before and after
// the move. The journal has only the disk path after it, or the symlink before it.
func (op *Operation) followFolder(f *FileChange) {
	first := &op.Files[0]
	switch {
	case f == first || !first.Folder:
	case f.Link != "" && notes.Under(f.OldPath, first.OldPath):
		f.NewPath = first.NewPath + strings.TrimPrefix(f.OldPath, first.OldPath)
	case f.Link == "" && notes.Under(f.NewPath, first.NewPath):
		f.OldPath = first.OldPath + strings.TrimPrefix(f.NewPath, first.NewPath)
	}
}

// Written returns the outcome of the operation, without its revision, which is not
// known yet, and the title, which is not in the journal.
func (op *Operation) Written() notes.Written {
	f := &op.Files[0]
	w := notes.Written{Path: f.NewPath, Change: op.change(), Diff: ShortDiff(f.Old, f.New, cmp.Or(f.NewPath, f.OldPath)), Moved: op.Moved, Made: op.Made, LinkedFrom: op.LinkedFrom, Conflicts: op.Conflicts(), Left: op.Left}
	if f.OldPath != "" && !f.Folder {
		w.Was = notes.Hash(f.Old)
	}
	for i := 1; i < len(op.Files); i++ {
		other := &op.Files[i]
		moved := f.Moves() && !f.Folder && other.Moves() && other.State != StateConflict
		rewritten := other.Conflict == nil && !bytes.Equal(other.Old, other.New)
		switch {
		case moved:
			w.Moved, w.From = append(w.Moved, other.NewPath), append(w.From, other.OldPath)
		case rewritten:
			w.Relinked = append(w.Relinked, other.NewPath)
		}
		if rewritten || moved && other.Conflict == nil {
			w.Others = append(w.Others, notes.Rewrite{OldPath: other.OldPath, Path: other.NewPath, Old: other.Old, New: other.New})
		}
	}
	if f.NewPath == "" {
		w.Path = f.OldPath
		return w
	}
	if !f.Folder {
		w.Hash = notes.Hash(f.New)
	}
	if f.Moves() {
		w.OldPath = f.OldPath
	}
	return w
}

// ShortDiffs returns the diff of the first file and those of others up to half that limit, because
// a result also lists the files.
func (op *Operation) ShortDiffs() string {
	var b strings.Builder
	for _, f := range op.Files {
		if b.Len() < diffMaxBytes/2 {
			b.WriteString(textdiff.Unified(f.Old, f.New, cmp.Or(f.NewPath, f.OldPath), diffContext, diffMaxBytes-b.Len()))
		}
	}
	return b.String()
}

// maxWholeDiff is the limit for a whole diff, in bytes; longer ones are not worth
// reading.
const maxWholeDiff = 256 << 10

// WholeDiff returns the complete unified diff of all files, or "" if it is too long.
func (op *Operation) WholeDiff() string {
	var b strings.Builder
	for _, f := range op.Files {
		b.WriteString(textdiff.Unified(f.Old, f.New, cmp.Or(f.NewPath, f.OldPath), diffContext, 0))
	}
	if b.Len() > maxWholeDiff {
		return ""
	}
	return b.String()
}

// Conflicts returns the notes that were not changed because another program changed
// them first.
func (op *Operation) Conflicts() []string {
	paths := slices.Clone(op.Kept)
	for i := range op.Files {
		if f := &op.Files[i]; f.Conflict != nil {
			paths = append(paths, op.PathNow(f))
		}
	}
	return paths
}

// PathNow returns the path of a file that the operation has changed, deleted or left alone. One
// that it left alone has moved only with its folder.
func (op *Operation) PathNow(f *FileChange) string {
	if first := &op.Files[0]; f.State == StateDone || first.Folder && first.State == StateDone {
		return cmp.Or(f.NewPath, f.OldPath)
	}
	return cmp.Or(f.OldPath, f.NewPath)
}
