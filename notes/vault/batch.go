package vault

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// A batch is read, parsed and committed together. Large batches let the text index build
// two segments at once.
const (
	batchBytes = 6 << 20
	batchFiles = 2000
	// deferLinksFrom is the number of files a full scan must have to read for links to be
	// resolved once at its end rather than with every batch.
	deferLinksFrom = 64
)

// apply updates the store, and then the followers, with the result of the scan. While the
// followers apply one batch, the next is read, parsed and committed.
func (s *scan) apply(ctx context.Context) error {
	v := s.v
	v.progress.begin(len(s.changed))
	defer v.progress.end()
	v.progress.differing.Add(int64(s.differing))
	defer v.progress.differing.Add(-int64(s.differing))
	if err := v.store.Files().Record(ctx, s.Scan, s.isUnseen); err != nil {
		return err
	}
	s.deferLinks = s.Whole && len(s.changed) >= deferLinksFrom
	feeding := make(chan struct{}, 1) // holds a token while the followers are fed
	defer func() { feeding <- struct{}{} }()
	gone := s.gone
	for first := true; first || len(s.changed) > 0; first = false {
		batch := s.next()
		files, err := s.prepare(ctx, batch)
		if err != nil {
			return err
		}
		if err := s.commit(ctx, files, gone); err != nil {
			return err
		}
		gone = nil
		v.progress.done.Add(int64(len(batch)))
		feeding <- struct{}{} // waits until the followers have applied the previous batch
		go func() {
			defer func() { <-feeding }()
			v.feeder.runScanned(ctx)
		}()
	}
	return ctx.Err()
}

// next removes a batch from the files to be read, and returns it.
func (s *scan) next() []store.File {
	n, total := 0, int64(0)
	for n < len(s.changed) && n < batchFiles && (n == 0 || total+s.changed[n].Stat.Size <= batchBytes) {
		total += s.changed[n].Stat.Size
		n++
	}
	batch := s.changed[:n]
	s.changed = s.changed[n:]
	return batch
}

// commit writes a prepared batch to the store under the vault's lock. Files that have
// changed since the scan began are left to the next scan.
func (s *scan) commit(ctx context.Context, files []prepared, gone []store.Row) error {
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	rows, err := s.v.store.Rows(ctx, pathsOf(files, gone))
	if err != nil {
		return err
	}
	b := &batch{v: s.v, root: s.root, current: rows, moving: len(s.moves)}
	for _, r := range gone {
		b.remove(r)
	}
	for i := range files {
		b.add(&files[i])
	}
	s.again = append(s.again, b.again...)
	return b.commit(ctx, notes.Outside, s.deferLinks)
}

func pathsOf(files []prepared, gone []store.Row) []string {
	paths := []string{}
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.row != nil && f.row.Path != f.Path {
			paths = append(paths, f.row.Path)
		}
	}
	for _, r := range gone {
		paths = append(paths, r.Path)
	}
	return paths
}

// batch turns prepared files into entries, comparing them once more, under the vault's
// lock, with the disk and the store.
type batch struct {
	v       *Vault
	root    *disk.Root
	current map[string]store.Row
	moving  int // notes moved by another program, in all batches of the scan
	entries []store.Entry
	touches []store.Touch
	again   []string
	skipped []store.Skipped
}

// known returns the store's present row at the path of r, and whether it is still the same
// version of the same note.
func (b *batch) known(r store.Row) (store.Row, bool) {
	now, ok := b.current[r.Path]
	return now, ok && now.ID == r.ID && now.Hash == r.Hash
}

// commit commits the entries, queues the changes for the followers, and leaves the rest to
// the next scan. The caller must hold the vault's lock.
func (b *batch) commit(ctx context.Context, by notes.Author, deferLinks bool) error {
	if len(b.again) > 0 {
		b.v.queue.Add(b.again...)
	}
	if len(b.entries)+len(b.touches) > 0 {
		if by == notes.Outside {
			if err := b.v.store.KeepOverwritten(ctx, b.entries, b.moving); err != nil {
				return err
			}
		}
		changes, err := b.v.store.Apply(ctx, b.entries, b.touches, deferLinks)
		if err != nil && !(len(b.entries) == 0 && isFull(err)) { // no text has changed, and the next scan compares the files again
			return err
		}
		b.v.feeder.add(changes)
	}
	return b.v.store.Files().AddSkipped(ctx, b.skipped)
}

func (b *batch) remove(r store.Row) {
	if _, same := b.known(r); !same {
		return // changed or removed by a tool since
	}
	if b.isBack(r) {
		b.again = append(b.again, r.DiskPath)
		return
	}
	b.delete(r)
}

// isBack reports whether a walk would now find the note, or cannot tell. A folder or a pipe with
// its name does not count: the path would be scanned over and over.
func (b *batch) isBack(r store.Row) bool {
	info, err := b.root.Stat(r.DiskPath)
	if err != nil || !info.Mode().IsRegular() || !notes.IsNoteName(r.DiskPath) || b.root.SymlinkAbove(r.DiskPath) != "" || b.v.ignore.Match(r.Path) {
		return false
	}
	spelled, known := b.root.WhollySpelledSo(r.DiskPath, disk.Listed{})
	return spelled || !known
}

