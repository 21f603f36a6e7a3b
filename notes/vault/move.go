package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"notesd/notes"
	"notesd/notes/store"
)

// Move renames a note or a folder and rewrites links, in other notes and in
// the moved ones, as one operation: every new text is on disk before the first
// name changes. A note that somebody else changes before that makes it fail
// with [ErrConflict] and nothing changed; one that is changed in the middle is
// left alone and listed in Written.Conflicts.
func (v *Vault) Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error) {
	var preview *store.Operation
	written, err := v.change(ctx, r.RequestKey, func(root *os.Root) (*store.Operation, error) {
		m, err := v.planMove(ctx, root, r)
		if err != nil {
			return nil, err
		}
		op := &store.Operation{Kind: "move", Author: r.Author, Files: []store.FileChange{m.first}}
		if m.first.Folder {
			for p := range m.rows {
				op.Moved = append(op.Moved, m.after(p))
			}
			slices.Sort(op.Moved)
		}
		if r.UpdateLinks {
			if err := v.relink(ctx, root, m, op, r.Scope); err != nil {
				return nil, err
			}
		}
		if r.DryRun {
			preview = op
			return nil, nil
		}
		return op, nil
	})
	if err == nil && preview != nil {
		return preview.Written(), nil
	}
	return written, err
}

// movement is what a move does to paths.
type movement struct {
	first store.FileChange     // the note or the folder itself
	paths map[string]string    // old path → new path, of every note and attachment that moves
	rows  map[string]store.Row // the notes among them, by old path
}

func (m *movement) after(p string) string {
	if to, ok := m.paths[p]; ok {
		return to
	}
	return p
}

func (v *Vault) planMove(ctx context.Context, root *os.Root, r notes.MoveRequest) (*movement, error) {
	meta, err := v.store.Lookup(ctx, r.Note, r.Scope)
	if err != nil {
		folder, ok := v.asFolder(root, r.Note)
		switch {
		case !ok:
			return nil, err
		case r.Scope.CanRead(folder), slices.ContainsFunc(r.Scope.Read, func(f string) bool { return notes.Under(notes.FolderKey(f), notes.Key(folder)) }):
			return v.planFolderMove(ctx, root, folder, r)
		}
		return nil, err
	}
	if err := v.store.CheckWhole(ctx, "move", r.Note, meta, r.Scope); err != nil {
		return nil, err
	}
	to, err := destination(root, meta.Path, r.To, true)
	if err != nil {
		return nil, err
	}
	for _, p := range []string{meta.Path, to} {
		if err := v.checkWrite("move", p, r.Scope); err != nil {
			return nil, err
		}
	}
	if err := checkPlace(root, "move", to); err != nil {
		return nil, err
	}
	f, err := v.openNote(ctx, root, "move", meta.Path, "")
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
	if taken, err := v.takenBy(ctx, root, to); err != nil || taken != "" && taken != meta.Path {
		return nil, errors.Join(err, movedOnto(meta.Path, taken))
	}
	rows, err := v.store.Rows(ctx, []string{meta.Path})
	return &movement{first: f, paths: map[string]string{meta.Path: to}, rows: rows}, err
}

func movedOnto(from, taken string) error {
	return &notes.Error{Op: "move", Path: from, Err: notes.ErrExists, Candidates: []string{taken}, Detail: fmt.Sprintf("%s is there already", notes.Quote(taken)), Hint: "Choose another path."}
}

