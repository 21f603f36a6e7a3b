package watcher

import (
	"maps"
	"slices"
	"time"
)

// check runs at each tick and detects changes that produce no event.
func (t *tracker) check() {
	if t.lost != nil {
		if _, err := probeRoot(t.root); err == nil {
			t.restart("the folder is back")
		}
		return
	}
	if !t.checkRoot() {
		return
	}
	t.verify()
	if now := time.Now(); !now.Before(t.nextRetry) {
		t.nextRetry = now.Add(t.env.retry)
		t.retryWatches()
	}
}

// auditSize is the number of directories verified at each tick: about two thousand per
// minute, at well under 0.1 % of one CPU.
const auditSize = 64

// verify compares the next auditSize watched directories with the disk, because
// a file system may have been mounted over them, or unmounted.
func (t *tracker) verify() {
	if len(t.audit) == 0 {
		for _, d := range t.ids {
			if d.parent != nil {
				t.audit = append(t.audit, d)
			}
		}
	}
	n := min(auditSize, len(t.audit))
	for _, d := range t.audit[:n] {
		if d.mode != watched {
			continue
		}
		if id, isDir, err := lookup(t.abs(d.rel())); err != nil || !isDir || id != d.id {
			t.recheck(d.rel(), d, true)
		}
	}
	t.audit = t.audit[n:]
}

// The interval between polls adapts to changes and to the duration of a poll.
const (
	idleFactor = 4           // the interval of an idle tree grows to this multiple
	loadFactor = 10          // the pause after a poll is at least this multiple of its duration,
	maxPoll    = time.Minute // up to this limit
)

// pollAt returns the time of the next poll, or zero if none is due.
func (t *tracker) pollAt() time.Time {
	if t.lost != nil || len(t.polled) == 0 {
		return time.Time{}
	}
	return t.nextPoll
}

// poll lists every polled directory and touches the entries that differ.
func (t *tracker) poll() {
	start, touched := time.Now(), t.batch.touched
	for _, d := range slices.Collect(maps.Keys(t.polled)) {
		if t.ctx.Err() != nil {
			return
		}
		if d.mode == polled { // an earlier listing may have removed it from the tree
			t.relist(d, d.entries, t.unreadable[d])
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

// relist lists a directory again, touches the differences from before, and enters new
// directories. failed is why the last attempt to list it failed, or nil. If it failed and
// there is no earlier listing, no difference shows what was removed since; the directory
// itself is touched then.
func (t *tree) relist(d *dir, before map[string]stamp, failed error) {
	unknown := failed != nil && before == nil && d.parent != nil // the root is rescanned
	added := t.list(d, before, true)
	if unknown && t.unreadable[d] == nil {
		t.touch(d.rel())
	}
	for _, child := range added {
		t.enter(child, true)
	}
}

// retryWatches tries to watch the directories that are polled for lack of watches.
func (t *tracker) retryWatches() {
	if t.src == nil {
		t.openSource()
	}
	t.limit = nil
	for _, d := range slices.Collect(maps.Keys(t.polled)) {
		if d.mode == polled && !d.events && t.ids[d.id] == d {
			t.retryWatch(d)
		}
	}
}

func (t *tree) retryWatch(d *dir) {
	before, failed := d.entries, t.unreadable[d]
	if !t.watch(d) {
		return
	}
	if !d.remote {
		t.setMode(d, watched)
	}
	t.relist(d, before, failed)
}
