// Package mirror keeps a vault's folder in sync with the log that the vault's nodes
// share, in both directions and byte for byte.
//
// The base is the state that both last had in common: a hash for each file. If only the
// log's version of a file differs from the base, it is placed in the folder; if only the
// folder's version differs, it is committed to the log, on the condition that the log
// still has the base. If both differ, the log's version gets the name, and the folder's
// is kept beside it as a conflict copy, which is then committed like any new file. A
// change on one side takes precedence over a deletion on the other.
//
// All writes to the folder are operations of the vault: journalled, conditional on the
// previous bytes, and completed after a crash. The batches of the log are applied in
// order, each as one operation; a file of a batch that cannot be placed, because it was
// saved concurrently or another program has locked it, becomes pending and is compared
// with the newest version later. After a crash between a step and its record the step is
// repeated, which is a no-op.
//
// A [Mirror] is also the vault's [vault.Shared]. Its syncs, in Run and CatchUp, run one
// at a time; the vault's lock is taken after the mirror's, never before.
package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
	"notesd/notes/pglog"
	"notesd/notes/vault"
)

// File is the database's name in the state directory.
const File = "mirror.db"

const (
	// pollEvery is how often the log is polled in the absence of notifications.
	pollEvery = 2 * time.Second
	// rescanEvery is how often all files are compared, in case the watcher missed a
	// change.
	rescanEvery = 5 * time.Minute
	// retryAfter is the first pause after a failed sync, and retryMost the longest.
	retryAfter = time.Second
	retryMost  = 30 * time.Second
	// calmAfter is how long no file may have been deleted in the folder before many
	// deletions are committed.
	calmAfter = 5 * time.Second
	// catchUpFor limits how long a write waits for the folder and the log to be in sync.
	catchUpFor = 20 * time.Second
)

// Options configure a mirror.
type Options struct {
	Author  notes.Author         // of changes made in the folder
	History notes.HistoryLimits  // of the log
	Placed  func(paths []string) // called with the files to which versions of the log were written; may be nil
	Now     func() time.Time     // defaults to time.Now
	Log     *slog.Logger
}

// Mirror keeps one folder and one log in sync.
type Mirror struct {
	log   *pglog.Log
	opt   Options
	vault *vault.Vault
	records

	turn     chan struct{} // one slot: held by a sync, or while a note is forgotten
	unplaced bool          // batches were applied, and the files they left pending not retried yet

	missing []string          // files of the log that the folder has never had; from Open to Use
	refused map[string]string // new files whose names collide in the log, with their hashes

	deletions deletions
	calm      time.Duration // calmAfter

	queue    *vault.Queue
	status   condition
	followed followed
	begun    chan struct{} // closed when the folder is in sync, or has an earlier state while the log is unreachable
	patience time.Duration // awaitFor
}

// Status is the state of a mirror.
type Status struct {
	Place     string   `json:"place"`     // the database and the vault's name in it
	Seq       uint64   `json:"seq"`       // of the newest batch applied to the folder
	Pending   int      `json:"pending"`   // files that differ from the log and are not synced yet
	Fetching  bool     `json:"fetching"`  // the folder is new and does not have all files of the log yet
	Conflicts []string `json:"conflicts"` // conflict copies made since the start, newest last

	Error    string    `json:"-"` // why the last sync failed, or ""
	Problems []string  `json:"-"` // files that are skipped, with the reason
	Replaced time.Time `json:"-"` // when the database last had another log, or an older copy, since the start; or zero
}

// Open opens the mirror's database in the state directory. Use must be called next.
func Open(ctx context.Context, dir string, log *pglog.Log, opt Options) (*Mirror, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	file := path.Join(dir, File)
	db, err := sqlite.Open(ctx, file, sqlite.MirrorSchema)
	if sqlite.IsCorrupt(err) { // it is derived
		if _, err = sqlite.SetAside(file, opt.Now()); err == nil {
			db, err = sqlite.Open(ctx, file, sqlite.MirrorSchema)
		}
	}
	if err != nil {
		return nil, err
	}
	m := &Mirror{log: log, records: records{db: db}, status: condition{log: opt.Log}, opt: opt, calm: calmAfter, patience: awaitFor, begun: make(chan struct{}), refused: map[string]string{}, turn: make(chan struct{}, 1), queue: vault.NewQueue(maxQueued)}
	m.queue.Put(nil, true)
	m.status.Place = log.Place()
	err = db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO position (one, seq, mark) VALUES (1, 0, '')`); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT seq, mark, folder FROM position`).Scan(&m.at.Seq, &m.at.Mark, &m.folder)
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	m.followed.reach(m.at.Seq)
	m.missing, err = sqlite.Column[string](ctx, db.Reader(), `SELECT path FROM pending WHERE path NOT IN (SELECT path FROM base WHERE hash <> '')`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return m, nil
}

