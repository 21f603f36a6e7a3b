package vault

import (
	"context"
	"database/sql"
	"os"

	"notesd/notes"
	"notesd/notes/store"
)

// A batch is read, parsed and committed together. Large ones let the text
// index build two segments at once; the first of a whole vault is small, so
// that the newest notes are found within a moment of a first start.
const (
	batchBytes      = 6 << 20
	firstBatchBytes = 1 << 20
	batchFiles      = 2000
	// deferLinksFrom is how many files a scan of the whole vault must have to
	// read for links to be resolved once at its end and not with every batch.
	deferLinksFrom = 64
)

// prepared is a file that was read and parsed, ready to be committed.
type prepared struct {
	store.File
	row      *store.Row // what the store had; nil for a file it did not know
	hashedAt int64
	hash     string
	note     *notes.Note // nil: the bytes are what the store has
	skip     string
	unknown  bool // skip is that the read failed: nothing is known of the file
}

// carryOut brings the store, and then the followers, to what the plan found.
// While the followers take one batch, the next is read, parsed and committed.
func (v *Vault) carryOut(ctx context.Context, p *plan) error {
	v.progress.begin(len(p.changed))
	defer v.progress.end()
	v.progress.differing.Add(int64(p.differing))
	defer v.progress.differing.Add(-int64(p.differing))
	root, err := v.disk.open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read from
	if err := v.store.RecordFiles(ctx, p.Scan, p.isSpared); err != nil {
		return err
	}
	moves, err := v.pairMoves(ctx, root, p)
	if err != nil {
		return err
	}
	p.deferLinks = p.Whole && len(p.changed) >= deferLinksFrom
	feeding := make(chan struct{}, 1) // holds a token while the followers are fed
	defer func() { feeding <- struct{}{} }()
	gone := p.gone
	for first := true; first || len(p.changed) > 0; first = false {
		batch := p.next(first && p.Whole)
		files, err := v.prepare(ctx, root, batch, p.rows, moves)
		if err != nil {
			return err
		}
		if err := v.commit(ctx, root, p, files, gone); err != nil {
			return err
		}
		gone = nil
		v.progress.done.Add(int64(len(batch)))
		feeding <- struct{}{} // until now the batch before may have been with the followers
		go func() {
			defer func() { <-feeding }()
			v.feed.run(ctx)
		}()
	}
	return ctx.Err()
}

// next cuts a batch off the plan.
func (p *plan) next(small bool) []store.File {
	limit := int64(batchBytes)
	if small {
		limit = firstBatchBytes
	}
	n, total := 0, int64(0)
	for n < len(p.changed) && n < batchFiles && (n == 0 || total+p.changed[n].Stat.Size <= limit) {
		total += p.changed[n].Stat.Size
		n++
	}
	batch := p.changed[:n]
	p.changed = p.changed[n:]
	return batch
}

// commit writes a prepared batch to the store under the vault's lock. What
// has changed since the plan was made is left to the next look.
func (v *Vault) commit(ctx context.Context, root *os.Root, p *plan, files []prepared, gone []store.Row) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	current := p.rows
	if v.writes.Load() != p.writes {
		var err error
		if current, err = v.store.Rows(ctx, pathsOf(files, gone)); err != nil {
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
	if err := v.commitEntries(ctx, b.entries, b.touches, notes.Outside, p.deferLinks); err != nil || len(b.skipped) == 0 {
		return err
	}
	return v.store.Notes().Write(ctx, func(tx *sql.Tx) error {
		for _, k := range b.skipped {
			if err := store.InsertSkipped(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// commitEntries commits to the store and queues the changes for the followers.
// The caller holds the vault's lock.
func (v *Vault) commitEntries(ctx context.Context, entries []store.Entry, touches []store.Touch, by notes.Author, deferLinks bool) error {
	if len(entries) == 0 && len(touches) == 0 {
		return nil
	}
	if by == notes.Outside {
		if err := v.store.KeepOverwritten(ctx, entries); err != nil {
			return err
		}
	}
	changes, err := v.store.Apply(ctx, entries, touches, deferLinks)
	if err != nil {
		return err
	}
	v.writes.Add(1)
	v.feed.add(changes)
	return nil
}

func pathsOf(files []prepared, gone []store.Row) []string {
	var paths []string
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

// finishLinks resolves all links when a large batch has left that undone.
func (v *Vault) finishLinks(ctx context.Context) error {
	var stale bool
	if err := v.store.Setting(ctx, store.LinksStale, &stale); err != nil || !stale {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.store.Notes().Write(ctx, func(tx *sql.Tx) error { return store.ResolveAll(ctx, tx) })
}
