package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"notesd/internal/atomicfile"
)

// ExportAsOf writes the notes as they were at a moment into dir, which must
// be empty or not exist, and returns how many it wrote. A note is exported in
// the version that history, or the vault itself, has of that moment;
// attachments are not versioned and are left out. A moment in the future, or
// before history begins, is an [*Error] with [ErrInvalid].
func (v *Vault) ExportAsOf(ctx context.Context, at time.Time, dir string) (int, error) {
	if err := v.checkMoment(ctx, at); err != nil {
		return 0, err
	}
	if err := emptyFolder(dir); err != nil {
		return 0, err
	}
	texts, err := v.store.asOf(ctx, at.UnixNano())
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // every file was synced
	written := 0
	for notePath, load := range texts {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		text, err := load(ctx)
		if err != nil {
			return written, err
		}
		if err := writeExported(root, notePath, text); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// checkMoment refuses a moment of which nothing, or not everything, is known.
func (v *Vault) checkMoment(ctx context.Context, at time.Time) error {
	refused := &Error{Op: "export", Err: ErrInvalid}
	if at.After(v.opt.Now()) {
		refused.Detail, refused.Hint = fmt.Sprintf("%s is in the future", at.Local().Format(time.DateTime)), "Name a moment in the past."
		return refused
	}
	begin, err := v.store.historyBegins(ctx)
	if err != nil {
		return err
	}
	if begin.IsZero() {
		refused.Detail, refused.Hint = "there is no history yet", "It begins when notesd first reads the vault."
		return refused
	}
	if at.Before(begin) {
		since := begin.Local().Add(time.Second).Format(time.DateTime) // rounded up: a moment that can be asked for
		refused.Detail, refused.Hint = fmt.Sprintf("there is no history of %s: it begins at %s", at.Local().Format(time.DateTime), since), fmt.Sprintf("Name a moment from %s on.", since)
		return refused
	}
	return nil
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755) //nolint:gosec // the user's own folder, as open as a vault is
	case err != nil:
		return err
	case len(entries) > 0:
		return &Error{Op: "export", Path: filepath.Base(dir), Err: ErrExists, Detail: "the folder is not empty", Hint: "Name a folder that does not exist yet."}
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
	temp := tempName()
	err = dir.Stage(temp, text, nil)
	if err == nil {
		err = dir.Publish(temp, path.Base(notePath))
	}
	return errors.Join(err, dir.Close())
}