// Use sets the mirror's vault. It must be called before all other methods.
func (m *Mirror) Use(v *vault.Vault) {
	m.vault = v
	m.status.left = len(slices.DeleteFunc(m.missing, v.Ignored))
	m.status.Fetching = m.status.left > 0 || m.at.Seq == 0
}

// Log returns the log.
func (m *Mirror) Log() *pglog.Log { return m.log }

// Close closes the mirror's database and its log.
func (m *Mirror) Close() error {
	m.log.Close()
	return m.db.Close()
}

// Commit commits a batch of the vault to the log.
func (m *Mirror) Commit(ctx context.Context, b notes.Batch) error {
	seq, err := m.log.Commit(ctx, b)
	if err == nil {
		m.followed.commit(seq)
	}
	return err
}

// Resolve reports whether the batch was committed.
func (m *Mirror) Resolve(ctx context.Context, id string) (bool, error) {
	_, committed, err := m.log.Resolve(ctx, id)
	return committed, err
}

// CatchUp syncs the folder and the log, with a time limit.
func (m *Mirror) CatchUp(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpFor)
	defer cancel()
	if err := m.sync(ctx, paths, false); err != nil {
		m.opt.Log.Warn("the folder could not be brought in step with the log", "err", err)
		return &notes.Error{Op: "write", Err: notes.ErrUnavailable, Detail: "the folder is behind the database that the vault's nodes share, and could not catch up", Hint: "Nothing was changed. Try again later."}
	}
	return nil
}

// InStep compares the whole folder with the log and returns when they are in sync.
func (m *Mirror) InStep(ctx context.Context) error {
	if err := m.syncAll(ctx); err != nil {
		hint := "What is in the folder stays; it is tried again when the database answers."
		if errors.Is(err, errDeleting) {
			hint = untilCalm
		}
		return &notes.Error{Op: "compare with the database", Err: notes.ErrUnavailable, Detail: err.Error(), Hint: hint}
	}
	return nil
}

const untilCalm = "Run it again when no program deletes files."

// syncAll compares everything, and waits until all deletions are committed, or returns
// errDeleting after a minute: a program may go on deleting.
func (m *Mirror) syncAll(ctx context.Context) (err error) {
	for range time.Minute / calmAfter {
		if err = m.sync(ctx, nil, true); !errors.Is(err, errDeleting) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.calm):
		}
	}
	return err
}

// Forget erases a deleted note in the log and here, and makes every other node do so when
// it follows. note is a path if only the log still has the note. The log goes first: this
// node still knows the note's earlier paths if it has to be repeated.
func (m *Mirror) Forget(ctx context.Context, note string, scope notes.Scope) (notes.Forgotten, error) {
	if err := m.syncAll(ctx); err != nil {
		return notes.Forgotten{}, notForgotten(note, err)
	}
	if err := m.lock(ctx); err != nil { // a sync would apply the log's batch and erase what is to be reported
		return notes.Forgotten{}, err
	}
	defer m.unlock()
	p, found, err := m.vault.History().Forgettable(ctx, note, scope)
	unknown := errors.Is(err, notes.ErrNotFound) && notes.IsNoteName(note)
	if unknown {
		p, found.Paths = note, []string{note}
	} else if err != nil {
		return found, err
	}
	erased, logErr := m.log.Forget(ctx, rand.Text(), m.opt.Author, p, found.Paths)
	switch {
	case logErr != nil:
		return notes.Forgotten{}, notForgotten(note, logErr)
	case unknown && !erased:
		return notes.Forgotten{}, err
	}
	done, err := m.vault.History().Forget(ctx, p, scope)
	if errors.Is(err, notes.ErrNotFound) { // only the log had the note
		return found, nil
	}
	return done, err
}

// notForgotten returns the error of a note that could not be erased in the log.
func notForgotten(note string, err error) error {
	if errors.Is(err, notes.ErrExists) {
		return err
	}
	if errors.Is(err, errDeleting) {
		return &notes.Error{Op: "forget", Path: note, Err: notes.ErrUnavailable, Detail: err.Error(), Hint: "Nothing is forgotten yet. " + untilCalm}
	}
	return &notes.Error{Op: "forget", Path: note, Err: notes.ErrUnavailable, Detail: "the database cannot erase the note: " + err.Error(), Hint: "Nothing is forgotten yet. Run it again when the cause is removed."}
}

