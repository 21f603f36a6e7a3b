package vault

import (
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
	"notesd/notes/vault/disk"
)

// Move renames a note or a folder, or moves several notes into a folder, and rewrites links, in
// other notes and in the moved ones, as one operation: every new text is on disk before the
// first name changes. If another program changes one of the notes before that, Move starts
// again; if that happens several times, it fails with [notes.ErrConflict] and nothing is
// changed. A note with links that is changed later, during the operation, is left alone and
// listed in Written.Conflicts; one that moves keeps its new text.
func (v *Vault) Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error) {
	return v.change(ctx, writeRequest{kind: "move", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, replan: true}, func(o *operation) error {
		m := &movement{operation: o}
		if err := m.planAll(r); err != nil {
			return err
		}
		m.begin()
		if err := m.leaveSymlinks(); err != nil {
			return err
		}
		if r.UpdateLinks {
			return m.relink()
		}
		return nil
	})
}

// movement maps the paths before a move to those after it.
type movement struct {
	*operation
	first store.FileChange     // the note, the first of several, or the folder itself
	paths map[string]string    // old path → new path, for every note and attachment that moves; for a deleted note, the path of its replacement
	rows  map[string]store.Row // the notes among them, by old path
}

// begin completes the plan of the moved notes, or of the folder, which are the operation's first
// files.
func (m *movement) begin() {
	m.first, m.together = m.Files[0], len(m.Files)
	if m.first.Folder {
		for p := range m.rows {
			m.Moved = append(m.Moved, m.after(p))
		}
		slices.Sort(m.Moved)
	}
}

// leaveSymlinks lists in Left the symlinks that lead to a moved file and do not move with it.
func (m *movement) leaveSymlinks() error {
	targets, err := m.v.store.Files().Symlinks(m.ctx)
	moved := make(map[string]bool, len(m.paths))
	for p := range m.paths {
		moved[notes.Key(p)] = true
	}
	for name, target := range targets {
		if moved[target] && m.after(name) == name && m.scope.CanRead(name) {
			m.Left = append(m.Left, name)
		}
	}
	slices.Sort(m.Left)
	return err
}

// planAll plans the move of a note or folder, or of several notes into one folder. An error
// names all the notes whose new paths are taken.
func (m *movement) planAll(r notes.MoveRequest) error {
	if len(r.More) == 0 {
		return m.plan(r)
	}
	if to := path.Base(strings.TrimSpace(r.To)); strings.TrimSpace(r.To) == "" || notes.IsNoteName(to) {
		return &notes.Error{Op: "move", Path: r.To, Err: notes.ErrInvalid, Detail: "several notes move into a folder, and this is not the path of one", Hint: "Nothing was changed. Give the path of a folder, such as Archive/."}
	}
	r.To = strings.TrimSuffix(strings.TrimSpace(r.To), "/") + "/"
	taken := &notes.Error{Op: "move", Path: r.To, Err: notes.ErrExists, Hint: "Nothing was changed. Rename these notes first, or leave them out."}
	for _, r.Note = range append([]string{r.Note}, r.More...) {
		err := m.plan(r)
		if e, ok := errors.AsType[*notes.Error](err); ok && errors.Is(err, notes.ErrExists) {
			taken.Detail, taken.Candidates = strings.TrimPrefix(taken.Detail+"; "+e.Detail, "; "), append(taken.Candidates, e.Candidates...)
		} else if err != nil {
			return err
		}
	}
	if taken.Detail != "" {
		return taken
	}
	return nil
}

