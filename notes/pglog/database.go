package pglog

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connectTimeout bounds an attempt to connect, where the URL does not say.
const connectTimeout = 5 * time.Second

// maxConns bounds the connections of a node to the database, where the URL does not
// say: one more listens.
const maxConns = 4

// Database is a node's connections to a database: the vaults in it, and who may use
// them. It connects when it is first used and works again when the database is back.
// It is safe for concurrent use.
type Database struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	mu        sync.Mutex
	migrated  bool
	listeners map[*listener]struct{}
	unlisten  func() // ends the connection that listens; nil: there is none
}

// Open returns the database at address, a URL or key=value string as libpq takes it. It
// does not connect yet.
func Open(address string, log *slog.Logger) (*Database, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New(`it is not a URL such as "postgres://user@host/database"`) // pgx's error may have the password
	}
	if cfg.ConnConfig.ConnectTimeout == 0 || cfg.ConnConfig.ConnectTimeout > 2*time.Minute-time.Second { // pgx's default
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(address, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "notesd"
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return &Database{pool: pool, log: log, listeners: map[*listener]struct{}{}}, nil
}

// Log returns the log of the named vault, which the first use makes. Its Close leaves
// the database open.
func (d *Database) Log(name string) *Log { return &Log{db: d, pool: d.pool, name: name, log: d.log} }

// Close ends the connections.
func (d *Database) Close() error {
	d.pool.Close()
	return nil
}

// A Reader has every batch of a vault's log up to one.
type Reader struct {
	Vault string
	Seq   uint64
}

// Lag is what a reader does not have.
type Lag struct {
	Batches uint64
	Age     time.Duration // of the oldest of them
}

// Behind returns the lags of readers, in their order, with one query. A vault that the
// database does not have yet has no batches.
func (d *Database) Behind(ctx context.Context, readers []Reader) (lags []Lag, err error) {
	names, seqs := make([]string, len(readers)), make([]int64, len(readers))
	for i, r := range readers {
		names[i], seqs[i] = r.Vault, int64(r.Seq)
	}
	err = d.again(ctx, func() error {
		if err := d.ready(ctx); err != nil {
			return err
		}
		rows, err := d.pool.Query(ctx, `
			SELECT greatest(coalesce(v.seq, 0) - r.seq, 0), greatest(coalesce(extract(epoch FROM now() - b.at), 0), 0)::float8
			FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS r (name, seq, n)
			LEFT JOIN vaults v USING (name) LEFT JOIN batches b ON b.vault = v.id AND b.seq = r.seq + 1
			ORDER BY r.n`, names, seqs)
		if err != nil {
			return err
		}
		lags, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Lag, err error) {
			var seconds float64
			err = row.Scan(&l.Batches, &seconds)
			l.Age = time.Duration(seconds * float64(time.Second))
			return l, err
		})
		return err
	})
	return lags, err
}

func (d *Database) inTx(ctx context.Context, do func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, d.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, do)
}

// ready migrates the database, once.
func (d *Database) ready(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.migrated {
		return nil
	}
	err := d.inTx(ctx, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	d.migrated = err == nil
	return err
}

// begin makes the vault unless it is there, and reports whether it was made.
func begin(ctx context.Context, tx pgx.Tx, vault string) (bool, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO vaults (name, epoch) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, vault, rand.Text())
	return tag.RowsAffected() > 0, err
}
