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

// The values of Options.Backend; the last two are those of Status.Backend.
const (
	BackendAuto     = "auto"     // events where they can be relied upon, else polling
	BackendFSNotify = "fsnotify" // events, on network file systems too
	BackendPoll     = "poll"     // no events at all
)

// The values of Status.State.
const (
	StateStarting = "starting" // the initial watches are being set
	StateWatching = "watching" // every directory is watched
	StatePolling  = "polling"  // by choice or because of the file system
	StateDegraded = "degraded" // works, but not as it should: see Status.Warnings
	StateLost     = "lost"     // the root is missing or cannot be read
	StateStopped  = "stopped"  // Run is not running
)

// Defaults of Options.
const (
	// DefaultQuiet is longer than the gaps within one save (write, fsync,
	// rename) and far below what a person notices.
	DefaultQuiet = 50 * time.Millisecond
	// DefaultMaxWait bounds what one save waits while others go on.
	DefaultMaxWait = 200 * time.Millisecond
	// DefaultPollInterval keeps polling 10 000 notes near 1 % of one CPU.
	DefaultPollInterval = time.Second
)

// Batch names what may have changed since the batch before; see the package
// comment for what a path stands for.
type Batch struct {
	// Paths of files and directories, relative to the root, with '/' and as
	// the disk spells them (no Unicode normalization), sorted, each once.
	// Empty for a rescan.
	Paths []string
	// Rescan asks for a scan of everything.
	Rescan bool
	// Reason says why a rescan is asked for, for logs and people.
	Reason string
}

// Options of a Watcher. The zero value of each field means its default.
type Options struct {
	// Backend is one of the Backend constants.
	Backend string
	// Quiet is how long nothing must happen before a batch is sent, and
	// MaxWait the longest that a change waits while something goes on.
	Quiet, MaxWait time.Duration
	// PollInterval is the shortest time from the end of one poll to the next.
	PollInterval time.Duration
	// Ignore says which entries are never reported and, when they are
	// directories, never entered. It is called with the path relative to the
	// root ('/' separated), from Run's goroutine, never with the root itself.
	Ignore func(rel string, dir bool) bool
	// Log is told about losses and recoveries.
	Log *slog.Logger
}

// Status is how a Watcher is doing.
type Status struct {
	State       string   // one of the State constants
	Backend     string   // BackendFSNotify or BackendPoll
	Directories int      // watched by events
	Polled      int      // directories that are polled
	Warnings    []string // sentences for people, each with its remedy
	Rescans     int      // rescans asked for so far, the first included
}

// Watcher watches one folder. Make one with New.
type Watcher struct {
	root string
	opt  Options
	env  environment

	running atomic.Bool
	mu      sync.Mutex
	status  Status
}

// environment is what tests replace: the machine below the tracker.
type environment struct {
	open   func() (*source, error)
	remote func(abs string) string // the kind of a file system that cannot be trusted to report changes, or ""
	budget func() int              // how many entries may be watched; 0 when that does not depend on us
	tick   time.Duration           // between looks at the root
	retry  time.Duration           // between attempts to watch what had to be polled
}

// New prepares a watcher of the folder root; Run starts it.
func New(root string, opt Options) *Watcher {
	if opt.Backend == "" {
		opt.Backend = BackendAuto
	}
	if opt.Quiet <= 0 {
		opt.Quiet = DefaultQuiet
	}
	if opt.MaxWait <= 0 {
		opt.MaxWait = DefaultMaxWait
	}
	opt.MaxWait = max(opt.MaxWait, opt.Quiet)
	if opt.PollInterval <= 0 {
		opt.PollInterval = DefaultPollInterval
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

// Run watches until ctx is done and then returns nil; it returns an error only
// for options or a root that can never work, and when it is running already.
// A root that is missing is waited for. emit is called from Run's goroutine,
// with one batch at a time.
func (w *Watcher) Run(ctx context.Context, emit func(Batch)) error {
	if known := []string{BackendAuto, BackendFSNotify, BackendPoll}; !slices.Contains(known, w.opt.Backend) {
		return fmt.Errorf("watcher: unknown backend %q: use one of %q", w.opt.Backend, known)
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

// Status reports how the watcher is doing; it may be called at any time.
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
