package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/internal/atomicfile"
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

// removeTemps removes temp files that belong to no unfinished operation. Recovery has
// already finished the interrupted operations that it could, and the lock prevents new
// ones.
func (s *scan) removeTemps(ctx context.Context, temps []string) error {
	for temp := range s.v.left.Range { // users may remove it, and one that could not be opened may not exist
		if _, err := s.root.Lstat(temp.(string)); errors.Is(err, fs.ErrNotExist) {
			s.v.left.Delete(temp)
		}
	}
	if len(temps) == 0 {
		return nil
	}
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	for _, temp := range temps {
		if err := s.removeTemp(ctx, temp); errors.Is(err, errKilled) {
			return err
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.v.opt.Log.Warn("a temp file could not be removed", "file", temp, "err", err)
		}
	}
	return nil
}

// strangerAge is the minimum age at which a temp file without a journal entry is removed. A
// younger one may be in use by another notesd on the same vault.
const strangerAge = 10 * time.Minute

// removeTemp removes a temp file, unless its operation is pending or it may be another notesd's.
// If it may have a text that another program saved, the text is added to the note's history
// first.
func (s *scan) removeTemp(ctx context.Context, temp string) error {
	name := path.Base(temp)
	staged, _, _ := strings.Cut(name, ".tmp")
	entry, err := s.v.store.JournalOf(ctx, staged+".tmp")
	if err != nil {
		return err
	}
	switch {
	case entry == nil:
		info, err := s.root.Lstat(temp)
		if err != nil {
			return err
		}
		if sinceChange(fsid.StatOf(info), s.v.opt.Now()) < strangerAge {
			return nil
		}
	case entry.State == store.StatePending:
		return nil
	case path.Ext(name) != atomicfile.Part && entry.Note != "":
		late, err := s.v.late.rescue(ctx, s.root, temp, entry.Note, hex.EncodeToString(entry.OldHash), hex.EncodeToString(entry.NewHash))
		if err != nil {
			s.v.left.Store(temp, entry.Note)
			return err
		}
		s.v.left.Delete(temp)
		_ = late.close() // nothing to watch: programs that opened it before the start are unknown
	}
	if err := s.v.step("remove"); err != nil {
		return err
	}
	return s.root.Remove(temp)
}
