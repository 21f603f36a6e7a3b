package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"time"

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

// A sync runs down, then up. Down applies the log's batches in order, each as one
// operation, and afterwards records base and position: after a crash in between, the
// batch is repeated, and its files already equal the log's. A file that could not be
// placed is pending. It is compared with the newest version once all batches are applied;
// until then up skips it, because the folder's version may be older than the log's. Up
// commits what differs from base, on the condition that the log still has the base. If
// the log has another version, the file becomes pending, to be resolved in the sync's
// next round.

// down places the changes of the log that the folder lacks. It returns the paths of the
// folder that have to be compared. Pending files are retried if retry is set, or if there
// were new batches.
func (m *Mirror) down(ctx context.Context, retry bool) (changed []string, err error) {
	for more := true; more; {
		entries, err := m.log.Changes(ctx, m.at, pageBatches)
		if errors.Is(err, pglog.ErrForeign) || errors.Is(err, pglog.ErrPruned) {
			if err := m.begin(ctx, errors.Is(err, pglog.ErrPruned)); err != nil {
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
			some, err := m.settle(ctx)
			if err != nil {
				return nil, err
			}
			changed = append(changed, some...)
			m.unplaced = false
			m.followed.reach(m.at.Seq)
		}
		more = len(entries) == pageBatches // batches that arrive meanwhile wait for the next sync, so that up is not delayed
	}
	return changed, nil
}

// begin compares every file with the log's newest version, because the batches since the
// last position are not available. If the log was pruned (same), base still holds; if it
// is another log, no file is known to have been in both.
func (m *Mirror) begin(ctx context.Context, same bool) error {
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
	file  store.File // in the folder
	data  []byte     // its bytes
	here  string     // its hash; "" if there is no file
	log   string     // the log's hash; "" if there is no file
	seq   uint64     // of the log's version
	by    string     // its author; set for pending files
	clear bool       // here is valid: the file could be read
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
		found[p] = &sides{clear: !unseen(p)}
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
			s.clear = false
			if !errors.Is(err, notes.ErrConflict) {
				m.status.problem(f.Path, err.Error())
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
		if err := m.forget(ctx, e.Changes); err != nil {
			return err
		}
	}
	return m.write(ctx, r)
}

// forget erases this node's versions of files that another node has forgotten, unless the
// folder again has a file with that name.
func (m *Mirror) forget(ctx context.Context, changes []notes.FileChange) error {
	for _, c := range changes {
		_, err := m.vault.History().Forget(ctx, c.OldPath, notes.Scope{})
		if err != nil && !errors.Is(err, notes.ErrNotFound) && !errors.Is(err, notes.ErrExists) {
			return err
		}
	}
	return nil
}

// place resolves the three versions of each path of a batch.
func (m *Mirror) place(ctx context.Context, e pglog.Entry, paths []string, changes []notes.FileChange, bases map[string]base, r *record) error {
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
			if s.clear && s.here == s.log { // placed before a crash, but not recorded
				r.base[p] = base{hash: s.log, seq: s.seq}
			}
			w.later(p)
			delete(found, p)
		}
	}
	for _, c := range changes {
		from, to := found[c.OldPath], found[c.Path]
		if c.OldPath == "" || c.Path == "" || c.OldPath == c.Path || from == nil || to == nil || !from.clear || !to.clear ||
			from.here != c.Before || bases[c.OldPath].hash != c.Before || from.log != "" || to.here != "" {
			continue
		}
		w.steps = append(w.steps, step{move: true, path: c.Path, sides: to, Placement: vault.Placement{OldPath: c.OldPath, OldDisk: from.file.DiskPath, Path: c.Path, Old: from.data}})
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

// settle compares pending files with the newest versions of the log.
func (m *Mirror) settle(ctx context.Context) (changed []string, err error) {
	paths, err := m.pending(ctx)
	if err != nil {
		return nil, err
	}
	for len(paths) > 0 {
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
			if s.Path != "" {
				intent.placing[s.path] = version{s.sides.log, s.sides.seq}
			}
		}
		if err := m.write(ctx, intent); err != nil {
			return nil, err
		}
		if err := w.do(ctx); err != nil {
			return nil, err
		}
		if err := m.write(ctx, w.record); err != nil {
			return nil, err
		}
		changed = append(changed, w.newer...)
	}
	return changed, nil
}

