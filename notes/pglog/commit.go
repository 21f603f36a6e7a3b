package pglog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"notesd/notes"
	"notesd/notes/store"
)

// Time limits of a commit. A transaction whose node has disappeared, leaving the
// connection half open, ends after holdFor and releases its lock.
const (
	lockFor    = 8 * time.Second
	holdFor    = 10 * time.Second
	resolveFor = 15 * time.Second
	resolveGap = 200 * time.Millisecond

	// largeContents is the total size of contents that are sent before the vault is locked.
	// Each such commit locks the vault's row also as one that refers to it, which makes
	// commits several times slower if there are many of them.
	largeContents = 256 << 10
)

// Commit commits the batch and returns its number, or that of the newest batch if it
// changes nothing. It returns a [*notes.LogConflict] if a file is not the one that a
// change was computed from, and an error that wraps [notes.ErrOutcomeUnknown] if the
// response to the commit was lost and the outcome could not be determined. Any other
// error means that nothing was written.
func (l *Log) Commit(ctx context.Context, b notes.Batch) (seq uint64, err error) {
	sent := false
	err = l.transfer(ctx, sizeOf(b.Changes), func(ctx context.Context) error {
		if !sent { // otherwise it may have been committed
			seq, sent, err = l.commit(ctx, b)
		}
		return err
	})
	if err == nil || !sent || IsAnswer(err) {
		return seq, err
	}
	l.db.log.Warn("the answer to a commit was lost; asking for its outcome", "err", err)
	ctx, cancelResolve := context.WithTimeout(context.WithoutCancel(ctx), resolveFor)
	defer cancelResolve()
	for {
		seq, committed, resolveErr := l.Resolve(ctx, b.ID)
		switch {
		case committed:
			l.wake()
			return seq, nil
		case resolveErr == nil:
			return 0, err
		}
		select {
		case <-time.After(resolveGap):
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", notes.ErrOutcomeUnknown, err)
		}
	}
}

// sizeOf returns the total size of the changes' contents.
func sizeOf(changes []notes.FileChange) (size int) {
	for _, c := range changes {
		size += len(c.Data)
	}
	return size
}

// Resolve reports whether the batch was committed, and with which number. It waits for a
// running transaction of the batch, so its result is final: a batch that it reports as
// not committed never will be.
func (l *Log) Resolve(ctx context.Context, id string) (seq uint64, committed bool, err error) {
	err = l.locked(ctx, func(ctx context.Context, tx pgx.Tx, _ uint64) error {
		seq, committed, err = l.batch(ctx, tx, id)
		return err
	})
	return seq, committed && err == nil, err
}

