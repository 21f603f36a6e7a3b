package watcher

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Values of Status.Backend.
const (
	BackendFSNotify = "fsnotify" // events
	BackendPoll     = "poll"     // listings
)

// Values of Status.State.
const (
	StateWatching = "watching" // every directory is watched
	StatePolling  = "polling"  // because of the file system
	StateDegraded = "degraded" // changes are missed or found late: see Status.Warnings
	StateLost     = "lost"     // the root is missing or cannot be read
	StateStopped  = "stopped"  // Run is not running, or sets the initial watches
)

// The timing of batches and polls.
const (
	// Quiet is the time without changes after which a batch is emitted. It is longer
	// than the gaps within one save (write, fsync, rename) and too short to be
	// noticeable.
	Quiet = 50 * time.Millisecond
	// maxWait bounds the delay of a save while other changes continue.
	maxWait = 200 * time.Millisecond
	// defaultPollInterval keeps polling 10 000 notes near 1 % of one CPU.
	defaultPollInterval = time.Second
)

// Batch lists the paths that may have changed since the previous batch. The
// package comment states how to handle each path.
type Batch struct {
	// Paths of files and directories, relative to the root, with '/' as separator,
	// spelled as on disk (not normalized), sorted and unique. Empty for a rescan.
	Paths []string
	// Rescan asks for a scan of everything.
	Rescan bool
	// Reason explains a rescan, for logs and status texts.
	Reason string
}

// Options configures a Watcher. The zero value of each field means its default.
type Options struct {
	// Ignore reports whether to exclude an entry. Excluded entries are not
	// reported, and excluded directories not entered. rel is relative to the
	// root, with '/'. Ignore is called from Run's goroutine, never for the root.
	Ignore func(rel string) bool
	// Log receives lost events, restarts and rescans.
	Log *slog.Logger

	// Watchers is the number of watchers in the process, which share its limit on open
	// files. Zero means one.
	Watchers int

	// pollInterval is the shortest time from the end of one poll to the next. Only tests
	// set it.
	pollInterval time.Duration
}

// Status is the state of a Watcher.
type Status struct {
	State       string   `json:"state"`             // one of the State constants
	Backend     string   `json:"backend,omitempty"` // BackendFSNotify or BackendPoll
	Directories int      `json:"directories"`       // number of directories watched by events
	Polled      int      `json:"polled,omitempty"`  // number of directories polled
	Warnings    []string `json:"-"`                 // sentences for users, each with its remedy
}

// Watcher watches one directory tree. Create one with New.
type Watcher struct {
	root string
	opt  Options
	env  environment

	mu     sync.Mutex
	status Status
}

// environment provides access to the operating system. Tests replace it.
type environment struct {
	open   func(root string) (*source, error)
	remote func(abs string) string // returns the kind of a file system with unreliable events, or ""
	hides  func(abs string) bool   // reports whether the source misses new entries because of the one at abs
	budget func() int              // returns the number of entries that may be watched; 0 means no limit
	tick   time.Duration           // interval between checks of the root
	retry  time.Duration           // interval between attempts to watch polled directories
}

// New returns a watcher of the directory root, an absolute path. Run starts it.
func New(root string, opt Options) *Watcher {
	opt.pollInterval = cmp.Or(opt.pollInterval, defaultPollInterval)
	if opt.Ignore == nil {
		opt.Ignore = func(string) bool { return false }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Watcher{
		root: filepath.Clean(root),
		opt:  opt,
		env: environment{
			open:   openSource,
			remote: RemoteFileSystem,
			hides:  hidesNew,
			budget: func() int { return share(entryBudget(), opt.Watchers) },
			tick:   2 * time.Second,
			retry:  15 * time.Second,
		},
		status: Status{State: StateStopped},
	}
}

// share returns one watcher's share of a budget, where 0 means no limit.
func share(budget, watchers int) int {
	if budget == 0 || watchers <= 1 {
		return budget
	}
	return max(1, budget/watchers)
}

// Run watches until ctx is done. If the root is missing, Run waits for it. Run calls emit
// from its own goroutine, with one batch at a time. It must not be called again before it
// has returned.
func (w *Watcher) Run(ctx context.Context, emit func(Batch)) {
	t := &tracker{
		tree:      tree{ctx: ctx, opt: w.opt, env: w.env, root: w.root, log: w.opt.Log.With("root", w.root)},
		emit:      emit,
		setStatus: w.setStatus,
	}
	t.run()
}

// Status returns the current state. It is safe for concurrent use.
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

// publish makes the tracker's state available to Watcher.Status.
func (t *tracker) publish() { t.setStatus(t.snapshot()) }

func (t *tracker) snapshot() Status {
	return Status{
		State:       t.state(),
		Backend:     t.backend(),
		Directories: t.count,
		Polled:      len(t.polled),
		Warnings:    t.warnings(),
	}
}

func (t *tracker) state() string {
	switch {
	case t.lost != nil:
		return StateLost
	case t.withoutEvents() || t.limit != nil || len(t.unreadable) > 0:
		return StateDegraded
	case t.top.remote:
		return StatePolling
	default:
		return StateWatching
	}
}

// withoutEvents reports whether no source could be opened although events on the
// root's file system are reliable.
func (t *tracker) withoutEvents() bool { return t.srcErr != nil && !t.top.remote }

// backend returns the back end that follows the root.
func (t *tracker) backend() string {
	if t.top.remote || t.srcErr != nil {
		return BackendPoll
	}
	return BackendFSNotify
}

func (t *tracker) warnings() []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if t.lost != nil {
		warn("The folder %s cannot be watched until it is available: %v.", t.root, t.lost)
	}
	if t.withoutEvents() {
		warn("File system events are unavailable (%v), so every folder is polled. %s", t.srcErr, instanceRemedy())
	}
	if t.limit != nil {
		warn("The limit on watched folders is reached (%v), so %d of %d are polled. %s",
			t.limit, len(t.polled), len(t.polled)+t.count, watchRemedy(len(t.polled)+t.count))
	}
	if t.fsKind != "" {
		warn("The folder is on a file system (%s) that does not report the changes of other machines, so it is polled. "+
			"Changes are found a few seconds later than on a local disk.", t.fsKind)
	}
	if n := len(t.unreadable); n > 0 {
		first := slices.MinFunc(slices.Collect(maps.Keys(t.unreadable)), func(a, b *dir) int { return cmp.Compare(a.rel(), b.rel()) }) // deterministic
		warn("Folders that cannot be read: %d, for example %q (%v). Grant read access or ignore them.", n, first.rel(), t.unreadable[first])
	}
	return all
}
