package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"notesd/notes"
	"notesd/notes/store"
)

// errChanged: a file is not as the change that is undone has left it.
var errChanged = errors.New("changed since")

// planUndo makes the operation the reverse of one in the journal.
func (o *operation) planUndo(change int64) error {
	done, err := o.v.store.Change(o.ctx, change)
	if err != nil {
		return err
	}
	if done.Kind == Together {
		return &notes.Error{Op: o.Kind, Err: notes.ErrInvalid, Detail: fmt.Sprintf("change %d brought what other nodes had changed; its notes do not belong together", change),
			Hint: "note_history lists the versions of a note; restore those that you mean."}
	}
	for _, f := range done.Files {
		for _, p := range []string{f.OldPath, f.NewPath} {
			if p == "" {
				continue
			}
			if !o.scope.CanRead(p) {
				return store.NoChange(change)
			}
			if err := o.mayWrite(p); err != nil {
				return err
			}
		}
	}
	m := &movement{operation: o}
	if first := &done.Files[0]; first.OldPath != "" && first.NewPath != "" && first.OldPath != first.NewPath {
		if m, err = o.planMoveBack(first); err != nil {
			return err
		}
		done.Files = done.Files[1:]
		m.begin()
	}
	for _, was := range done.Files {
		if was.State == store.StateConflict || was.State == store.StatePending {
			continue // the change was not made in it
		}
		f, err := store.FileChange{}, errChanged
		if was.State != store.StateFailed {
			f, err = m.reverse(was)
		}
		switch {
		case errors.Is(err, errChanged):
			o.Kept = append(o.Kept, cmp.Or(was.NewPath, was.OldPath))
		case err != nil:
			return err
		default:
			o.Files = append(o.Files, f)
		}
	}
	if len(o.Files) == 0 {
		return &notes.Error{Op: o.Kind, Path: o.Kept[0], Err: notes.ErrConflict, Detail: "every note of the change was changed since; nothing was written", Candidates: o.Kept,
			Hint: "note_history shows what changed; each note can be restored by its revision."}
	}
	return nil
}

// planMoveBack moves a note or folder to where it was. A note whose links were
// rewritten with the move must be as the move has left it.
func (o *operation) planMoveBack(was *store.FileChange) (*movement, error) {
	plan := o.planMove
	if was.Folder {
		plan = func(r notes.MoveRequest) (*movement, error) {
			if _, exists := o.asFolder(r.Note); !exists {
				return nil, notes.ErrNotFound
			}
			return o.planFolderMove(r.Note, r)
		}
	}
	m, err := plan(notes.MoveRequest{Note: was.NewPath, To: was.OldPath})
	switch {
	case errors.Is(err, notes.ErrNotFound) || err == nil && m.first.OldPath != was.NewPath:
		return nil, &notes.Error{Op: o.Kind, Path: was.NewPath, Err: notes.ErrConflict, Detail: "it was moved or deleted since; nothing was written", Hint: "note_history says where it is."}
	case err != nil:
		return nil, err
	case m.first.NewPath != was.OldPath:
		return nil, movedOnto(was.NewPath, was.OldPath)
	case was.IsPureMove() || was.Folder:
	case !bytes.Equal(m.first.Old, was.New):
		return nil, conflict(o.Kind, was.NewPath, was.New, m.first.Old)
	default:
		m.first.New = was.Old
	}
	return m, nil
}

// reverse returns what undoes the change of one file, or errChanged.
func (m *movement) reverse(was store.FileChange) (f store.FileChange, err error) {
	if was.NewPath == "" {
		return m.undelete(was)
	}
	if was.IsNote() {
		rows, failed := m.v.store.Rows(m.ctx, []string{was.NewPath})
		if failed != nil {
			return f, failed
		}
		if _, exists := rows[was.NewPath]; !exists {
			return f, errChanged
		}
		f, err = m.openNote(was.NewPath, "")
		if err == nil {
			err = m.checkTarget(f)
		}
	} else {
		f = store.FileChange{OldPath: was.NewPath, NewPath: was.NewPath, OldDisk: was.NewDisk, NewDisk: was.NewDisk}
		if f.Old, _, err = readOnce(m.root, was.NewDisk, notes.MaxAttachmentBytes); err == nil {
			err = checkReplaceable(m.root, m.Kind, f)
		}
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(f.Old, was.New) {
		err = errChanged
	}
	f.New = was.Old
	switch {
	case was.OldPath == "" && f.Link == "": // it was created
		f.NewPath, f.NewDisk = "", ""
	case m.first.Folder && notes.Under(f.OldPath, m.first.OldPath):
		m.carry(&f)
	}
	return f, err
}

// undelete brings a deleted note back where it was.
func (m *movement) undelete(was store.FileChange) (store.FileChange, error) {
	f := store.FileChange{NewPath: was.OldPath, NewDisk: was.OldDisk, New: was.Old}
	if _, err := m.root.Lstat(was.OldDisk); !errors.Is(err, fs.ErrNotExist) {
		return f, errChanged
	}
	return f, checkPlace(m.root, m.Kind, f.NewPath)
}
