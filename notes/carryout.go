package notes

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// A batch is read, parsed and committed together. Large ones let the text
// index build two segments at once; the first is small, so that the newest
// notes are found within a moment of a first start.
const (
	batchBytes      = 8 << 20
	firstBatchBytes = 1 << 20
	batchFiles      = 2000
	// deferLinksFrom is the batch size from which links are resolved once at
	// the end instead of after every batch.
	deferLinksFrom = 64
)

// prepared is a file that was read and parsed, ready to be committed.
type prepared struct {
	found
	row      *row // what the store had; nil for a file it did not know
	hashedAt int64
	note     *Note // nil: the bytes are what the store has
	skip     string
}

// carryOut brings the store, and then the followers, to what the plan found.
// While the followers take one batch, the next is read and parsed.
func (v *Vault) carryOut(ctx context.Context, p *plan) error {
	v.progress.begin(len(p.changed))
	defer v.progress.end()
	root, err := v.disk.open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	if err := v.store.recordFiles(ctx, p); err != nil {
		return err
	}
	moves, err := v.pairMoves(ctx, root, p)
	if err != nil {
		return err
	}
	feeding := make(chan struct{}, 1) // holds a token while the followers are fed
	defer func() { feeding <- struct{}{} }()
	gone := p.gone
	for first := true; first || len(p.changed) > 0; first = false {
		batch := p.next(first)
		files, err := v.prepare(ctx, root, batch, p.rows, moves)
		if err != nil {
			return err
		}
		feeding <- struct{}{} // the batch before is with the followers
		err = v.commit(ctx, root, p, files, gone)
		gone = nil
		if err != nil {
			<-feeding
			return err
		}
		v.progress.done.Add(int64(len(batch)))
		go func() {
			defer func() { <-feeding }()
			v.feed.run(ctx)
		}()
	}
	return ctx.Err()
}

// next cuts a batch off the plan.
func (p *plan) next(first bool) []found {
	limit := int64(batchBytes)
	if first {
		limit = firstBatchBytes
	}
	n, total := 0, int64(0)
	for n < len(p.changed) && n < batchFiles && (n == 0 || total+p.changed[n].stat.size <= limit) {
		total += p.changed[n].stat.size
		n++
	}
	batch := p.changed[:n]
	p.changed = p.changed[n:]
	return batch
}

