package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Move renames a note or a folder and rewrites links, in other notes and in
// the moved ones, as one operation: every new text is on disk before the first
// name changes. A note that another program changes before that makes it fail
// with [ErrConflict] and nothing changed; one that is changed in the middle is
// left alone and listed in Written.Conflicts.
func (v *Vault) Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error) {
	return v.change(ctx, change{kind: "move", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}, func(o *operation) error {
		m, err := o.planMove(r)
		if err != nil {
			return err
		}
		m.begin()
		if r.UpdateLinks {
			return m.relink()
		}
		return nil
	})
}

// begin makes the movement the first file of the operation.
func (m *movement) begin() {
	m.Files = []store.FileChange{m.first}
	if m.first.Folder {
		for p := range m.rows {
			m.Moved = append(m.Moved, m.after(p))
		}
		slices.Sort(m.Moved)
	}
}

func (o *operation) planMove(r notes.MoveRequest) (*movement, error) {
	meta, err := o.v.store.Lookup(o.ctx, r.Note, o.scope)
	folder, isFolder := o.asFolder(r.Note)
	isFolder = isFolder && (o.scope.CanRead(folder) || slices.ContainsFunc(o.scope.Read, func(f string) bool { return notes.Under(notes.FolderKey(f), notes.Key(folder)) }))
	switch {
	case err != nil && isFolder:
		return o.planFolderMove(folder, r)
	case err != nil:
		return nil, err
	case isFolder && notes.Stem(notes.Key(meta.Path)) != notes.Key(folder):
		return nil, &notes.Error{Op: "move", Path: r.Note, Err: notes.ErrAmbiguous, Detail: "a folder and a note have this name", Hint: "Give the path of the one you mean; a folder's ends in /.",
			Candidates: []string{folder + "/", meta.Path}}
	}
	if err := o.v.store.CheckWhole(o.ctx, "move", r.Note, meta, o.scope); err != nil {
		return nil, err
	}
	to, _, err := o.v.store.PeriodicPath(o.ctx, r.To, o.scope)
	if _, isFolder := o.asFolder(r.To); err != nil || to == "" || isFolder {
		to, err = destination(o.root, meta.Path, r.To, true)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range []string{meta.Path, to} {
		if err := o.mayWrite(p); err != nil {
			return nil, err
		}
	}
	if err := checkPlace(o.root, "move", to); err != nil {
		return nil, err
	}
	f, err := o.openNote(meta.Path, "")
	if err != nil {
		return nil, err
	}
	if f.Link != "" {
		return nil, &notes.Error{Op: "move", Path: meta.Path, Err: notes.ErrForbidden, Detail: "the note is a symlink", Hint: "Move the file that it leads to."}
	}
	f.NewPath, f.NewDisk, f.New = to, to, f.Old
	if f.OldDisk == to {
		return nil, &notes.Error{Op: "move", Path: meta.Path, Err: notes.ErrInvalid, Detail: "the note is there already"}
	}
	if taken, err := o.takenBy(to); err != nil || taken != "" && taken != meta.Path {
		return nil, errors.Join(err, movedOnto(meta.Path, taken))
	}
	rows, err := o.v.store.Rows(o.ctx, []string{meta.Path})
	return &movement{operation: o, first: f, paths: map[string]string{meta.Path: to}, rows: rows}, err
}

// destination makes the new path from what the caller wrote.
func destination(root *disk.Root, from, to string, note bool) (string, error) {
	into := strings.HasSuffix(strings.TrimSpace(to), "/")
	if t := strings.TrimSpace(to); t == "/" || t == "." || t == "./" {
		return path.Base(from), nil
	}
	if notes.IsURI(to) {
		p, err := notes.ParseURI(to)
		return p, err
	}
	p, err := notes.CleanPath(strings.TrimSuffix(strings.TrimSpace(to), "/"))
	if err != nil {
		return "", err
	}
	if info, err := root.Stat(p); !into && err == nil && info.IsDir() && (note || notes.Key(p) != notes.Key(from)) {
		into = true
	}
	switch {
	case into:
		p = path.Join(p, path.Base(from))
	case note && !notes.IsNoteName(p):
		p += path.Ext(from)
	}
	if note {
		return p, notes.CheckNewPath(p)
	}
	return p, notes.CheckNewPath(p + ".md")
}

// asFolder returns the path of the folder that ref names.
func (o *operation) asFolder(ref string) (string, bool) {
	p, err := notes.CleanPath(strings.Trim(strings.TrimSpace(ref), "/"))
	if err != nil || o.v.ignore.Match(p) {
		return "", false
	}
	info, err := o.root.Lstat(p)
	return p, err == nil && info.IsDir()
}

func (o *operation) planFolderMove(folder string, r notes.MoveRequest) (*movement, error) {
	to, err := destination(o.root, folder, r.To, false)
	if err != nil {
		return nil, err
	}
	if slices.Contains(o.root.Folders(), folder) {
		return nil, &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "it is one of the vault's folders, which no client may move", Hint: "The owner of the daemon can rename it in vault.folders."}
	}
	if to == folder || notes.Under(to, folder) {
		return nil, &notes.Error{Op: "move", Path: folder, Err: notes.ErrInvalid, Detail: "a folder cannot be moved into itself", Hint: "Give a path outside of it."}
	}
	for _, p := range []string{folder, to} {
		if err := o.mayWrite(p); err != nil {
			return nil, err
		}
	}
	for _, p := range o.v.guard.protected() {
		if notes.Under(notes.FolderKey(p), notes.Key(folder)) {
			return nil, &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "the user's prompts are in the folder, which no client may move", Hint: "The user can move it, and change prompts.folder."}
		}
	}
	if err := checkPlace(o.root, "move", to); err != nil {
		return nil, err
	}
	if o.root.Identity(o.v.store.FolderOf(folder)).Device != o.root.Identity(o.v.store.FolderOf(to)).Device {
		return nil, writeProblem("move", folder, errOtherDisk)
	}
	if err := o.checkStaysIgnored(folder, to); err != nil {
		return nil, err
	}
	if _, err := o.root.Lstat(to); err == nil && notes.Key(to) != notes.Key(folder) {
		return nil, movedOnto(folder, to)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rows, err := o.v.store.Rows(o.ctx, []string{folder})
	if err != nil {
		return nil, err
	}
	attachments, err := o.v.store.Files().Under(o.ctx, folder)
	if err != nil {
		return nil, err
	}
	m := &movement{operation: o, paths: map[string]string{}, rows: rows,
		first: store.FileChange{Folder: true, OldPath: folder, NewPath: to, OldDisk: folder, NewDisk: to}}
	for _, p := range slices.Concat(slices.Sorted(maps.Keys(rows)), attachments) {
		moved := to + strings.TrimPrefix(p, folder)
		for _, p := range []string{p, moved} {
			if err := o.mayWrite(p); err != nil {
				return nil, err
			}
		}
		m.paths[p] = moved
	}
	return m, nil
}