// Changed queues paths in the folder that may have changed.
func (m *Mirror) Changed(paths []string) { m.queue.Add(paths...) }

// Rescan queues a comparison of all files.
func (m *Mirror) Rescan() { m.queue.AddAll() }

// Run keeps the folder and the log in sync until ctx ends. It starts after the vault's
// first scan of its folder.
func (m *Mirror) Run(ctx context.Context) {
	select {
	case <-m.vault.FirstScan():
	case <-ctx.Done():
		return
	}
	var listening sync.WaitGroup
	defer listening.Wait()
	changed := make(chan struct{}, 1)
	listening.Go(func() {
		m.log.Listen(ctx, func() {
			select {
			case changed <- struct{}{}:
			default: // already signalled
			}
		})
	})
	rescan := time.NewTicker(rescanEvery)
	defer rescan.Stop()
	pause := time.Duration(0)
	for {
		paths, all := m.queue.Take()
		err := m.sync(ctx, paths, all)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			pause = 0
		case errors.Is(err, errDeleting): // no failure: compared again when they may be committed
			m.queue.Put(paths, all)
			pause = m.calm
		default:
			m.queue.Put(paths, all)
			pause = min(max(2*pause, retryAfter), retryMost)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(pause, pollEvery)):
		case <-changed:
		case <-rescan.C:
			m.queue.AddAll()
			if err := m.log.Prune(ctx, m.opt.History); err != nil && ctx.Err() == nil {
				m.opt.Log.Warn("the database could not be pruned; it will be tried again", "err", err)
			}
		case <-m.queue.Signal():
		}
	}
}

// maxRounds limits the rounds of one sync under continuous conflicting changes; the rest
// is left to the next sync.
const maxRounds = 20

// sync brings the folder and the log in sync: first it places the log's changes, then it
// commits those in the folder, at the given paths or, if all is set, anywhere.
func (m *Mirror) sync(ctx context.Context, paths []string, all bool) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	err := m.syncLocked(ctx, paths, all)
	if errors.Is(err, vault.ErrEmptied) {
		r := newRecord()
		r.folder = new(emptied)
		err = errors.Join(err, m.write(ctx, r))
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err // cancelled, not a failure of the log
	}
	m.status.report(err)
	if err == nil || !m.status.fetching() {
		select {
		case <-m.begun:
		default:
			close(m.begun)
		}
	}
	return err
}

// lock waits until no sync runs, and keeps others from starting until unlock.
func (m *Mirror) lock(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Mirror) unlock() { <-m.turn }

// Fetching returns how many files the first sync of a new folder still has to place, or 0
// if no such sync is in progress.
func (m *Mirror) Fetching() int {
	m.status.Lock()
	defer m.status.Unlock()
	if !m.status.Fetching || m.status.Error != "" {
		return 0
	}
	return max(m.status.left, 1)
}

// Begun returns a channel that is closed when the folder has been in sync with the log
// since Open or, if the log cannot be reached, has an earlier state of it.
func (m *Mirror) Begun() <-chan struct{} { return m.begun }

// Copies returns how many conflict copies were made since Open.
func (m *Mirror) Copies() int {
	m.status.Lock()
	defer m.status.Unlock()
	return m.status.copies
}

// Followed returns the number of the newest batch up to which the folder has all batches.
func (m *Mirror) Followed() uint64 { return m.followed.load() }

func (m *Mirror) syncLocked(ctx context.Context, paths []string, all bool) error {
	if all {
		clear(m.refused)
		m.status.Lock()
		m.status.Problems = nil
		m.status.Unlock()
	}
	for range maxRounds {
		changed, err := m.down(ctx, all || len(paths) > 0)
		if err != nil {
			return err
		}
		paths = append(paths, changed...)
		if len(paths) == 0 && !all {
			return nil
		}
		again, err := m.up(ctx, paths, all)
		if err != nil || !again {
			return err
		}
	}
	m.queue.Put(paths, all)
	return nil
}

// Status returns the state of the mirror.
func (m *Mirror) Status(ctx context.Context) (Status, error) {
	m.status.Lock()
	s := m.status.Status
	s.Problems, s.Conflicts = slices.Clone(s.Problems), append([]string{}, s.Conflicts...)
	m.status.Unlock()
	s.Seq = m.followed.load()
	pending, err := m.pending(ctx)
	s.Pending = len(slices.DeleteFunc(pending, m.vault.Ignored))
	return s, err
}

