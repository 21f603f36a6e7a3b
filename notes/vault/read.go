package vault

import (
	"context"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Read returns the note that ref names, as it is on disk, and in it the part that ref names. If the stored version is out of
// date, or the note is not stored yet, the file is reconciled first.
func (v *Vault) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	root, err := v.disk.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	r := &reading{v: v, ctx: ctx, root: root, scope: scope}
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err != nil {
		if meta, err = r.lookupOnDisk(ref, err); err != nil {
			return nil, err
		}
	}
	fresh, err := r.isFresh(meta.Path)
	if err != nil {
		return nil, err
	}
	if !fresh {
		if err := r.reconcile(meta.Path); err != nil {
			return nil, err
		}
		if problem := v.rereads.problem(meta.Path); problem != "" {
			return nil, unreadable(meta.Path, problem)
		}
	}
	if !fresh && scope.Read != nil { // a symlink may now lead out of the scope
		if meta, err = v.store.Lookup(ctx, meta.Path, scope); err != nil {
			return nil, err
		}
	}
	note, err := v.store.LoadNote(ctx, meta.ID)
	if err != nil {
		return nil, err
	}
	if note == nil || !scope.CanRead(note.Path) {
		_, err := v.store.Lookup(ctx, ref, scope) // explains why: moved or deleted
		if err == nil {
			err = &notes.Error{Op: "read", Path: meta.Path, Err: notes.ErrNotFound, Detail: "the note has just been deleted"}
		}
		return nil, err
	}
	note.Part, err = v.store.PartOf(ctx, ref, meta, scope)
	return note, err
}

// reading reads notes and attachments, reconciling files that are newer than the store.
type reading struct {
	v     *Vault
	ctx   context.Context
	root  *disk.Root
	scope notes.Scope
}

// lookupOnDisk finds a note on disk that the store does not have yet, and reconciles it.
func (r *reading) lookupOnDisk(ref string, notFound error) (notes.Meta, error) {
	base, _ := notes.SplitAnchor(ref)
	p := ""
	periodic, _, err := r.v.store.PeriodicPath(r.ctx, base, r.scope)
	if err != nil {
		return notes.Meta{}, err
	}
	for _, name := range []string{ref, base, periodic} {
		name, err := store.CleanRef(r.v.store.InVault(name))
		if err != nil || r.v.ignore.Match(name) {
			continue
		}
		if !notes.IsNoteName(name) {
			name += ".md"
		}
		if _, err := r.root.Lstat(name); err == nil {
			p = name
			break
		}
	}
	if p == "" {
		return notes.Meta{}, notFound
	}
	if err := r.reconcile(p); err != nil {
		return notes.Meta{}, err
	}
	meta, err := r.v.store.Lookup(r.ctx, p, r.scope)
	if err != nil {
		return notes.Meta{}, notFound
	}
	return meta, nil
}

// reconcile updates the store to match the disk at p.
func (r *reading) reconcile(p string) error {
	err := r.v.reconcilePaths(r.ctx, []string{p})
	if isFull(err) {
		return &notes.Error{Op: "read", Path: p, Err: notes.ErrUnavailable, Detail: "it has changed, and " + stateIsFull, Hint: "Free some space there and try again."}
	}
	return err
}

// isFresh reports whether the stat of the file at p matches the stored one.
func (r *reading) isFresh(p string) (bool, error) {
	rows, err := r.v.store.Rows(r.ctx, []string{p})
	if err != nil {
		return false, err
	}
	if err := r.v.mounts.check(r.root, "read", p); err != nil {
		return false, err
	}
	row, ok := rows[p]
	if !ok {
		return false, nil
	}
	info, err := r.root.Stat(row.DiskPath)
	if disk.IsUnknown(err) {
		return false, unreadable(p, readProblem(err))
	}
	return err == nil && row.Unchanged(fsid.StatOf(info)), nil
}

// unreadable returns the error for a note of which only the stored version can be read.
func unreadable(p, problem string) error {
	return &notes.Error{Op: "read", Path: p, Err: notes.ErrUnavailable, Detail: problem, Hint: "The indexed version is kept, and searches find it. Try again when the file can be read."}
}
