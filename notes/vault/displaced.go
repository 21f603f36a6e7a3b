package vault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// lateFiles are the displaced files that are still open, oldest first.
type lateFiles struct {
	store *store.Store
	opt   *Options
	wake  func() // makes Run set its timer

	mu    sync.Mutex
	files []*displaced
}

// displaced is a displaced file. A program that opened it when it was the note may still
// write to it.
type displaced struct {
	file  *os.File
	path  string          // of the note
	known map[string]bool // hashes of texts that need not be saved
	until time.Time       // when it is read for the last time
}

func (l *displaced) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// lateFor is how long after its last name was removed a displaced file is read once more.
// maxLate is how many are kept open for that.
const (
	lateFor = 2 * time.Second
	maxLate = 128
)

// rescue saves the text of a temp file to history, unless it is one of the known texts. The
// file is returned open; it is nil if there is none, or a symlink, whose text is its target's.
func (l *lateFiles) rescue(ctx context.Context, folder disk.Opener, temp, note string, known ...string) (*displaced, error) {
	if info, err := folder.Lstat(temp); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, nil
	}
	file, err := disk.OpenRegular(folder, temp)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, disk.ErrNotRegular):
		return nil, nil
	case err != nil:
		return nil, err
	}
	late := &displaced{file: file, path: note, known: map[string]bool{}, until: l.opt.Now().Add(lateFor)}
	for _, hash := range known {
		late.known[hash] = true
	}
	if err := l.keep(ctx, late); err != nil {
		return nil, errors.Join(err, late.close())
	}
	return late, nil
}

// keep saves the present text of a displaced file to the note's history.
func (l *lateFiles) keep(ctx context.Context, d *displaced) error {
	data, err := io.ReadAll(io.NewSectionReader(d.file, 0, l.opt.readLimit()))
	if err != nil {
		return err
	}
	hash := notes.Hash(data)
	if len(data) == 0 || d.known[hash] {
		return nil
	}
	if err := l.store.KeepText(ctx, d.path, data, l.opt.Now()); err != nil {
		return err
	}
	d.known[hash] = true
	l.opt.Log.Warn("another program was still writing to a note that notesd had just replaced; its version is in the note's history", "note", d.path)
	return nil
}

// watch keeps an unlinked displaced file open until it has been read once more.
func (l *lateFiles) watch(ctx context.Context, d *displaced) {
	if d == nil {
		return
	}
	if !fsid.KeepsUnlinked {
		_ = d.close() // only read from
		return
	}
	l.mu.Lock()
	l.files = append(l.files, d)
	crowded := len(l.files) > maxLate
	l.mu.Unlock()
	if crowded {
		l.readDue(ctx, time.Time{}, 1)
	}
	l.wake()
}

// next returns when the next file is to be read, or zero if there is none.
func (l *lateFiles) next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		return time.Time{}
	}
	return l.files[0].until
}

// readDue reads for the last time the displaced files that are due, and at least the first
// atLeast files.
func (l *lateFiles) readDue(ctx context.Context, now time.Time, atLeast int) {
	l.mu.Lock()
	n := min(atLeast, len(l.files))
	for n < len(l.files) && !l.files[n].until.After(now) {
		n++
	}
	due := slices.Clone(l.files[:n])
	l.files = slices.Delete(l.files, 0, n)
	l.mu.Unlock()
	for _, d := range due {
		if err := l.keep(ctx, d); err != nil {
			l.opt.Log.Error("a late save could not be kept in the note's history", "note", d.path, "err", err)
		}
		_ = d.close() // only read from
	}
}
