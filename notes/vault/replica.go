package vault

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// SharedLog is the log of a vault that several nodes share. It determines the order of
// concurrent changes to a note: an operation is committed to it after its new texts are
// staged and before the first name changes. An operation interrupted by a crash is
// completed or reverted according to the log.
type SharedLog interface {
	// Commit writes the batch. The error is a [*notes.LogConflict] if the log has other
	// files than the batch was computed from. It wraps [notes.ErrOutcomeUnknown] if the
	// batch may nevertheless have been written.
	Commit(ctx context.Context, b notes.Batch) error
	// Resolve reports whether the batch was committed; if not, it never will be.
	Resolve(ctx context.Context, id string) (committed bool, err error)
	// CatchUp synchronizes the folder and the log, including paths where the folder may
	// have changed. It is called without the vault's lock, and calls Place.
	CatchUp(ctx context.Context, paths []string) error
	// Fetching returns how many files a new folder still lacks while it is filled from the
	// log, and 0 otherwise.
	Fetching() int
}

// behindError means that the log has a newer version than the folder.
type behindError struct {
	error
	paths []string // of the operation's files
}

func (e *behindError) Unwrap() error { return e.error }

// maxCatchUps bounds how often a change is recomputed because the folder was behind the
// log.
const maxCatchUps = 5

// share commits the operation to the shared log, if there is one.
func (p *placer) share() error {
	if !p.Shared {
		return nil
	}
	b := notes.Batch{ID: p.ID(), Kind: p.Kind, Author: p.Author}
	for i := range p.Files {
		f := &p.Files[i]
		c := notes.FileChange{OldPath: notes.Nfc(f.OldDisk), Path: notes.Nfc(f.NewDisk), Folder: f.Folder}
		if c.OldPath != "" && !f.Folder {
			c.Before = notes.Hash(f.Old)
		}
		if c.Path != "" && !f.Folder {
			if c.After = notes.Hash(f.New); c.After != c.Before {
				c.Data = f.New
			}
		}
		b.Changes = append(b.Changes, c)
	}
	ctx, cancel := context.WithTimeout(p.ctx, shareFor)
	defer cancel()
	err := p.v.opt.Shared.Commit(ctx, b)
	var other *notes.LogConflict
	switch {
	case err == nil:
		p.committed = true
		return p.v.step("committed")
	case errors.Is(err, notes.ErrOutcomeUnknown) || errors.Is(err, errKilled):
		return err
	case errors.As(err, &other):
		behind := &behindError{error: p.logConflict(other)}
		for _, c := range b.Changes {
			behind.paths = append(behind.paths, c.OldPath, c.Path)
		}
		return behind
	}
	p.v.opt.Log.Warn("a change could not be committed", "kind", p.Kind, "err", err)
	detail, hint := "the vault's shared database does not respond", "try again later."
	if errors.Is(err, sqlite.ErrNewer) {
		detail, hint = "the vault's shared database was upgraded by a newer notesd", "to write, upgrade notesd on this machine."
	} else if refused, ok := errors.AsType[sqlError](err); ok && !isDown(refused) {
		detail, hint = "the vault's shared database refused the change: "+refused.Error(), "try again later. If the reason remains, the database's administrator has to resolve it."
	}
	return &notes.Error{Op: p.Kind, Path: p.Files[0].FinalDisk(), Err: notes.ErrUnavailable, Detail: detail, Hint: "Nothing was changed. Reading and searching still work; " + hint}
}

// sqlError is an error that the server of a database reported.
type sqlError interface {
	error
	SQLState() string
}

// isDown reports whether the server refuses every request at present: it starts or stops
// (57P), has no free connections (53300), or a connection pooler cannot reach it (08).
func isDown(err sqlError) bool {
	state := err.SQLState()
	return strings.HasPrefix(state, "57P") || state == "53300" || strings.HasPrefix(state, "08")
}

// shareFor bounds the commit of an operation to the log, during which the vault's lock is
// held.
const shareFor = 20 * time.Second

func (p *placer) logConflict(other *notes.LogConflict) error {
	if other.Hash == "" {
		return &notes.Error{Op: p.Kind, Path: other.Path, Err: notes.ErrConflict, Detail: "the note was moved or deleted in the meantime; nothing was written", Hint: "Repeat the call."}
	}
	for _, f := range p.Files {
		if notes.Nfc(f.OldDisk) == other.Path {
			return conflict(p.Kind, other.Path, f.Old, other.Text)
		}
	}
	return &notes.Error{Op: p.Kind, Path: other.Path, Err: notes.ErrExists, Detail: "a file with this name exists already", Hash: other.Hash}
}

// Replica is the vault's folder as a copy of the log that its nodes share. A mirror lists
// and reads its files, and places changes from the log in it.
type Replica struct{ v *Vault }

// Replica returns the vault's folder as a copy of the log.
func (v *Vault) Replica() Replica { return Replica{v} }