// destination makes the new path from what the caller wrote.
func destination(root *os.Root, from, to string, note bool) (string, error) {
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
func (v *Vault) asFolder(root *os.Root, ref string) (string, bool) {
	p, err := notes.CleanPath(strings.Trim(strings.TrimSpace(ref), "/"))
	if err != nil || v.ignore.Match(p) {
		return "", false
	}
	info, err := root.Lstat(p)
	return p, err == nil && info.IsDir()
}

func (v *Vault) planFolderMove(ctx context.Context, root *os.Root, folder string, r notes.MoveRequest) (*movement, error) {
	to, err := destination(root, folder, r.To, false)
	if err != nil {
		return nil, err
	}
	if to == folder || notes.Under(to, folder) {
		return nil, &notes.Error{Op: "move", Path: folder, Err: notes.ErrInvalid, Detail: "a folder cannot be moved into itself"}
	}
	for _, p := range []string{folder, to} {
		if err := v.checkWrite("move", p, r.Scope); err != nil {
			return nil, err
		}
	}
	for _, p := range v.protected() {
		if notes.Under(notes.FolderKey(p), notes.Key(folder)) {
			return nil, &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "the user's prompts are in the folder, which no client may move", Hint: "The user can move it, and change prompts.folder."}
		}
	}
	if err := checkPlace(root, "move", to); err != nil {
		return nil, err
	}
	if err := v.checkStaysIgnored(ctx, root, folder, to); err != nil {
		return nil, err
	}
	if _, err := root.Lstat(to); err == nil && notes.Key(to) != notes.Key(folder) {
		return nil, movedOnto(folder, to)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rows, err := v.store.Rows(ctx, []string{folder})
	if err != nil {
		return nil, err
	}
	attachments, err := v.store.AttachmentsUnder(ctx, folder)
	if err != nil {
		return nil, err
	}
	m := &movement{paths: map[string]string{}, rows: rows,
		first: store.FileChange{Folder: true, OldPath: folder, NewPath: to, OldDisk: folder, NewDisk: to}}
	for _, p := range slices.Concat(slices.Sorted(maps.Keys(rows)), attachments) {
		moved := to + strings.TrimPrefix(p, folder)
		for _, p := range []string{p, moved} {
			if err := v.checkWrite("move", p, r.Scope); err != nil {
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
func (v *Vault) checkStaysIgnored(ctx context.Context, root *os.Root, folder, to string) error {
	const most = 5
	var names []string
	total := 0
	err := fs.WalkDir(root.FS(), folder, func(diskPath string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		p := notes.Nfc(diskPath)
		moved := to + strings.TrimPrefix(p, notes.Nfc(folder))
		switch was, is := v.ignore.Match(p), v.ignore.Match(moved); {
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
		return writeProblem(&store.Operation{Kind: "move", Files: []store.FileChange{{OldPath: folder, NewPath: to}}}, err)
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

// relink adds to the operation every note whose links the move would lead
// astray, with the links rewritten.
func (v *Vault) relink(ctx context.Context, root *os.Root, m *movement, op *store.Operation, scope notes.Scope) error {
	links, err := newLinksAround(ctx, v.store, m)
	if err != nil {
		return err
	}
	files := map[string]bool{m.first.OldDisk: true}
	for _, notePath := range links.notes {
		if !m.first.Folder && notePath == m.first.OldPath {
			if op.Files[0].New, err = links.rewrite(notePath, op.Files[0].Old); err != nil {
				return err
			}
			continue
		}
		refused := func(why string) error {
			where := "a note that this client may not read"
			if scope.CanRead(notePath) {
				where = notes.Quote(notePath)
			}
			return &notes.Error{Op: "move", Path: m.first.OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and %s", where, why),
				Hint: "Move with update_links false, and those links will be broken."}
		}
		f, err := v.openRelinked(ctx, root, m, notePath)
		if err != nil && !scope.CanRead(notePath) {
			return refused("it cannot be opened")
		}
		if err != nil {
			return err
		}
		if f.Link != "" { // changed as the note that it leads to, or by the first symlink to what is none
			rows, err := v.store.Rows(ctx, []string{notes.Nfc(f.Source())})
			if err != nil {
				return err
			}
			if files[f.OldDisk] || len(rows) > 0 {
				continue
			}
			files[f.OldDisk] = true
		}
		f.New, err = links.rewrite(notePath, f.Old)
		if err != nil && !scope.CanRead(notePath) {
			return refused("they cannot name the new path")
		}
		if err != nil {
			return err
		}
		if bytes.Equal(f.Old, f.New) {
			continue
		}
		if v.checkWrite("move", notePath, scope) != nil || v.checkTarget("move", f, scope) != nil {
			return refused("that note may not be written")
		}
		op.Files = append(op.Files, f)
	}
	return v.followers(ctx, root, links, op, scope)
}

// openRelinked reads a note whose links may change. One that lies in a folder
// that moves is staged where it is and put in place where it will be.
func (v *Vault) openRelinked(ctx context.Context, root *os.Root, m *movement, notePath string) (store.FileChange, error) {
	f, err := v.openNote(ctx, root, "move", notePath, "")
	if err != nil {
		return f, err
	}
	if to, moved := m.paths[notePath]; moved {
		f.NewPath, f.Before = to, f.OldDisk
		f.OldDisk = m.first.NewDisk + strings.TrimPrefix(f.OldDisk, m.first.OldDisk)
		f.NewDisk = f.OldDisk
	}
	return f, nil
}
