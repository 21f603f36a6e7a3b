package vault

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/internal/fsid"
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

// checkFolderSpelling is checkParents for a path from a client. It also rejects another spelling of an
// existing folder: on a disk that ignores case, the folder may be ignored, and on others, a
// second folder would be made, which macOS and Windows cannot have.
func (o *operation) checkFolderSpelling(p string) error {
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