// work places a set of files.
type work struct {
	m      *Mirror
	bases  map[string]base
	record *record
	kind   string
	author notes.Author
	single bool // the files are unrelated

	steps []step
	newer []string // files whose version in the folder is to be committed
}

// step places one file, possibly with a conflict copy.
type step struct {
	vault.Placement
	path  string
	sides *sides
	move  bool
	copy  string // name of the conflict copy
}

// later defers a file to a later comparison.
func (w *work) later(p string) { w.record.pending[p] = true }

// undone defers the files of a step to a later comparison.
func (w *work) undone(s step) {
	w.later(s.path)
	if s.move {
		w.later(s.OldPath)
	}
}

// decide adds the steps for a file with three versions: the folder's, the log's, and the
// base, which both last had in common.
//
//   - If the folder and the log agree, their version becomes the base.
//   - If only the folder differs from the base, its version is committed to the log.
//   - If only the log differs from it, the log's version is placed, or the file removed.
//   - If both differ, a change takes precedence over a deletion. Of two changes the log's
//     gets the name; the folder's is kept beside it as a conflict copy and also committed.
//
// Before a version is placed, it is recorded in the base as being placed: if the folder
// has that version after a crash, it counts as the base. A file that could not be read or
// is ignored waits for a later comparison.
func (w *work) decide(p string, s *sides) {
	b := w.bases[p]
	if s.here != "" && s.here == b.placing.hash { // placed before a crash, but not recorded
		b = base{hash: b.placing.hash, seq: b.placing.seq}
	}
	in := base{hash: s.log, seq: s.seq}
	remove := step{path: p, sides: s, Placement: vault.Placement{OldPath: p, OldDisk: s.file.DiskPath, Old: s.data}}
	replace := remove
	replace.Path = p
	switch {
	case !s.clear || w.m.vault.Ignored(p):
		w.later(p)
	case s.here == s.log:
		w.record.base[p] = in
	case s.log == b.hash: // changed in the folder only
		w.newer = append(w.newer, p)
	case s.here == "": // changed there, and possibly deleted here: the change wins
		w.steps = append(w.steps, step{path: p, sides: s, Placement: vault.Placement{Path: p}})
	case s.here == b.hash && s.log == "":
		w.steps = append(w.steps, remove)
	case s.here == b.hash:
		w.steps = append(w.steps, replace)
	case s.log == "": // deleted there, changed here: the change wins
		w.record.base[p] = base{}
		w.newer = append(w.newer, p)
	default:
		replace.copy = p
		w.steps = append(w.steps, replace)
	}
}

// do places the files in operations of limited size.
func (w *work) do(ctx context.Context) error {
	if w.single {
		slices.SortStableFunc(w.steps, func(a, b step) int { return cmp.Compare(a.sides.by, b.sides.by) })
	}
	for rest := w.steps; len(rest) > 0; {
		n, err := w.load(ctx, rest)
		if err != nil {
			return err
		}
		if w.single {
			w.author.Name = cmp.Or(rest[0].sides.by, w.m.opt.Author.Name)
		}
		if err := w.doTogether(ctx, rest[:n]); err != nil {
			return err
		}
		clear(rest[:n]) // frees the texts
		rest = rest[n:]
	}
	return nil
}

