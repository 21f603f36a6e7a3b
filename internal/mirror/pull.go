package mirror

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"

	"notesd/notes"
	"notesd/notes/pglog"
	"notesd/notes/store"
	"notesd/notes/vault"
)

const (
	pageBatches = 100     // batches of the log fetched at a time
	stepFiles   = 100     // unrelated files placed or committed at a time
	stepBytes   = 8 << 20 // limit of their total size
)

// A sync pulls, then pushes. pull applies the log's batches in order, each as one
// operation, and afterwards records base and position: after a crash in between, the
// batch is repeated, and its files already equal the log's. A file that could not be
// placed is pending. It is compared with the newest version once all batches are applied;
// until then push skips it, because the folder's version may be older than the log's. push
// commits what differs from base, on the condition that the log still has the base. If
// the log has another version, the file becomes pending, to be resolved in the sync's
// next round.

// pull places the changes of the log that the folder lacks. It returns the paths of the
// folder that have to be compared. Pending files are retried if retry is set, or if there
// were new batches.
func (m *Mirror) pull(ctx context.Context, retry bool) (changed []string, err error) {
	for more := true; more; {
		entries, err := m.log.Changes(ctx, m.at, pageBatches)
		if errors.Is(err, pglog.ErrForeign) || errors.Is(err, pglog.ErrPruned) {
			if err := m.compareAll(ctx, errors.Is(err, pglog.ErrPruned)); err != nil {
				return nil, err
			}
			m.unplaced = true
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			m.unplaced = true
			if err := m.apply(ctx, e); err != nil {
				return nil, err
			}
		}
		if retry || m.unplaced {
			some, err := m.retryPending(ctx)
			if err != nil {
				return nil, err
			}
			changed = append(changed, some...)
			m.unplaced = false
			m.followed.reach(m.at.Seq)
		}
		more = len(entries) == pageBatches // batches that arrive meanwhile wait for the next sync, so that push is not delayed
	}
	m.status.progress(0, true)
	return changed, nil
}

// compareAll compares every file with the log's newest version, because the batches since the
// last position are not available. If the log was pruned (same), base still holds; if it
// is another log, no file is known to have been in both.
func (m *Mirror) compareAll(ctx context.Context, same bool) error {
	at, files, err := m.log.Snapshot(ctx)
	if err != nil {
		return err
	}
	bases := map[string]base{}
	if same {
		if bases, err = m.bases(ctx, nil, true); err != nil {
			return err
		}
		m.opt.Log.Info("the log has no longer all changes since the last; every file is compared")
	} else if m.at.Mark != "" {
		m.status.replaced(m.opt.Now())
	}
	r := newRecord()
	r.at, r.forget = &at, !same
	for _, f := range files {
		if bases[f.Path].hash != f.Hash {
			r.pending[f.Path] = true
		}
		delete(bases, f.Path)
	}
	for p := range bases { // the log no longer has it
		r.pending[p] = true
	}
	m.queue.AddAll()
	return m.write(ctx, r)
}

// sides are the versions of one file in the folder and in the log.
type sides struct {
	file     store.File // in the folder
	data     []byte     // its bytes
	here     string     // its hash; "" if there is no file
	log      string     // the log's hash; "" if there is no file
	seq      uint64     // of the log's version
	by       string     // its author; set for pending files
	readable bool       // here is valid: the file could be read
}

// read reads the files at the paths. If they have more than limit bytes, the result lacks the
// last paths; it has at least one.
func (m *Mirror) read(ctx context.Context, paths []string, limit int) (map[string]*sides, error) {
	files, unseen, err := m.vault.Replica().Files(ctx, paths, 0)
	if err != nil {
		return nil, err
	}
	found := map[string]*sides{}
	for _, p := range paths {
		found[p] = &sides{readable: !unseen(p)}
	}
	for _, f := range files {
		s := found[f.Path]
		if s == nil {
			continue // below a path that is a folder here
		}
		if limit <= 0 {
			delete(found, f.Path)
			continue
		}
		s.file = f
		data, _, err := m.vault.Replica().Bytes(f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, notes.ErrUnavailable):
			return nil, err
		case err != nil:
			s.readable = false
			if !errors.Is(err, notes.ErrConflict) {
				m.status.problem(f.Path, reasonOf(err, err.Error()))
			}
		default:
			s.data, s.here = data, notes.Hash(data)
			limit -= len(data)
		}
	}
	return found, nil
}

// apply places one batch of the log as one operation.
func (m *Mirror) apply(ctx context.Context, e pglog.Entry) error {
	own, err := m.isOwn(ctx, e.Mark)
	if err != nil {
		return err
	}
	r := newRecord()
	r.at = &e.Position
	if own {
		r.own[e.Mark] = false
	}
	var placed map[string]bool
	if !own {
		if placed, err = m.vault.Replica().Placed(ctx, e.Mark); err != nil {
			return err
		}
	}
	var paths []string
	for _, c := range e.Changes {
		paths = append(paths, c.OldPath, c.Path)
	}
	bases, err := m.bases(ctx, paths, false)
	if err != nil {
		return err
	}
	var open []notes.FileChange // not placed yet
	paths = paths[:0]
	for _, c := range e.Changes {
		for _, p := range []string{c.OldPath, c.Path} {
			if p == "" || bases[p].seq >= e.Seq {
				continue
			}
			if !own && !placed[p] {
				paths = append(paths, p)
			} else if p == c.Path {
				r.base[p] = base{hash: c.After, seq: e.Seq}
			} else {
				r.base[p] = base{}
			}
		}
		if !own && !placed[c.OldPath] && !placed[c.Path] {
			open = append(open, c)
		}
	}
	if len(paths) > 0 {
		if err := m.place(ctx, e, paths, open, bases, r); err != nil {
			return err
		}
	}
	if e.Kind == pglog.KindForget {
		if err := m.forget(ctx, e.Changes, bases); err != nil {
			return err
		}
	}
	return m.write(ctx, r)
}

