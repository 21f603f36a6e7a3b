// Package service assembles the other packages into a daemon, or into a vault served
// within this process.
//
// A [Service] is one vault and all the parts that serve it, in one errgroup. The parts
// start in this order: store, vault, text index, vectors, tables, search, notifier,
// watcher. The front is the function that serves clients: the daemon's socket and HTTP,
// one client's standard streams, or one command. When the front returns, the parts stop
// in reverse order.
//
// Slow parts are opened in the background and requests wait for them, so initialize is
// answered at once, however large the vault is.
//
// One process serves a state directory: it holds the lock of package daemon, and
// vault.json in the directory identifies the vault ([DialOrLock], [Serve],
// [ServeStdio]). Errors shown to users are [Failure]s, with a code, a hint and an exit
// code.
package service

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/sqlite"
	"notesd/mcp"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault"
	"notesd/search"
	"notesd/search/index"
	"notesd/vectors"
	"notesd/vectors/table"
	"notesd/watcher"
)

// indexDir is the folder of the text index in the state directory.
const indexDir = "index"

// watchFirst bounds how long the first scan waits for the watcher, so that no change
// between the two is lost. A missing folder is not watched; the scan reports it.
const watchFirst = 2 * time.Second

// Watching is the argument of [New] for services that outlive one command.
const Watching = true

// A Service is one vault and the parts that serve it.
type Service struct {
	cfg  *config.Config
	logs *Logs

	watchers map[string]*watcher.Watcher // by folder; nil if external changes are not watched
	core     *mcp.Core

	backend                // set when opened is closed
	index   *index.Index   // set when opened is closed
	vectors *vectors.Index // likewise; nil if semantic search is off
	opened  chan struct{}  // closed when the backend is open
	settled chan struct{}  // closed when requests no longer wait for the first scan
	latest  time.Time      // the deadline for closing settled

	node     atomic.Pointer[node] // serves the database's vaults to subjects; nil without a database or HTTP
	team     *node                // the node that serves this vault to subjects; nil for the node's own vault
	metrics  *metrics             // tool calls
	probing  singleflight.Group   // of the states that /readyz reports
	draining atomic.Bool          // shutting down: a node still serves, but clients should use another one

	protected sync.Map         // see protectedFolders
	settings  *runningSettings // nil in a process that serves one command
	relays    atomic.Int64     // sessions that do not delay a restart: relays reconnect, a status is short

	daemon atomic.Pointer[func() daemonStatus] // nil until the daemon accepts clients
	page   atomic.Pointer[listening]           // nil without HTTP

	withoutHTTP string // why there is no listener as configured; set before daemon

	orphansOnce sync.Once
	orphans     []orphan       // set by orphansOnce
	closers     []func() error // of the opened parts, in the order of opening
}

// heapShare is the share of the memory of a container, or of a systemd unit with a limit,
// that the Go runtime may use. The rest is for the caches of SQLite and for mapped files.
const heapShare = 0.7

// New returns a service with nothing opened or started yet. The caller must hold the
// lock of the state directory.
func New(cfg *config.Config, logs *Logs, watch bool) *Service {
	if _, err := memlimit.Set(memlimit.WithRatio(heapShare)); err != nil {
		logs.Debug("the memory limit of this process is unknown", "err", err)
	}
	s := newService(cfg, logs, nil)
	if watch {
		s.watchers = s.newWatchers()
	}
	return s
}

// newService returns a service without watchers, for a vault that team serves to its
// subjects, or for the node's own vault if team is nil. Subjects have no vector tables,
// which belong to one node, and no access to the log, which mentions other users'
// activity. The folder of such a vault is filled only from the database.
func newService(cfg *config.Config, logs *Logs, team *node) *Service {
	s := &Service{
		team:    team,
		metrics: newMetrics(),
		cfg:     cfg,
		logs:    logs,
		opened:  make(chan struct{}),
		settled: make(chan struct{}),
		latest:  time.Now().Add(Waits.FirstScan),
	}
	profile := s.profileOf(cfg)
	o := mcp.Options{
		Version:       Version(),
		Title:         cfg.Vault.Title(),
		Open:          openLinks(cfg.Vault),
		Vault:         &s.vault,
		History:       &s.history,
		Search:        &s.engine,
		Tables:        &s.tables,
		Subscriptions: &s.subscriptions,
		Opened:        s.opened,
		Settled:       s.settled,
		Profile:       profile,
		Refresh:       s.refresh,
		Limits:        mcp.Limits{Resources: cfg.Limits.Resources, CallsPerSecond: cfg.Limits.CallsPerSecond},
		Methods:       s.ownMethods(),
		Trouble:       sqlite.Trouble,
		Log:           logs.Logger,
		ClientLog:     logs.clients,
	}
	if cfg.Store.Postgres != "" {
		o.Shared = &s.mirror
	}
	if team != nil {
		s.metrics = team.own.metrics
		o.Title, o.Open, o.Tables, o.ClientLog = cfg.Store.Vault, nil, nil, nil
		o.Subscriptions = team.db.Log(cfg.Store.Vault)
	}
	o.Observe = s.metrics.observe
	s.core = mcp.New(o)
	return s
}