// load fetches the new texts of the steps that are placed together: all of them, or, if the
// files are unrelated, as many of the first ones as have one author and a limited size. It
// returns their number.
func (w *work) load(ctx context.Context, steps []step) (n int, err error) {
	if w.single {
		steps = steps[:min(len(steps), stepFiles)]
		if other := slices.IndexFunc(steps, func(s step) bool { return s.sides.by != steps[0].sides.by }); other > 0 {
			steps = steps[:other]
		}
	}
	needs := func(s step) bool { return s.Path != "" && (!s.move || s.sides.log != notes.Hash(s.Old)) }
	texts := map[string][]byte{}
	for ; n < len(steps); n++ {
		s := &steps[n]
		if !needs(*s) {
			if s.Path != "" {
				s.New = s.Old
			}
			continue
		}
		if _, fetched := texts[s.sides.log]; !fetched {
			if w.single && len(texts) > 0 {
				break // the next operation
			}
			var missing []string
			for _, s := range steps[n:] {
				if len(missing) < stepFiles && needs(s) && !slices.Contains(missing, s.sides.log) {
					missing = append(missing, s.sides.log)
				}
			}
			some, err := w.m.log.Contents(ctx, missing)
			if err != nil {
				return 0, err
			}
			maps.Copy(texts, some)
		}
		s.New = texts[s.sides.log]
	}
	return n, nil
}