// delete records a deletion, unless the note is on an unmounted disk.
func (b *batch) delete(r store.Row) {
	if b.v.mounts.check(b.root, "scan", r.Path) == nil {
		b.entries = append(b.entries, store.Entry{Kind: notes.Deleted, ID: r.ID, Path: r.Path})
	}
}

// scanAgain queues a file for the next scan, along with its previous name: the watcher will
// not report either a second time.
func (b *batch) scanAgain(p *prepared) {
	b.again = append(b.again, p.DiskPath)
	if p.row != nil && p.row.Path != p.Path {
		b.again = append(b.again, p.row.DiskPath)
	}
}

func (b *batch) add(p *prepared) {
	if !p.unknown {
		b.v.rereads.files.Delete(p.Path)
	}
	switch {
	case p.skip == skipChanging:
		b.scanAgain(p)
		return
	case p.skip == skipEmptied:
		b.v.rereads.add(p.Path, p.DiskPath, emptiedFor-sinceChange(p.Stat, b.v.opt.Now()), "")
		return
	case p.skip != "":
		b.skip(p)
		return
	}
	if info, err := b.root.Stat(p.DiskPath); err != nil || fsid.StatOf(info) != p.Stat {
		b.scanAgain(p)
		return
	}
	b.enter(p)
}

// enter makes the entry for a file that was read.
func (b *batch) enter(p *prepared) {
	if p.skip != "" {
		b.skip(p)
		return
	}
	e := store.Entry{Kind: notes.Created, Path: p.Path, DiskPath: p.DiskPath, Stat: p.Stat, HashedAt: p.hashedAt, Note: p.note}
	if _, taken := b.current[p.Path]; taken && (p.row == nil || p.row.Path != p.Path) {
		b.scanAgain(p) // created by a tool, or reconciled for a reader, since
		return
	}
	if p.row == nil {
		b.entries = append(b.entries, e)
		return
	}
	if _, same := b.known(*p.row); !same {
		b.scanAgain(p)
		return
	}
	e.ID = p.row.ID
	switch {
	case p.row.Path != p.Path:
		e.Kind, e.OldPath = notes.Moved, p.row.Path
	case p.note == nil:
		b.touches = append(b.touches, store.Touch{ID: e.ID, DiskPath: p.DiskPath, Stat: p.Stat, HashedAt: p.hashedAt})
		return
	default:
		e.Kind, e.Reparsed = notes.Modified, p.note.Hash == p.row.Hash
	}
	b.entries = append(b.entries, e)
}

// addPlaced adds a file with the hash that an operation left it with. If another program has
// changed it since, the store still gets the operation's text, and the newer text is left
// to the next scan: history keeps both.
func (b *batch) addPlaced(p *prepared, hash string, text func() ([]byte, error)) error {
	if data := p.load(b.v, b.root); p.skip == "" && p.hash == hash {
		if p.differs() {
			p.parse(b.v, data, p.Stat.Mtime)
		}
		b.enter(p) // with the stat of what was read: the next scan finds a later save
		return nil
	}
	data, err := text()
	if err != nil {
		return err
	}
	b.v.queue.Add(p.DiskPath)
	p.Stat, p.hashedAt, p.skip = fsid.Stat{Mtime: b.v.opt.Now().UnixNano()}, 0, "" // the next scan replaces the time, also as the note's date
	p.parse(b.v, data, p.Stat.Mtime)
	b.enter(p)
	return nil
}

// skip records a file that cannot be a note. If the store has a note for it, that is
// deleted.
func (b *batch) skip(p *prepared) {
	if p.unknown {
		b.v.rereads.add(p.Path, p.DiskPath, unreadRetry, p.skip)
		b.skipped = append(b.skipped, store.Skipped{Skipped: notes.Skipped{Path: p.Path, Reason: p.skip}}) // no stat, so that it is read again
		return
	}
	if p.row != nil {
		if r, same := b.known(*p.row); same {
			b.delete(r)
		}
	}
	if p.skip != skipGone {
		b.skipped = append(b.skipped, store.Skipped{Skipped: notes.Skipped{Path: p.Path, Reason: p.skip}, Stat: p.Stat})
	}
}

// prepared is a file that was read and parsed, ready to be committed.
type prepared struct {
	store.File
	real     string     // the path that was checked and is read, if a symlink leads to it
	row      *store.Row // the stored row; nil for a new file
	hashedAt int64
	hash     string
	note     *notes.Note // nil if the content equals the stored one
	parsed   *notes.Note // by the operation that wrote the file
	skip     string
	unknown  bool // the read failed for the reason in skip; the state of the file is unknown
}