// Run serves until the front returns or a part fails. When ctx ends, it stops the front
// first and the other parts after the front has returned, so that requests in flight
// are answered.
func (s *Service) Run(ctx context.Context, front func(context.Context) error) error {
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, behind := errgroup.WithContext(behind)
	g.Go(func() error {
		defer stop()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(behind, cancel)()
		return front(ctx)
	})
	g.Go(func() error { return s.start(behind, g) })
	err := g.Wait()
	return errors.Join(err, s.close())
}

// RunLocked runs the service, then closes the log and releases the lock.
func (s *Service) RunLocked(ctx context.Context, lock *daemon.Lock, front func(context.Context) error) error {
	return releaseAfter(s.runLogged(ctx, front), lock)
}

// releaseAfter releases the lock of a service that ended with err, unless a call hangs, which
// may still write: the lock then ends with the process.
func releaseAfter(err error, lock *daemon.Lock) error {
	if errors.Is(err, daemon.ErrUnended) {
		return err
	}
	return errors.Join(err, lock.Release())
}

// runLogged runs the service, then closes the log.
func (s *Service) runLogged(ctx context.Context, front func(context.Context) error) error {
	err := s.Run(ctx, front)
	if err != nil && s.logs.apart { // the command reports it on standard error
		s.logs.Error("notesd failed", "err", err)
	}
	return errors.Join(err, s.logs.Close())
}

// start opens the backend and starts the goroutines that keep it up to date.
func (s *Service) start(ctx context.Context, g *errgroup.Group) error {
	if err := s.open(ctx); err != nil {
		return whileRunning(ctx, err)
	}
	vault := s.vault.Vault
	g.Go(func() error { s.settle(ctx); return nil })
	notifier := mcp.NewNotifier(s.core, notes.Position{Store: vault.Store().ID(), Seq: vault.Store().Head()})
	vault.Follow(notifier)
	g.Go(func() error { return whileRunning(ctx, notifier.Run(ctx)) })
	if s.vectors != nil {
		g.Go(func() error { return whileRunning(ctx, s.vectors.Run(ctx)) })
	}
	g.Go(func() error { return whileRunning(ctx, s.tables.Run(ctx)) })
	if s.mirror.Mirror != nil {
		g.Go(func() error { s.mirror.Run(ctx); return nil })
	}
	if s.watchers != nil {
		s.watch(ctx, g, vault, notifier)
	}
	return whileRunning(ctx, vault.Run(ctx))
}

