package vault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"notesd/notes"
)

// retryAfter is the delay before a failed reconcile, or a failed follower, is retried, and
// the interval at which remounted disks are detected.
const retryAfter = 2 * time.Second

// pruneEvery is how often history is pruned to its limits.
const pruneEvery = 6 * time.Hour

// Run keeps the store consistent with the disk until ctx ends. It reconciles everything at
// first, then the paths passed to Changed, and everything again every few minutes, because
// watchers lose events. It leaves no goroutine running when it returns.
func (v *Vault) Run(ctx context.Context) error {
	l := &loop{v: v}
	v.feeder.run(ctx) // lets followers catch up with the store
	var retryAt time.Time
	if l.runAll(ctx) {
		retryAt = v.opt.Now().Add(retryAfter)
	}
	v.progress.ready.Store(retryAt.IsZero())
	v.progress.endFirst()
	rescan := time.NewTicker(v.opt.RescanEvery)
	defer rescan.Stop()
	var pruning sync.WaitGroup
	pruning.Go(func() { (&loop{v: v}).prune(ctx) })
	defer pruning.Wait()
	for {
		late, reread := v.late.next(), v.rereads.next()
		var remounted <-chan time.Time
		if _, away := v.mounts.get(); len(away) > 0 {
			remounted = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
			v.late.readDue(context.WithoutCancel(ctx), time.Time{}, maxLate+1) // their present text
			return nil
		case <-after(v.opt.Now, late):
			v.late.readDue(ctx, late, 0)
			continue
		case <-remounted:
			if !v.mounts.changed(v.disk) {
				continue
			}
			v.queue.AddAll()
		case <-rescan.C:
			v.queue.AddAll()
		case <-after(v.opt.Now, reread):
			v.rereads.queueDue(reread)
		case <-after(v.opt.Now, retryAt):
			v.queue.AddAll()
			retryAt = time.Time{}
		case <-v.queue.Signal():
		}
		all, retry := l.runQueue(ctx)
		switch {
		case retry && retryAt.IsZero():
			retryAt = v.opt.Now().Add(retryAfter)
		case all && !retry: // otherwise an earlier failure still needs a retry
			retryAt = time.Time{}
		}
		if retryAt.IsZero() {
			v.progress.ready.Store(true)
		}
	}
}

// prune prunes the history until ctx ends. Finding the largest notes of a history beyond
// its size limit takes seconds, for which saves must not wait.
func (l *loop) prune(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		l.report(ctx, "prune history", l.v.store.Prune(ctx, l.v.opt.History))
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// after returns a channel that receives at time t, or nil if t is zero.
func after(now func() time.Time, t time.Time) <-chan time.Time {
	if t.IsZero() {
		return nil
	}
	return time.After(t.Sub(now()))
}

// loop is the state of one call of Run.
type loop struct {
	v      *Vault
	logged string // the last error that was logged
}

// runQueue reconciles the queued paths. It reports whether it did a full scan, and whether
// one must follow: paths that failed are not kept. Only a full scan can end an incident, or apply
// the app's settings.
func (l *loop) runQueue(ctx context.Context) (all, retry bool) {
	paths, all := l.v.queue.Take()
	if all || l.v.incident.get() != nil || slices.ContainsFunc(paths, l.v.leadsToSettings) {
		return true, l.runAll(ctx)
	}
	if len(paths) > 0 {
		err := l.v.reconcilePaths(ctx, paths)
		l.v.incident.record(err, false)
		retry = l.report(ctx, "reconcile paths", err)
	}
	return false, retry || len(l.v.feeder.behind()) > 0
}

func (l *loop) runAll(ctx context.Context) (retry bool) {
	err := l.v.Reconcile(ctx)
	retry = l.report(ctx, "reconcile", err)
	l.v.feeder.run(ctx)
	return retry || len(l.v.feeder.behind()) > 0
}

// report logs an error of the loop, unless it is the same as the last one logged, and
// reports whether there was one.
func (l *loop) report(ctx context.Context, what string, err error) (retry bool) {
	if err == nil || ctx.Err() != nil {
		l.logged = ""
		return false
	}
	if text := err.Error(); l.logged != text {
		l.logged = text
		if errors.Is(err, notes.ErrUnavailable) {
			l.v.opt.Log.Warn("the vault cannot be used; everything known is kept", "err", err)
		} else {
			l.v.opt.Log.Error(what+" failed; it will be tried again", "err", err)
		}
	}
	return true
}

// Queue is a set of paths to be reconciled, or a request to reconcile everything. It is
// safe for concurrent use.
type Queue struct {
	signal chan struct{} // capacity 1, so that any number of calls wake the reader once
	most   int

	mu    sync.Mutex
	paths map[string]bool
	all   bool
}

// NewQueue returns a queue that holds up to most paths. Beyond that, it requests
// reconciling everything, which is then cheaper.
func NewQueue(most int) *Queue {
	return &Queue{signal: make(chan struct{}, 1), most: most, paths: map[string]bool{}}
}

// Add adds paths and wakes the reader.
func (q *Queue) Add(paths ...string) { q.Put(paths, false); q.Wake() }

// AddAll makes the next [Queue.Take] report everything, and wakes the reader.
func (q *Queue) AddAll() { q.Put(nil, true); q.Wake() }

// Put adds paths, or everything, without waking the reader, for work to be retried later.
func (q *Queue) Put(paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range paths {
		q.paths[p] = true
	}
	q.all = q.all || all || len(q.paths) > q.most
}

// Wake wakes the reader. It never blocks.
func (q *Queue) Wake() {
	select {
	case q.signal <- struct{}{}:
	default: // already signaled
	}
}

// Signal returns a channel that receives after Wake, Add or AddAll.
func (q *Queue) Signal() <-chan struct{} { return q.signal }

// Take empties the queue and returns its paths, sorted.
func (q *Queue) Take() (paths []string, all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	paths, all = slices.Sorted(maps.Keys(q.paths)), q.all
	q.paths, q.all = map[string]bool{}, false
	return paths, all
}

// maxQueued is how many paths a vault queues before it requests a full scan.
const maxQueued = 10_000