// plan plans the move of a note or folder, in addition to the notes planned before.
func (m *movement) plan(r notes.MoveRequest) error {
	r.Note, r.To = m.v.store.InVault(r.Note), m.fromRoot(m.v.store.InVault(r.To))
	meta, err := m.v.store.Lookup(m.ctx, r.Note, m.scope)
	folder, isFolder := m.asFolder(r.Note)
	switch {
	case err != nil && isFolder && len(r.More) > 0:
		return &notes.Error{Op: "move", Path: r.Note, Err: notes.ErrInvalid, Detail: "it is a folder, and only notes can be moved together", Hint: "Nothing was changed. Move the folder on its own."}
	case err != nil && isFolder:
		return m.planFolder(folder, r)
	case err != nil:
		return err
	case isFolder && (notes.Stem(notes.Key(meta.Path)) != notes.Key(folder) || !notes.IsNoteName(r.To)):
		return &notes.Error{Op: "move", Path: r.Note, Err: notes.ErrAmbiguous, Detail: "a folder and a note have this name", Hint: "Give the path of the one you mean; a folder's ends in /.",
			Candidates: []string{folder + "/", meta.Path}}
	}
	if err := m.v.store.CheckWhole(m.ctx, "move", r.Note, meta, m.scope); err != nil {
		return err
	}
	to, _, err := m.v.store.PeriodicPath(m.ctx, r.To, m.scope)
	if _, isFolder := m.asFolder(r.To); err != nil || to == "" || isFolder {
		to, err = m.destination(meta.Path, r.To, true)
	}
	if err != nil {
		return err
	}
	if err := m.mayWrite(meta.Path, to); err != nil {
		return err
	}
	if err := m.checkFolderSpelling(to); err != nil {
		return err
	}
	f, err := m.openNote(meta.Path, "")
	if err != nil {
		return err
	}
	if f.Link != "" {
		return &notes.Error{Op: "move", Path: meta.Path, Err: notes.ErrForbidden, Detail: "the note is a symlink", Hint: "Move the file that it points to."}
	}
	if _, known := m.paths[meta.Path]; known {
		return nil // named twice
	}
	if i := slices.IndexFunc(m.Files, func(f store.FileChange) bool { return notes.Key(f.NewPath) == notes.Key(to) }); i >= 0 {
		return &notes.Error{Op: "move", Path: meta.Path, Err: notes.ErrExists, Candidates: []string{m.Files[i].OldPath, meta.Path}, Detail: fmt.Sprintf("%s and %s have the same name", notes.Quote(m.Files[i].OldPath), notes.Quote(meta.Path))}
	}
	f.NewPath, f.NewDisk, f.New = to, newDisk(m.root, to), f.Old
	if f.OldDisk == f.NewDisk {
		return &notes.Error{Op: "move", Path: meta.Path, Err: notes.ErrInvalid, Detail: "the note already has this path"}
	}
	taken, err := m.takenBy(to)
	switch {
	case err != nil:
		return err
	case taken != "" && taken != meta.Path:
		return movedOnto(meta.Path, taken)
	}
	rows, err := m.v.store.Rows(m.ctx, []string{meta.Path})
	if m.Files = append(m.Files, f); m.paths == nil {
		m.paths, m.rows = map[string]string{}, map[string]store.Row{}
	}
	m.paths[meta.Path] = to
	maps.Copy(m.rows, rows)
	return err
}

// destination derives the new path from the one that the caller passed. An undo passes the
// path itself.
func (m *movement) destination(from, to string, note bool) (string, error) {
	if m.Kind == "restore" { // a former path, which may have a name that nothing new could have
		return to, nil
	}
	if t := strings.TrimSpace(to); t == "/" || t == "." || t == "./" {
		return path.Base(from), nil
	}
	p, err := notes.CleanPath(strings.TrimSuffix(strings.TrimSpace(to), "/"))
	if err != nil {
		return "", err
	}
	into := strings.HasSuffix(strings.TrimSpace(to), "/")
	if m.isFolder(p) {
		into = into || note || notes.Key(p) != notes.Key(from)
	} else if !note && path.Base(p) == path.Base(from) {
		into = false // from Recipes/ to Kitchen/Recipes/
	}
	switch {
	case into:
		p = path.Join(p, path.Base(from))
	case note && !notes.IsNoteName(p):
		p += path.Ext(from)
	}
	switch {
	case !note:
		return p, notes.CheckPortable("move", p)
	case path.Base(p) == path.Base(from): // the present name may stay, even if a new note could not have it
		return p, notes.CheckPortable("move", path.Dir(p))
	}
	return p, notes.CheckNewPath("move", p)
}

