package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/internal/markdown/tasks"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// writeProblem converts a system error to a [notes.Error] with a hint and without paths
// outside the vault.
func writeProblem(op, notePath string, err error) error {
	if _, own := errors.AsType[*notes.Error](err); own || errors.Is(err, errKilled) {
		return err
	}
	var system syscall.Errno
	e := &notes.Error{Op: op, Path: notePath, Err: notes.ErrUnavailable, Hint: "Nothing was changed."}
	switch {
	case errors.Is(err, fs.ErrExist):
		e.Err, e.Detail, e.Hint = notes.ErrExists, "a file with this name exists already", "Choose another name, or edit that note."
	case errors.Is(err, errScanning):
		e.Detail, e.Hint = "the folder is still being read, and notes not yet read may need the same change", "Nothing was changed. Try again in a moment; notesd status shows the progress."
	case sqlite.IsFull(err):
		e.Detail, e.Hint = stateIsFull, "Nothing was changed. Free some space there and try again."
	case isFull(err):
		e.Detail, e.Hint = "the disk is full", "Nothing was changed. Free some space and try again."
	case errors.Is(err, errOtherDisk) || atomicfile.IsOtherDisk(err):
		e.Err, e.Detail, e.Hint = notes.ErrInvalid, "a folder cannot be moved to another disk", "Nothing was changed. Move its notes one by one, or copy the folder with another program."
	case isHeld(err):
		e.Err, e.Detail, e.Hint = notes.ErrConflict, "another program holds a lock on the file", "Nothing was changed. Close it there and try again."
	case atomicfile.IsReadOnlyDisk(err):
		e.Err, e.Detail = notes.ErrReadOnly, "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		e.Err, e.Detail = notes.ErrForbidden, "permission to write there is denied"
	case errors.Is(err, disk.ErrTooLarge):
		e.Err, e.Detail = notes.ErrTooLarge, "the file is larger than a note may be"
	case errors.Is(err, disk.ErrNotRegular):
		e.Err, e.Detail = notes.ErrConflict, "the note is no longer a regular file"
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		e.Err, e.Detail, e.Hint = errRemovedSince, "the file or its folder was removed in the meantime", "Nothing was changed. Repeat the call."
	case errors.As(err, &system):
		e.Detail = "the system reports: " + system.Error()
	case sqlite.Trouble(err) != "":
		e.Detail, e.Hint = "notesd's database cannot be used: "+sqlite.Trouble(err), "Nothing was changed. Check the disk with notesd's state; notesd doctor says if it can be written to."
	default:
		return fmt.Errorf("%s %s: %w", op, notes.Quote(e.Path), err)
	}
	return e
}

// conflict returns the error for a file that has changed since the operation was computed.
func conflict(op, notePath string, was, is []byte) *notes.Error {
	return &notes.Error{Op: op, Path: notePath, Err: notes.ErrConflict, Detail: "the note was changed in the meantime; nothing was written",
		Hint: "Read the note again and repeat the change on its current text.", Hash: notes.Hash(is), Diff: store.ShortDiff(was, is, notePath)}
}

// errRemovedSince is the conflict with a program that has removed a file since the store got it.
var errRemovedSince = fmt.Errorf("%w: removed since it was read", notes.ErrConflict)

func movedOnto(from, taken string) error {
	return &notes.Error{Op: "move", Path: from, Err: notes.ErrExists, Candidates: []string{taken}, Detail: fmt.Sprintf("%s exists already", notes.Quote(taken)), Hint: "Choose another path."}
}

// errOtherDisk means that a folder move would cross disks.
var errOtherDisk = errors.New("the folders are on different disks")

// errHeld means that another program prevents the file from being replaced.
var errHeld = errors.New("held by another program")

func isHeld(err error) bool { return errors.Is(err, errHeld) || atomicfile.IsHeldElsewhere(err) }

func isFull(err error) bool { return sqlite.IsFull(err) || atomicfile.IsDiskFull(err) }

// stateIsFull is the error detail when isFull is true.
const stateIsFull = "the disk that holds notesd's state is full"

// editProblem converts an error of the edit and markdown packages to a [notes.Error] with a
// hint.
func editProblem(notePath string, err error) error {
	if _, own := errors.AsType[*notes.Error](err); own || errors.Is(err, errDraft) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &notes.Error{Op: "edit", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed."}
	var match *edit.MatchError
	var section *markdown.SectionError
	var failed *edit.EditError
	if errors.As(err, &section) {
		e.Candidates = section.Candidates
	}
	switch {
	case section != nil && errors.Is(err, markdown.ErrMissing):
		inserts := !errors.As(err, &failed) || failed.Op == edit.OpAppend || failed.Op == edit.OpPrepend
		switch {
		case inserts && len(e.Candidates) == 0:
			e.Hint = "Nothing was changed. Pass create_heading true to make this one at the end of the note."
		case inserts:
			e.Hint = "Nothing was changed. Name one of its headings, or pass create_heading true to make this one at the end of the note."
		case len(e.Candidates) > 0:
			e.Hint = "Nothing was changed. Name one of its headings."
		}
	case errors.Is(err, tasks.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Pass the line of the intended one as well as its text."
	case errors.Is(err, tasks.ErrMissing):
		e.Hint = "Nothing was changed. list_tasks shows the tasks with their texts."
	case errors.Is(err, markdown.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Pass one of these, with its line."
	case errors.As(err, &match) && match.Found > 0:
		e.Hint = fmt.Sprintf("Nothing was changed. Give more of the surrounding text, or pass count %d to replace all.", match.Found)
	case errors.As(err, &match) && match.Nearest != "":
		e.Hint = "Nothing was changed. Copy that text exactly, or read the note."
	case errors.As(err, &match):
		e.Hint = "Nothing was changed. Read the note and copy the text exactly."
	}
	return e
}

func readProblem(err error) string {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsid.ErrNotDirectory):
		return skipGone
	case errors.Is(err, disk.ErrTooLarge):
		return err.Error()
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	case errors.As(err, &errno):
		return fmt.Sprintf("it cannot be read at the moment (%v); it is tried again", errno)
	}
	return "it cannot be read"
}
