package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Options configure a vault. Zero values mean the defaults.
type Options struct {
	Ignore       []string      // patterns of files to ignore, in addition to hidden files
	Dates        []string      // front matter keys that hold a note's date, before "date"
	MaxNoteBytes int64         // larger files are skipped; defaults to 16 MiB
	RescanEvery  time.Duration // how often everything is reconciled regardless of events; defaults to 5 min
	ReadOnly     bool          // reject every write

	// Folders are the vault's folders by name, instead of the root. A name is the first
	// segment of the folder's paths; names must differ in more than case.
	Folders map[string]string
	Daily   string // the folder of periodic notes; defaults to the first by name whose app makes daily notes

	// Protected returns the folders that clients may read but not write, such as those of
	// the user's prompts. It is called for each write; nil means none.
	Protected func() []string

	History notes.HistoryLimits
	Shared  SharedLog // the log shared by this vault's nodes; nil for a vault on one node
	Now     func() time.Time
	Log     *slog.Logger

	scanPatience time.Duration // shorter in tests
}

// Vault is a folder of notes: the files, the store that mirrors them, and the followers
// that derive more from it. It is safe for concurrent use. The embedded Reader answers
// queries that need only the store.
type Vault struct {
	*store.Reader
	store  *store.Store
	disk   *disk.Disk
	ignore *notes.Ignore
	opt    Options

	mu     sync.Mutex // held while files or the store change
	feeder *feeder

	interrupted    interrupted
	historyMatched bool // history agrees with the files; guarded by mu

	queue    *Queue
	progress progress
	incident incident
	mounts   mounts
	late     lateFiles
	rereads  rereads
	unparsed sync.Map // hashes of the texts on which the parser failed
	symlinks sync.Map // symlinks with a note's name, as the file system spells them
	left     sync.Map // temp files whose text could not be saved to history → the note displaced

	failpoint
}

// New returns the vault at root, or of the folders in the options, backed by the store. A
// folder need not exist yet: until it does, operations in it fail with
// [notes.ErrUnavailable].
func New(ctx context.Context, store *store.Store, root string, opt Options) (*Vault, error) {
	opt.MaxNoteBytes = cmp.Or(opt.MaxNoteBytes, 16<<20)
	opt.RescanEvery = cmp.Or(opt.RescanEvery, 5*time.Minute)
	opt.Log = cmp.Or(opt.Log, slog.Default())
	opt.scanPatience = cmp.Or(opt.scanPatience, scanPatience)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Protected == nil {
		opt.Protected = func() []string { return nil }
	}
	ignore, err := notes.NewIgnore(opt.Ignore)
	if err != nil {
		return nil, err
	}
	var recorded fsid.Identity
	if err := store.Setting(ctx, vaultSetting, &recorded); err != nil {
		return nil, err
	}
	dirs := opt.Folders
	if len(dirs) == 0 {
		dirs = map[string]string{"": root}
	}
	folders, err := disk.New(dirs, recorded)
	if err != nil {
		return nil, err
	}
	store.Now = opt.Now
	store.Several, store.Roots = folders.Folders(), map[string]string{}
	for name, dir := range dirs {
		store.Roots[folders.Dirs()[name]] = name
		if abs, err := filepath.Abs(dir); err == nil {
			store.Roots[abs] = name
		}
	}
	v := &Vault{Reader: store.Reader, store: store, disk: folders, ignore: ignore, opt: opt,
		feeder: &feeder{store: store, log: opt.Log}, queue: NewQueue(maxQueued)}
	v.interrupted = interrupted{v: v, failed: map[string]error{}}
	v.progress.first, v.progress.whole = make(chan struct{}), make(chan struct{})
	v.progress.endFirst = sync.OnceFunc(func() { close(v.progress.first) })
	v.progress.endWhole = sync.OnceFunc(func() { close(v.progress.whole) })
	v.late = lateFiles{store: store, opt: &v.opt, wake: v.queue.Wake}
	v.rereads = rereads{now: opt.Now, queue: v.queue}
	return v, store.Setting(ctx, mountsSetting, &v.mounts.known)
}

// vaultSetting is the key under which the store keeps the identity of the recorded folder.
const vaultSetting = "vault"

// Follow adds a follower. Followers are fed in the order in which they were added. It must
// be called before Run.
func (v *Vault) Follow(f notes.Follower) { v.feeder.follow(f) }

// Root returns the absolute path of the vault's folder, with symlinks resolved. If there
// are several folders, the format is "NAME=PATH,NAME=PATH".
func (v *Vault) Root() string { return v.disk.Path() }

