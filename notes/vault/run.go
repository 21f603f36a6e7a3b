package vault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"notesd/notes"
)

// retryAfter is how soon a failed reconcile, or a follower that failed, is
// tried again; it is also how soon a vault that is back is noticed.
const retryAfter = 2 * time.Second

// pruneEvery is how often history is brought within its limits.
const pruneEvery = 6 * time.Hour

// Run keeps the store equal to the disk until ctx ends: everything at first,
// then what Changed reports, and everything again every few minutes, since
// watchers lose events. It is the only caller of Reconcile in a running
// program, and owns no goroutine after it returns.
func (v *Vault) Run(ctx context.Context) error {
	l := &loop{v: v}
	v.feed.run(ctx) // followers that are behind the store
	var retryAt time.Time
	if l.runAll(ctx) {
		retryAt = time.Now().Add(retryAfter)
	}
	v.progress.ready.Store(retryAt.IsZero())
	v.progress.endFirst()
	rescan := time.NewTicker(v.opt.RescanEvery)
	defer rescan.Stop()
	prune := time.NewTicker(pruneEvery)
	defer prune.Stop()
	l.report(ctx, "prune history", v.history.Prune(ctx))
	for {
		again, late := at(retryAt), at(v.late.next())
		var remounted, unread <-chan time.Time
		if v.mounts.anyAway() {
			remounted = time.After(retryAfter)
		}
		if len(v.unread.all()) > 0 {
			unread = time.After(unreadRetry)
		}
		select {
		case <-ctx.Done():
			v.late.readDue(context.WithoutCancel(ctx), time.Time{}, maxLate+1) // what is there by now
			return nil
		case <-late:
			v.late.readDue(ctx, time.Now(), 0)
			continue
		case <-remounted:
			if !v.mounts.changed(v.disk) {
				continue
			}
			v.queue.AddAll()
		case <-rescan.C:
			v.queue.AddAll()
		case <-prune.C:
			l.report(ctx, "prune history", v.history.Prune(ctx))
			continue
		case <-unread:
			v.queue.Add(slices.Collect(maps.Values(v.unread.replace(nil)))...) // a file that fails again comes back
		case <-again:
			v.queue.AddAll()
			retryAt = time.Time{}
		case <-v.queue.Signal():
		}
		all, retry := l.runQueue(ctx)
		switch {
		case retry && retryAt.IsZero():
			retryAt = time.Now().Add(retryAfter)
		case all && !retry: // else what failed before is still undone
			retryAt = time.Time{}
		}
		if retryAt.IsZero() {
			v.progress.ready.Store(true)
		}
	}
}

// at returns a channel that receives at the time, or nil for the zero time.
func at(t time.Time) <-chan time.Time {
	if t.IsZero() {
		return nil
	}
	return time.After(time.Until(t))
}

// loop is one Run.
type loop struct {
	v      *Vault
	logged string // the last error that was logged
}

// runQueue does what is queued, and reports whether that was everything, and
// whether a scan of everything has to follow: the paths that failed are not kept.
// Only a scan of everything can end an incident.
func (l *loop) runQueue(ctx context.Context) (all, retry bool) {
	paths, all := l.v.queue.Take()
	if all || l.v.incident.get() != nil {
		return true, l.runAll(ctx)
	}
	if len(paths) > 0 {
		err := l.v.reconcilePaths(ctx, paths)
		l.v.incident.took(err, false)
		retry = l.report(ctx, "reconcile paths", err)
	}
	return false, retry || len(l.v.feed.behind()) > 0
}

func (l *loop) runAll(ctx context.Context) (retry bool) {
	err := l.v.Reconcile(ctx)
	l.v.incident.took(err, true)
	retry = l.report(ctx, "reconcile", err)
	l.v.feed.run(ctx)
	return retry || len(l.v.feed.behind()) > 0
}

// report is the edge where the loop's errors are logged, each once.
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
