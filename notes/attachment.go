package notes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Attachment is a file of the vault that is no note (a picture, a PDF, a
// recording) and that a note links to. Its URI is that of a note with its path.
type Attachment struct {
	Path      string // vault-relative, NFC
	MediaType string // by the name's extension, else by the first bytes
	Size      int64
	Modified  time.Time
	Data      []byte // nil where attachments are only listed
}

// MaxAttachmentBytes is the largest attachment that can be read: as much as a
// note, and still one message that clients accept.
const MaxAttachmentBytes = 16 << 20

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

// leadsToAttachment reports whether the file that an attachment's name leads
// to may be read under its own.
func (v *Vault) leadsToAttachment(root *os.Root, file found, scope Scope) bool {
	real, ok := realPath(root, file.diskPath)
	return ok && v.mayAttach(nfc(real), scope)
}

// attachmentPath reduces ref to a path that may name an attachment.
func attachmentPath(ref string) (name string, err error) {
	if IsURI(ref) {
		name, err = ParseURI(ref)
	} else {
		name, err = CleanPath(strings.TrimPrefix(ref, "./"))
	}
	if err == nil && IsNoteName(name) {
		err = &Error{Op: "read", Path: name, Err: ErrInvalid, Detail: "this is a note, not an attachment", Hint: "Read it with read_note."}
	}
	return name, err
}

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

func noAttachment(name string, others []string) error {
	e := &Error{Op: "read", Path: name, Err: ErrNotFound, Detail: "there is no such attachment that a note links to",
		Hint: "note_links shows the attachments that a note links to.", Candidates: others}
	if len(others) > 0 {
		e.Hint = "Perhaps one of these is meant."
	}
	return e
}

// errChanging: a file that does not hold still.
var errChanging = errors.New("being written")

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

// linkedAttachment returns the attachment of this path, in any case, that a
// note within the scope links to; without one, a zero found and the paths of
// those that have the same file name.
func (s *Store) linkedAttachment(ctx context.Context, name string, scope Scope) (file found, others []string, err error) {
	where, args := Filter{Scope: scope.Read}.sql()
	args = append([]any{key(path.Base(name))}, args...)
	var folded found
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM attachments a WHERE a.name_key = ? AND EXISTS
			(SELECT 1 FROM links l JOIN notes n ON n.id = l.note WHERE l.attachment = a.id AND `+where+`) ORDER BY a.path`, args, func(rows *sql.Rows) error {
			var f found
			err := rows.Scan(&f.path, &f.diskPath)
			switch {
			case err != nil || !scope.CanRead(f.path):
			case f.path == name:
				file = f
			case key(f.path) == key(name):
				folded = f
			case len(others) < maxCandidates:
				others = append(others, f.path)
			}
			return err
		})
	})
	if file.path == "" {
		file = folded
	}
	return file, others, err
}

func (s *Store) hasAttachment(ctx context.Context, name string) (known bool, err error) {
	err = s.notes.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM attachments WHERE path = ?)`, name).Scan(&known)
	return known, err
}

// attachmentsOf returns the attachments that a note links to, each once, in
// the order of the first links.
func (s *Store) attachmentsOf(ctx context.Context, note int64) ([]found, error) {
	var files []found
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT a.path, a.disk_path FROM links l JOIN attachments a ON a.id = l.attachment
			WHERE l.note = ? GROUP BY a.id ORDER BY min(l.ordinal)`, []any{note}, func(rows *sql.Rows) error {
			var f found
			err := rows.Scan(&f.path, &f.diskPath)
			files = append(files, f)
			return err
		})
	})
	return files, err
}