// prepare reads and parses the files in parallel.
func (s *scan) prepare(ctx context.Context, batch []store.File) ([]prepared, error) {
	out := make([]prepared, len(batch))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	const stride = 32 // files per task; small files take only microseconds each
	for start := 0; start < len(batch); start += stride {
		g.Go(func() error {
			for i := start; i < min(start+stride, len(batch)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := batch[i]
				out[i] = prepared{File: f, real: s.Targets[f.Path]}
				if r, ok := s.rows[f.Path]; ok {
					out[i].row = &r
				} else if r, ok := s.moves[f.Path]; ok {
					out[i].row = &r
				}
				s.read(ctx, &out[i])
			}
			return nil
		})
	}
	return out, g.Wait()
}

// longNote is the size in bytes from which parsing is slow enough that a scan first checks
// whether it is needed.
const longNote = 1 << 20

// read reads the file, and parses it if its content or the parser differs from the row's. The
// watcher reports an operation's files before the operation has committed them; for a long note
// the scan waits for that commit, or both would parse it at the same time.
func (s *scan) read(ctx context.Context, p *prepared) {
	data := p.load(s.v, s.root)
	switch {
	case p.skip != "" || !p.differs() && p.row.Parser == notes.ParserVersion:
	case p.row != nil && justEmptied(p.Stat, p.row.Stat.Size, s.v.opt.Now()):
		p.skip = skipEmptied
	case len(data) >= longNote && p.differs() && s.isEcho(ctx, p):
		p.skip = skipChanging // the next scan finds the row of the operation
	default:
		p.parse(s.v, data, p.Stat.Mtime)
	}
}

// emptiedFor is how long a note that another program has emptied keeps its text in the store
// and cannot be edited. A program that saves in place empties the file first, and what it
// writes then would go to the file that an edit displaces.
const emptiedFor = 2 * time.Second

// justEmptied reports whether a file, of which known bytes are stored, was emptied less than
// emptiedFor ago.
func justEmptied(st fsid.Stat, known int64, now time.Time) bool {
	age := sinceChange(st, now)
	return st.Size == 0 && known > 0 && age >= 0 && age < emptiedFor
}

// sinceChange returns the time since a file was changed.
func sinceChange(st fsid.Stat, now time.Time) time.Duration {
	return now.Sub(time.Unix(0, max(st.Mtime, st.Ctime)))
}

// isEcho waits for any running operation, and then reports whether the store already has
// the content of the file.
func (s *scan) isEcho(ctx context.Context, p *prepared) bool {
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	rows, err := s.v.store.Rows(ctx, []string{p.Path})
	return err == nil && rows[p.Path].Hash == p.hash
}

// differs reports whether the file was read and differs from its row.
func (p *prepared) differs() bool {
	return p.skip == "" && (p.row == nil || p.row.Path != p.Path || p.row.Hash != p.hash)
}

func (p *prepared) parse(v *Vault, data []byte, mtime int64) {
	if p.note = p.parsed; p.note == nil {
		p.note, p.skip = v.parse(p.Path, data)
		p.unknown = p.skip != "" // what is known about the note is kept
	}
	if p.note != nil {
		t := time.Unix(0, mtime)
		p.note.Modified, p.note.Date, p.note.Created = t, t, t
	}
}

// parse parses a note without its times. If the parser panics, it logs that, once, and returns
// the reason to skip the note: one note must not end the program, which would read it again
// after each start.
func (v *Vault) parse(path string, data []byte) (note *notes.Note, skip string) {
	defer func() {
		if p := recover(); p != nil {
			if _, logged := v.unparsed.LoadOrStore(notes.Hash(data), nil); !logged {
				v.opt.Log.Error("the parser failed on a note; please report this", "note", path, "panic", p, "stack", string(debug.Stack()))
			}
			note, skip = nil, skipParser
		}
	}()
	_ = v.step(parseStep + path) // tests panic here
	return notes.Parse(path, data, time.Time{}), ""
}

// load reads the file. A file that keeps changing is left to the next scan.
func (p *prepared) load(v *Vault, root *disk.Root) []byte {
	p.hashedAt = v.opt.Now().UnixNano()
	data, stat, err := disk.ReadStable(root, cmp.Or(p.real, p.DiskPath), v.opt.MaxNoteBytes)
	if err == nil {
		err = v.step(readStep + p.DiskPath)
	}
	switch {
	case errors.Is(err, disk.ErrChanging):
		p.skip = skipChanging
		return nil
	case errors.Is(err, fs.ErrNotExist) && isEvicted(root, p.DiskPath):
		p.skip, p.unknown = skipEvicted, true
		return nil
	case err != nil:
		p.skip, p.unknown = readProblem(err), disk.IsUnknown(err)
		return nil
	}
	p.Stat = stat
	if p.skip = notes.NotText(data); p.skip != "" {
		return nil
	}
	p.hash = notes.Hash(data)
	return data
}

// readStep is the prefix of the fail-points at which tests make a read fail.
const readStep = "read "

// parseStep is the prefix of the fail-points at which tests make the parser panic.
const parseStep = readStep + "and parse "

const (
	skipEvicted = "iCloud Drive has not downloaded it"
	skipParser  = "notesd failed to parse it; the log says where, please report it"
)

// Reasons to skip a file that do not describe the file itself; they are not shown to users.
const (
	skipGone     = "gone"
	skipChanging = "being written"
	skipEmptied  = "emptied a moment ago"
)
