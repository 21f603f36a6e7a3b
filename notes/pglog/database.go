package pglog

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"notesd/migrations"
)

// connectTimeout is the default timeout for connecting; the URL can override it.
const connectTimeout = 5 * time.Second

// maxConns is the default limit of a node's connections to the database, in addition to
// the one that listens; the URL can override it.
const maxConns = 4

// Database is a node's connection pool for a database: the vaults in it, and who may use
// them. It connects on first use and reconnects when the database is available again. It
// is safe for concurrent use.
type Database struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	mu        sync.Mutex
	migrated  bool
	listeners map[*listener]struct{}
	unlisten  func() // closes the listening connection; nil if there is none
}

// Open returns the database at address, a URL or key=value string as in libpq. It does
// not connect yet.
func Open(address string, log *slog.Logger) (*Database, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if unreadable, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("a certificate or key named in it cannot be read: %w", unreadable)
	}
	if err != nil {
		return nil, errors.New(`it is not a URL such as "postgres://user@host/database"`) // pgx's error may include the password
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
	if cfg.ConnConfig.ValidateConnect == nil { // no target_session_attrs
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary // a standby that lags would look like another log
	}
	cfg.PingTimeout = connectTimeout // of a connection that was idle: a firewall may have dropped it silently
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return &Database{pool: pool, log: log, listeners: map[*listener]struct{}{}}, nil
}

// Log returns the log of the named vault, which is created on first use.
func (d *Database) Log(name string) *Log { return &Log{db: d, name: name} }

// Codes of PostgreSQL's errors.
const (
	insufficientPrivilege      = "42501"
	invalidStatementName       = "26000"
	duplicatePreparedStatement = "42P05"
	undefinedTable             = "42P01"
	cannotConnectNow           = "57P03"
)

// Hint returns what to do about an error of connecting to a database, or of the database
// itself, or "" if the error says enough.
func Hint(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case insufficientPrivilege:
			return "The database, or its schema and tables, must belong to the user that notesd connects as: see createdb --owner."
		case invalidStatementName, duplicatePreparedStatement:
			return "A connection pooler in transaction mode needs default_query_exec_mode=exec in the URL of the database."
		case cannotConnectNow: // the server starts or stops
			return ""
		}
	}
	if errors.As(err, new(*pgconn.ConnectError)) {
		return "Check store.postgres, and that the server runs and accepts this user. A password can be in PGPASSWORD, in ~/.pgpass or in the URL; after a change, run notesd restart."
	}
	return ""
}

// closeFor is how long Close waits for a server that has disappeared silently.
const closeFor = 2 * time.Second

// Close closes the connections. If the server does not respond, the rest of them are closed
// in the background, within the 15 seconds that pgx waits.
func (d *Database) Close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		d.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeFor):
	}
	return nil
}

// A Reader is a node that has all batches of a vault's log up to Seq.
type Reader struct {
	Vault string
	Seq   uint64
}

// Lag is the number and age of the batches that a reader lacks.
type Lag struct {
	Batches uint64
	Age     time.Duration // of the oldest missing batch
}

// Behind returns the lags of readers, in the same order, with one query. A vault that is
// not in the database yet has no batches.
func (d *Database) Behind(ctx context.Context, readers []Reader) (lags []Lag, err error) {
	names, seqs := make([]string, len(readers)), make([]int64, len(readers))
	for i, r := range readers {
		names[i], seqs[i] = r.Vault, int64(r.Seq)
	}
	err = d.call(ctx, func(ctx context.Context) error {
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

// Check returns an error if the database cannot be used. It changes nothing there.
func (d *Database) Check(ctx context.Context) error {
	have, err := version(ctx, d.pool)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == undefinedTable {
		return nil // no node has used it yet
	}
	return cmp.Or(err, checkVersion(have))
}

// ready migrates the database, once.
func (d *Database) ready(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.migrated {
		return nil
	}
	have, err := version(ctx, d.pool)
	if err != nil && !IsAnswer(err) { // an answer says that there is no table
		return err
	}
	if err != nil || have != len(migrations.Postgres.Scripts()) {
		err = d.inTx(ctx, func(tx pgx.Tx) error { return migrate(ctx, tx) })
	}
	d.migrated = err == nil
	return err
}

// begin creates the vault if it does not exist, and reports whether it did.
func begin(ctx context.Context, tx pgx.Tx, vault string) (bool, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO vaults (name, epoch) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, vault, rand.Text())
	return tag.RowsAffected() > 0, err
}
