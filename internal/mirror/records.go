package mirror

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes/pglog"
)

// records are the base, the paths to compare, and the position up to which the log was
// read.
type records struct {
	db     *sqlite.DB
	at     pglog.Position
	folder string // what base is of: a [vault.Replica.Folder], emptied, or "" if unknown
}

// emptied is recorded instead of the folder when it was found to be suddenly empty.
const emptied = "emptied"

// base is a row of the state that folder and log last had in common.
type base struct {
	hash    string // "": no file
	seq     uint64
	stat    fsid.Stat // zero if unknown
	placing version   // what was about to be placed; after a crash the folder may have it
}

// version is the content of a file as of a batch of the log.
type version struct {
	hash string
	seq  uint64
}

// bases returns the rows at and below the paths, or all rows.
func (r *records) bases(ctx context.Context, paths []string, all bool) (map[string]base, error) {
	query, args := `SELECT path, hash, seq, size, mtime, ctime, inode, placing, placing_seq FROM base`, []any{}
	if !all {
		query += ` WHERE path IN (SELECT b.path FROM json_each(?) p JOIN base b ON b.path = p.value OR b.path > p.value || '/' AND b.path < p.value || '0')`
		args = append(args, sqlite.List(paths))
	}
	rows := map[string]base{}
	err := sqlite.ForEach(ctx, r.db.Reader(), query, args, func(row *sql.Rows) error {
		var p string
		var b base
		err := row.Scan(&p, &b.hash, &b.seq, &b.stat.Size, &b.stat.Mtime, &b.stat.Ctime, &b.stat.Inode, &b.placing.hash, &b.placing.seq)
		rows[p] = b
		return err
	})
	return rows, err
}

// isOwn reports whether the batch has changes found in this folder.
func (r *records) isOwn(ctx context.Context, batch string) (bool, error) {
	return sqlite.First[bool](ctx, r.db.Reader(), `SELECT EXISTS (SELECT 1 FROM own WHERE id = ?)`, batch)
}

// pending returns the paths still to be compared.
func (r *records) pending(ctx context.Context) ([]string, error) {
	return sqlite.Column[string](ctx, r.db.Reader(), `SELECT path FROM pending ORDER BY path`)
}

// record gathers the results of a step, which are written in one transaction.
type record struct {
	base    map[string]base    // an empty hash: neither side has the file
	pending map[string]bool    // true: compare later; false: done
	placing map[string]version // what is about to be placed
	own     map[string]bool    // ids of batches of this folder; true: about to be committed; false: applied or rejected
	at      *pglog.Position
	folder  *string
	forget  bool // delete all of base first
}

func newRecord() *record {
	return &record{base: map[string]base{}, pending: map[string]bool{}, placing: map[string]version{}, own: map[string]bool{}}
}

// write stores the results of a step in one transaction.
func (r *records) write(ctx context.Context, w *record) error {
	if len(w.base)+len(w.pending)+len(w.placing)+len(w.own) == 0 && w.at == nil && w.folder == nil {
		return nil
	}
	err := r.db.Write(ctx, func(tx *sql.Tx) error {
		exec := func(query string, args ...any) error { _, err := tx.ExecContext(ctx, query, args...); return err }
		if w.forget {
			if err := errors.Join(exec(`DELETE FROM base`), exec(`DELETE FROM pending`), exec(`DELETE FROM own`)); err != nil {
				return err
			}
		}
		for _, p := range slices.Sorted(maps.Keys(w.base)) {
			query, args := `DELETE FROM base WHERE path = ?`, []any{p}
			if b := w.base[p]; b.hash != "" {
				query, args = `INSERT OR REPLACE INTO base (path, hash, seq, size, mtime, ctime, inode) VALUES (?, ?, ?, ?, ?, ?, ?)`, append(args, b.hash, b.seq, b.stat.Size, b.stat.Mtime, b.stat.Ctime, b.stat.Inode)
			}
			if err := exec(query, args...); err != nil {
				return err
			}
		}
		for p, v := range w.placing {
			if err := exec(`INSERT INTO base (path, hash, seq, placing, placing_seq) VALUES (?1, '', 0, ?2, ?3) ON CONFLICT (path) DO UPDATE SET placing = ?2, placing_seq = ?3`, p, v.hash, v.seq); err != nil {
				return err
			}
		}
		for p, pending := range w.pending {
			query := `DELETE FROM pending WHERE path = ?`
			if pending {
				query = `INSERT OR IGNORE INTO pending (path) VALUES (?)`
			}
			if err := exec(query, p); err != nil {
				return err
			}
		}
		for id, own := range w.own {
			query := `DELETE FROM own WHERE id = ?`
			if own {
				query = `INSERT INTO own (id) VALUES (?)`
			}
			if err := exec(query, id); err != nil {
				return err
			}
		}
		if w.folder != nil {
			if err := exec(`UPDATE position SET folder = ?`, *w.folder); err != nil {
				return err
			}
		}
		if w.at == nil {
			return nil
		}
		return exec(`UPDATE position SET seq = ?, mark = ?`, w.at.Seq, w.at.Mark)
	})
	if err == nil && w.at != nil {
		r.at = *w.at
	}
	if err == nil && w.folder != nil {
		r.folder = *w.folder
	}
	return err
}
