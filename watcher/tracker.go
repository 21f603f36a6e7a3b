package watcher

import (
	"maps"
	"path"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// tracker is the state of one Run. Only the goroutine of Run uses it.
type tracker struct {
	tree
	emit      func(Batch)
	setStatus func(Status)

	fsKind string // the root's file system, if its events are unreliable
	lost   error  // why the root cannot be followed, or nil

	restartReason string    // why a restart was requested; empty if none is pending
	restartAsked  time.Time // when it was requested
	restarts      backoff

	nextPoll  time.Time
	interval  time.Duration // between polls
	nextRetry time.Time
	audit     []*dir // watched directories that verify has not compared yet
}

func (t *tracker) run() {
	t.reset()
	defer t.stop()
	t.restart("started")

	tick := time.NewTicker(t.env.tick)
	defer tick.Stop()
	for t.ctx.Err() == nil {
		t.publish()
		select {
		case <-t.ctx.Done():
		case <-t.ready():
			t.process(t.src.queue.take())
		case <-at(t.flushAt()):
			t.flush()
		case <-at(t.pollAt()):
			t.poll()
		case <-tick.C:
			t.check()
		}
	}
}

func (t *tracker) stop() {
	t.reset()
	st := t.snapshot()
	st.State = StateStopped
	t.setStatus(st)
}

// ready returns the signal of the source's queue, or nil, which blocks forever.
func (t *tracker) ready() <-chan struct{} {
	if t.src == nil {
		return nil
	}
	return t.src.queue.ready
}

// requestRestart schedules a restart after the quiet period, or later if the last
// restart was recent. A restart that is already scheduled keeps its reason.
func (t *tracker) requestRestart(reason string) {
	if t.restartReason != "" {
		return
	}
	t.restartReason, t.restartAsked = reason, time.Now()
	t.log.Warn("watcher will restart", "reason", reason)
}

// flushAt returns the time of the next flush, or zero if none is due.
func (t *tracker) flushAt() time.Time {
	var at time.Time
	if t.batch.touched > 0 {
		at = earlier(t.batch.last.Add(Quiet), t.batch.first.Add(maxWait))
	}
	if t.restartReason != "" {
		at = earlier(t.restartAt(), at)
	}
	return at
}

// restartAt returns the time of the requested restart.
func (t *tracker) restartAt() time.Time {
	at := t.restartAsked.Add(Quiet)
	if at.Before(t.restarts.next) {
		return t.restarts.next
	}
	return at
}

// earlier returns the earlier of two times, or a if b is zero.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// flush emits the batch. It checks the root first, because mass deletions may mean that
// the file system was unmounted.
func (t *tracker) flush() {
	if !t.checkRoot() {
		return
	}
	if t.restartReason != "" && !time.Now().Before(t.restartAt()) {
		t.restart(t.restartReason)
		return
	}
	b := t.batch
	t.batch = newBatch()
	switch {
	case b.overfull:
		t.emitRescan(errTooMany.Error())
	case len(b.paths) > 0:
		t.emit(Batch{Paths: slices.Sorted(maps.Keys(b.paths))})
	}
}

// emitRescan emits a rescan unless the context is done, which may be what caused the
// failure behind it.
func (t *tracker) emitRescan(reason string) {
	if t.ctx.Err() != nil {
		return
	}
	t.publish()
	t.log.Info("watcher rescans", "reason", reason)
	t.emit(Batch{Rescan: true, Reason: reason})
}

// at returns a channel that receives a value at the given time, at once if it is past,
// and never if it is zero.
func at(t time.Time) <-chan time.Time {
	if t.IsZero() {
		return nil
	}
	return time.After(time.Until(t))
}

// Bounds of the pause between two restarts for lost events, so that a storm that
// overflows the queue for minutes does not cause a continuous walk of the tree.
const (
	minRestartGap = time.Second
	maxRestartGap = time.Minute
)

// backoff spaces restarts.
type backoff struct {
	gap  time.Duration
	next time.Time // earliest time of the next restart
}

// note records a restart. It doubles the gap if the last restart was recent and
// resets it otherwise.
func (b *backoff) note(now time.Time) {
	if b.gap > 0 && now.Before(b.next.Add(b.gap)) {
		b.gap = min(2*b.gap, maxRestartGap)
	} else {
		b.gap = minRestartGap
	}
	b.next = now.Add(b.gap)
}

// process handles the queued events. They are in the order of the first event of each
// path, with the union of its operations. The operations therefore do not show the
// current state of a path; only a stat does.
func (t *tracker) process(q queued) {
	if q.lost != nil {
		t.requestRestart(q.lost.Error())
	}
	src := t.src
	for _, ev := range q.events {
		if t.ctx.Err() != nil {
			return
		}
		t.handle(ev)
		if t.src != src {
			return // restarted: the other events come from the closed source
		}
	}
}

func (t *tracker) handle(ev fsnotify.Event) {
	rel, ok := t.relative(ev.Name)
	if !ok {
		return
	}
	if above := t.find(folder(rel)); above != nil && above.mode == watched && t.env.hides(ev.Name) {
		t.setMode(above, polled)
	}
	moved := ev.Op.Has(fsnotify.Remove) || ev.Op.Has(fsnotify.Rename)
	d := t.find(rel)
	switch {
	case rel == "" && moved:
		t.restart("the folder was moved or removed")
	case rel == "":
		t.checkRoot() // its permissions may have changed
	case d == nil && t.opt.Ignore(rel):
	case d == nil && !ev.Op.Has(fsnotify.Create):
		// A file, or a directory outside the tree. Do not stat it: a file that is
		// being written has many such events.
		t.touch(rel)
	case d != nil && ev.Op == fsnotify.Write:
		// Windows reports this in addition to the event of a changed entry of d.
	default:
		t.recheck(rel, d, moved)
	}
}

// recheck updates the tree for a path that is, was or may have become a directory.
// moved means that the kernel has removed its watch on the path, or will, even if a
// directory with the same identity is there.
func (t *tracker) recheck(rel string, d *dir, moved bool) {
	id, isDir, err := lookup(t.abs(rel))
	isDir = isDir && err == nil
	if d != nil && err != nil && !isGone(err) {
		t.touch(rel)
		t.listFailed(d, err)
		return
	}
	if d != nil && !moved && isDir && id == d.id {
		t.touch(rel)
		if t.unreadable[d] != nil {
			t.relist(d, d.entries, nil) // touched already
		}
		return
	}
	if d != nil {
		// On a case-insensitive file system the old name of a renamed directory
		// still resolves to it.
		isDir = isDir && t.listedAs(d)
		t.forget(d)
	}
	if t.opt.Ignore(rel) {
		return
	}
	t.touch(rel)
	if parent := t.find(folder(rel)); isDir && parent != nil {
		t.enter(t.add(parent, path.Base(rel)), true)
	}
}

// folder returns the path of the directory that contains rel, "" for the root.
func folder(rel string) string { return path.Dir("/" + rel)[1:] }
