package vault

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Replica is the vault's folder as a copy of the log that its nodes share. A mirror lists
// and reads its files, and places changes from the log in it.
type Replica struct{ v *Vault }

// Replica returns the vault's folder as a copy of the log.
func (v *Vault) Replica() Replica { return Replica{v} }

// Placed returns the paths of the files that the operation committed with this id has
// placed or removed, or none for another node's operation. If a crash interrupted the
// operation and it cannot be finished now, it is closed and will never be finished: the
// caller synchronizes its files with the log.
func (r Replica) Placed(ctx context.Context, id string) (map[string]bool, error) {
	if !store.IsTempName(id) {
		return nil, nil
	}
	r.v.mu.Lock() // the operation may be in progress
	defer r.v.mu.Unlock()
	if err := r.v.interrupted.finishOnce(ctx); err != nil {
		return nil, err
	}
	if err := r.v.interrupted.closeCommitted(ctx, id); err != nil {
		return nil, err
	}
	return r.v.store.Placed(ctx, id)
}

// Together is the kind of an operation that places unrelated files: changes missed while
// the database was unavailable, or everything that a new node receives. It cannot be undone
// as a whole.
const Together = "sync"

// Placement is a change of one file by the log, with its present text in the folder.
type Placement struct {
	OldPath, OldDisk string // "" for a new file; OldDisk as the file system spells it
	Path             string // "" to remove the file
	Old, New         []byte
}

// Place makes changes from the log, as one operation. A file whose text is not Old stays as
// it is: if it is the first, nothing is changed and the error is [notes.ErrConflict];
// otherwise it is listed in Written.Conflicts. The emptied folders, outermost first, are
// removed if nothing is left in them.
func (r Replica) Place(ctx context.Context, kind string, by notes.Author, changes []Placement, emptied ...string) (notes.Written, error) {
	return r.v.change(ctx, change{kind: kind, author: by, placed: true}, func(o *operation) error {
		o.clear = emptied
		var old []string
		for _, c := range changes {
			old = append(old, c.OldPath)
		}
		rows, err := r.v.store.Rows(ctx, old)
		if err != nil {
			return err
		}
		for _, c := range changes {
			f := store.FileChange{Note: rows[c.OldPath].ID, OldPath: c.OldPath, OldDisk: c.OldDisk, NewPath: c.Path, NewDisk: c.Path, Old: c.Old, New: c.New}
			if c.Path == c.OldPath {
				f.NewDisk = c.OldDisk
			}
			if c.OldPath != "" {
				if err := checkReplaceable(o.root, kind, f); err != nil {
					return err
				}
			}
			if c.Path != "" && c.Path != c.OldPath {
				if err := r.checkIncoming(o.root, kind, c.Path); err != nil {
					return err
				}
			}
			o.Files = append(o.Files, f)
		}
		return nil
	})
}

// checkIncoming rejects a new path from the log that a tool could not have written either:
// another node may run other software.
func (r Replica) checkIncoming(root *disk.Root, kind, p string) error {
	if clean, err := notes.CleanPath(p); err != nil || clean != p || r.v.ignore.Match(p) {
		return &notes.Error{Op: kind, Path: p, Err: notes.ErrForbidden, Detail: "the path is not one that a vault may have, or is hidden or ignored"}
	}
	return checkPlace(root, kind, p)
}

// Files lists the regular files, notes and others, at and below the paths, or all if paths
// is nil; it omits hidden and ignored files and symlinks. Where unseen returns true, the
// absence of a file is inconclusive: its folder cannot be read, its disk is not mounted, or
// something else has its name. The error is [notes.ErrUnavailable] if the folder is not the
// vault, or if it has no files although it had many (had) before.
func (r Replica) Files(ctx context.Context, paths []string, had int) (files []store.File, unseen func(path string) bool, err error) {
	if err := r.v.incident.get(); err != nil {
		return nil, nil, err
	}
	root, err := r.v.disk.Open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	var w *walked
	if paths == nil {
		w, err = walk(ctx, root, r.v.ignore)
	} else {
		w, err = (&scan{v: r.v, root: root}).walkPaths(ctx, slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return p == "" || p == "." || r.v.ignore.Match(notes.Nfc(p))
		}))
	}
	switch {
	case err != nil:
		return nil, nil, err
	case paths == nil && len(w.notes)+len(w.attachments) == 0 && had >= suspiciouslyMany:
		return nil, nil, suddenly("is empty")
	}
	var away []string // mount points of unmounted disks
	r.v.mounts.mu.Lock()
	for folder, m := range r.v.mounts.known {
		if root.Identity(m.DiskPath) != m.Identity {
			away = append(away, folder)
		}
	}
	r.v.mounts.mu.Unlock()
	passed := map[string]bool{}
	for _, skipped := range w.skipped {
		passed[skipped.Path] = true
	}
	for _, f := range w.evicted {
		passed[f.Path] = true
	}
	unseen = func(p string) bool {
		_, link := w.targets[p]
		return link || passed[p] || slices.ContainsFunc(slices.Concat(w.unreadable, away), func(folder string) bool { return notes.Under(p, folder) })
	}
	for _, f := range slices.Concat(w.notes, w.attachments) {
		if _, link := w.targets[f.Path]; !link {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b store.File) int { return strings.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b store.File) bool { return a.Path == b.Path }) // the same path in two Unicode forms
	return files, unseen, nil
}

// Bytes reads a file listed by Files. It returns the content with the matching stat, or
// [fs.ErrNotExist] if the file was removed.
func (r Replica) Bytes(f store.File) ([]byte, fsid.Stat, error) {
	root, err := r.v.disk.Open()
	if err != nil {
		return nil, fsid.Stat{}, err
	}
	defer func() { _ = root.Close() }() // only read from
	data, st, err := disk.ReadStable(root, f.DiskPath, r.v.opt.MaxNoteBytes)
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		err = &notes.Error{Op: "read", Path: f.Path, Err: notes.ErrTooLarge, Detail: err.Error()}
	case errors.Is(err, disk.ErrChanging):
		err = notes.ErrConflict
	case errors.Is(err, fsid.ErrNotDirectory):
		err = fs.ErrNotExist
	}
	return data, st, err
}