// Store returns the store that mirrors the vault.
func (v *Vault) Store() *store.Store { return v.store }

// Ignored reports whether the vault-relative path is hidden or matches an ignore pattern.
func (v *Vault) Ignored(p string) bool { return v.ignore.Match(p) }

// Watches reports whether Changed expects the vault-relative path: one that is not ignored, or
// that leads to the app's settings.
func (v *Vault) Watches(p string) bool { return !v.Ignored(p) || v.leadsToSettings(p) }

// Changed queues vault-relative paths of files or folders that may have changed, for Run to
// reconcile.
func (v *Vault) Changed(paths []string) { v.queue.Add(paths...) }

// Rescan queues a reconcile of the whole vault.
func (v *Vault) Rescan(reason string) {
	v.opt.Log.Debug("rescan", "reason", reason)
	v.queue.AddAll()
}

// Ready reports whether, since Run began, the whole vault has been compared with the store
// and the followers have been fed, and a new folder of a shared vault has been filled.
func (v *Vault) Ready() bool { return v.progress.ready.Load() && v.fetching() == 0 }

func (v *Vault) fetching() int {
	if v.opt.Shared == nil {
		return 0
	}
	return v.opt.Shared.Fetching()
}

// Rebuilding reports whether a follower is being fed every note again.
func (v *Vault) Rebuilding() bool { return v.feeder.rebuilding.Load() }

// Stale returns why the stored notes may be older than their files, or "". It never blocks.
func (v *Vault) Stale() string {
	if err := v.incident.get(); err != nil {
		return "the vault cannot be read now: " + err.Error()
	}
	why := v.incident.getTrouble()
	if why == "" {
		return ""
	}
	if why != stateIsFull {
		why = "notesd status says why" // the error may contain a path outside the vault
	}
	return "changes on disk cannot be indexed: " + why
}

// FirstScan returns a channel that is closed when the first scan of Run has ended. The scan
// may have failed; see [Vault.Ready].
func (v *Vault) FirstScan() <-chan struct{} { return v.progress.first }

// statusSkipped bounds the skipped files named in a status.
const statusSkipped = 20

// Status returns the status of the vault.
func (v *Vault) Status(ctx context.Context) (notes.Status, error) {
	st := notes.Status{Root: v.disk.Path(), Dirs: v.disk.Dirs(), Seq: v.store.Head(), Scanning: v.progress.active.Load() > 0,
		Scanned: int(v.progress.done.Load()), ToScan: int(v.progress.toScan.Load())}
	var err error
	if st.Notes, err = v.store.Count(ctx); err != nil {
		return st, err
	}
	if left := v.fetching(); left > 0 {
		st.Scanned, st.ToScan = st.Notes, st.Notes+left
	}
	if st.Incomplete = v.progress.differing.Load() > 0; !st.Incomplete && !v.Ready() {
		// A large scan resolves links only at its end, which it may not have reached.
		if err := v.store.Setting(ctx, store.LinksStale, &st.Incomplete); err != nil {
			return st, err
		}
		st.Incomplete = st.Incomplete || st.Notes == 0
	}
	if st.Skipped, st.SkippedTotal, err = v.store.Files().Skipped(ctx, statusSkipped); err != nil {
		return st, err
	}
	if err := v.incident.get(); err != nil {
		st.Unavailable = err.Error()
		if e, ok := errors.AsType[*notes.Error](err); ok {
			st.Remedy = e.Hint
		}
	}
	stale, err := v.store.StaleLinks(ctx, v.opt.Now().Add(-store.JournalAge))
	if err != nil {
		return st, err
	}
	behind := v.feeder.behind()
	var left []string // one warning per temp file whose text could not be saved to history
	for temp, note := range v.left.Range {
		left = append(left, fmt.Sprintf("the text that another program saved to %s could not be kept in its history; it is in the file %s until it can. Free some space where notesd keeps its state.", notes.Quote(note.(string)), notes.Quote(temp.(string))))
	}
	slices.Sort(left)
	st.Warnings = slices.Concat([]string{}, v.store.Warnings(), v.mounts.warnings(v.store.Several), left, stale, behind)
	if st.Trouble = v.incident.getTrouble(); st.Trouble == "" && len(behind) > 0 {
		st.Trouble = behind[0]
	}
	return st, nil
}

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

// scanPatience bounds how long an operation waits for a scan. It is shorter than the minute
// after which most clients give up.
const scanPatience = 40 * time.Second