// condition is the state that Status reports.
type condition struct {
	log *slog.Logger

	sync.Mutex
	Status
	failed error // the error of the last sync
	copies int   // conflict copies made
	left   int   // files that settle has to compare; 0 if not known yet
}

// report records the result of a sync, and logs it if it differs from the previous one.
func (c *condition) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
		if hint := pglog.Hint(err); hint != "" {
			text += ". " + hint
		}
	}
	c.Lock()
	defer c.Unlock()
	switch was := c.Error; {
	case text == was:
	case text != "":
		c.log.Warn("the folder and the log are not in step; it will be tried again", "err", text)
	default:
		c.log.Info("the folder and the log are in step again")
	}
	c.Error, c.failed = text, err
}

func (c *condition) fetching() bool {
	c.Lock()
	defer c.Unlock()
	return c.Fetching
}

// progress records how many files have to be compared. fetched is set if the folder has all
// files of the log.
func (c *condition) progress(left int, fetched bool) {
	c.Lock()
	defer c.Unlock()
	c.left, c.Fetching = left, c.Fetching && !fetched
}

// replaced records and logs that the database has another log, or an older copy of it.
func (c *condition) replaced(now time.Time) {
	c.Lock()
	defer c.Unlock()
	c.Replaced = now
	c.log.Warn("the database has another log than before, or an older copy of it; every file is compared")
}

// maxListed limits the lists in a status.
const maxListed = 20

// problem records and logs, once, that a file is skipped.
func (c *condition) problem(file string, reason string) {
	text := notes.Quote(file) + ": " + reason
	c.Lock()
	defer c.Unlock()
	if slices.Contains(c.Problems, text) || len(c.Problems) >= maxListed {
		return
	}
	c.Problems = append(c.Problems, text)
	c.log.Warn("a file is not in step with the log", "file", file, "reason", reason)
}

func (c *condition) conflict(copied string) {
	c.Lock()
	defer c.Unlock()
	c.copies++
	c.Conflicts = append(c.Conflicts, copied)
	c.Conflicts = c.Conflicts[max(0, len(c.Conflicts)-maxListed):]
	c.log.Warn("a file was changed here and in the log; the log's version has its name, and this one is kept beside it", "copy", copied)
}

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
func (r *records) isOwn(ctx context.Context, batch string) (own bool, err error) {
	err = r.db.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM own WHERE id = ?)`, batch).Scan(&own)
	return own, err
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

// maxQueued is the number of paths above which the queue requests a full comparison.
const maxQueued = 2000

// copyMark begins what the name of a conflict copy has in addition to the file's.
const copyMark = " (conflict "

// maxStem is the number of bytes of a file's name that its conflict copies keep. The mark and an
// extension still fit into the 255 bytes that file systems allow.
const maxStem = 175

// copyStem returns how the names of the file's conflict copies begin, and their extension.
func copyStem(file string) (stem, ext string) {
	ext = path.Ext(file)
	folder, name := path.Split(strings.TrimSuffix(file, ext))
	return folder + strings.ToValidUTF8(name[:min(len(name), maxStem)], ""), ext // the cut may be in a character
}

// isCopyOf reports whether p is the name of a conflict copy of the file.
func isCopyOf(p, file string) bool {
	stem, ext := copyStem(file)
	return strings.HasPrefix(p, stem+copyMark) && strings.HasSuffix(p, ")"+ext)
}

// copyName returns the name of a conflict copy.
func copyName(file, who string, now time.Time, n int) string {
	stem, ext := copyStem(file)
	mark := fmt.Sprintf(copyMark+"%s %s", now.Format("2006-01-02 150405"), cleanName(who))
	if n > 1 {
		mark += fmt.Sprintf(" %d", n)
	}
	return stem + mark + ")" + ext
}

// cleanName replaces characters in a name that some file systems reject.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|#^[]`, r) {
			return '-'
		}
		return r
	}, name)
	return strings.Trim(strings.ToValidUTF8(name[:min(len(name), 40)], ""), " .") // as in copyStem
}

// pending returns the paths still to be compared.
func (r *records) pending(ctx context.Context) ([]string, error) {
	return sqlite.Column[string](ctx, r.db.Reader(), `SELECT path FROM pending ORDER BY path`)
}
