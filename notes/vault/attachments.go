package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Attachment reads the file that ref, a path or a URI, names, fresh from
// disk. Only a file that some note within the scope links to can be read: an
// [*Error] with [ErrNotFound] says the same of one that no note links to, one
// that is ignored or out of scope, and one that does not exist. A file over
// [MaxAttachmentBytes] is [ErrTooLarge].
func (v *Vault) Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error) {
	name, err := store.AttachmentPath(ref)
	if err != nil {
		return notes.Attachment{}, err
	}
	file, err := v.linkedFile(ctx, name, scope)
	if err != nil {
		return notes.Attachment{}, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return notes.Attachment{}, err
	}
	defer func() { _ = root.Close() }() // only read from
	if !v.leadsToAttachment(root, file, scope) {
		return notes.Attachment{}, store.NoAttachment(name, nil)
	}
	data, st, err := readAttachment(root, file.DiskPath)
	switch {
	case errors.Is(err, errTooLarge):
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrTooLarge,
			Detail: fmt.Sprintf("the attachment has %d bytes; at most %d can be read", st.Size, notes.MaxAttachmentBytes),
			Hint:   "Open it with a program of its own."}
	case errors.Is(err, fs.ErrNotExist):
		return notes.Attachment{}, store.NoAttachment(name, nil)
	case errors.Is(err, errChanging):
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrConflict, Detail: "the file is being written at the moment", Hint: "Try again in a moment."}
	case err != nil:
		return notes.Attachment{}, &notes.Error{Op: "read", Path: file.Path, Err: notes.ErrUnavailable, Detail: readProblem(err), Hint: "The file's permissions, or its disk, do not allow it."}
	}
	return notes.Attachment{Path: file.Path, MediaType: notes.MediaType(file.Path, data), Size: st.Size, Modified: time.Unix(0, st.Mtime), Data: data}, nil
}

// Attachments lists the attachments that the note links to or embeds, in the
// order of its text, without their bytes. ref is as for [Vault.Lookup].
func (v *Vault) Attachments(ctx context.Context, ref string, scope notes.Scope) ([]notes.Attachment, error) {
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err != nil {
		return nil, err
	}
	files, err := v.store.AttachmentsOf(ctx, meta.ID)
	if err != nil || len(files) == 0 {
		return []notes.Attachment{}, err
	}
	root, err := v.disk.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	out := make([]notes.Attachment, 0, len(files))
	for _, f := range files {
		info, err := root.Stat(f.DiskPath)
		if err != nil || !info.Mode().IsRegular() || !v.mayAttach(f.Path, scope) || !v.leadsToAttachment(root, f, scope) {
			continue
		}
		out = append(out, notes.Attachment{Path: f.Path, MediaType: notes.MediaType(f.Path, nil), Size: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

func (v *Vault) mayAttach(p string, scope notes.Scope) bool {
	return scope.CanRead(p) && !v.ignore.Match(p)
}

// linkedFile finds the attachment called name, looking once more at the disk
// for a file so new that the store does not have it yet.
func (v *Vault) linkedFile(ctx context.Context, name string, scope notes.Scope) (store.File, error) {
	if !v.mayAttach(name, scope) {
		return store.File{}, store.NoAttachment(name, nil)
	}
	file, others, err := v.store.LinkedAttachment(ctx, name, scope)
	if err != nil || file.Path != "" {
		return file, err
	}
	isNew, err := v.isNewFile(ctx, name)
	if err != nil {
		return store.File{}, err
	}
	if isNew {
		if err := v.reconcilePaths(ctx, []string{name}); err != nil {
			return store.File{}, err
		}
		if file, others, err = v.store.LinkedAttachment(ctx, name, scope); err != nil || file.Path != "" {
			return file, err
		}
	}
	return store.File{}, store.NoAttachment(name, others)
}

// isNewFile reports whether a file is at the path that the store knows
// nothing of.
func (v *Vault) isNewFile(ctx context.Context, name string) (bool, error) {
	root, err := v.disk.Open()
	if err != nil {
		return false, err
	}
	defer func() { _ = root.Close() }() // only read from
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	known, err := v.store.HasAttachment(ctx, name)
	return !known, err
}

// readAttachment reads a file consistently, or says that it is being written.
func readAttachment(root *disk.Root, diskPath string) ([]byte, fsid.Stat, error) {
	for range 3 {
		data, before, err := readOnce(root, diskPath, notes.MaxAttachmentBytes)
		if err != nil {
			return nil, before, err
		}
		after, err := root.Stat(diskPath)
		if err != nil {
			return nil, before, err
		}
		if fsid.StatOf(after) == before && int64(len(data)) == before.Size {
			return data, before, nil
		}
	}
	return nil, fsid.Stat{}, errChanging
}

// errChanging: a file that does not hold still.
var errChanging = errors.New("being written")

// leadsToAttachment reports whether the file that an attachment's name leads
// to may be read under its own.
func (v *Vault) leadsToAttachment(root *disk.Root, file store.File, scope notes.Scope) bool {
	real, ok := root.RealPath(file.DiskPath)
	return ok && v.mayAttach(notes.Nfc(real), scope)
}