// doTogether places files as one operation; if that fails, it places unrelated files one
// by one.
func (w *work) doTogether(ctx context.Context, group []step) error {
	err := w.placeSteps(ctx, group)
	if err == nil || errors.Is(err, notes.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	if len(group) > 1 && w.single {
		for _, s := range group {
			if err := w.doTogether(ctx, []step{s}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(group) == 1 && !errors.Is(err, notes.ErrConflict) && !errors.Is(err, notes.ErrExists) {
		w.m.status.problem(group[0].path, reasonOf(err, err.Error()))
	}
	for _, s := range group {
		w.undone(s)
	}
	return nil
}

func (w *work) placeSteps(ctx context.Context, group []step) error {
	var all, copies []vault.Placement
	moved := map[[2]string][]string{}
	for i := range group {
		s := &group[i]
		all = append(all, s.Placement)
		if s.move {
			between := folderMove(s.OldPath, s.path)
			moved[between] = append(moved[between], s.OldDisk)
		}
		if s.copy == "" {
			continue
		}
		name, err := w.freeCopy(ctx, s.path)
		if err != nil {
			return err
		}
		s.copy = name
		copies = append(copies, vault.Placement{Path: name, New: s.Old})
	}
	var emptied []string
	for folders, files := range moved {
		if len(files) == 1 {
			continue // of a note: its folder may be there on the author's node
		}
		for _, file := range files {
			for dir := path.Dir(file); dir != "." && notes.Under(notes.Nfc(dir), folders[0]); dir = path.Dir(dir) {
				emptied = append(emptied, dir)
			}
		}
	}
	slices.Sort(emptied)
	written, err := w.m.vault.Replica().Place(ctx, w.kind, w.author, slices.Concat(all, copies), slices.Compact(emptied)...)
	if err != nil {
		return err
	}
	if w.m.opt.Placed != nil {
		var placed []string
		for _, s := range group {
			placed = append(placed, s.Path, s.OldPath)
		}
		w.m.opt.Placed(placed)
	}
	for _, s := range group {
		if slices.Contains(written.Conflicts, s.path) || s.OldPath != "" && slices.Contains(written.Conflicts, s.OldPath) {
			w.undone(s)
			continue
		}
		if s.Path == "" {
			w.record.base[s.path] = base{}
		} else {
			w.record.base[s.path] = base{hash: s.sides.log, seq: s.sides.seq}
		}
		if s.move {
			w.record.base[s.OldPath] = base{}
		}
		if s.copy != "" {
			w.m.status.conflict(s.copy)
			w.newer = append(w.newer, s.copy)
		}
	}
	return nil
}

// folderMove returns the folders between which a file moves, without the elements that
// the ends of the two paths have in common.
func folderMove(from, to string) [2]string {
	for from != "." && to != "." && path.Base(from) == path.Base(to) {
		from, to = path.Dir(from), path.Dir(to)
	}
	if from == "." {
		from = ""
	}
	return [2]string{from, to}
}

// freeCopy returns an unused name for a conflict copy.
func (w *work) freeCopy(ctx context.Context, file string) (string, error) {
	for n := 1; ; n++ {
		name := copyName(file, w.m.opt.Author.Name, w.m.opt.Now(), n)
		files, _, err := w.m.vault.Replica().Files(ctx, []string{name}, 0)
		if err != nil || len(files) == 0 {
			return name, err
		}
	}
}

// settled is the minimum age of a file for its stat to identify its bytes: a second save
// within one clock tick would not change the stat.
const settled = 2 * time.Second

// up commits the changes in the folder. It reports whether the log has to be read again.
func (m *Mirror) up(ctx context.Context, paths []string, all bool) (again bool, err error) {
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
	files, unseen, err := m.vault.Replica().Files(ctx, paths, len(bases))
	if err != nil {
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
	c := &commit{m: m, gone: map[string]base{}}
	r := newRecord()
	for p, b := range bases {
		if b.hash != "" && !pending[p] && !unseen(p) && !m.vault.Ignored(p) {
			c.gone[p] = b
		}
	}
	for _, f := range files {
		b := bases[f.Path]
		known := b.hash != ""
		delete(c.gone, f.Path)
		if pending[f.Path] || known && b.stat == statOf(f.Stat) {
			continue
		}
		data, st, err := m.vault.Replica().Bytes(f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // the watcher reports it
		case errors.Is(err, notes.ErrUnavailable):
			return false, err
		case errors.Is(err, notes.ErrConflict): // it is being written
			m.queue.Add(f.DiskPath)
			continue
		case err != nil:
			m.status.problem(f.Path, reasonOf(err, "it cannot be read"))
			continue
		}
		hash := notes.Hash(data)
		if known && hash == b.hash {
			if m.opt.Now().Sub(time.Unix(0, max(st.Mtime, st.Ctime))) >= settled {
				b.stat = statOf(st)
				r.base[f.Path] = b
			}
			continue
		}
		if m.refused[f.Path] == hash {
			continue
		}
		change := notes.FileChange{Path: f.Path, After: hash, Data: data}
		if known {
			change.OldPath, change.Before = f.Path, b.hash
		}
		if err := c.add(ctx, change); err != nil {
			return false, err
		}
	}
	if err := m.write(ctx, r); err != nil {
		return false, err
	}
	return c.end(ctx)
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
	gone    map[string]base // files that no longer exist
	changes []notes.FileChange
	size    int
	done    bool // something was committed, or the log was ahead
}

func (c *commit) add(ctx context.Context, change notes.FileChange) error {
	c.changes = append(c.changes, change)
	if c.size += len(change.Data); len(c.changes) < stepFiles && c.size < stepBytes {
		return nil
	}
	return c.flush(ctx)
}

// end commits the rest. A deleted file counts as moved if a new one has its bytes.
func (c *commit) end(ctx context.Context) (bool, error) {
	byHash := map[string][]string{}
	for p, b := range c.gone {
		byHash[b.hash] = append(byHash[b.hash], p)
	}
	for i := range c.changes {
		change := &c.changes[i]
		if old := byHash[change.After]; change.OldPath == "" && len(old) == 1 && len(change.Data) > 0 {
			change.OldPath, change.Before, change.Data = old[0], change.After, nil
			delete(c.gone, old[0])
			delete(byHash, change.After)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.gone)) {
		if err := c.add(ctx, notes.FileChange{OldPath: p, Before: c.gone[p].hash}); err != nil {
			return false, err
		}
	}
	err := c.flush(ctx)
	return c.done, err
}

func (c *commit) flush(ctx context.Context) error {
	if len(c.changes) == 0 {
		return nil
	}
	changes := c.changes
	c.changes, c.size = nil, 0
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
	case !errors.As(err, &other):
		return err
	}
	c.done = true
	return c.ahead(ctx, id, changes, other)
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