// open opens the backend, then admits requests.
func (s *Service) open(ctx context.Context) error {
	log := s.logs.Logger
	store, err := store.Open(ctx, s.cfg.State)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	s.closers = append(s.closers, store.Close)
	s.subscriptions.Versions = store.Versions
	var shared vault.SharedLog
	if s.cfg.Store.Postgres != "" {
		if err := s.openMirror(ctx); err != nil {
			return err
		}
		shared = s.mirror.Mirror
	}
	vault, err := vault.New(ctx, store, s.cfg.Vault.Path, vault.Options{
		Ignore:       s.cfg.Vault.Ignore,
		Dates:        s.cfg.Vault.Dates,
		MaxNoteBytes: int64(s.cfg.Limits.NoteBytes),
		ReadOnly:     s.cfg.Vault.ReadOnly,
		Folders:      s.cfg.Vault.Folders,
		Daily:        s.cfg.Vault.Daily,
		Protected:    s.protectedFolders,
		Shared:       shared,
		History:      historyLimits(s.cfg),
		Log:          log,
	})
	if err != nil {
		return fmt.Errorf("open the vault: %w", err)
	}
	s.vault.Vault, s.history.History = vault, vault.History()
	if s.mirror.Mirror != nil {
		s.mirror.Use(vault)
	}

	index, err := index.Open(ctx, filepath.Join(s.cfg.State, indexDir), log)
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	s.closers = append(s.closers, index.Close)
	index.OnDamage(func() { vault.Rescan("the search index is damaged") })
	vault.Follow(index)
	s.index = index

	models := newEmbedders(s.cfg.Semantic)
	if s.team != nil {
		models = s.team.models
	} else {
		s.closers = append(s.closers, models.Close)
	}
	vectors, err := openVectors(s.cfg, store, vault, models, s.mirror.Mirror, log)
	if err != nil {
		return err
	}
	var semantic search.Semantic // nil, like the models of tables, if semantic search is off
	var tabular table.Models
	if vectors != nil {
		s.closers = append(s.closers, vectors.Close)
		vault.Follow(vectors)
		semantic, tabular = vectors, tableModels{vectors, models}
	}
	s.vectors = vectors
	tables := table.New(store.History(), s.cfg.State, tabular, table.Options{Log: log})
	s.closers = append(s.closers, tables.Close)
	s.tables.Tables = tables
	s.engine.Engine = search.NewEngine(store, index, semantic, search.EngineOptions{
		Log:             log,
		SemanticTimeout: semanticTimeout(s.cfg.Semantic),
		Progress:        func(ctx context.Context) (bool, int) { return progressOf(ctx, vault) },
	})
	close(s.opened)
	return nil
}

// watch starts the watchers and waits until they are ready. The first batch of each is
// a rescan request, which the scan that follows covers.
func (s *Service) watch(ctx context.Context, g *errgroup.Group, vault *vault.Vault, notifier *mcp.Notifier) {
	waiting, stands := context.WithTimeout(ctx, watchFirst)
	defer stands()
	var starting atomic.Int64 // existing folders not yet watched
	for _, dir := range s.cfg.Vault.Dirs() {
		if isThere(dir) {
			starting.Add(1)
		}
	}
	for name, w := range s.watchers {
		first := true
		g.Go(func() error {
			w.Run(ctx, func(b watcher.Batch) {
				switch {
				case !b.Rescan:
					for i, p := range b.Paths {
						b.Paths[i] = path.Join(name, p)
					}
					vault.Changed(b.Paths)
					if s.mirror.Mirror != nil {
						s.mirror.Changed(b.Paths)
					}
					notifier.FilesChanged(b.Paths)
				case waiting.Err() != nil:
					vault.Rescan(b.Reason)
					if s.mirror.Mirror != nil {
						s.mirror.Rescan()
					}
					notifier.EverythingChanged()
				case first:
					if first = false; starting.Add(-1) <= 0 {
						stands()
					}
				}
			})
			return nil
		})
	}
	<-waiting.Done()
}

// newWatchers returns the watchers of the vault's folders.
func (s *Service) newWatchers() map[string]*watcher.Watcher {
	all := map[string]*watcher.Watcher{}
	dirs := s.cfg.Vault.Dirs()
	for name, dir := range dirs {
		all[name] = watcher.New(dir, watcher.Options{
			Ignore: func(rel string) bool {
				return s.isOpen() && !s.vault.Watches(path.Join(name, rel))
			},
			Watchers: len(dirs),
			Log:      s.logs.Logger,
		})
	}
	return all
}

// progressOf reports whether the text index is complete: the first scan has finished, and
// the index is not being rebuilt. Until then, it returns the number of notes as far as it is
// known. A scan that cannot proceed has no progress: a stale vault has a
// remark of its own.
func progressOf(ctx context.Context, vault *vault.Vault) (ready bool, total int) {
	if (vault.Ready() || vault.Stale() != "") && !vault.Rebuilding() {
		return true, 0
	}
	st, err := vault.Status(ctx)
	if err != nil {
		return false, 0
	}
	return false, max(st.Notes, st.ToScan)
}

// close closes the opened parts in reverse order.
func (s *Service) close() error {
	var errs []error
	for _, closing := range slices.Backward(s.closers) {
		errs = append(errs, closing())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// whileRunning returns err, or nil if ctx has ended.
func whileRunning(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
