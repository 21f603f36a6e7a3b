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

// tracker is the state of one Run; only its goroutine touches it.
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
	fsKind  string  // what file system the root is on, when it is not to be trusted
	src     *source // nil while nothing is watched by events
	srcErr  error   // why there is no source although one is wanted
	limit   error   // what said that no more watches can be had
	lost    error   // why the root cannot be followed now
	rescans int

	batch    batch
	doubt    string    // why the watches are doubtful; ends in a restart
	doubtAt  time.Time // since when
	restarts backoff

	nextPoll  time.Time
	interval  time.Duration // between polls
	nextRetry time.Time
	missing   int    // watches that the source did not know when last counted
	audit     []*dir // watched directories whose identity is still to be verified
}

// batch is what the next Batch will be made of.
type batch struct {
	paths       map[string]struct{}
	overfull    bool      // there were too many paths to keep
	first, last time.Time // when the first and the last were touched
	touched     int       // how often
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
		interval:  w.opt.PollInterval,
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
			t.look()
		}
	}
}

func (t *tracker) stop() {
	t.reset()
	st := t.snapshot()
	st.State = StateStopped
	t.setStatus(st)
}

// ready is the source's signal, or nil, which blocks for ever.
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

// suspect asks for a restart, soon but not too often.
func (t *tracker) suspect(reason string) {
	if t.doubt != "" {
		return
	}
	t.doubt, t.doubtAt = reason, time.Now()
	t.log.Warn("watcher lost track", "reason", reason)
}

// flushAt is when flush has something to do, or zero.
func (t *tracker) flushAt() time.Time {
	var at time.Time
	if t.batch.touched > 0 {
		at = earlier(t.batch.last.Add(t.opt.Quiet), t.batch.first.Add(t.opt.MaxWait))
	}
	if t.doubt != "" {
		at = earlier(t.restartAt(), at)
	}
	return at
}

// restartAt is when a doubt leads to a restart.
func (t *tracker) restartAt() time.Time {
	at := t.doubtAt.Add(t.opt.Quiet)
	if at.Before(t.restarts.next) {
		return t.restarts.next
	}
	return at
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// flush sends the batch. The root is looked at first: what seems to be a
// thousand deletions may be a folder that was unmounted a moment ago.
func (t *tracker) flush() {
	if !t.rootStands() {
		return
	}
	if t.doubt != "" && !time.Now().Before(t.restartAt()) {
		t.restart(t.doubt)
		return
	}
	b := t.batch
	t.batch = newBatch()
	switch {
	case b.overfull:
		t.askRescan(errTooMany.Error())
	case len(b.paths) > 0:
		t.publish()
		t.emit(Batch{Paths: slices.Sorted(maps.Keys(b.paths))})
	}
}

// askRescan sends a batch that means everything, unless Run is to end and the
// reason may be no more than that.
func (t *tracker) askRescan(reason string) {
	if t.ctx.Err() != nil {
		return
	}
	t.rescans++
	t.publish()
	t.log.Info("watcher asks for a rescan", "reason", reason)
	t.emit(Batch{Rescan: true, Reason: reason})
}

// abs is the place of a relative path on this machine.
func (t *tracker) abs(rel string) string {
	if rel == "" {
		return t.root
	}
	return filepath.Join(t.root, filepath.FromSlash(rel))
}

// relative is the reverse of abs.
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