// forget erases this node's versions of a note that another node has forgotten, unless the
// folder again has a file with that name. Of the note's earlier paths, which other notes may
// have had too, it erases those whose file was here until this batch: this node has missed the
// move, so that its versions do not have the last path.
func (m *Mirror) forget(ctx context.Context, changes []notes.FileChange, bases map[string]base) error {
	for i, c := range changes {
		if i > 0 && bases[c.OldPath].hash == "" {
			continue
		}
		if err := m.vault.History().ForgetPath(ctx, c.OldPath, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// place resolves the three versions of each path of a batch.
func (m *Mirror) place(ctx context.Context, e pglog.Entry, paths []string, changes []notes.FileChange, bases map[string]base, r *record) error {
	paths, err := m.respell(ctx, e.Author, paths, changes, bases, r)
	if err != nil {
		return err
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	found, err := m.read(ctx, paths, math.MaxInt)
	if err != nil {
		return err
	}
	for _, c := range e.Changes {
		if s := found[c.Path]; s != nil {
			s.log, s.seq = c.After, e.Seq
		}
	}
	current, err := m.log.Current(ctx, paths) // after reading the files: the versions placed depend on the bytes that were read
	if err != nil {
		return err
	}
	w := &work{m: m, bases: bases, record: r, kind: e.Kind, author: e.Author}
	for p, s := range found {
		if current[p].Hash != s.log { // a later batch has changed it
			if s.readable && s.here == s.log { // placed before a crash, but not recorded
				r.base[p] = base{hash: s.log, seq: s.seq}
			}
			w.later(p)
			delete(found, p)
		}
	}
	for _, c := range changes {
		from, to := found[c.OldPath], found[c.Path]
		if c.OldPath == "" || c.Path == "" || c.OldPath == c.Path || from == nil || to == nil || !from.readable || !to.readable ||
			from.here != c.Before || bases[c.OldPath].hash != c.Before || from.log != "" || to.here != "" {
			continue
		}
		w.steps = append(w.steps, step{sides: to, FileChange: store.FileChange{OldPath: c.OldPath, OldDisk: from.file.DiskPath, NewPath: c.Path, Old: from.data}})
		delete(found, c.OldPath)
		delete(found, c.Path)
	}
	for _, p := range slices.Sorted(maps.Keys(found)) {
		w.decide(p, found[p])
	}
	err = w.do(ctx)
	m.queue.Add(w.newer...)
	return err
}

// respell renames the folders whose names the changes move in case only, on a disk that ignores
// case. There the files move with them: they get their present paths in the changes and bases,
// and these are added to paths.
func (m *Mirror) respell(ctx context.Context, by notes.Author, paths []string, changes []notes.FileChange, bases map[string]base, r *record) ([]string, error) {
	done := map[[2]string]bool{}
	for i := range changes {
		c := &changes[i]
		from, to := path.Dir(c.OldPath), path.Dir(c.Path)
		if from == to || notes.Key(from) != notes.Key(to) {
			continue
		}
		one, tried := done[[2]string{from, to}]
		if !tried {
			var err error
			one, err = m.vault.Replica().Respell(ctx, by, from, to)
			switch {
			case errors.Is(err, notes.ErrUnavailable) || ctx.Err() != nil:
				return nil, err
			case err != nil:
				m.status.problem(from, reasonOf(err, err.Error()))
			}
			done[[2]string{from, to}] = one
		}
		if b := bases[c.OldPath]; one && b.hash != "" {
			p := path.Join(to, path.Base(c.OldPath))
			bases[p], r.base[p] = b, b
			paths, c.OldPath = append(paths, p), p
		}
	}
	return paths, nil
}

// retryPending compares pending files with the newest versions of the log.
func (m *Mirror) retryPending(ctx context.Context) (changed []string, err error) {
	paths, err := m.pending(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, m.vault.Ignored) // they wait for other settings, which a start reads
	for len(paths) > 0 {
		m.status.progress(len(paths), false)
		found, err := m.read(ctx, paths[:min(len(paths), stepFiles)], stepBytes)
		if err != nil {
			return nil, err
		}
		chunk := slices.Sorted(maps.Keys(found))
		paths = slices.DeleteFunc(paths, func(p string) bool { return found[p] != nil })
		current, err := m.log.Current(ctx, chunk) // as in place
		if err != nil {
			return nil, err
		}
		bases, err := m.bases(ctx, chunk, false)
		if err != nil {
			return nil, err
		}
		w := &work{m: m, bases: bases, record: newRecord(), kind: vault.Together, single: true}
		for _, p := range chunk {
			s := found[p]
			s.log, s.seq, s.by = current[p].Hash, current[p].Seq, current[p].By
			if s.seq > m.at.Seq { // until its batch is applied, the position would not reveal that a failover lost it
				w.later(p)
				continue
			}
			w.record.pending[p] = false
			w.decide(p, s)
		}
		intent := newRecord()
		for _, s := range w.steps {
			if s.NewPath != "" {
				intent.placing[s.NewPath] = version{s.sides.log, s.sides.seq}
			}
		}
		if err := m.write(ctx, intent); err != nil {
			return nil, err
		}
		err = w.do(ctx)
		m.queue.Put(w.newer, false) // in case this sync fails
		if err != nil {
			return nil, err
		}
		if err := m.write(ctx, w.record); err != nil {
			return nil, err
		}
		changed = append(changed, w.newer...)
	}
	return changed, nil
}
