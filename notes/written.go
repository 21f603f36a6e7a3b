package notes

import (
	"bytes"

	"notesd/internal/markdown"
)

// Written is what a change to notes has led to.
type Written struct {
	Path     string
	Title    string
	Hash     string // of the note's bytes now; "" after a delete
	Revision int64  // of the note, in its history
	Seq      uint64 // of the store's newest change
	Diff     string // unified, short; for a dry run what would be changed

	Was        string   `json:",omitempty"` // the hash before; "" for a new note
	OldPath    string   `json:",omitempty"` // of a moved note
	Moved      []string `json:",omitempty"` // the notes in a moved folder, by their new paths
	Relinked   []string `json:",omitempty"` // other notes whose links were rewritten
	Left       []string `json:",omitempty"` // canvases and bases that name what moved, and could not be changed
	LinkedFrom []string `json:",omitempty"` // notes with links to a deleted one
	Conflicts  []string `json:",omitempty"` // notes that somebody else changed in that moment, and which were left alone
}

// written describes the operation's outcome; its revision is not known yet.
func (op *operation) written() Written {
	f := &op.files[0]
	w := Written{Path: f.newPath, Diff: shortDiff(f.old, f.new, f.newPath), Moved: op.moved, Conflicts: op.conflicts(), Left: op.left}
	if f.oldPath != "" && !f.folder {
		w.Was = hashOf(f.old)
	}
	if f.newPath == "" {
		w.Path, w.LinkedFrom = f.oldPath, op.linkedFrom
		return w
	}
	if !f.folder {
		w.Title, w.Hash = titleOf(f.newPath, markdown.Parse(f.new)), hashOf(f.new)
	}
	if f.oldPath != "" && f.oldPath != f.newPath {
		w.OldPath = f.oldPath
	}
	for _, other := range op.files[1:] {
		if other.conflict == nil && !bytes.Equal(other.old, other.new) {
			w.Relinked = append(w.Relinked, other.newPath)
		}
	}
	return w
}

func (op *operation) conflicts() []string {
	var paths []string
	for _, f := range op.files {
		if f.conflict != nil {
			paths = append(paths, f.oldPath)
		}
	}
	return paths
}
