package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
)

// stableAge is the minimum age of a file for its stat to identify its bytes: a second save
// within one clock tick would not change the stat. A known file that is younger and empty is not
// committed either.
const stableAge = 2 * time.Second

// push commits the changes in the folder. It reports whether the log has to be read again.
func (m *Mirror) push(ctx context.Context, paths []string, all bool) (again bool, err error) {
	named := make([]string, len(paths))
	for i, p := range paths {
		named[i] = notes.Nfc(p)
	}
	bases, err := m.bases(ctx, named, all)
	if err != nil {
		return false, err
	}
	if all {
		paths = nil
	}
	files, unseen, err := m.vault.Replica().Files(ctx, paths, len(bases)+m.deletions.committed)
	now, unknown := m.vault.Replica().Folder()
	if unknown == nil && now != m.folder {
		return true, m.adopt(ctx, now)
	}
	if err = cmp.Or(err, unknown); err != nil {
		return false, err
	}
	waiting, err := m.pending(ctx)
	if err != nil {
		return false, err
	}
	pending := map[string]bool{}
	for _, p := range waiting {
		pending[p] = true
	}
	gone, r := map[string]base{}, newRecord()
	for p, b := range bases {
		switch {
		case b.hash == "" || pending[p]:
		case m.vault.Ignored(p):
			r.pending[p] = true
		case !unseen(p):
			gone[p] = b
		}
	}
	for _, f := range files {
		delete(gone, f.Path)
	}
	c := newCommit(m, gone)
	for _, f := range files {
		b := bases[f.Path]
		if pending[f.Path] || b.hash != "" && b.stat == f.Stat {
			continue
		}
		if err := c.file(ctx, f, b, r); err != nil {
			return false, err
		}
	}
	if err := m.write(ctx, r); err != nil {
		return false, err
	}
	return c.end(ctx, all)
}

// file adds a file of the folder to the commit if its text differs from its base, and records the
// stat of one that does not.
func (c *commit) file(ctx context.Context, f store.File, b base, r *record) error {
	known := b.hash != ""
	data, st, err := c.m.vault.Replica().Bytes(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // the watcher reports it
	case errors.Is(err, notes.ErrUnavailable):
		return err
	case errors.Is(err, notes.ErrConflict): // it is being written
		c.m.queue.Add(f.DiskPath)
		return nil
	case err != nil:
		c.m.status.problem(f.Path, reasonOf(err, "it cannot be read"))
		return nil
	}
	hash, age := notes.Hash(data), c.m.opt.Now().Sub(time.Unix(0, max(st.Mtime, st.Ctime)))
	if known && hash == b.hash {
		if age >= stableAge {
			b.stat = st
			r.base[f.Path] = b
		}
		return nil
	}
	if known && len(data) == 0 && age >= 0 && age < stableAge { // a program may be about to write it
		c.m.queue.Put([]string{f.DiskPath}, false)
		return nil
	}
	if c.m.refused[f.Path] == hash {
		return nil
	}
	change := notes.FileChange{Path: f.Path, After: hash, Data: data}
	if known {
		change.OldPath, change.Before = f.Path, b.hash
	}
	return c.add(ctx, change)
}

// adopt records the folder that base is of from now on. If that was another one, or was emptied
// meanwhile, base stays for the files that have its text. It is not known whether the others were
// changed since or are from an older copy, so they are compared as in a new folder.
func (m *Mirror) adopt(ctx context.Context, now string) error {
	r := newRecord()
	r.folder = &now
	if m.folder == "" {
		return m.write(ctx, r)
	}
	bases, err := m.bases(ctx, nil, true)
	if err != nil {
		return err
	}
	had := 0 // a new folder may be empty
	for p, b := range bases {
		if b.hash != "" {
			r.base[p], r.pending[p] = base{}, true
		}
	}
	if m.folder == emptied {
		had = len(r.base)
	}
	files, _, err := m.vault.Replica().Files(ctx, nil, had)
	if err != nil {
		return err
	}
	for _, f := range files {
		b := bases[f.Path]
		if b.hash == "" {
			continue
		}
		if b.stat != f.Stat {
			data, _, err := m.vault.Replica().Bytes(f)
			if errors.Is(err, notes.ErrUnavailable) {
				return err
			}
			if err != nil || notes.Hash(data) != b.hash {
				continue
			}
		}
		delete(r.base, f.Path)
		delete(r.pending, f.Path)
	}
	m.queue.AddAll()
	m.opt.Log.Warn("the folder was emptied, or is another one than before; files that differ from the log are kept twice", "files", len(r.base))
	return m.write(ctx, r)
}

// reasonOf returns the detail of a [*notes.Error], or other for any other error.
func reasonOf(err error, other string) string {
	if own, ok := errors.AsType[*notes.Error](err); ok && own.Detail != "" {
		return own.Detail
	}
	return other
}

// commit gathers changes of the folder into batches.
type commit struct {
	m       *Mirror
	gone    map[string]base     // files that no longer exist
	goneBy  map[string][]string // the paths of all that did not at first, by likeness
	changes []notes.FileChange
	size    int  // of their files
	done    bool // something was committed, or the log was ahead
}

func newCommit(m *Mirror, gone map[string]base) *commit {
	c := &commit{m: m, gone: gone, goneBy: map[string][]string{}}
	for p, b := range gone {
		for _, k := range likeness(p, b.hash) {
			c.goneBy[k] = append(c.goneBy[k], p)
		}
	}
	return c
}

