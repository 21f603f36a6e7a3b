package watcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Values of Options.backend. The last two are the values of Status.Backend.
const (
	BackendAuto     = "auto"     // events where they are reliable, else polling
	BackendFSNotify = "fsnotify" // events, on network file systems too
	BackendPoll     = "poll"     // no events at all
)

// Values of Status.State.
const (
	StateStarting = "starting" // the initial watches are being set
	StateWatching = "watching" // every directory is watched
	StatePolling  = "polling"  // by choice or because of the file system
	StateDegraded = "degraded" // changes are missed or found late: see Status.Warnings
	StateLost     = "lost"     // the root is missing or cannot be read
	StateStopped  = "stopped"  // Run is not running
)

// The timing of batches and polls.
const (
	// DefaultQuiet is longer than the gaps within one save (write, fsync,
	// rename) and far below the delay that a person notices.
	DefaultQuiet = 50 * time.Millisecond
	// defaultMaxWait bounds the delay of a save while other changes continue.
	defaultMaxWait = 200 * time.Millisecond
	// defaultPollInterval keeps polling 10 000 notes near 1 % of one CPU.
	defaultPollInterval = time.Second
)

// Batch lists the paths that may have changed since the previous batch. The
// package comment states how to handle each path.
type Batch struct {
	// Paths of files and directories, relative to the root, with '/' and as
	// the disk spells them (no Unicode normalization), sorted, each once.
	// Empty for a rescan.
	Paths []string
	// Rescan asks for a scan of everything.
	Rescan bool
	// Reason explains a rescan, for logs and status texts.
	Reason string
}

// Options of a Watcher. The zero value of each field means its default.
type Options struct {
	// Ignore reports whether to exclude an entry. Excluded entries are not
	// reported, and excluded directories not entered. rel is relative to the
	// root, with '/'. Ignore is called from Run's goroutine, never for the root.
	Ignore func(rel string, dir bool) bool
	// Log receives lost events, restarts and rescans.
	Log *slog.Logger

	// Only tests set the fields below.

	// backend is one of the Backend constants.
	backend string
	// quiet is how long no change must occur before a batch is emitted.
	// maxWait bounds the delay of a change while others continue.
	quiet, maxWait time.Duration
	// pollInterval is the shortest time from the end of one poll to the next.
	pollInterval time.Duration
}

// Status is the state of a Watcher.
type Status struct {
	State       string   // one of the State constants
	Backend     string   // BackendFSNotify or BackendPoll
	Directories int      // number of directories watched by events
	Polled      int      // number of directories polled
	Warnings    []string // sentences for users, each with its remedy
	Rescans     int      // number of rescans emitted, the first included
}

// Watcher watches one directory tree. Create one with New.
type Watcher struct {
	root string
	opt  Options
	env  environment

	running atomic.Bool
	mu      sync.Mutex
	status  Status
}

// environment is the access to the operating system, which tests replace.
type environment struct {
	open   func() (*source, error)
	remote func(abs string) string // the kind of a file system with unreliable events, or ""
	budget func() int              // how many entries may be watched; 0 for no limit
	tick   time.Duration           // between checks of the root
	retry  time.Duration           // between attempts to watch what had to be polled
}

// New returns a watcher of the directory root. Run starts it.
func New(root string, opt Options) *Watcher {
	if opt.backend == "" {
		opt.backend = BackendAuto
	}
	if opt.quiet <= 0 {
		opt.quiet = DefaultQuiet
	}
	if opt.maxWait <= 0 {
		opt.maxWait = defaultMaxWait
	}
	opt.maxWait = max(opt.maxWait, opt.quiet)
	if opt.pollInterval <= 0 {
		opt.pollInterval = defaultPollInterval
	}
	if opt.Ignore == nil {
		opt.Ignore = func(string, bool) bool { return false }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Watcher{
		root: root,
		opt:  opt,
		env: environment{
			open:   openSource,
			remote: remoteFileSystem,
			budget: entryBudget,
			tick:   2 * time.Second,
			retry:  15 * time.Second,
		},
		status: Status{State: StateStopped},
	}
}

// Run watches until ctx is done and then returns nil. It returns an error only if
// the options or the root's name are invalid, or if it is already running. If the
// root is missing, Run waits for it. Run calls emit from its own goroutine, with
// one batch at a time.
func (w *Watcher) Run(ctx context.Context, emit func(Batch)) error {
	if known := []string{BackendAuto, BackendFSNotify, BackendPoll}; !slices.Contains(known, w.opt.backend) {
		return fmt.Errorf("watcher: unknown backend %q: use one of %q", w.opt.backend, known)
	}
	root, err := filepath.Abs(w.root)
	if err != nil {
		return fmt.Errorf("watcher: %w", err)
	}
	if !w.running.CompareAndSwap(false, true) {
		return errors.New("watcher: already running")
	}
	defer w.running.Store(false)
	newTracker(ctx, w, root, emit).run()
	return nil
}

// Status returns the current state. It may be called at any time, from any
// goroutine.
func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.status
	st.Warnings = slices.Clone(st.Warnings)
	return st
}

func (w *Watcher) setStatus(st Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = st
}
