package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// checkText rejects text that cannot be a note.
func (o *Options) checkText(op, text string) error {
	switch {
	case !utf8.ValidString(text):
		return &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: "the text is not valid UTF-8"}
	case strings.IndexByte(text, 0) >= 0:
		return &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: "the text contains a NUL byte"}
	case int64(len(text)) > o.MaxNoteBytes:
		return &notes.Error{Op: op, Err: notes.ErrTooLarge, Detail: fmt.Sprintf("the text has %d bytes; a note may have %d", len(text), o.MaxNoteBytes), Hint: "Split it into several notes."}
	}
	return nil
}

// readLimit is the size up to which the files of an operation are read. Canvases and bases may
// be larger than notes, and rewritten links may exceed both limits.
func (o *Options) readLimit() int64 {
	return 2*max(o.MaxNoteBytes, notes.MaxAttachmentBytes) + 1<<20
}

// checkWrite returns an error unless the caller may write at p. Every write calls it.
func (v *Vault) checkWrite(op, p string, scope notes.Scope) error {
	switch {
	case v.opt.ReadOnly || scope.ReadOnly:
		return &notes.Error{Op: op, Path: p, Err: notes.ErrReadOnly, Detail: "notesd is in read-only mode", Hint: "The owner of the daemon can change vault.read_only."}
	case scope.CanRead(p) && v.ignore.Match(p):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the path is hidden or matches an ignore pattern, so notesd does not write it"}
	case scope.CanRead(p) && notes.InAny(p, v.opt.Protected()):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the folder contains the user's prompts, which clients may not write", Hint: "The user can change them with an editor."}
	case scope.CanRead(p) && notes.InAny(p, scope.NoWrite):
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "the folder is read-only", Hint: "The user can change vault.read_only_folders."}
	case !scope.CanWrite(p):
		places := scope.Write
		if places == nil {
			places = scope.Read
		}
		return &notes.Error{Op: op, Path: p, Err: notes.ErrForbidden, Detail: "this client may not write there",
			Hint: "It may write in: " + strings.Join(places, ", ")}
	}
	return nil
}

// checkParents rejects a new path below a symlink to a folder, below a file, or outside the
// vault's folders if it has several.
func (o *operation) checkParents(p string) error {
	if folders := o.v.store.Several; len(folders) > 0 {
		folder, _, below := strings.Cut(p, "/")
		if !below || !slices.Contains(folders, folder) {
			return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrInvalid, Detail: "it is outside the vault's folders, which are " + strings.Join(folders, ", "),
				Hint: fmt.Sprintf("Begin the path with one of them, such as %s.", notes.Quote(folders[0]+"/"+path.Base(p))), Candidates: folders}
		}
	}
	onDisk := o.root.Spelled(p)
	folder := notes.Nfc(o.root.SymlinkAbove(onDisk))
	if folder == "" {
		for dir := path.Dir(onDisk); dir != "."; dir = path.Dir(dir) {
			info, err := o.root.Lstat(dir)
			switch {
			case err == nil && info.IsDir():
				return nil
			case err == nil:
				return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrInvalid, Detail: fmt.Sprintf("%s is a file, not a folder", notes.Quote(notes.Nfc(dir))), Hint: "Pass an existing folder or a new one."}
			}
		}
		return nil
	}
	return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrForbidden, Detail: fmt.Sprintf("%s is a symlink to a folder, which is not followed", notes.Quote(folder)), Hint: "Use the folder that it points to."}
}

// checkPlace is checkParents for a path from a client. It also rejects another spelling of an
// existing folder: on a disk that ignores case, the folder may be ignored, and on others, a
// second folder would be made, which macOS and Windows cannot have.
func (o *operation) checkPlace(p string) error {
	folder := path.Dir(p)
	if spelled := o.spelled(folder); spelled != folder {
		return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrInvalid, Detail: fmt.Sprintf("the folder is spelled %s", notes.Quote(spelled)),
			Hint: "Nothing was changed. Repeat the call with this path.", Candidates: []string{path.Join(spelled, path.Base(p))}}
	}
	for dir := folder; dir != "."; dir = path.Dir(dir) {
		if spelled, _ := o.root.SpelledSo(dir); !spelled && o.isFolder(dir) { // Windows also has short names
			return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrInvalid, Detail: fmt.Sprintf("this disk spells %s in another way", notes.Quote(dir)), Hint: "Write the folder as list_notes shows it."}
		}
	}
	return o.checkParents(p)
}