// checkStaysIgnored refuses the move of a folder with files in it that the
// ignore patterns match now and would not match afterwards: they would become
// notes that every client reads.
func (o *operation) checkStaysIgnored(folder, to string) error {
	const most = 5
	var names []string
	total := 0
	err := o.root.WalkDir(folder, func(diskPath string, d fs.DirEntry, err error) error {
		if err != nil || o.ctx.Err() != nil {
			return errors.Join(err, o.ctx.Err())
		}
		p := notes.Nfc(diskPath)
		moved := to + strings.TrimPrefix(p, notes.Nfc(folder))
		switch was, is := o.v.ignore.Match(p), o.v.ignore.Match(moved); {
		case is && d.IsDir():
			return fs.SkipDir
		case was && !is && !d.IsDir():
			if total++; len(names) < most {
				names = append(names, notes.Quote(p))
			}
		}
		return nil
	})
	if err != nil {
		return writeProblem("move", to, err)
	}
	if total == 0 {
		return nil
	}
	list := strings.Join(names, ", ")
	if total > len(names) {
		list += fmt.Sprintf(" and %d more", total-len(names))
	}
	return &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "an ignore pattern matches files in it and would not match them afterwards: " + list,
		Hint: "Choose a folder where the pattern still matches, or let the user move them or change vault.ignore."}
}
