package vault

import (
	"context"

	"notesd/notes"
	"notesd/notes/store"
)

// Delete removes a note's file and, with r.Redirect, makes the links to it lead to another
// note, as one operation. Restore brings the note back, or undoes the whole operation.
func (v *Vault) Delete(ctx context.Context, r notes.DeleteRequest) (notes.Written, error) {
	return v.change(ctx, writeRequest{kind: "delete", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}, func(o *operation) error {
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
