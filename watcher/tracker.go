package watcher

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tracker is the state of one Run. Only the goroutine of Run uses it.
type tracker struct {
	ctx       context.Context
	opt       Options
	env       environment
	root      string // absolute
	emit      func(Batch)
	setStatus func(Status)
	log       *slog.Logger

	tree
	rootID  rootID
	fsKind  string  // the root's file system, if its events are unreliable
	src     *source // nil if no directory is watched by events
	srcErr  error   // why no source could be opened
	limit   error   // the error of the watch that reached the limit
	lost    error   // why the root cannot be followed now
	rescans int

	batch         batch
	restartReason string    // why a restart was requested; empty if none was
	restartAsked  time.Time // when it was requested
	restarts      backoff

	nextPoll  time.Time
	interval  time.Duration // between polls
	nextRetry time.Time
	missing   int    // watches that the source lacked at the last count
	audit     []*dir // watched directories that verify has yet to compare
}

// batch collects the paths of the next Batch.
type batch struct {
	paths       map[string]struct{}
	overfull    bool      // paths exceeded maxPaths and were dropped
	first, last time.Time // times of the first and the last touch
	touched     int       // number of touches
}

func newBatch() batch { return batch{paths: make(map[string]struct{})} }

func newTracker(ctx context.Context, w *Watcher, root string, emit func(Batch)) *tracker {
	return &tracker{
		ctx:       ctx,
		opt:       w.opt,
		env:       w.env,
		root:      root,
		emit:      emit,
		setStatus: w.setStatus,
		log:       w.opt.Log.With("root", root),
		tree:      newTree(),
		batch:     newBatch(),
		interval:  w.opt.pollInterval,
	}
}

func (t *tracker) run() {
	defer t.stop()
	t.setStatus(Status{State: StateStarting, Backend: t.backend()})
	t.restart("started")

	tick := time.NewTicker(t.env.tick)
	defer tick.Stop()
	flush, poll := newAlarm(), newAlarm()
	defer flush.Stop()
	defer poll.Stop()
	for t.ctx.Err() == nil {
		flush.set(t.flushAt())
		poll.set(t.pollAt())
		t.publish()
		select {
		case <-t.ctx.Done():
		case <-t.ready():
			t.process(t.src.queue.take())
		case <-flush.C:
			t.flush()
		case <-poll.C:
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

// ready returns the signal of the source's queue, or nil, which never is ready.
func (t *tracker) ready() <-chan struct{} {
	if t.src == nil {
		return nil
	}
	return t.src.queue.ready
}

// touch adds a path to the next batch.
func (t *tracker) touch(rel string) {
	b := &t.batch
	b.last = time.Now()
	if b.touched == 0 {
		b.first = b.last
	}
	b.touched++
	if len(b.paths) >= maxPaths {
		b.overfull = true
		clear(b.paths)
	}
	if !b.overfull {
		b.paths[rel] = struct{}{}
	}
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

// flushAt returns when the next flush is due, or zero if none is.
func (t *tracker) flushAt() time.Time {
	var at time.Time
	if t.batch.touched > 0 {
		at = earlier(t.batch.last.Add(t.opt.quiet), t.batch.first.Add(t.opt.maxWait))
	}
	if t.restartReason != "" {
		at = earlier(t.restartAt(), at)
	}
	return at
}

// restartAt returns when the requested restart is due.
func (t *tracker) restartAt() time.Time {
	at := t.restartAsked.Add(t.opt.quiet)
	if at.Before(t.restarts.next) {
		return t.restarts.next
	}
	return at
}

// earlier returns the earlier of two times, where zero means no time.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// flush emits the batch. It checks the root first, because a thousand deletions
// may be the trace of a file system that was just unmounted.
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
		t.publish()
		t.emit(Batch{Paths: slices.Sorted(maps.Keys(b.paths))})
	}
}

// emitRescan emits a rescan, unless the context is done: the failure that asked
// for it may be a consequence of that.
func (t *tracker) emitRescan(reason string) {
	if t.ctx.Err() != nil {
		return
	}
	t.rescans++
	t.publish()
	t.log.Info("watcher rescans", "reason", reason)
	t.emit(Batch{Rescan: true, Reason: reason})
}

// abs returns the absolute path of a path relative to the root.
func (t *tracker) abs(rel string) string {
	if rel == "" {
		return t.root
	}
	return filepath.Join(t.root, filepath.FromSlash(rel))
}

// relative is the inverse of abs. ok is false for paths outside the root.
func (t *tracker) relative(abs string) (rel string, ok bool) {
	if abs == t.root {
		return "", true
	}
	rel, ok = strings.CutPrefix(abs, t.root)
	if ok && !strings.HasSuffix(t.root, string(filepath.Separator)) {
		rel, ok = strings.CutPrefix(rel, string(filepath.Separator))
	}
	return filepath.ToSlash(rel), ok
}
