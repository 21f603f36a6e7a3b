package notes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"time"

	"notesd/internal/markdown"
)

// Edit changes only the bytes that the edits name. A change by somebody else
// that comes between is an [*Error] with [ErrConflict], the note's present
// hash and a diff, and nothing is written.
func (v *Vault) Edit(ctx context.Context, r EditRequest) (Written, error) {
	var preview *operation
	var draft editDraft
	plan := func(root *os.Root) (*operation, error) {
		f, err := v.openForChange(ctx, root, "edit", r.Note, r.ExpectedHash, r.Scope)
		if err != nil {
			return nil, err
		}
		if f.new, err = draft.of(ctx, f, r.Edits); err != nil {
			return nil, editProblem(f.oldPath, err)
		}
		if err := v.checkText("edit", string(f.new)); err != nil {
			return nil, err
		}
		op := &operation{kind: "edit", author: r.Author, files: []fileChange{f}}
		if r.DryRun || slices.Equal(f.old, f.new) {
			preview = op
			return nil, nil
		}
		return op, nil
	}
	written, err := v.change(ctx, r.RequestKey, plan)
	for errors.Is(err, errDraft) {
		draft.make(ctx, r.Edits)
		if err := v.step("drafted"); err != nil {
			return Written{}, err
		}
		written, err = v.change(ctx, r.RequestKey, plan)
	}
	if err == nil && preview != nil {
		return preview.written(), nil
	}
	return written, err
}

// editDraft is what costly edits make of a note, computed while others have the
// vault's lock.
type editDraft struct {
	old, new []byte
	err      error // of the edits
	made     int
}

const (
	// maxLockedEdits bounds what is computed under the vault's lock, in bytes
	// of the note times edits: a few milliseconds.
	maxLockedEdits = 256 << 10
	// maxDrafts bounds how often edits are computed again because the note has
	// changed meanwhile.
	maxDrafts = 3
)

// errDraft: the edits have to be computed without the lock first.
var errDraft = errors.New("costly edits of a note that has no draft")

// of returns what the edits make of the file, or errDraft.
func (d *editDraft) of(ctx context.Context, f fileChange, edits []Edit) ([]byte, error) {
	switch {
	case d.made > 0 && bytes.Equal(d.old, f.old):
		return d.new, d.err
	case len(f.old)*len(edits) <= maxLockedEdits:
		return markdown.Apply(ctx, f.old, edits)
	case d.made >= maxDrafts:
		return nil, &Error{Op: "edit", Path: f.oldPath, Err: ErrConflict, Detail: "the note changes faster than the edits can be computed", Hint: "Nothing was changed. Make fewer edits at once, or try again later.", Hash: hashOf(f.old)}
	}
	d.old = f.old
	return nil, errDraft
}

func (d *editDraft) make(ctx context.Context, edits []Edit) {
	d.new, d.err = markdown.Apply(ctx, d.old, edits)
	d.made++
}

// openForChange reads the note that is to be changed, from disk, and checks
// that it may be. The caller holds the vault's lock.
func (v *Vault) openForChange(ctx context.Context, root *os.Root, op, ref, expectedHash string, scope Scope) (fileChange, error) {
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err != nil {
		return fileChange{}, err
	}
	if err := v.store.checkWhole(ctx, op, ref, meta, scope); err != nil {
		return fileChange{}, err
	}
	if err := v.checkWrite(op, meta.Path, scope); err != nil {
		return fileChange{}, err
	}
	f, err := v.openNote(ctx, root, op, meta.Path, expectedHash)
	if err == nil && op != "delete" { // which removes the symlink and leaves its target
		err = v.checkTarget(op, f, scope)
	}
	return f, err
}

// checkTarget refuses a symlink to a file that the caller may not write, and
// does not say which that is.
func (v *Vault) checkTarget(op string, f fileChange, scope Scope) error {
	if f.link == "" || v.checkWrite(op, nfc(f.source()), scope) == nil {
		return nil
	}
	return &Error{Op: op, Path: f.oldPath, Err: ErrForbidden, Detail: "the note is a symlink to a file that this client may not write"}
}

func (v *Vault) openNote(ctx context.Context, root *os.Root, op, notePath, expectedHash string) (fileChange, error) {
	rows, err := v.store.rows(ctx, []string{notePath})
	if err != nil {
		return fileChange{}, err
	}
	r := rows[notePath]
	f := fileChange{note: r.id, oldPath: notePath, newPath: notePath}
	if f.oldDisk, err = resolveSymlink(root, notePath, r.diskPath); err != nil {
		return f, err
	}
	if f.newDisk = f.oldDisk; f.oldDisk != r.diskPath {
		f.link = r.diskPath
	}
	if f.old, err = v.readSettled(root, f.oldDisk, r.stat.size); err != nil {
		v.queue.add([]string{r.diskPath})
		return f, writeProblem(&operation{kind: op, files: []fileChange{f}}, err)
	}
	if expectedHash != "" && expectedHash != hashOf(f.old) {
		return f, v.expectedConflict(ctx, op, f, expectedHash)
	}
	return f, checkReplaceable(root, op, f)
}

