package notes

import (
	"errors"
	"sync"
	"sync/atomic"

	"notesd/internal/atomicfile"
	"notesd/internal/sqlite"
)

// progress is how far the work on a plan has come, for status.
type progress struct {
	ready  atomic.Bool
	toScan atomic.Int64
	done   atomic.Int64
	active atomic.Int64

	differing atomic.Int64 // files that a look has found to differ from the store, and that are to be read
}

func (p *progress) begin(n int) {
	if p.active.Add(1) == 1 {
		p.toScan.Store(0)
		p.done.Store(0)
	}
	p.toScan.Add(int64(n))
}

func (p *progress) end() { p.active.Add(-1) }

// incident is why the vault cannot be used just now.
type incident struct {
	mu     sync.Mutex
	err    error
	logged string // the last error that Run has logged; Run's alone

	trouble string // why what is on disk cannot be taken in, though the vault can be used
}

// took records how taking in what is on disk has ended: all of it, or some.
func (i *incident) took(err error, all bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case err == nil && all, errors.Is(err, ErrUnavailable):
		i.trouble = ""
	case isFull(err):
		i.trouble = stateIsFull
	case err != nil:
		i.trouble = err.Error()
	}
}

// stateIsFull is what is said of a write that isFull.
const stateIsFull = "the disk where notesd keeps its state is full"

func isFull(err error) bool { return sqlite.IsFull(err) || atomicfile.IsDiskFull(err) }

// set records the incident if err is one, and reports whether it begins.
func (i *incident) set(err error) (begins bool) {
	if !errors.Is(err, ErrUnavailable) {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	begins = i.err == nil
	i.err = err
	return begins
}

// clear ends the incident, and reports whether there was one.
func (i *incident) clear() (ends bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	ends = i.err != nil
	i.err = nil
	return ends
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