// prepare reads and parses the files, on all processors.
func (v *Vault) prepare(ctx context.Context, root *os.Root, batch []found, rows map[string]row, moves map[string]row) ([]prepared, error) {
	out := make([]prepared, len(batch))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	const stride = 32 // files for one worker at a time: small ones take microseconds
	for start := 0; start < len(batch); start += stride {
		g.Go(func() error {
			for i := start; i < min(start+stride, len(batch)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := batch[i]
				out[i] = prepared{found: f}
				if r, ok := rows[f.path]; ok {
					out[i].row = &r
				} else if r, ok := moves[f.path]; ok {
					out[i].row = &r
				}
				if err := v.readFile(root, &out[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, g.Wait()
}

// readFile reads one file, consistently: one that changes meanwhile is read
// again, and left to the next look when it goes on changing.
func (v *Vault) readFile(root *os.Root, p *prepared) error {
	for range 3 {
		p.hashedAt = v.opt.Now().UnixNano()
		data, before, err := v.readOnce(root, p.diskPath)
		if err != nil {
			p.skip = readProblem(err)
			return nil
		}
		after, err := root.Stat(p.diskPath)
		if err != nil {
			p.skip = readProblem(err)
			return nil
		}
		if statOf(after) != before || int64(len(data)) != before.size {
			continue
		}
		p.stat = before
		if reason := notText(data); reason != "" {
			p.skip = reason
			return nil
		}
		if p.row == nil || p.row.path != p.path || p.row.hash != hashOf(data) {
			p.note = parseNote(p.path, data, time.Unix(0, before.mtime))
		}
		return nil
	}
	p.skip = skipChanging
	return nil
}

// Reasons to pass a file over that are not facts about the file, and so are
// not shown.
const (
	skipGone     = "gone"
	skipChanging = "being written"
)

var errTooLarge = errors.New("larger than the limit for notes")

func readProblem(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return skipGone
	case errors.Is(err, errTooLarge):
		return err.Error()
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	}
	return "it cannot be read"
}

func (v *Vault) readOnce(root *os.Root, diskPath string) ([]byte, stat, error) {
	f, err := root.OpenFile(diskPath, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, stat{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, stat{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, stat{}, errors.New("not a regular file")
	case info.Size() > v.opt.MaxNoteBytes:
		return nil, stat{}, errTooLarge
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it has shrunk; the stat after tells
	}
	return data[:n], statOf(info), err
}

// pairMoves finds, for files without a row, the row of a vanished note whose
// file this was before: the same inode with the same stat, or else the same
// bytes, when they are not empty and nothing else on either side has them.
// The pairs leave p.gone. What cannot be paired stays a delete and a create.
func (v *Vault) pairMoves(ctx context.Context, root *os.Root, p *plan) (map[string]row, error) {
	moves := map[string]row{}
	if len(p.gone) == 0 {
		return moves, nil
	}
	byInode, byHash := map[int64]row{}, map[string][]row{}
	for _, r := range p.gone {
		if r.stat.inode != 0 {
			byInode[r.stat.inode] = r
		}
		byHash[r.hash] = append(byHash[r.hash], r)
	}
	taken := map[int64]bool{}
	var rest []found
	for _, f := range p.changed {
		if _, known := p.rows[f.path]; known {
			continue
		}
		r, ok := byInode[f.stat.inode]
		if ok && !taken[r.id] && r.stat.size == f.stat.size && r.stat.mtime == f.stat.mtime {
			moves[f.path], taken[r.id] = r, true
			continue
		}
		rest = append(rest, f)
	}
	if err := v.pairByHash(ctx, root, rest, byHash, moves, taken); err != nil {
		return nil, err
	}
	p.gone = slices.DeleteFunc(p.gone, func(r row) bool { return taken[r.id] })
	return moves, nil
}

func (v *Vault) pairByHash(ctx context.Context, root *os.Root, files []found, byHash map[string][]row, moves map[string]row, taken map[int64]bool) error {
	sizes := map[int64]bool{}
	for _, rows := range byHash {
		sizes[rows[0].stat.size] = true
	}
	sameHash := map[string][]found{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.stat.size == 0 || !sizes[f.stat.size] {
			continue // cannot have the bytes of any of them
		}
		if data, _, err := v.readOnce(root, f.diskPath); err == nil {
			h := hashOf(data)
			sameHash[h] = append(sameHash[h], f)
		}
	}
	for h, files := range sameHash {
		rows := slices.DeleteFunc(slices.Clone(byHash[h]), func(r row) bool { return taken[r.id] })
		if len(files) == 1 && len(rows) == 1 {
			moves[files[0].path], taken[rows[0].id] = rows[0], true
		}
	}
	return nil
}

// commit writes a prepared batch to the store under the vault's lock. What
// has changed since the plan was made is left to the next look.
func (v *Vault) commit(ctx context.Context, root *os.Root, p *plan, files []prepared, gone []row) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	current := p.rows
	if v.writes.Load() != p.writes {
		var err error
		if current, err = v.store.rows(ctx, pathsOf(files, gone)); err != nil {
			return err
		}
	}
	b := &batch{vault: v, root: root, current: current}
	for _, r := range gone {
		b.remove(r)
	}
	for i := range files {
		b.add(&files[i])
	}
	if len(b.again) > 0 {
		v.queue.add(b.again)
	}
	if err := v.commitEntries(ctx, b.entries, b.touches, Outside); err != nil || len(b.skipped) == 0 {
		return err
	}
	return v.store.notes.Write(ctx, func(tx *sql.Tx) error {
		for _, k := range b.skipped {
			if err := insertSkipped(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// commitEntries commits to the store and queues the changes for the followers.
// The caller holds the vault's lock.
func (v *Vault) commitEntries(ctx context.Context, entries []entry, touches []touch, by Author) error {
	if len(entries) == 0 && len(touches) == 0 {
		return nil
	}
	if by == Outside {
		if err := v.store.keepOverwritten(ctx, entries); err != nil {
			return err
		}
	}
	changes, err := v.store.apply(ctx, entries, touches, len(entries) >= deferLinksFrom)
	if err != nil {
		return err
	}
	v.writes.Add(1)
	v.feed.add(changes)
	return nil
}

func pathsOf(files []prepared, gone []row) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
		if f.row != nil && f.row.path != f.path {
			paths = append(paths, f.row.path)
		}
	}
	for _, r := range gone {
		paths = append(paths, r.path)
	}
	return paths
}

// batch turns prepared files into entries, comparing once more, under the
// vault's lock, with what the disk and the store have now.
type batch struct {
	vault   *Vault
	root    *os.Root
	current map[string]row
	entries []entry
	touches []touch
	again   []string
	skipped []Skipped
}

// known returns the store's present row for one that the plan had, and
// whether it is still the same version of the same note.
func (b *batch) known(r row) (row, bool) {
	now, ok := b.current[r.path]
	return now, ok && now.id == r.id && now.hash == r.hash
}

func (b *batch) remove(r row) {
	if _, same := b.known(r); !same {
		return // a tool has changed or removed it since
	}
	if _, err := b.root.Lstat(r.diskPath); err == nil && spelledSo(b.root, r.diskPath) {
		if !b.vault.ignore.Match(r.path) {
			b.again = append(b.again, r.diskPath) // it is back
			return
		}
	}
	b.entries = append(b.entries, entry{kind: Deleted, id: r.id, path: r.path})
}

func (b *batch) add(p *prepared) {
	switch {
	case p.skip == skipChanging:
		b.again = append(b.again, p.diskPath)
		return
	case p.skip != "":
		b.skip(p)
		return
	}
	if info, err := b.root.Stat(p.diskPath); err != nil || statOf(info) != p.stat {
		b.again = append(b.again, p.diskPath)
		return
	}
	e := entry{kind: Created, path: p.path, diskPath: p.diskPath, stat: p.stat, hashedAt: p.hashedAt, note: p.note}
	if p.row == nil {
		if _, taken := b.current[p.path]; taken {
			b.again = append(b.again, p.diskPath) // a tool has created it since
			return
		}
		b.entries = append(b.entries, e)
		return
	}
	if _, same := b.known(*p.row); !same {
		b.again = append(b.again, p.diskPath)
		return
	}
	e.id = p.row.id
	switch {
	case p.row.path != p.path:
		e.kind, e.oldPath = Moved, p.row.path
	case p.note == nil:
		b.touches = append(b.touches, touch{id: e.id, diskPath: p.diskPath, stat: p.stat, hashedAt: p.hashedAt})
		return
	default:
		e.kind = Modified
	}
	b.entries = append(b.entries, e)
}

// skip: the file cannot be a note. If it was one, it is none any more.
func (b *batch) skip(p *prepared) {
	if p.row != nil {
		if r, same := b.known(*p.row); same {
			b.entries = append(b.entries, entry{kind: Deleted, id: r.id, path: r.path})
		}
	}
	if p.skip != skipGone {
		b.skipped = append(b.skipped, Skipped{Path: p.path, Reason: p.skip, stat: p.stat})
	}
}

// finishLinks resolves all links when a large batch has left that undone.
func (v *Vault) finishLinks(ctx context.Context) error {
	var stale bool
	if err := v.store.setting(ctx, linksStale, &stale); err != nil || !stale {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.store.notes.Write(ctx, func(tx *sql.Tx) error { return resolveAll(ctx, tx) })
}
