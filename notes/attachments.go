package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Attachment reads the file that ref, a path or a URI, names, fresh from
// disk. Only a file that some note within the scope links to can be read: an
// [*Error] with [ErrNotFound] says the same of one that no note links to, one
// that is ignored or out of scope, and one that does not exist. A file over
// [MaxAttachmentBytes] is [ErrTooLarge].
func (v *Vault) Attachment(ctx context.Context, ref string, scope Scope) (Attachment, error) {
	name, err := attachmentPath(ref)
	if err != nil {
		return Attachment{}, err
	}
	file, err := v.linkedFile(ctx, name, scope)
	if err != nil {
		return Attachment{}, err
	}
	root, err := v.disk.open()
	if err != nil {
		return Attachment{}, err
	}
	defer func() { _ = root.Close() }() // only read from
	if !v.leadsToAttachment(root, file, scope) {
		return Attachment{}, noAttachment(name, nil)
	}
	data, st, err := readAttachment(root, file.diskPath)
	switch {
	case errors.Is(err, errTooLarge):
		return Attachment{}, &Error{Op: "read", Path: file.path, Err: ErrTooLarge,
			Detail: fmt.Sprintf("the attachment has %d bytes; at most %d can be read", st.size, MaxAttachmentBytes),
			Hint:   "Open it with a program of its own."}
	case errors.Is(err, fs.ErrNotExist):
		return Attachment{}, noAttachment(name, nil)
	case errors.Is(err, errChanging):
		return Attachment{}, &Error{Op: "read", Path: file.path, Err: ErrConflict, Detail: "the file is being written just now", Hint: "Try again in a moment."}
	case err != nil:
		return Attachment{}, &Error{Op: "read", Path: file.path, Err: ErrUnavailable, Detail: readProblem(err), Hint: "The file's permissions, or its disk, do not allow it."}
	}
	return Attachment{Path: file.path, MediaType: mediaType(file.path, data), Size: st.size, Modified: time.Unix(0, st.mtime), Data: data}, nil
}

// Attachments lists the attachments that the note links to or embeds, in the
// order of its text, without their bytes. ref is as for [Vault.Lookup].
func (v *Vault) Attachments(ctx context.Context, ref string, scope Scope) ([]Attachment, error) {
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err != nil {
		return nil, err
	}
	files, err := v.store.attachmentsOf(ctx, meta.ID)
	if err != nil || len(files) == 0 {
		return []Attachment{}, err
	}
	root, err := v.disk.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	out := make([]Attachment, 0, len(files))
	for _, f := range files {
		info, err := root.Stat(f.diskPath)
		if err != nil || !info.Mode().IsRegular() || !v.mayAttach(f.path, scope) || !v.leadsToAttachment(root, f, scope) {
			continue
		}
		out = append(out, Attachment{Path: f.path, MediaType: mediaType(f.path, nil), Size: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

func (v *Vault) mayAttach(p string, scope Scope) bool { return scope.CanRead(p) && !v.ignore.Match(p) }

// linkedFile finds the attachment called name, looking once more at the disk
// for a file so new that the store does not have it yet.
func (v *Vault) linkedFile(ctx context.Context, name string, scope Scope) (found, error) {
	if !v.mayAttach(name, scope) {
		return found{}, noAttachment(name, nil)
	}
	file, others, err := v.store.linkedAttachment(ctx, name, scope)
	if err != nil || file.path != "" {
		return file, err
	}
	isNew, err := v.isNewFile(ctx, name)
	if err != nil {
		return found{}, err
	}
	if isNew {
		if err := v.reconcilePaths(ctx, []string{name}); err != nil {
			return found{}, err
		}
		if file, others, err = v.store.linkedAttachment(ctx, name, scope); err != nil || file.path != "" {
			return file, err
		}
	}
	return found{}, noAttachment(name, others)
}

// isNewFile reports whether a file is at the path that the store knows
// nothing of.
func (v *Vault) isNewFile(ctx context.Context, name string) (bool, error) {
	root, err := v.disk.open()
	if err != nil {
		return false, err
	}
	defer func() { _ = root.Close() }() // only read from
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	known, err := v.store.hasAttachment(ctx, name)
	return !known, err
}

// readAttachment reads a file consistently, or says that it is being written.
func readAttachment(root *os.Root, diskPath string) ([]byte, stat, error) {
	for range 3 {
		data, before, err := readOnce(root, diskPath, MaxAttachmentBytes)
		if err != nil {
			return nil, before, err
		}
		after, err := root.Stat(diskPath)
		if err != nil {
			return nil, before, err
		}
		if statOf(after) == before && int64(len(data)) == before.size {
			return data, before, nil
		}
	}
	return nil, stat{}, errChanging
}

// errChanging: a file that does not hold still.
var errChanging = errors.New("being written")

// leadsToAttachment reports whether the file that an attachment's name leads
// to may be read under its own.
func (v *Vault) leadsToAttachment(root *os.Root, file found, scope Scope) bool {
	real, ok := realPath(root, file.diskPath)
	return ok && v.mayAttach(nfc(real), scope)
}
