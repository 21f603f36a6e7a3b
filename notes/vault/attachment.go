package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

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
