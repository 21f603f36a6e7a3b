package pglog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"notesd/migrations"
	"notesd/notes"
	"notesd/notes/store"
)

const (
	// callFor is the timeout of a call. Without it a server that disappears silently would
	// block every sync of the folder.
	callFor = time.Minute
	slowest = 64 << 10 // bytes of contents per second that a connection can transfer at least
)

// Log is one vault's log.
type Log struct {
	db   *Database
	name string

	mu       sync.Mutex
	vault    int64 // its id; 0 before connecting
	notify   *time.Timer
	notified time.Time // when the last notification was sent
	closed   bool
}

// Position is a reader's position in one log.
type Position struct {
	Seq  uint64 // number of the newest batch read
	Mark string // id of that batch, or of the log before its first batch
}

// ErrForeign is returned for a position that is not in the log.
var ErrForeign = errors.New("the position is of another log, or of a later state of this one")

// ErrPruned is returned for a position after which changes were removed: see [Log.Prune].
// The reader's state at that position is still valid.
var ErrPruned = errors.New("the log has no longer what came after the position")

// errReplaced is returned if the database was replaced with one in which the vault has another
// id, or none. It is not created again, because a restore may be in progress.
var errReplaced = errors.New("the database was replaced while notesd was running: restart notesd")

// present returns the error of reading the vault's row by its id and name.
func present(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return errReplaced
	}
	return err
}

// Close ends the notifications of other nodes. It leaves the database open.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.notify != nil {
		l.notify.Stop()
	}
}

// Database returns the database that contains the log.
func (l *Log) Database() *Database { return l.db }

// Place describes the database for users, without user name and password.
func (l *Log) Place() string {
	c := l.db.pool.Config().ConnConfig
	return fmt.Sprintf("vault %s in database %s at %s", l.name, c.Database, c.Host)
}

// ready finds or creates the vault, once.
func (l *Log) ready(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.vault != 0 {
		return nil
	}
	var id int64
	err := l.db.inTx(ctx, func(tx pgx.Tx) error {
		made, err := begin(ctx, tx, l.name)
		if err != nil {
			return err
		}
		if made {
			l.db.log.Info("began a new vault in the database", "vault", l.name)
		}
		return tx.QueryRow(ctx, `SELECT id FROM vaults WHERE name = $1`, l.name).Scan(&id)
	})
	if err == nil {
		l.vault = id
	}
	return err
}

// migrationLock is the key of the advisory lock held during migrations, an arbitrary
// number.
const migrationLock = 0x6e6f746573640001

// migrate migrates the database to this program's version.
func migrate(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS notesd_schema (version int NOT NULL)`); err != nil {
		return err
	}
	have, err := version(ctx, tx)
	if err != nil {
		return err
	}
	if err := checkVersion(have); err != nil {
		return err
	}
	scripts := migrations.Postgres.Scripts()
	for v := have; v < len(scripts); v++ {
		if _, err := tx.Conn().PgConn().Exec(ctx, scripts[v]).ReadAll(); err != nil { // several statements
			return fmt.Errorf("migrate the database to version %d: %w", v+1, err)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO notesd_schema (version) VALUES ($1)`, v+1); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion returns [migrations.ErrNewer] if the database has a newer version than this
// program.
func checkVersion(have int) error {
	if known := len(migrations.Postgres.Scripts()); have > known {
		return fmt.Errorf("the database has version %d, this program knows %d: %w", have, known, migrations.ErrNewer)
	}
	return nil
}