// settleFor is how long a file is waited for that has just become shorter, and
// settleEvery how often it is looked at.
const (
	settleFor   = 100 * time.Millisecond
	settleEvery = 5 * time.Millisecond
)

// readSettled reads a file that is to be changed. A program that saves in place
// empties the file first: one that a moment ago became shorter than the store
// knows it is read again, for a while.
func (v *Vault) readSettled(root *os.Root, diskPath string, known int64) ([]byte, error) {
	for waited := time.Duration(0); ; waited += settleEvery {
		data, st, err := readOnce(root, diskPath, v.opt.MaxNoteBytes)
		age := v.opt.Now().Sub(time.Unix(0, max(st.mtime, st.ctime)))
		if err != nil || st.size >= known || age < 0 || age >= settleFor || waited >= settleFor {
			return data, err
		}
		<-time.After(settleEvery)
	}
}

// expectedConflict says that the note is not the one that the caller read,
// with what has changed since when history knows that version.
func (v *Vault) expectedConflict(ctx context.Context, op string, f fileChange, expectedHash string) error {
	was, err := v.store.textByHash(ctx, expectedHash)
	if err != nil {
		return err
	}
	e := &Error{Op: op, Path: f.oldPath, Err: ErrConflict, Detail: "the note is not the one that expected_hash names",
		Hint: "Read the note again and repeat the change on what it says now.", Hash: hashOf(f.old)}
	if was != nil {
		e.Diff = shortDiff(was, f.old, f.oldPath)
	}
	return e
}

// maxSymlinks ends a loop of symlinks.
const maxSymlinks = 16

// resolveSymlink returns the file that diskPath leads to inside the vault: a
// symlink is written through, never replaced. os.Root refuses one that leads
// out.
func resolveSymlink(root *os.Root, notePath, diskPath string) (string, error) {
	meant, statErr := root.Stat(diskPath)
	for range maxSymlinks {
		info, err := root.Lstat(diskPath)
		if err != nil {
			return diskPath, nil // its absence is met when it is opened
		}
		if info.Mode()&os.ModeSymlink == 0 {
			if statErr == nil && !os.SameFile(meant, info) {
				break // "..", after a folder that is a symlink itself
			}
			return diskPath, nil
		}
		target, err := root.Readlink(diskPath)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			break
		}
		diskPath = path.Join(path.Dir(diskPath), target)
	}
	return "", &Error{Op: "write", Path: notePath, Err: ErrForbidden, Detail: "it is a symlink that leads out of the vault, in circles, or through another one"}
}

// checkReplaceable refuses a file that replacing would part from other names,
// or that another program holds a lock on.
func checkReplaceable(root *os.Root, op string, f fileChange) error {
	file, err := openRegular(root, f.oldDisk)
	if err != nil {
		return writeProblem(&operation{kind: op, files: []fileChange{f}}, err)
	}
	defer func() { _ = file.Close() }() // only read from
	names, err := hardLinks(file)
	if err != nil {
		return err
	}
	switch {
	case names > 1:
		return &Error{Op: op, Path: f.oldPath, Err: ErrForbidden, Detail: "the file has another name (a hard link), which would keep the old text",
			Hint: "Make it a file of its own, or edit it with a program that writes in place."}
	case locked(file):
		return writeProblem(&operation{kind: op, files: []fileChange{f}}, errHeld)
	}
	return nil
}

// editProblem turns the parser's words into the domain's.
func editProblem(notePath string, err error) error {
	var own *Error
	if errors.Is(err, errDraft) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &own) {
		return err
	}
	e := &Error{Op: "edit", Path: notePath, Err: ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed.", Candidates: sectionCandidates(err)}
	var match *markdown.MatchError
	var section *markdown.SectionError
	var failed *markdown.EditError
	switch {
	case errors.As(err, &failed) && failed.Op != markdown.OpAppend && failed.Op != markdown.OpPrepend:
	case errors.As(err, &section) && errors.Is(err, markdown.ErrMissing):
		e.Hint = "Nothing was changed. Name one of its headings, or pass create_heading true to make this one at the end of the note."
		return e
	}
	switch {
	case errors.Is(err, markdown.ErrAmbiguous):
		e.Err, e.Hint = ErrAmbiguous, "Nothing was changed. Name the section by its whole path, such as \"Plan > Risks\"."
	case errors.As(err, &match) && match.Found > 0:
		e.Hint = "Nothing was changed. Give more of the surrounding text in old, or the number of matches in count."
	case errors.As(err, &match):
		e.Hint = "Nothing was changed. Read the note and copy the text exactly."
	}
	return e
}