// Folder identifies the vault's folder, or returns "" if the system cannot. A copy in its place has
// another identity; on some disks, the folder itself has another one after each mount.
func (r Replica) Folder() (string, error) {
	root, err := r.v.disk.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // only read from
	return root.Lasting()
}

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

// Place makes changes from the log, as one operation. They have the paths, the present text in
// the folder and its place there (OldDisk), and the new text. A file whose text is not Old stays as
// it is: if it is the first, nothing is changed and the error is [notes.ErrConflict];
// otherwise it is listed in Written.Conflicts. The emptied folders, outermost first, are
// removed if nothing is left in them.
func (r Replica) Place(ctx context.Context, kind string, by notes.Author, changes []store.FileChange, emptied ...string) (notes.Written, error) {
	return r.v.change(ctx, writeRequest{kind: kind, author: by, placed: true}, func(o *operation) error {
		o.removeIfEmpty = emptied
		var old []string
		for _, c := range changes {
			old = append(old, c.OldPath)
		}
		rows, err := r.v.store.Rows(ctx, old)
		if err != nil {
			return err
		}
		for _, f := range changes {
			f.Note = rows[f.OldPath].ID
			if f.NewPath == f.OldPath {
				f.NewDisk = f.OldDisk
			}
			if f.OldPath != "" {
				if err := o.checkExclusive(f); err != nil {
					return err
				}
			}
			if f.NewPath != "" && f.NewPath != f.OldPath {
				if err := o.checkIncoming(f.NewPath); err != nil {
					return err
				}
				f.NewDisk = newDisk(o.root, f.NewPath)
			}
			o.Files = append(o.Files, f)
		}
		return nil
	})
}

// Respell renames a folder, and those above it, whose names in the log have changed in case
// only, if the disk ignores case: the files cannot be moved one by one, because both names are
// the same folder there. It reports whether they are, or are equal. It leaves a folder on a disk
// that is not mounted, and rejects one with files that would no longer be ignored.
func (r Replica) Respell(ctx context.Context, by notes.Author, from, to string) (one bool, err error) {
	if from == to || notes.Key(from) != notes.Key(to) {
		return from == to, nil
	}
	if one, err = r.Respell(ctx, by, path.Dir(from), path.Dir(to)); err != nil || !one {
		return false, err
	}
	if from = path.Join(path.Dir(to), path.Base(from)); from == to {
		return true, nil
	}
	_, err = r.v.change(ctx, writeRequest{kind: "move", author: by, placed: true}, func(o *operation) error {
		if r.v.mounts.check(o.root, o.Kind, from) != nil {
			return errAway
		}
		f := store.FileChange{Folder: true, OldPath: from, NewPath: to, OldDisk: o.root.Spelled(from), NewDisk: newDisk(o.root, to)}
		_, oldErr := o.root.Lstat(f.OldDisk)
		_, newErr := o.root.Lstat(f.NewDisk)
		was, _ := o.root.SpelledSo(from)
		spelled, _ := o.root.SpelledSo(to) // otherwise as from: another folder may have a third spelling
		one = oldErr == nil && newErr == nil && spelled != was
		if o.Files = []store.FileChange{f}; one && !spelled {
			return errors.Join(o.checkIncoming(to), (&movement{operation: o}).checkStaysIgnored(from, to))
		}
		o.Files[0].NewDisk = f.OldDisk // nothing to do
		return nil
	})
	if errors.Is(err, errAway) {
		return false, nil
	}
	return one && err == nil, err
}

// errAway means that the disk of a folder is not mounted.
var errAway = errors.New("the folder's disk is not mounted")

// checkIncoming rejects a new path from the log that a tool could not have written either:
// another node may run other software.
func (o *operation) checkIncoming(p string) error {
	if clean, err := notes.CleanPath(p); err != nil || clean != p || o.v.ignore.Match(p) {
		return &notes.Error{Op: o.Kind, Path: p, Err: notes.ErrForbidden, Detail: "the path is not one that a vault may have, or is hidden or ignored"}
	}
	return o.checkParents(p)
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
	case paths == nil && len(w.notes)+len(w.attachments) == 0 && had >= SuspiciouslyMany:
		return nil, nil, r.v.emptied("is empty")
	}
	var away []string // mount points of unmounted disks
	known, _ := r.v.mounts.get()
	for folder, m := range known {
		if root.Identity(m.DiskPath) != m.Identity {
			away = append(away, folder)
		}
	}
	passed := map[string]bool{}
	for _, skipped := range w.skipped {
		passed[skipped.Path] = true
	}
	for _, f := range w.evicted {
		passed[f.Path] = true
	}
	hidden := slices.Concat(w.unreadable, w.astray, away)
	unseen = func(p string) bool {
		_, link := w.targets[p]
		return link || passed[p] || slices.ContainsFunc(hidden, func(folder string) bool { return notes.Under(p, folder) })
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
