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
// A [Mirror] is also the vault's [vault.SharedLog]. Its syncs, in Run and CatchUp, run one
// at a time; the vault's lock is taken after the mirror's, never before.
package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

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
	// Patience raises the limits of a request's waits for the database, if it is longer.
	Patience time.Duration
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
	patience time.Duration // awaitFor or longer
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
	m := &Mirror{log: log, records: records{db: db}, status: condition{log: opt.Log}, opt: opt, calm: calmAfter, patience: max(awaitFor, opt.Patience), begun: make(chan struct{}), refused: map[string]string{}, turn: make(chan struct{}, 1), queue: vault.NewQueue(maxQueued)}
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

// syncLocked applies new batches of the log to the folder and commits changes of the paths, or
// of all files, until neither side has more. The caller must hold the mirror's turn.
func (m *Mirror) syncLocked(ctx context.Context, paths []string, all bool) error {
	if all {
		clear(m.refused)
		m.status.Lock()
		m.status.Problems = nil
		m.status.Unlock()
	}
	for range maxRounds {
		changed, err := m.pull(ctx, all || len(paths) > 0)
		if err != nil {
			return err
		}
		paths = append(paths, changed...)
		if len(paths) == 0 && !all {
			return nil
		}
		again, err := m.push(ctx, paths, all)
		if err != nil || !again {
			return err
		}
	}
	m.queue.Put(paths, all)
	return nil
}

// maxQueued is the number of paths above which the queue requests a full comparison.
const maxQueued = 2000