// batch returns the number of the batch with the id, and whether there is one.
func (l *Log) batch(ctx context.Context, tx pgx.Tx, id string) (seq uint64, found bool, err error) {
	err = tx.QueryRow(ctx, `SELECT seq FROM batches WHERE vault = $1 AND id = $2`, l.vault, id).Scan(&seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return seq, err == nil, err
}

// locked runs a transaction that locks the vault's row, which serialises all writes. head is
// the number of the newest batch.
func (l *Log) locked(ctx context.Context, do func(ctx context.Context, tx pgx.Tx, head uint64) error) error {
	return l.call(ctx, func(ctx context.Context) error {
		return l.db.inTx(ctx, func(tx pgx.Tx) error {
			var head uint64
			b := &pgx.Batch{}
			l.queueLock(b, &head)
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			return do(ctx, tx, head)
		})
	})
}

// queueLock queues the lock on the vault's row. It does not conflict with the lock that
// references to the vault take, which the inserted contents of other commits are.
func (l *Log) queueLock(b *pgx.Batch, head *uint64) {
	b.Queue(fmt.Sprintf("SET LOCAL lock_timeout = %d", lockFor.Milliseconds()))
	b.Queue(fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = %d", holdFor.Milliseconds()))
	b.Queue(`SELECT seq FROM vaults WHERE id = $1 AND name = $2 FOR NO KEY UPDATE`, l.vault, l.name).QueryRow(func(row pgx.Row) error { return present(row.Scan(head)) })
}

// commit runs the transaction in two round trips, because other writers of the vault wait
// for it. Large contents are sent before the vault is locked, because that takes long on a
// slow connection. sent reports whether its end was sent to the server.
func (l *Log) commit(ctx context.Context, b notes.Batch) (seq uint64, sent bool, err error) {
	conn, err := l.db.pool.Acquire(ctx)
	if err != nil {
		return 0, false, err
	}
	defer conn.Release()
	defer func() {
		if conn.Conn().PgConn().TxStatus() != 'I' { // a transaction is still open
			_, _ = conn.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	p := &plan{q: conn, vault: l.vault, have: map[string]file{}, newer: map[string]bool{}}
	first := &pgx.Batch{}
	first.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	large := sizeOf(b.Changes) > largeContents
	if large {
		l.queueContents(first, b.Changes)
	}
	var head uint64
	l.queueLock(first, &head)
	p.queueLoads(first, b.Changes)
	if b.Seen != nil {
		p.queueNewer(first, *b.Seen, b.Changes)
	}
	if err := conn.SendBatch(ctx, first).Close(); err != nil {
		return 0, false, err
	}
	if err := p.make(ctx, b.Changes); err != nil {
		return 0, false, err
	}
	if len(p.feed) == 0 {
		return head, false, nil
	}
	last := &pgx.Batch{}
	if !large {
		l.queueContents(last, p.feed)
	}
	p.queueWrites(last, head+1, b)
	last.Queue("COMMIT")
	if err := conn.SendBatch(ctx, last).Close(); err != nil {
		return 0, true, err
	}
	l.wake()
	return head + 1, true, nil
}

// plan is the effect of a batch on the rows. Files are compared by key, their folded
// path, because some nodes' folders cannot hold two names that differ only in case.
//
// A change is applied if the file in the log is the one it was computed from, and skipped
// if the log already has the result, so that a batch repeated after a lost response is a
// no-op. Anything else is a conflict, and the batch writes nothing. All removals come
// before all additions, so that two files can swap names.
type plan struct {
	q     querier
	vault int64
	have  map[string]file    // by key: the files that the batch involves
	newer map[string]bool    // paths of files that were changed since the batch's Seen
	moved [][]file           // the files of each moved folder
	feed  []notes.FileChange // without folders and changes already applied
}

type file struct{ path, hash string }

// queueLoads queues queries for the files named by the changes.
func (p *plan) queueLoads(b *pgx.Batch, changes []notes.FileChange) {
	var keys []string
	for _, c := range changes {
		if !c.Folder {
			keys = append(keys, keysOf(c)...)
			continue
		}
		b.Queue(selectFiles+` AND f.path >= $2 AND f.path < $3`, p.vault, c.OldPath+"/", c.OldPath+"0").Query(func(rows pgx.Rows) error { // '0' is the character after '/'
			inside, err := p.load(rows, nil)
			p.moved = append(p.moved, inside)
			return err
		})
	}
	b.Queue(selectFiles+` AND f.key = ANY($2)`, p.vault, keys).Query(func(rows pgx.Rows) error {
		_, err := p.load(rows, nil)
		return err
	})
}

// queueNewer queues a query for the files of the changes that a batch after seen has
// changed.
func (p *plan) queueNewer(b *pgx.Batch, seen uint64, changes []notes.FileChange) {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.OldPath, c.Path)
	}
	b.Queue(`SELECT DISTINCT named FROM feed CROSS JOIN unnest($3::text[]) named WHERE vault = $1 AND seq > $2 AND named IN (old_path, path)`, p.vault, seen, paths).Query(func(rows pgx.Rows) error {
		var path string
		_, err := pgx.ForEachRow(rows, []any{&path}, func() error { p.newer[path] = true; return nil })
		return err
	})
}

func keysOf(c notes.FileChange) (keys []string) {
	for _, path := range []string{c.OldPath, c.Path} {
		if path != "" {
			keys = append(keys, notes.Key(path))
		}
	}
	return keys
}

// make computes the effect of the changes on the loaded files.
func (p *plan) make(ctx context.Context, changes []notes.FileChange) error {
	var all []notes.FileChange
	var keys []string
	folders := p.moved
	for _, c := range changes {
		if !c.Folder {
			all = append(all, c)
			continue
		}
		for _, f := range folders[0] {
			inside := notes.FileChange{OldPath: f.path, Path: c.Path + strings.TrimPrefix(f.path, c.OldPath), Before: f.hash, After: f.hash}
			all, keys = append(all, inside), append(keys, keysOf(inside)...)
		}
		folders = folders[1:]
	}
	if len(keys) > 0 {
		if _, err := p.load(p.q.Query(ctx, selectFiles+` AND f.key = ANY($2)`, p.vault, keys)); err != nil {
			return err
		}
	}
	return p.compare(ctx, fold(all))
}

// fold merges the change of a file in a moved folder into the file's move: the change has
// the new path as its old one.
func fold(all []notes.FileChange) []notes.FileChange {
	at := map[string]int{} // by new path: the change
	var out []notes.FileChange
	for _, c := range all {
		if i, ok := at[c.OldPath]; ok && c.OldPath == c.Path {
			out[i].Before, out[i].After, out[i].Data = c.Before, c.After, c.Data
			continue
		}
		at[c.Path] = len(out)
		out = append(out, c)
	}
	return out
}

func (p *plan) load(rows pgx.Rows, err error) (found []file, _ error) {
	files, err := readFiles(rows, err)
	for _, r := range files {
		f := file{r.Path, r.Hash}
		p.have[notes.Key(f.path)] = f
		found = append(found, f)
	}
	return found, err
}

// compare checks every change against the state of the log and skips those already
// applied.
func (p *plan) compare(ctx context.Context, changes []notes.FileChange) error {
	after := func(path string) file { return p.have[notes.Key(path)] }
	for _, c := range changes {
		made := c.Path == "" && after(c.OldPath) == file{} || c.Path != "" && after(c.Path) == file{c.Path, c.After} &&
			(c.OldPath == c.Path || c.OldPath == "" || after(c.OldPath) == file{})
		if made {
			continue
		}
		if c.OldPath != "" && (p.newer[c.OldPath] || after(c.OldPath) != (file{c.OldPath, c.Before})) {
			return p.conflict(ctx, c.OldPath)
		}
		if p.newer[c.Path] {
			return p.conflict(ctx, c.Path)
		}
		p.feed = append(p.feed, c)
	}
	for _, c := range p.feed {
		if c.OldPath != "" {
			delete(p.have, notes.Key(c.OldPath))
		}
	}
	added := map[string]string{} // by key: the paths
	for _, c := range p.feed {
		if c.Path == "" {
			continue
		}
		if after(c.Path) != (file{}) {
			return p.conflict(ctx, c.Path)
		}
		k := notes.Key(c.Path)
		if other, twice := added[k]; twice {
			return &notes.LogConflict{Path: other}
		}
		added[k] = c.Path
	}
	return nil
}

func (p *plan) conflict(ctx context.Context, path string) error {
	f := p.have[notes.Key(path)]
	if f.hash == "" {
		return &notes.LogConflict{Path: path}
	}
	texts, err := contents(ctx, p.q, p.vault, []string{f.hash})
	if err != nil {
		return err
	}
	return &notes.LogConflict{Path: f.path, Hash: f.hash, Text: texts[f.hash]}
}

// queueContents queues a statement that inserts the new contents of the changes. If Prune
// removes one of them that existed before the vault is locked, the commit fails.
func (l *Log) queueContents(b *pgx.Batch, changes []notes.FileChange) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c notes.FileChange) bool { return c.Folder || c.After == c.Before || c.Path == "" })
	slices.SortFunc(changes, func(x, y notes.FileChange) int { return strings.Compare(x.After, y.After) }) // all nodes insert rows in the same order, to avoid deadlocks
	var hashes []string
	var data [][]byte
	var codecs []int16
	for _, c := range changes {
		codec, packed := store.Pack(c.Data)
		hashes, codecs, data = append(hashes, c.After), append(codecs, int16(codec)), append(data, packed)
	}
	if len(hashes) > 0 {
		b.Queue(`INSERT INTO blobs (vault, hash, codec, data) SELECT $1, * FROM unnest($2::bytea[], $3::smallint[], $4::bytea[]) ON CONFLICT DO NOTHING`, l.vault, raw(hashes), codecs, data)
	}
}