// add adds a change to the batch. A new file counts as a deleted one that has moved
// if it is like that one only. The last change of a full batch goes into the next one: if a batch
// had only the last file of a moved folder, other nodes would take it for a moved note and keep the
// folder.
func (c *commit) add(ctx context.Context, change notes.FileChange) error {
	if n := len(c.changes) - 1; n >= stepFiles || n > 0 && c.size >= stepBytes {
		if err := c.flush(ctx, n); err != nil {
			return err
		}
	}
	c.size += len(change.Data)
	if change.OldPath == "" {
		c.pair(&change)
	}
	c.changes = append(c.changes, change)
	return nil
}

// pair makes the creation of a file the move of the deleted one that it is most like.
func (c *commit) pair(created *notes.FileChange) {
	for _, k := range likeness(created.Path, created.After) {
		old := c.goneBy[k]
		if len(old) != 1 || k == created.After && len(created.Data) == 0 { // all empty files are alike
			continue
		}
		b, left := c.gone[old[0]]
		if !left {
			continue
		}
		delete(c.gone, old[0])
		created.OldPath, created.Before = old[0], b.hash
		if b.hash == created.After {
			created.Data = nil
		}
		return
	}
}

// likeness returns by what a deleted file is found under its new path, the surest first: the path
// but for case, the bytes with the name, and the bytes.
func likeness(p, hash string) []string {
	return []string{"/" + notes.Key(p), hash + "/" + notes.Key(path.Base(p)), hash}
}

// end commits the rest, found in a comparison of everything (all) or of some files.
func (c *commit) end(ctx context.Context, all bool) (bool, error) {
	ready := c.m.deletions.ready(len(c.gone), all, c.m.opt.Now(), c.m.calm)
	if !ready {
		clear(c.gone)
	}
	for _, p := range slices.Sorted(maps.Keys(c.gone)) {
		if err := c.add(ctx, notes.FileChange{OldPath: p, Before: c.gone[p].hash}); err != nil {
			return false, err
		}
	}
	err := c.flush(ctx, len(c.changes))
	switch {
	case ready || err != nil:
	case all:
		err = errDeleting
	default:
		c.m.queue.AddAll()
	}
	return c.done, err
}

// deletions are those of files in the folder, one soon after the other. If there are many, all
// files may be about to disappear, as when a sync service signs out, which must delete nothing:
// the deletions are committed if a comparison of everything finds no more of them for a while.
type deletions struct {
	committed int
	held      int       // found by the last comparison of everything, and not committed
	at        time.Time // when one of these numbers last changed
}

// errDeleting means that many deletions are not committed yet.
var errDeleting = errors.New("many files were deleted a moment ago; this is not shared until no more are deleted for five seconds")

// ready reports whether n more deletions can be committed now, and counts them.
func (d *deletions) ready(n int, all bool, now time.Time, calm time.Duration) bool {
	if d.held == 0 && now.Sub(d.at) >= calm {
		d.committed = 0
	}
	if d.committed+n < vault.SuspiciouslyMany {
		if n > 0 {
			d.at = now
		}
		d.committed, d.held = d.committed+n, 0
		return true
	}
	switch {
	case !all:
		d.at = now
		return false
	case n != d.held:
		d.held, d.at = n, now
	}
	if now.Sub(d.at) < calm {
		return false
	}
	*d = deletions{}
	return true
}

// flush commits the first n changes.
func (c *commit) flush(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	changes := c.changes[:n]
	c.changes, c.size = slices.Clone(c.changes[n:]), 0
	for _, kept := range c.changes {
		c.size += len(kept.Data)
	}
	id, intent := rand.Text(), newRecord()
	intent.own[id] = true
	if err := c.m.write(ctx, intent); err != nil {
		return err
	}
	_, err := c.m.log.Commit(ctx, notes.Batch{ID: id, Kind: kindOf(changes), Author: c.m.opt.Author, Changes: changes, Seen: &c.m.at.Seq})
	var other *notes.LogConflict
	switch {
	case err == nil:
		c.done = true
		return nil
	case errors.As(err, &other):
		c.done = true
		return c.ahead(ctx, id, changes, other)
	case errors.Is(err, notes.ErrOutcomeUnknown):
		return err
	}
	rejected := newRecord()
	rejected.own[id] = false
	return errors.Join(err, c.m.write(context.WithoutCancel(ctx), rejected))
}

// ahead handles a rejected batch with the id: its files become pending if their version in the log is
// not the one that they were based on.
func (c *commit) ahead(ctx context.Context, id string, changes []notes.FileChange, other *notes.LogConflict) error {
	var paths []string
	for _, f := range changes {
		paths = append(paths, f.OldPath, f.Path)
	}
	current, err := c.m.log.Current(ctx, paths)
	if err != nil {
		return err
	}
	r := newRecord()
	r.own[id] = false
	for _, f := range changes {
		if f.OldPath != "" && current[f.OldPath].Hash != f.Before {
			r.pending[f.OldPath] = true
		}
		if f.Path != "" && f.Path != f.OldPath && current[f.Path].Hash != "" {
			r.pending[f.Path] = true
		}
		if f.Path != "" && f.Path != other.Path && notes.Key(f.Path) == notes.Key(other.Path) {
			c.m.status.problem(f.Path, "the log has "+notes.Quote(other.Path)+", whose name differs in case only")
			c.m.refused[f.Path] = f.After
		}
	}
	return c.m.write(ctx, r)
}

func kindOf(changes []notes.FileChange) string {
	switch c := changes[0]; {
	case len(changes) > 1:
		return "edit"
	case c.OldPath == "":
		return "create"
	case c.Path == "":
		return "delete"
	case c.Path != c.OldPath:
		return "move"
	}
	return "edit"
}