// version returns the version of the database's tables.
func version(ctx context.Context, q querier) (have int, err error) {
	err = q.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM notesd_schema`).Scan(&have)
	return have, err
}

// call runs do on the migrated database and the existing vault, with a timeout. After a
// restart of the server the pool's connections are dead, so do may run twice.
func (l *Log) call(ctx context.Context, do func(ctx context.Context) error) error {
	return l.transfer(ctx, 0, do)
}

// transfer is [Log.call] with a timeout for contents of this size.
func (l *Log) transfer(ctx context.Context, size int, do func(ctx context.Context) error) error {
	return l.db.transfer(ctx, size, func(ctx context.Context) error {
		if err := l.ready(ctx); err != nil {
			return err
		}
		return do(ctx)
	})
}

// call is [Log.call] without a vault.
func (d *Database) call(ctx context.Context, do func(ctx context.Context) error) error {
	return d.transfer(ctx, 0, do)
}

func (d *Database) transfer(ctx context.Context, size int, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callFor+time.Duration(size/slowest)*time.Second)
	defer cancel()
	try := func() error {
		if err := d.ready(ctx); err != nil {
			return err
		}
		return do(ctx)
	}
	err := try()
	if err == nil || IsAnswer(err) || ctx.Err() != nil {
		return err
	}
	d.pool.Reset()
	return try()
}

// IsAnswer reports whether the error is an answer of the database, or is derived from one, as
// opposed to the database being unreachable.
func IsAnswer(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.SeverityUnlocalized == "ERROR" // others end the connection
	}
	for _, answer := range []error{pgx.ErrNoRows, errReplaced, ErrForeign, ErrPruned, migrations.ErrNewer} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return errors.As(err, new(*notes.LogConflict)) || errors.As(err, new(*notes.Error))
}

// An Entry is one batch of the feed.
type Entry struct {
	Position
	Kind    string // create, edit, move, delete, restore, …
	Author  notes.Author
	At      time.Time
	Changes []notes.FileChange // without Data
}

// Changes returns at most limit batches after the position, in order. It returns
// [ErrForeign] if the position is not in the log, and [ErrPruned] if changes after it
// were removed.
func (l *Log) Changes(ctx context.Context, after Position, limit int) (entries []Entry, err error) {
	err = l.call(ctx, func(ctx context.Context) error {
		entries, err = l.changes(ctx, after, limit)
		return err
	})
	return entries, err
}

func (l *Log) changes(ctx context.Context, after Position, limit int) ([]Entry, error) {
	if after.Seq == 0 {
		var epoch string // not remembered: the vault may be created again
		err := present(l.db.pool.QueryRow(ctx, `SELECT epoch FROM vaults WHERE id = $1 AND name = $2`, l.vault, l.name).Scan(&epoch))
		if err != nil {
			return nil, err
		}
		if after.Mark != epoch {
			return nil, ErrForeign
		}
	}
	rows, err := l.db.pool.Query(ctx, `SELECT b.seq, b.id, b.kind, b.author, b.client, b.at, coalesce(f.old_path, ''), coalesce(f.path, ''), f.before, f.after,
			(SELECT kept FROM vaults WHERE id = $1 AND name = $4)
		FROM (SELECT * FROM batches WHERE vault = $1 AND seq >= $2 ORDER BY seq LIMIT $3) b LEFT JOIN feed f ON f.vault = b.vault AND f.seq = b.seq
		ORDER BY b.seq, f.ordinal`, l.vault, int64(max(after.Seq, 1)), limit+1, l.name)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	var e Entry
	var c notes.FileChange
	var before, hash []byte
	var kept *uint64
	_, err = pgx.ForEachRow(rows, []any{&e.Seq, &e.Mark, &e.Kind, &e.Author.Name, &e.Author.Version, &e.At, &c.OldPath, &c.Path, &before, &hash, &kept}, func() error {
		if kept == nil {
			return errReplaced
		}
		if n := len(entries); n == 0 || entries[n-1].Seq != e.Seq {
			entries = append(entries, e)
		}
		if c.OldPath == "" && c.Path == "" {
			return nil // its changes were forgotten
		}
		last := &entries[len(entries)-1]
		last.Changes = append(last.Changes, notes.FileChange{OldPath: c.OldPath, Path: c.Path, Before: hex.EncodeToString(before), After: hex.EncodeToString(hash)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if after.Seq > 0 {
		if len(entries) == 0 || entries[0].Position != after {
			return nil, ErrForeign
		}
		entries = entries[1:]
	}
	if kept != nil && after.Seq+1 < *kept {
		return nil, ErrPruned
	}
	return entries[:min(len(entries), limit)], nil
}

// Head returns the number of the newest batch.
func (l *Log) Head(ctx context.Context) (seq uint64, err error) {
	err = l.call(ctx, func(ctx context.Context) error {
		return present(l.db.pool.QueryRow(ctx, `SELECT seq FROM vaults WHERE id = $1 AND name = $2`, l.vault, l.name).Scan(&seq))
	})
	return seq, err
}

// File is a file in the log.
type File struct {
	Path string
	Hash string
	Seq  uint64 // of the batch that wrote it
	By   string // its author
}

// Snapshot returns all files and the position they correspond to.
func (l *Log) Snapshot(ctx context.Context) (at Position, files []File, err error) {
	err = l.call(ctx, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, l.db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			err := tx.QueryRow(ctx, `SELECT v.seq, coalesce(b.id, v.epoch) FROM vaults v LEFT JOIN batches b ON b.vault = v.id AND b.seq = v.seq WHERE v.id = $1 AND v.name = $2`, l.vault, l.name).Scan(&at.Seq, &at.Mark)
			if err != nil {
				return present(err)
			}
			files, err = readFiles(tx.Query(ctx, selectFiles+` ORDER BY f.path`, l.vault))
			return err
		})
	})
	return at, files, err
}

const selectFiles = `SELECT f.path, encode(f.hash, 'hex'), f.seq, b.author FROM files f JOIN batches b USING (vault, seq) WHERE f.vault = $1`

// Current returns the log's current files among the paths, by path.
func (l *Log) Current(ctx context.Context, paths []string) (map[string]File, error) {
	var found []File
	err := l.call(ctx, func(ctx context.Context) (err error) {
		found, err = readFiles(l.db.pool.Query(ctx, selectFiles+` AND f.path = ANY($2)`, l.vault, paths))
		return err
	})
	files := map[string]File{}
	for _, f := range found {
		files[f.Path] = f
	}
	return files, err
}

// Holding returns the paths of the log's current files with this hash.
func (l *Log) Holding(ctx context.Context, hash string) (paths []string, err error) {
	err = l.call(ctx, func(ctx context.Context) error {
		rows, _ := l.db.pool.Query(ctx, `SELECT path FROM files WHERE vault = $1 AND hash = $2 ORDER BY path`, l.vault, raw([]string{hash})[0]) // its error is in rows
		paths, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return paths, err
}

func readFiles(rows pgx.Rows, err error) ([]File, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[File])
}

// contentBytes limits the size of contents, as stored, that are read at a time, apart from the
// last one. It bounds the memory that they take, and how long slow connections take.
const contentBytes = 8 << 20

// Contents returns the contents with these hashes: all of them, or the first ones if they are
// larger than contentBytes together; at least one.
func (l *Log) Contents(ctx context.Context, hashes []string) (found map[string][]byte, err error) {
	err = l.transfer(ctx, contentBytes+notes.MaxAttachmentBytes, func(ctx context.Context) error {
		found, err = contents(ctx, l.db.pool, l.vault, hashes)
		return err
	})
	return found, err
}

// querier is a connection, a transaction or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func contents(ctx context.Context, q querier, vault int64, hashes []string) (map[string][]byte, error) {
	rows, err := q.Query(ctx, `SELECT hash, codec, data FROM (
			SELECT b.*, sum(length(data)) OVER (ORDER BY n) - length(data) AS before
			FROM unnest($2::bytea[]) WITH ORDINALITY AS wanted (hash, n) JOIN blobs b USING (hash) WHERE vault = $1
		) AS found WHERE before < $3`, vault, raw(hashes), contentBytes)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	var hash, data []byte
	var codec int
	_, err = pgx.ForEachRow(rows, []any{&hash, &codec, &data}, func() error {
		plain, err := store.Unpack(codec, slices.Clone(data))
		found[hex.EncodeToString(hash)] = plain
		return err
	})
	if len(hashes) > 0 && err == nil {
		if _, ok := found[hashes[0]]; !ok {
			err = fmt.Errorf("the database lacks the content with the hash %s", hashes[0])
		}
	}
	return found, err
}

// raw returns the bytes of hexadecimal hashes, nil for "".
func raw(hashes []string) [][]byte {
	out := make([][]byte, len(hashes))
	for i, h := range hashes {
		if h != "" {
			out[i], _ = hex.DecodeString(h) // the database rejects other strings
		}
	}
	return out
}
