package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

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
		if scope.Read != nil { // a symlink may now lead out of the scope
			if meta, err = v.store.Lookup(ctx, meta.Path, scope); err != nil {
				return nil, err
			}
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
	places := []string{p}
	if was, err := r.movedFrom(p); err != nil {
		return notes.Meta{}, err
	} else if was != "" {
		places = append(places, was)
	}
	if err := r.reconcile(places...); err != nil {
		return notes.Meta{}, err
	}
	meta, err := r.v.store.Lookup(r.ctx, p, r.scope)
	if err != nil {
		return notes.Meta{}, notFound
	}
	return meta, nil
}

// movedFrom returns the place from which another program has moved the file at p, or "": reconciled
// alone, the file would be a new note, and the old one deleted.
func (r *reading) movedFrom(p string) (string, error) {
	info, err := r.root.Lstat(p)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", nil //nolint:nilerr // the file is reconciled, whatever it is
	}
	data, st, err := disk.Read(r.root, p, r.v.opt.MaxNoteBytes)
	if err != nil {
		return "", nil //nolint:nilerr // likewise
	}
	same, err := r.v.store.DiskPathsOf(r.ctx, st, notes.Hash(data))
	same = slices.DeleteFunc(same, func(was string) bool {
		_, err := r.root.Lstat(was)
		return !errors.Is(err, fs.ErrNotExist)
	})
	if len(same) != 1 {
		return "", err
	}
	return same[0], err
}

// reconcile updates the store to match the disk at p.
func (r *reading) reconcile(places ...string) error {
	err := r.v.reconcilePaths(r.ctx, places)
	if isFull(err) {
		return &notes.Error{Op: "read", Path: places[0], Err: notes.ErrUnavailable, Detail: "it has changed, and " + stateIsFull, Hint: "Free some space there and try again."}
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

// Attachment reads the file that ref, a path or a URI, names from disk. Only files linked
// from a note within the scope can be read. A file that is not linked, ignored, out of
// scope or nonexistent yields the same [*notes.Error] with [notes.ErrNotFound]. A file over
// [notes.MaxAttachmentBytes] is [notes.ErrTooLarge].
func (v *Vault) Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error) {
	name, err := attachmentPath(ref)
	if err != nil {
		return notes.Attachment{}, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return notes.Attachment{}, err
	}
	defer func() { _ = root.Close() }() // only read from
	r := &reading{v: v, ctx: ctx, root: root, scope: scope}
	if !r.mayAttach(name) {
		return notes.Attachment{}, noAttachment(name, nil)
	}
	file, err := r.linkedFile(name)
	if err != nil {
		return notes.Attachment{}, err
	}
	real, ok := r.leadsTo(file)
	if !ok {
		return notes.Attachment{}, noAttachment(name, nil)
	}
	data, st, err := disk.ReadStable(root, real, notes.MaxAttachmentBytes)
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrTooLarge,
			Detail: fmt.Sprintf("the attachment has %d bytes; at most %d can be read", st.Size, notes.MaxAttachmentBytes),
			Hint:   "Open it with another program."}
	case errors.Is(err, fs.ErrNotExist):
		return notes.Attachment{}, noAttachment(name, nil)
	case errors.Is(err, disk.ErrChanging):
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrConflict, Detail: "the file is being written at the moment", Hint: "Try again in a moment."}
	case err != nil:
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrUnavailable, Detail: readProblem(err), Hint: "The file's permissions, or its disk, do not allow it."}
	}
	return notes.Attachment{Path: file.Path, MediaType: notes.MediaType(file.Path, data), Size: st.Size, Modified: time.Unix(0, st.Mtime), Data: data}, nil
}

// Attachments lists the attachments that the note links to or embeds, in text order,
// without their data. ref is as for [store.Reader.Lookup].
func (v *Vault) Attachments(ctx context.Context, ref string, scope notes.Scope) ([]notes.Attachment, error) {
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err != nil {
		return nil, err
	}
	files, err := v.store.Files().LinkedBy(ctx, meta.ID)
	if err != nil || len(files) == 0 {
		return []notes.Attachment{}, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	r := &reading{v: v, ctx: ctx, root: root, scope: scope}
	out := make([]notes.Attachment, 0, len(files))
	for _, f := range files {
		real, ok := r.leadsTo(f)
		if !ok || !r.mayAttach(f.Path) {
			continue
		}
		info, err := root.Lstat(real)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		out = append(out, notes.Attachment{Path: f.Path, MediaType: notes.MediaType(f.Path, nil), Size: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

// Canvases returns the paths of the canvases and bases that the caller may read.
func (v *Vault) Canvases(ctx context.Context, scope notes.Scope) ([]string, error) {
	files, err := v.store.Files().Canvases(ctx)
	r := &reading{v: v, ctx: ctx, scope: scope}
	var paths []string
	for _, f := range files {
		if r.mayAttach(f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths, err
}

// linkedFile finds the attachment called name. A file that the store does not have yet is
// reconciled first.
func (r *reading) linkedFile(name string) (store.File, error) {
	file, others, err := r.v.store.Files().Linked(r.ctx, name, r.scope)
	if err != nil || file.Path != "" {
		return file, err
	}
	if info, err := r.root.Stat(name); err == nil && info.Mode().IsRegular() {
		if err := r.v.reconcilePaths(r.ctx, []string{name}); err != nil {
			return file, err
		}
		if file, others, err = r.v.store.Files().Linked(r.ctx, name, r.scope); err != nil || file.Path != "" {
			return file, err
		}
	}
	return file, noAttachment(name, others)
}

// attachmentPath converts ref to a path that may name an attachment.
func attachmentPath(ref string) (name string, err error) {
	if notes.IsURI(ref) {
		name, err = notes.ParseURI(ref)
	} else {
		name, err = notes.CleanPath(strings.TrimPrefix(ref, "./"))
	}
	if err == nil && notes.IsNoteName(name) {
		err = &notes.Error{Op: "read", Path: name, Err: notes.ErrInvalid, Detail: "this is a note, not an attachment", Hint: "Read it with read_note."}
	}
	return name, err
}

// noAttachment returns the error for a file that no note links to.
func noAttachment(name string, others []string) error {
	e := &notes.Error{Op: "read", Path: name, Err: notes.ErrNotFound, Detail: "no note links to an attachment with this name",
		Hint: "note_links shows the attachments that a note links to.", Candidates: others}
	if len(others) > 0 {
		e.Hint = "Did you mean one of these?"
	}
	return e
}

// leadsTo returns the path of the file that an attachment leads to, through symlinks, and
// whether it may be read under that path too.
func (r *reading) leadsTo(file store.File) (real string, ok bool) {
	real, ok = r.root.RealPath(file.DiskPath)
	return real, ok && r.mayAttach(notes.Nfc(real))
}

// mayAttach reports whether the caller may read the attachment at p.
func (r *reading) mayAttach(p string) bool { return r.scope.CanRead(p) && !r.v.ignore.Match(p) }