// queueWrites queues statements for the rows of the batch, apart from its contents.
func (p *plan) queueWrites(q *pgx.Batch, seq uint64, b notes.Batch) {
	vault := p.vault
	var old, paths, keys []string
	var oldPaths, newPaths, before, after, set []string
	for _, c := range p.feed {
		oldPaths, newPaths = append(oldPaths, c.OldPath), append(newPaths, c.Path)
		before, after = append(before, c.Before), append(after, c.After)
		if c.OldPath != "" {
			old = append(old, c.OldPath)
		}
		if c.Path == "" {
			continue
		}
		paths, keys, set = append(paths, c.Path), append(keys, notes.Key(c.Path)), append(set, c.After)
	}
	q.Queue(`INSERT INTO batches (vault, seq, id, kind, author, client) VALUES ($1, $2, $3, $4, $5, $6)`, vault, seq, b.ID, b.Kind, b.Author.Name, b.Author.Version)
	q.Queue(`DELETE FROM files WHERE vault = $1 AND path = ANY($2)`, vault, old)
	q.Queue(`INSERT INTO files (vault, seq, path, key, hash) SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::bytea[])`, vault, seq, paths, keys, raw(set))
	q.Queue(`INSERT INTO feed (vault, seq, old_path, path, before, after, ordinal) SELECT $1, $2, nullif(old, ''), nullif(new, ''), before, after, n
		FROM unnest($3::text[], $4::text[], $5::bytea[], $6::bytea[]) WITH ORDINALITY AS c (old, new, before, after, n)`, vault, seq, oldPaths, newPaths, raw(before), raw(after))
	q.Queue(`UPDATE vaults SET seq = $2 WHERE id = $1`, vault, seq)
}
