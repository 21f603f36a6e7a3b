package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"notesd/internal/atomicfile"
	"notesd/notes"
	"notesd/notes/store"
)

// ExportAsOf writes the notes as they were at a given time into dir, which must be empty or
// not exist, and returns the number written. Each note is exported in its version of that
// time, from history or the vault; attachments are not versioned and are omitted. A time in
// the future, or before history begins, is an [*notes.Error] with [notes.ErrInvalid].
func (h *History) ExportAsOf(ctx context.Context, at time.Time, dir string) (int, error) {
	m, err := h.moment(ctx, "export", at)
	if err != nil {
		return 0, err
	}
	if err := emptyFolder(dir); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // every file is already synced
	written := 0
	for _, notePath := range m.Paths() {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		n, err := m.Note(ctx, notePath)
		if err != nil {
			return written, err
		}
		if err := writeExported(root, notePath, []byte(n.Content)); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755) //nolint:gosec // the user's own folder, as open as a vault is
	case err != nil:
		return err
	case len(entries) > 0:
		return &notes.Error{Op: "export", Path: filepath.Base(dir), Err: notes.ErrExists, Detail: "the folder is not empty", Hint: "Name a folder that does not exist yet."}
	}
	return nil
}

func writeExported(root *os.Root, notePath string, text []byte) error {
	if err := root.MkdirAll(path.Dir(notePath), 0o755); err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(root, path.Dir(notePath))
	if err != nil {
		return err
	}
	temp := store.TempName()
	err = dir.Stage(temp, text, nil)
	if err == nil {
		err = dir.Publish(temp, path.Base(notePath))
	}
	return errors.Join(err, dir.Close())
}