// asFolder returns the path of the folder that ref names, and whether there is one. Another
// spelling, on a disk that ignores case, or a path through a symlink does not name it: the
// stored paths differ.
func (o *operation) asFolder(ref string) (string, bool) {
	p, err := notes.CleanPath(strings.Trim(strings.TrimSpace(ref), "/"))
	if err != nil || o.v.ignore.Match(p) {
		return "", false
	}
	onDisk := o.root.Spelled(p)
	if info, err := o.root.Lstat(onDisk); err != nil || !info.IsDir() || o.root.SymlinkAbove(onDisk) != "" || !sees(o.scope, p) {
		return p, false
	}
	spelled, _ := o.root.WhollySpelledSo(onDisk, disk.Listed{})
	return p, spelled
}

// isFolder reports whether p is a folder that the caller may know, or a symlink to one.
func (o *operation) isFolder(p string) bool {
	info, err := o.root.Stat(o.root.Spelled(p))
	return err == nil && info.IsDir() && sees(o.scope, p)
}

// sees reports whether the caller may know that a folder exists: it may read the folder, or
// one in it.
func sees(scope notes.Scope, folder string) bool {
	return scope.CanRead(folder) || slices.ContainsFunc(scope.Read, func(f string) bool { return notes.Under(notes.FolderKey(f), notes.Key(folder)) })
}

// planFolder plans the move of a folder with everything in it, to a path on the same disk where
// nothing is and no stored note was. The caller must be permitted to write each of its notes and
// attachments at both paths.
func (m *movement) planFolder(folder string, r notes.MoveRequest) error {
	to, err := m.destination(folder, r.To, false)
	if err != nil {
		return err
	}
	if slices.Contains(m.v.store.Several, folder) {
		return &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "it is one of the vault's folders, which no client may move", Hint: "The owner of the daemon can rename it in vault.folders."}
	}
	if to == folder || notes.Under(to, folder) {
		return &notes.Error{Op: "move", Path: folder, Err: notes.ErrInvalid, Detail: "a folder cannot be moved into itself", Hint: "Give a path outside of it."}
	}
	if err := m.mayWrite(folder, to); err != nil {
		return err
	}
	for _, p := range m.v.opt.Protected() {
		if notes.Under(notes.FolderKey(p), notes.Key(folder)) {
			return &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: "the folder contains the user's prompts, which clients may not move", Hint: "The user can move it, and change prompts.folder."}
		}
	}
	if err := m.checkFolderSpelling(to); err != nil {
		return err
	}
	if m.diskOf(folder) != m.diskOf(to) {
		return writeProblem("move", folder, errOtherDisk)
	}
	if err := m.checkStaysIgnored(folder, to); err != nil {
		return err
	}
	if _, err := m.root.Lstat(to); err == nil && notes.Key(to) != notes.Key(folder) {
		return movedOnto(folder, to)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if known, err := m.v.store.Rows(m.ctx, []string{to}); err != nil {
		return err
	} else if len(known) > 0 && notes.Key(to) != notes.Key(folder) { // their histories would mix with those of the moved notes
		return &notes.Error{Op: "move", Path: folder, Err: notes.ErrUnavailable, Detail: fmt.Sprintf("notes in %s have just disappeared from the disk, and notesd is looking for them", notes.Quote(to)), Hint: "Try again in a few seconds, or choose another path."}
	}
	if m.rows, err = m.v.store.Rows(m.ctx, []string{folder}); err != nil {
		return err
	}
	attachments, err := m.v.store.Files().Under(m.ctx, folder)
	if err != nil {
		return err
	}
	m.first = store.FileChange{Folder: true, OldPath: folder, NewPath: to, OldDisk: m.root.Spelled(folder), NewDisk: newDisk(m.root, to)}
	m.Files = append(m.Files, m.first)
	m.paths = map[string]string{}
	for _, p := range slices.Concat(slices.Sorted(maps.Keys(m.rows)), attachments) {
		moved := to + strings.TrimPrefix(p, folder)
		if err := m.mayWrite(p, moved); err != nil {
			return err
		}
		if r, isNote := m.rows[p]; isNote && m.isInTwin(r) {
			return &notes.Error{Op: "move", Path: p, Err: notes.ErrInvalid, Detail: fmt.Sprintf("it is in a second folder with the name %s, in another Unicode form", notes.Quote(folder)), Hint: "Nothing was changed. Merge the two folders with another program, then move them."}
		}
		m.paths[p] = moved
	}
	return nil
}

