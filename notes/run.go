package notes

import (
	"context"
	"errors"
	"time"
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
	v.feed.run(ctx) // followers that are behind the store
	var retryAt time.Time
	if v.runAll(ctx) {
		retryAt = time.Now().Add(retryAfter)
	}
	v.progress.ready.Store(retryAt.IsZero())
	rescan := time.NewTicker(v.opt.RescanEvery)
	defer rescan.Stop()
	prune := time.NewTicker(pruneEvery)
	defer prune.Stop()
	v.report(ctx, "prune history", v.Prune(ctx))
	for {
		var again <-chan time.Time
		if !retryAt.IsZero() {
			again = time.After(time.Until(retryAt))
		}
		var remounted <-chan time.Time
		if v.mounts.anyAway() {
			remounted = time.After(retryAfter)
		}
		var late <-chan time.Time
		if next := v.late.next(); !next.IsZero() {
			late = time.After(time.Until(next))
		}
		var unread <-chan time.Time
		if v.unread.any() {
			unread = time.After(unreadRetry)
		}
		select {
		case <-ctx.Done():
			v.lookLate(context.WithoutCancel(ctx), time.Time{}, maxLate+1) // what is there by now
			return nil
		case <-late:
			v.lookLate(ctx, time.Now(), 0)
			continue
		case <-remounted:
			if !v.mountsChanged() {
				continue
			}
			v.queue.addAll()
		case <-rescan.C:
			v.queue.addAll()
		case <-prune.C:
			v.report(ctx, "prune history", v.Prune(ctx))
			continue
		case <-unread:
			v.queue.add(v.unread.take())
		case <-again:
			v.queue.addAll()
			retryAt = time.Time{}
		case <-v.queue.signal:
		}
		all, retry := v.runQueue(ctx)
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

// runQueue does what is queued, and reports whether that was everything, and
// whether a look at everything has to follow: the paths that failed are not kept.
// Only a look at everything can end an incident.
func (v *Vault) runQueue(ctx context.Context) (all, retry bool) {
	paths, all := v.queue.take()
	if all || v.incident.get() != nil {
		return true, v.runAll(ctx)
	}
	if len(paths) > 0 {
		err := v.reconcilePaths(ctx, paths)
		v.incident.took(err, false)
		retry = v.report(ctx, "reconcile paths", err)
	}
	return false, retry || len(v.feed.behind()) > 0
}

func (v *Vault) runAll(ctx context.Context) (retry bool) {
	err := v.Reconcile(ctx)
	v.incident.took(err, true)
	retry = v.report(ctx, "reconcile", err)
	v.feed.run(ctx)
	return retry || len(v.feed.behind()) > 0
}

// report is the edge where the loop's errors are logged, each once.
func (v *Vault) report(ctx context.Context, what string, err error) (retry bool) {
	if err == nil || ctx.Err() != nil {
		v.incident.logged = ""
		return false
	}
	if text := err.Error(); v.incident.logged != text {
		v.incident.logged = text
		if errors.Is(err, ErrUnavailable) {
			v.opt.Log.Warn("the vault cannot be used; everything known is kept", "err", err)
		} else {
			v.opt.Log.Error(what+" failed; it will be tried again", "err", err)
		}
	}
	return true
}
