package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"notesd/internal/markdown"
	"notesd/internal/textdiff"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Restore writes a version back as a new revision; no history is lost. A deleted note is
// restored at its former path, with its last text if r.Revision is 0.
//
// With r.Change it undoes that change in every note, folder, canvas and base, as one
// operation, which can itself be undone. Later changes of other sections of a note are kept. Other
// files that were changed since stay as they are and are listed in Written.Conflicts; if that is
// every file, or the note that was moved, the error is [notes.ErrConflict].
func (h *History) Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error) {
	request := writeRequest{kind: "restore", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, replan: r.Change != 0}
	if written, done, err := h.vault.answered(ctx, request); done {
		return written, err
	}
	if r.Change != 0 {
		return h.vault.change(ctx, request, func(o *operation) error { return o.planUndo(r.Change) })
	}
	notePath, err := h.path(ctx, r.Note, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	if r.Revision == 0 {
		if r.Revision, err = h.lastOfDeleted(ctx, notePath, r.Scope); err != nil {
			return notes.Written{}, err
		}
	}
	revision, err := h.store.TextRevision(ctx, r.Revision)
	if err != nil {
		return notes.Written{}, err
	}
	text, err := h.store.RevisionText(ctx, "restore", notePath, revision, r.Scope)
	if err != nil {
		return notes.Written{}, err
	}
	written, err := h.vault.change(ctx, request, func(o *operation) error {
		f, err := o.restorable(notePath, r)
		f.New = text
		o.Files = []store.FileChange{f}
		return err
	})
	if err == nil && !r.DryRun && written.Revision == 0 { // the note has this text already
		written.Revision, err = h.store.NewestRevision(ctx, notePath)
	}
	return written, err
}

// lastOfDeleted returns the revision with the last text of the deleted note at the path.
func (h *History) lastOfDeleted(ctx context.Context, notePath string, scope notes.Scope) (int64, error) {
	rows, err := h.vault.store.Rows(ctx, []string{notePath})
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		if last, err := h.store.LastText(ctx, notePath); err != nil || last != 0 {
			return last, err
		}
		page, err := h.Revisions(ctx, notes.HistoryQuery{Note: notePath, Limit: 2, Scope: scope})
		if err != nil {
			return 0, err
		}
		for _, r := range page.Revisions {
			if r.Revision != 0 && r.Hash != "" {
				return r.Revision, nil
			}
		}
	}
	return 0, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrInvalid, Detail: "the note exists, and no revision to restore is given", Hint: "note_history lists its revisions, and the changes that can be undone."}
}

// restorable opens the note at the path or, if it was deleted, prepares to create it there.
func (o *operation) restorable(notePath string, r notes.RestoreRequest) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	if err := o.mayWrite(notePath); err != nil {
		return store.FileChange{}, err
	}
	if row, alive := rows[notePath]; alive {
		if err := o.v.store.CheckWhole(o.ctx, o.Kind, r.Note, notes.Meta{ID: row.ID, Path: notePath}, o.scope); err != nil {
			return store.FileChange{}, err
		}
		if r.ExpectedHash == "" && r.Seen != nil {
			r.ExpectedHash = r.Seen(notePath)
		}
		return o.openTarget(notePath, r.ExpectedHash)
	}
	if r.ExpectedHash != "" {
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrConflict, Detail: "the note does not exist, so it cannot have the hash that expected_hash names", Hint: "Leave expected_hash out to bring the deleted note back."}
	}
	docs, err := o.v.store.Documents(o.ctx, notePath)
	if err != nil {
		return store.FileChange{}, err
	}
	if len(docs) > 0 && o.scope.CanRead(docs[0].Path) && !slices.ContainsFunc(docs, func(d store.Document) bool { return !d.Live || d.Path == notePath }) {
		moved := docs[0].Path
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrExists, Detail: fmt.Sprintf("the note was moved to %s", notes.Quote(moved)), Candidates: []string{moved},
			Hint: "Restore the revision there."}
	}
	if notePath, err = o.respelled(notePath); err != nil {
		return store.FileChange{}, err
	}
	onDisk := newDisk(o.root, notePath)
	if _, err := o.root.Lstat(onDisk); err == nil {
		return store.FileChange{}, &notes.Error{Op: "restore", Path: notePath, Err: notes.ErrExists, Detail: "a file with this name exists already", Hint: "Remove or rename it with another program, then restore the note again."}
	}
	return store.FileChange{NewPath: notePath, NewDisk: onDisk}, o.checkParents(notePath)
}

