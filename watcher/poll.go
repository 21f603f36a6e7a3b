package watcher

import (
	"maps"
	"slices"
	"time"
)

// The interval between polls adapts to changes and to the duration of a poll.
const (
	idleFactor = 4           // the interval of an idle tree grows to this multiple
	loadFactor = 10          // a poll is followed by a pause of this multiple of its duration,
	maxPoll    = time.Minute // which is at most this long
)

// pollAt returns when the next poll is due, or zero if none is.
func (t *tracker) pollAt() time.Time {
	if t.lost != nil || len(t.polled) == 0 {
		return time.Time{}
	}
	return t.nextPoll
}

// poll lists every polled directory and touches the entries that differ.
func (t *tracker) poll() {
	if !t.checkRoot() {
		return
	}
	start, touched := time.Now(), t.batch.touched
	for _, d := range slices.Collect(maps.Keys(t.polled)) {
		if t.ctx.Err() != nil {
			return
		}
		if d.mode == polled { // an earlier listing may have removed it from the tree
			t.relist(d)
		}
	}
	took := time.Since(start)
	if t.batch.touched != touched {
		t.interval = t.opt.pollInterval
	} else {
		t.interval = min(t.interval*5/4, t.opt.pollInterval*idleFactor)
	}
	t.nextPoll = time.Now().Add(max(t.interval, min(took*loadFactor, maxPoll)))
}

// relist lists a directory, touches the differences and enters new directories.
func (t *tracker) relist(d *dir) {
	for _, child := range t.list(d, nil, true) {
		t.enter(child, true)
	}
}

// retryWatches tries to watch the directories that are polled for lack of a
// watch.
func (t *tracker) retryWatches() {
	if t.opt.backend == BackendPoll {
		return
	}
	if t.src == nil {
		t.openSource()
	}
	t.limit = nil
	for _, d := range slices.Collect(maps.Keys(t.polled)) {
		if t.src == nil || t.limit != nil || t.ctx.Err() != nil {
			return
		}
		if d.mode == polled && !d.events && t.ids[d.id] == d {
			t.retryWatch(d)
		}
	}
}

func (t *tracker) retryWatch(d *dir) {
	before := d.entries
	if !t.watch(d) {
		return
	}
	if !d.remote {
		t.setMode(d, watched)
	}
	for _, child := range t.list(d, before, true) {
		t.enter(child, true)
	}
}