// isInTwin reports whether a note is in another folder than the one to be moved, whose name has
// another Unicode form: a ZIP file made on macOS leaves such folders when unpacked elsewhere.
func (m *movement) isInTwin(r store.Row) bool {
	folder := m.first.OldDisk
	if notes.Under(r.DiskPath, folder) {
		return false
	}
	own := strings.Join(strings.Split(r.DiskPath, "/")[:strings.Count(folder, "/")+1], "/")
	is, err := m.root.Lstat(own)
	moved, movedErr := m.root.Lstat(folder)
	return err == nil && movedErr == nil && !os.SameFile(is, moved) // macOS finds one folder by both names
}

// folderDisk is the disk that has a folder. A folder cannot be renamed from one to another.
type folderDisk struct {
	device uint64 // of the vault's folder
	mount  string // the mount point in it, or ""
}

func (m *movement) diskOf(p string) folderDisk {
	folder := m.v.store.FolderOf(p)
	d := folderDisk{device: m.root.Identity(folder).Device}
	if at := m.v.mounts.of(p); at != folder {
		d.mount = at
	}
	return d
}

// checkStaysIgnored rejects the move of a folder if files in it match the ignore patterns
// at their present paths but would not at the new ones: they would become notes that every
// client can read.
func (m *movement) checkStaysIgnored(folder, to string) error {
	total := 0
	err := m.root.WalkDir(m.root.Spelled(folder), func(diskPath string, d fs.DirEntry, err error) error {
		if err != nil || m.ctx.Err() != nil {
			return errors.Join(err, m.ctx.Err())
		}
		p := notes.Nfc(diskPath)
		moved := to + strings.TrimPrefix(p, folder)
		switch was, is := m.v.ignore.Match(p), m.v.ignore.Match(moved); {
		case is && d.IsDir():
			return fs.SkipDir
		case was && !is && !d.IsDir():
			total++
		}
		return nil
	})
	if err != nil {
		return writeProblem("move", to, err)
	}
	if total == 0 {
		return nil
	}
	return &notes.Error{Op: "move", Path: folder, Err: notes.ErrForbidden, Detail: fmt.Sprintf("an ignore pattern matches %d of the files in it, and would not match them afterwards", total),
		Hint: "Choose a folder where the pattern still matches, or let the user move them or change vault.ignore."}
}

// carry adapts the change of a file inside a folder that moves to its new path: it is
// staged at the old path and put in place after the folder has moved.
func (m *movement) carry(f *store.FileChange) {
	if !m.first.Folder {
		return
	}
	f.NewPath = m.after(f.OldPath)
	if notes.Under(notes.Nfc(f.OldDisk), m.first.OldPath) { // a symlink's target may be elsewhere
		f.Before = f.OldDisk
		f.OldDisk = m.first.NewDisk + strings.TrimPrefix(f.OldDisk, m.first.OldDisk)
		f.NewDisk = f.OldDisk
	}
}

// without returns the call that leaves links as they are, for hints.
func (m *movement) without() string {
	if m.first.NewPath == "" {
		return "delete without redirect"
	}
	return "move with update_links false"
}

