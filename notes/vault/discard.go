package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
func (d *placer) undo(ctx context.Context) error {
	errs := []error{d.discard(ctx)}
	for i := len(d.made) - 1; i >= 0; i-- {
		if err := d.vault.step("rmdir"); err != nil {
			return err
		}
		_ = d.root.Remove(d.made[i]) // fails when somebody has put a file in it: then it stays
	}
	return errors.Join(errs...)
}

// discard removes the temp files: what was displaced, or what was to take its
// place. One that somebody wrote to while it had the note's name, or had open
// until now (an editor), is kept in history first; when that fails, it stays.
func (d *placer) discard(ctx context.Context) error {
	var errs []error
	for i := range d.op.Files {
		f := &d.op.Files[i]
		for _, place := range slices.Compact([]string{f.Dir(), f.StageDir(), path.Dir(f.Source())}) {
			dir, err := d.dir(place)
			if err != nil {
				continue // a folder that could not be opened holds no temp file of ours
			}
			err = errors.Join(dir.Discard(f.Temp+atomicfile.Part), d.discardTemp(ctx, dir, place, f, f.Temp), d.discardTemp(ctx, dir, place, f, f.Temp+".old"))
			if errors.Is(err, errKilled) {
				return err
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *placer) discardTemp(ctx context.Context, dir *atomicfile.Dir, place string, f *store.FileChange, temp string) error {
	if f.Folder || f.OldDisk == "" {
		return dir.Discard(temp)
	}
	late, err := d.vault.rescue(ctx, dir.Root(), temp, f.OldPath, notes.Hash(f.Old), notes.Hash(f.New))
	if err != nil {
		d.vault.left.add(path.Join(place, temp), f.OldPath)
		d.vault.opt.Log.Error("the text that another program saved to a note could not be kept in its history; it is in a hidden file beside the note",
			"note", f.OldPath, "file", path.Join(place, temp), "err", err)
		return nil
	}
	d.vault.left.remove(path.Join(place, temp))
	if err := dir.Discard(temp); err != nil {
		return errors.Join(err, late.close())
	}
	d.vault.watchLate(ctx, late)
	return nil
}

// rescue keeps in history what is under a temp name, unless it is one of the
// known texts. The file is returned open.
func (v *Vault) rescue(ctx context.Context, folder *os.Root, temp, note string, known ...string) (*displaced, error) {
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
	if err := v.keepLate(ctx, late); err != nil {
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
	until time.Time       // when it is looked at for the last time
}

func (l *displaced) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// lateFor is how long after its last name is gone a displaced file is looked
// at once more; maxLate is how many are kept open for that.
const (
	lateFor = 2 * time.Second
	maxLate = 128
)

// keepLate puts what a displaced file says into the note's history.
func (v *Vault) keepLate(ctx context.Context, l *displaced) error {
	data, err := io.ReadAll(io.NewSectionReader(l.file, 0, 2*v.opt.MaxNoteBytes+1<<20))
	if err != nil {
		return err
	}
	hash := notes.Hash(data)
	if len(data) == 0 || l.known[hash] {
		return nil
	}
	if err := v.store.KeepText(ctx, l.path, data, v.opt.Now()); err != nil {
		return err
	}
	l.known[hash] = true
	v.opt.Log.Warn("a program went on writing to a note that notesd had just replaced; its version is in the note's history", "note", l.path)
	return nil
}

// watchLate has a displaced file that has no name any more looked at again.
func (v *Vault) watchLate(ctx context.Context, l *displaced) {
	if l == nil {
		return
	}
	if !fsid.KeepsUnlinked {
		_ = l.close() // only read from
		return
	}
	v.late.mu.Lock()
	v.late.files = append(v.late.files, l)
	crowded := len(v.late.files) > maxLate
	v.late.mu.Unlock()
	if crowded {
		v.lookLate(ctx, time.Time{}, 1)
	}
	v.queue.wake() // Run sets its timer
}

// lateFiles are the displaced files that are still open, the oldest first.
type lateFiles struct {
	mu    sync.Mutex
	files []*displaced
}

// next returns when the next one is to be looked at; zero when there is none.
func (l *lateFiles) next() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		return time.Time{}
	}
	return l.files[0].until
}

// lookLate looks for the last time at the displaced files whose time has come,
// and at the first atLeast of them in any case.
func (v *Vault) lookLate(ctx context.Context, now time.Time, atLeast int) {
	v.late.mu.Lock()
	n := min(atLeast, len(v.late.files))
	for n < len(v.late.files) && !v.late.files[n].until.After(now) {
		n++
	}
	due := slices.Clone(v.late.files[:n])
	v.late.files = slices.Delete(v.late.files, 0, n)
	v.late.mu.Unlock()
	for _, l := range due {
		if err := v.keepLate(ctx, l); err != nil {
			v.opt.Log.Error("a late save could not be kept in the note's history", "note", l.path, "err", err)
		}
		_ = l.close() // only read from
	}
}

// leftFiles are temp files with a text that could not be kept in history, and
// the notes that they were.
type leftFiles struct {
	mu    sync.Mutex
	notes map[string]string
}

func (l *leftFiles) add(temp, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil {
		l.notes = map[string]string{}
	}
	l.notes[temp] = note
}

func (l *leftFiles) remove(temp string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.notes, temp)
}

func (l *leftFiles) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, temp := range slices.Sorted(maps.Keys(l.notes)) {
		out = append(out, fmt.Sprintf("the text that another program saved to %s could not be kept in its history; it is in the file %s until it can", notes.Quote(l.notes[temp]), notes.Quote(temp)))
	}
	return out
}

// strangerAge is how old a temp file must be that no journal entry names to be
// removed: a younger one may be in use by another notesd on the same vault.
const strangerAge = 10 * time.Minute

// removeTemps removes temp files that belong to no unfinished operation:
// recovery has finished the interrupted ones that it could, and the lock keeps
// new ones from beginning.
func (v *Vault) removeTemps(ctx context.Context, root *os.Root, temps []string) error {
	if len(temps) == 0 {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, temp := range temps {
		if err := v.removeTemp(ctx, root, temp); errors.Is(err, errKilled) {
			return err
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.opt.Log.Warn("a temp file could not be removed", "file", temp, "err", err)
		}
	}
	return nil
}

func (v *Vault) removeTemp(ctx context.Context, root *os.Root, temp string) error {
	name := path.Base(temp)
	entry, err := v.store.JournalOf(ctx, name[:len(store.TempName())])
	if err != nil {
		return err
	}
	switch {
	case entry == nil:
		info, err := root.Lstat(temp)
		if err != nil {
			return err
		}
		st := fsid.StatOf(info)
		if v.opt.Now().Sub(time.Unix(0, max(st.Mtime, st.Ctime))) < strangerAge {
			return nil
		}
	case entry.State == store.StatePending:
		return nil
	case path.Ext(name) != atomicfile.Part && entry.Note != "":
		late, err := v.rescue(ctx, root, temp, entry.Note, hex.EncodeToString(entry.OldHash), hex.EncodeToString(entry.NewHash))
		if err != nil {
			v.left.add(temp, entry.Note)
			return err
		}
		v.left.remove(temp)
		_ = late.close() // nobody has had it open since the program was started
	}
	if err := v.step("remove"); err != nil {
		return err
	}
	return root.Remove(temp)
}
