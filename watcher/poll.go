package watcher

import (
	"maps"
	"slices"
	"time"
)

// How the interval between polls adapts.
const (
	idleFactor = 4           // an idle tree is polled this much less often,
	loadFactor = 10          // a poll takes at most a tenth of the time,
	maxPoll    = time.Minute // but one comes at least this often
)

// pollAt is when the next poll is due, or zero.
func (t *tracker) pollAt() time.Time {
	if t.lost != nil || len(t.polled) == 0 {
		return time.Time{}
	}
	return t.nextPoll
}

// poll lists every polled directory and touches what differs.
func (t *tracker) poll() {
	if !t.rootStands() {
		return
	}
	start, touched := time.Now(), t.batch.touched
	for _, d := range slices.Collect(maps.Keys(t.polled)) {
		if t.ctx.Err() != nil {
			return
		}
		if d.mode == polled { // not forgotten meanwhile
			t.relist(d)
		}
	}
	took := time.Since(start)
	if t.batch.touched != touched {
		t.interval = t.opt.PollInterval
	} else {
		t.interval = min(t.interval*5/4, t.opt.PollInterval*idleFactor)
	}
	t.nextPoll = time.Now().Add(max(t.interval, min(took*loadFactor, maxPoll)))
}

// relist compares a directory with its last listing.
func (t *tracker) relist(d *dir) {
	for _, child := range t.list(d, nil, true) {
		t.enter(child, true)
	}
}

// retryWatches tries to watch what is polled for want of a watch.
func (t *tracker) retryWatches() {
	if t.opt.Backend == BackendPoll {
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