// after returns the path after the move for a path from the vault's root: of a note, another
// file, the moved folder, or anything in it.
func (m *movement) after(p string) string {
	was := notes.Nfc(strings.TrimSuffix(p, "/"))
	if m.first.Folder && notes.Under(was, m.first.OldPath) {
		return m.first.NewPath + strings.TrimPrefix(was, m.first.OldPath) + p[len(strings.TrimSuffix(p, "/")):]
	}
	if to, ok := m.paths[was]; ok {
		return to
	}
	return p
}

// relink adds to the operation every note with links that the move would break or divert,
// rewritten.
func (m *movement) relink() error {
	if err := m.requireAll(); err != nil {
		return err
	}
	links, err := newLinksAround(m)
	if err != nil {
		return err
	}
	others := links.notes
	if !m.first.Folder {
		for i := range m.Files {
			if f := &m.Files[i]; f.NewPath != "" {
				if f.New, err = links.rewrite(f.OldPath, f.Old); err != nil {
					return err
				}
			}
		}
		others = slices.DeleteFunc(others, func(p string) bool { return m.paths[p] != "" })
	}
	if err := m.addRewritten(others, links.rewrite, func(where, why string) error {
		return &notes.Error{Op: m.Kind, Path: m.first.OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and %s", where, why),
			Hint: "If you " + m.without() + ", those links will be broken."}
	}); err != nil {
		return err
	}
	return m.relinkRest(links, nil)
}

// relinkRest adds to the operation, whose notes are rewritten, what follows from that: links to
// headings that had one of the links in them, and the canvases and bases; see
// [operation.followHeadings] for restored.
func (m *movement) relinkRest(links *linksAround, restored map[string]bool) error {
	names := []string{m.first.OldPath}
	if !m.first.Folder {
		names = slices.Sorted(maps.Keys(m.paths))
	}
	err := m.followHeadings(m.renamedHeadings(), links, restored, namesNote(names...), func(name string, text []byte) []byte {
		if restored[name] {
			return text
		}
		return links.follow(name, text)
	})
	for i := range m.Files[1:] {
		m.carry(&m.Files[i+1])
	}
	return err
}

// Delete removes a note's file and, with r.Redirect, makes the links to it lead to another
// note, as one operation. Restore brings the note back, or undoes the whole operation.
func (v *Vault) Delete(ctx context.Context, r notes.DeleteRequest) (notes.Written, error) {
	return v.change(ctx, writeRequest{kind: "delete", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, replan: r.ExpectedHash != ""}, func(o *operation) error {
		f, err := o.openForChange(r.Note, r.ExpectedHash)
		if err != nil {
			return err
		}
		if f.Link != "" { // delete the symlink, not its target
			f.OldDisk, f.Link = f.Link, ""
		}
		f.NewPath, f.NewDisk = "", ""
		o.Files = []store.FileChange{f}
		if r.Redirect != "" {
			return (&movement{operation: o}).redirect(r.Redirect)
		}
		o.LinkedFrom, err = v.store.LinkedFrom(ctx, f.Note, r.Scope)
		return err
	})
}

// redirect adds to the operation, which deletes a note, the notes with links to it,
// rewritten to lead to the note that ref names.
func (m *movement) redirect(ref string) error {
	gone := m.Files[0]
	to, err := m.v.store.Lookup(m.ctx, ref, m.scope)
	if err != nil {
		return err
	}
	if err := m.v.store.CheckWhole(m.ctx, "redirect links to", ref, to, m.scope); err != nil {
		return err
	}
	if to.Path == gone.OldPath {
		return &notes.Error{Op: m.Kind, Path: to.Path, Err: notes.ErrInvalid, Detail: "links to a deleted note cannot be redirected to that note", Hint: "Pass the note that replaces it."}
	}
	m.first, m.paths = gone, map[string]string{gone.OldPath: to.Path}
	return m.relink()
}
