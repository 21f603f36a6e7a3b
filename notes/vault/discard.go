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
	"sync"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// undo removes temp files and folders of an operation that changed nothing.
func (d *placer) undo() error {
	errs := []error{d.discard()}
	for i := len(d.made) - 1; i >= 0; i-- {
		if err := d.v.step("rmdir"); err != nil {
			return err
		}
		_ = d.root.Remove(d.made[i]) // fails when another program has put a file in it: then it stays
	}
	return errors.Join(errs...)
}

// discard removes the temp files: what was displaced, or what was to take its
// place. One that a program wrote to while it had the note's name, or had open
// until now (an editor), is kept in history first; when that fails, it stays.
func (d *placer) discard() error {
	var errs []error
	for i := range d.Files {
		f := &d.Files[i]
		for _, place := range slices.Compact([]string{f.Dir(), f.StageDir(), path.Dir(f.Source())}) {
			dir, err := d.dir(place)
			if err != nil {
				continue // a folder that could not be opened holds no temp file of the operation
			}
			err = errors.Join(dir.Discard(f.Temp+atomicfile.Part), d.discardTemp(dir, place, f, f.Temp), d.discardTemp(dir, place, f, f.Temp+".old"))
			if errors.Is(err, errKilled) {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *placer) discardTemp(dir *atomicfile.Dir, place string, f *store.FileChange, temp string) error {
	if f.Folder || f.OldDisk == "" {
		return dir.Discard(temp)
	}
	late, err := d.v.late.rescue(d.ctx, dir.Root(), temp, f.OldPath, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		d.v.left.add(path.Join(place, temp), f.OldPath)
		d.v.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", f.OldPath, "file", path.Join(place, temp), "err", err)
		return nil
	}
	d.v.left.remove(path.Join(place, temp))
	if err := dir.Discard(temp); err != nil {
		return errors.Join(err, late.close())
	}
	d.v.late.watch(d.ctx, late)
	return nil
}

// rescue keeps in history what is under a temp name, unless it is one of the
// known texts. The file is returned open.
func (l *lateFiles) rescue(ctx context.Context, folder opener, temp, note string, known ...string) (*displaced, error) {
	file, err := openRegular(folder, temp)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular):
		return nil, nil
	case err != nil:
		return nil, err
	}
	late := &displaced{file: file, path: note, known: map[string]bool{}, until: time.Now().Add(lateFor)}
	for _, hash := range known {
		late.known[hash] = true
	}
	if err := l.keep(ctx, late); err != nil {
		return nil, errors.Join(err, late.close())
	}
	return late, nil
}

// displaced is a file that an operation took a note's name from. A program
// that opened it before may still write to it.
type displaced struct {
	file  *os.File
	path  string          // of the note
	known map[string]bool // hashes of texts that need not be kept
	until time.Time       // when it is read for the last time
}

func (l *displaced) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// lateFor is how long after its last name was removed a displaced file is read once
// more; maxLate is how many are kept open for that.
const (
	lateFor = 2 * time.Second
	maxLate = 128
)

// keep puts what a displaced file says into the note's history.
func (l *lateFiles) keep(ctx context.Context, d *displaced) error {
	data, err := io.ReadAll(io.NewSectionReader(d.file, 0, 2*l.opt.MaxNoteBytes+1<<20))
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
	l.opt.Log.Warn("a program went on writing to a note that notesd had just replaced; its version is in the note's history", "note", d.path)
	return nil
}

// watch keeps a displaced file that no longer has a name open until it is read
// once more.
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
		l.look(ctx, time.Time{}, 1)
	}
	l.wake()
}

// lateFiles are the displaced files that are still open, the oldest first.
type lateFiles struct {
	store *store.Store
	opt   *Options
	wake  func() // Run sets its timer

	mu    sync.Mutex
	files []*displaced
}

// next returns when the next one is to be read; zero when there is none.
func (l *lateFiles) next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		return time.Time{}
	}
	return l.files[0].until
}

// look reads the displaced files whose time has come, and the first atLeast of
// them in any case, for the last time.
func (l *lateFiles) look(ctx context.Context, now time.Time, atLeast int) {
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

// strangerAge is how old a temp file must be that no journal entry names to be
// removed: a younger one may be in use by another notesd on the same vault.
const strangerAge = 10 * time.Minute

// removeTemps removes temp files that belong to no unfinished operation:
// recovery has finished the interrupted ones that it could, and the lock keeps
// new ones from beginning.
func (s *scan) removeTemps(ctx context.Context, temps []string) error {
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

func (s *scan) removeTemp(ctx context.Context, temp string) error {
	name := path.Base(temp)
	entry, err := s.v.store.JournalOf(ctx, name[:len(store.TempName())])
	if err != nil {
		return err
	}
	switch {
	case entry == nil:
		info, err := s.root.Lstat(temp)
		if err != nil {
			return err
		}
		st := fsid.StatOf(info)
		if s.v.opt.Now().Sub(time.Unix(0, max(st.Mtime, st.Ctime))) < strangerAge {
			return nil
		}
	case entry.State == store.StatePending:
		return nil
	case path.Ext(name) != atomicfile.Part && entry.Note != "":
		late, err := s.v.late.rescue(ctx, s.root, temp, entry.Note, hex.EncodeToString(entry.OldHash), hex.EncodeToString(entry.NewHash))
		if err != nil {
			s.v.left.add(temp, entry.Note)
			return err
		}
		s.v.left.remove(temp)
		_ = late.close() // no program that opened it before the start is known
	}
	if err := s.v.step("remove"); err != nil {
		return err
	}
	return s.root.Remove(temp)
}