// spelled returns the path of a folder with the names of existing folders that differ from
// its own only in case.
func (o *operation) spelled(folder string) string {
	at := "."
	for segment := range strings.SplitSeq(folder, "/") {
		next := path.Join(at, segment)
		if spelled, _ := o.root.SpelledSo(next); !spelled || !o.isFolder(next) {
			for _, name := range o.root.Names(o.root.Spelled(at)) {
				if other := path.Join(at, notes.Nfc(name)); notes.Key(other) == notes.Key(next) && o.isFolder(other) {
					next = other
					break
				}
			}
		}
		at = next
	}
	return at
}

func isFull(err error) bool { return sqlite.IsFull(err) || atomicfile.IsDiskFull(err) }

// stateIsFull is the error detail when isFull is true.
const stateIsFull = "the disk that holds notesd's state is full"

// conflict returns the error for a file that has changed since the operation was computed.
func conflict(op, notePath string, was, is []byte) *notes.Error {
	return &notes.Error{Op: op, Path: notePath, Err: notes.ErrConflict, Detail: "the note was changed in the meantime; nothing was written",
		Hint: "Read the note again and repeat the change on its current text.", Hash: notes.Hash(is), Diff: store.ShortDiff(was, is, notePath)}
}

// errOtherDisk means that a folder move would cross disks.
var errOtherDisk = errors.New("the folders are on different disks")

// errHeld means that another program prevents the file from being replaced.
var errHeld = errors.New("held by another program")

func isHeld(err error) bool { return errors.Is(err, errHeld) || atomicfile.IsHeldElsewhere(err) }

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
		e.Err, e.Detail, e.Hint = notes.ErrConflict, "the file or its folder was removed in the meantime", "Read the folder again."
	case errors.As(err, &system):
		e.Detail = "the system reports: " + system.Error()
	case sqlite.Trouble(err) != "":
		e.Detail, e.Hint = "notesd's database cannot be used: "+sqlite.Trouble(err), "Nothing was changed. Check the disk with notesd's state; notesd doctor says if it can be written to."
	default:
		return fmt.Errorf("%s %s: %w", op, notes.Quote(e.Path), err)
	}
	return e
}

func movedOnto(from, taken string) error {
	return &notes.Error{Op: "move", Path: from, Err: notes.ErrExists, Candidates: []string{taken}, Detail: fmt.Sprintf("%s exists already", notes.Quote(taken)), Hint: "Choose another path."}
}

// errKilled is returned by fail-points to simulate the end of the program; no cleanup
// follows it.
var errKilled = errors.New("killed")

// failpoint lets tests inject failures. A nil failpoint is a no-op.
type failpoint func(step string) error

func (f failpoint) step(name string) error {
	if f == nil {
		return nil
	}
	return f(name)
}

// checkExclusive rejects a file with other hard links, which replacing would separate from it,
// or one that another program holds a lock on.
func (o *operation) checkExclusive(f store.FileChange) error {
	file, err := disk.OpenRegular(o.root, f.OldDisk)
	if err != nil {
		return writeProblem(o.Kind, f.NewPath, err)
	}
	defer func() { _ = file.Close() }() // only read from
	names, err := fsid.HardLinks(file)
	if err != nil {
		return err
	}
	switch {
	case names > 1:
		return &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrForbidden, Detail: "the file has another name (a hard link), which would keep the old text",
			Hint: "Make it a separate file, or edit it with a program that writes in place."}
	case fsid.Locked(file):
		return writeProblem(o.Kind, f.OldPath, errHeld)
	}
	return nil
}
