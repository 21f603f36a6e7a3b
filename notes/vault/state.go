package vault

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"notesd/notes"
)

// progress tracks how many files the current scans have read, for status.
type progress struct {
	ready    atomic.Bool
	first    chan struct{} // see FirstScan
	endFirst func()        // closes first, once
	whole    chan struct{} // closed by the first scan that succeeds
	endWhole func()        // closes whole, once
	toScan   atomic.Int64
	done     atomic.Int64
	active   atomic.Int64

	differing atomic.Int64 // files known to differ from the store, in unfinished scans
}

func (p *progress) begin(n int) {
	if p.active.Add(1) == 1 {
		p.toScan.Store(0)
		p.done.Store(0)
	}
	p.toScan.Add(int64(n))
}

func (p *progress) end() { p.active.Add(-1) }

// awaitWhole waits until a scan of the whole vault has succeeded, and returns errScanning if
// that takes longer than patience.
func (p *progress) awaitWhole(ctx context.Context, patience time.Duration) error {
	select {
	case <-p.whole:
		return nil
	default:
	}
	select {
	case <-p.whole:
		return nil
	case <-time.After(patience):
		return errScanning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errScanning means that an operation needs all notes, and a scan is still reading them.
var errScanning = errors.New("the vault is being scanned")

// scanPatience bounds how long an operation waits for a scan. It is shorter than the time
// after which clients give up.
const scanPatience = 10 * time.Second

// incident records why the vault cannot be used at the moment.
type incident struct {
	mu  sync.Mutex
	err error

	trouble string // why changes on disk cannot be stored, although the vault can be read
}

// took records the result of a reconcile, of the whole vault if all is true, and reports
// whether an incident begins or ends.
func (i *incident) took(err error, all bool) (changed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.err
	switch {
	case err == nil && all, errors.Is(err, notes.ErrUnavailable):
		i.err, i.trouble = err, ""
	case isFull(err):
		i.trouble = stateIsFull
	case err != nil:
		i.trouble = err.Error()
	}
	return (was == nil) != (i.err == nil)
}

func (i *incident) get() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

func (i *incident) getTrouble() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.trouble
}

// unreadRetry is how soon a failed read is retried.
const unreadRetry = 10 * time.Second

// rereads are the files that Run will read again. The stored versions of their notes are kept
// until then.
type rereads struct {
	now   func() time.Time
	queue *Queue
	files sync.Map // path of the note → reread
}

type reread struct {
	at       time.Time
	diskPath string
	problem  string // why the last read failed, or ""
}

func (r *rereads) add(path, diskPath string, after time.Duration, problem string) {
	if _, had := r.files.Swap(path, reread{r.now().Add(after), diskPath, problem}); !had {
		r.queue.Wake() // Run sets its timer
	}
}

// problem returns why the last read of a note's file failed, or "".
func (r *rereads) problem(path string) string {
	if f, ok := r.files.Load(path); ok {
		return f.(reread).problem
	}
	return ""
}

// next returns when the next file is to be read, or zero if there is none.
func (r *rereads) next() (next time.Time) {
	for _, f := range r.files.Range {
		if at := f.(reread).at; next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// queueDue queues the files that are due at a time. One that fails again is added again.
func (r *rereads) queueDue(now time.Time) {
	for path, f := range r.files.Range {
		if f := f.(reread); !f.at.After(now) {
			r.files.Delete(path)
			r.queue.Add(f.diskPath)
		}
	}
}