// respelled returns the former path of a deleted note with its folder as it is spelled now,
// unless the operation may not write there.
func (o *operation) respelled(p string) (string, error) {
	p = path.Join(o.spelled(path.Dir(p)), path.Base(p))
	return p, o.mayWrite(p)
}

// errChanged means that a file is not as the change to be undone left it.
var errChanged = errors.New("changed since")

// planUndo plans the reverse of an operation in the journal.
func (o *operation) planUndo(change int64) error {
	done, err := o.v.store.Change(o.ctx, change)
	if err != nil {
		return err
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
	if done.Kind == Together {
		return &notes.Error{Op: o.Kind, Err: notes.ErrInvalid, Detail: fmt.Sprintf("change %d contains changes from other nodes, which cannot be undone together", change),
			Hint: "note_history lists the versions of a note; restore them one by one."}
	}
	o.removeIfEmpty = done.Made
	m := &movement{operation: o}
	var changed []string // since a move, of the files whose links it updated
	first := &done.Files[0]
	var back, rest []store.FileChange // those that moved, and the others
	for i, f := range done.Files {
		if !f.Moves() || f.State == store.StateConflict || i > 0 && (first.Folder || !f.IsNote()) {
			rest = append(rest, f)
			continue
		}
		back = append(back, f)
		if err := m.planBack(&f); err != nil {
			return err
		}
	}
	moved := len(back) > 0
	if moved {
		m.begin()
	}
	for _, was := range rest {
		if was.State == store.StateConflict || was.State == store.StatePending {
			continue // the change was not made in this file
		}
		f, err := store.FileChange{}, errChanged
		if was.State != store.StateFailed {
			f, err = m.reverse(was, moved)
		}
		switch {
		case errors.Is(err, errChanged) && moved:
			changed = append(changed, was.NewPath)
		case errors.Is(err, errChanged):
			o.Kept = append(o.Kept, m.after(cmp.Or(was.NewPath, was.OldPath)))
		case err != nil:
			return err
		default:
			o.Files = append(o.Files, f)
		}
	}
	if moved {
		if err := m.relinkSince(back, changed); err != nil {
			return err
		}
	}
	if len(o.Files) == 0 {
		return &notes.Error{Op: o.Kind, Path: cmp.Or(first.NewPath, first.OldPath), Err: notes.ErrConflict, Detail: "every note of the change has changed since; nothing was written", Candidates: o.Kept,
			Hint: "note_history shows what changed; each note can be restored by its revision."}
	}
	return nil
}

// without returns a later text of a note without a change of it; ok is false if the same section was
// changed since. The front matter counts as a section.
func without(was store.FileChange, text []byte) (merged []byte, ok bool) {
	doc := markdown.Parse(was.New)
	return textdiff.Merge(was.New, was.Old, text, func(offset int) int {
		section := 0 // the text above the first heading; -1 is the front matter
		for _, h := range doc.Headings {
			if h.Start <= offset && !h.Nested {
				section++
			}
		}
		if offset < doc.BodyStart {
			section = -1
		}
		return section
	})
}

// planBack moves a note or folder back to its former path.
func (m *movement) planBack(was *store.FileChange) error {
	r := notes.MoveRequest{Note: was.NewPath, To: was.OldPath}
	var err error
	if !was.Folder {
		err = m.plan(r)
	} else if _, exists := m.asFolder(r.Note); exists {
		err = m.planFolder(r.Note, r)
	} else {
		err = notes.ErrNotFound
	}
	switch {
	case errors.Is(err, notes.ErrNotFound) || err == nil && m.Files[len(m.Files)-1].OldPath != was.NewPath:
		return &notes.Error{Op: m.Kind, Path: was.NewPath, Err: notes.ErrConflict, Detail: "it has been moved or deleted since; nothing was written", Hint: "Undo the later changes first: note_history lists them, newest first."}
	case err != nil:
		return err
	}
	f := &m.Files[len(m.Files)-1]
	if f.NewPath != was.OldPath {
		return movedOnto(was.NewPath, was.OldPath)
	}
	f.NewDisk = path.Join(path.Dir(f.NewDisk), path.Base(was.OldDisk)) // in its Unicode form
	if !was.Folder && bytes.Equal(f.Old, was.New) {
		f.New = was.Old
	}
	return nil
}

// reverse returns the reverse of the change of one file, or errChanged. Later changes of other
// sections are kept, unless they may have added links that moving files back would break, or
// another note may have the path now.
func (m *movement) reverse(was store.FileChange, moved bool) (f store.FileChange, err error) {
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
		f, err = m.openTarget(was.NewPath, "")
	} else {
		f = store.FileChange{OldPath: was.NewPath, NewPath: was.NewPath, OldDisk: was.NewDisk, NewDisk: was.NewDisk}
		if f.Old, _, err = disk.Read(m.root, was.NewDisk, notes.MaxAttachmentBytes); err == nil && m.checkReplaceable(f) != nil {
			return f, errChanged // it stays as it is, as in a move
		}
	}
	f.New = was.Old
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errChanged
	case err != nil || bytes.Equal(f.Old, was.New):
	case moved || !was.IsNote() || was.OldPath == "":
		err = errChanged
	default:
		var apart bool
		f.New, apart = without(was, f.Old)
		docs, failed := m.v.store.Documents(m.ctx, was.NewPath)
		if err = failed; err == nil && (!apart || len(docs) != 1 || docs[0].Path != was.NewPath) {
			err = errChanged
		}
	}
	if was.OldPath == "" && f.Link == "" { // the file was created
		f.NewPath, f.NewDisk = "", ""
	}
	return f, err
}

// undelete restores a deleted note at its former path.
func (m *movement) undelete(was store.FileChange) (store.FileChange, error) {
	p, err := m.respelled(was.OldPath)
	if err != nil {
		return store.FileChange{}, err
	}
	f := store.FileChange{NewPath: p, NewDisk: path.Join(m.root.Spelled(path.Dir(p)), path.Base(was.OldDisk)), New: was.Old}
	if _, err := m.root.Lstat(f.NewDisk); !errors.Is(err, fs.ErrNotExist) {
		return f, errChanged
	}
	return f, m.checkParents(f.NewPath)
}

// relinkSince rewrites the links that moving back those files would break in the notes, canvases and
// bases that were changed since the move: those given, whose links the move updated, and any
// others, including a note that was only moved. A note in which that is not possible is
// listed in Kept.
func (m *movement) relinkSince(back []store.FileChange, changed []string) error {
	if err := m.requireAll(); err != nil {
		return err
	}
	since, err := m.v.store.ChangedSinceMove(m.ctx, back[0].OldPath, back[0].NewPath)
	if err != nil {
		return err
	}
	links, err := newLinksAround(m)
	if err != nil {
		return err
	}
	files := map[string]bool{}
	for _, f := range m.Files {
		files[f.OldPath] = true
	}
	also := m.addRewrittenNote(links.rewrite, func(_, _ string) error { return &notes.Error{Err: notes.ErrForbidden} })
	changed = append(changed, since...)
	slices.Sort(changed)
	for _, p := range slices.Compact(changed) {
		if _, affected := slices.BinarySearch(links.notes, p); !affected || files[p] {
			continue
		}
		if err := m.keep(p, also(p)); err != nil {
			return err
		}
	}
	for _, was := range back {
		i := slices.IndexFunc(m.Files, func(f store.FileChange) bool { return f.OldPath == was.NewPath })
		if i < 0 || was.Folder || bytes.Equal(m.Files[i].Old, was.New) {
			continue
		}
		f := &m.Files[i]
		if text, err := links.rewrite(f.OldPath, f.Old); err == nil {
			f.New = text
			delete(files, f.OldPath)
		} else {
			m.Kept = append(m.Kept, f.NewPath)
		}
	}
	return m.relinkRest(links, files)
}

// keep lists a note in Kept if err says that it cannot be changed as planned, and returns any
// other error.
func (m *movement) keep(p string, err error) error {
	if _, known := errors.AsType[*notes.Error](err); !known {
		return err
	}
	if kept := m.after(p); m.scope.CanRead(p) && !slices.Contains(m.Kept, kept) {
		m.Kept = append(m.Kept, kept)
	}
	return nil
}
