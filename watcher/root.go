package watcher

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"notesd/internal/fsid"
)

// auditSize is the number of directories verified at each tick: about two thousand per
// minute, at well under 0.1 % of one CPU.
const auditSize = 64

// rootID is the identity of the root. It includes the mount, because remounting a file
// system keeps the inodes but loses the watches.
type rootID struct {
	fsid.Identity
	mount uint64 // 0 if unsupported
}

// probeRoot returns the identity of the directory at abs. It fails if abs is not a
// directory or cannot be listed.
func probeRoot(abs string) (rootID, error) {
	fi, err := os.Stat(abs)
	if err != nil {
		return rootID{}, err
	}
	if !fi.IsDir() {
		return rootID{}, fmt.Errorf("%s is not a folder", abs)
	}
	f, err := os.Open(abs)
	if err != nil {
		return rootID{}, err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return rootID{}, err
	}
	id, err := fsid.PathIdentity(abs, fi)
	return rootID{id, mountID(f)}, err
}

// restart discards all state, opens a new source, follows every directory and
// emits a rescan. It is the only recovery from lost events and lost watches.
func (t *tracker) restart(reason string) {
	t.reset()
	id, err := probeRoot(t.root)
	if err == nil {
		t.rootID = id
		err = t.begin()
	}
	if err != nil {
		t.loseRoot(err)
		return
	}
	t.lost = nil
	t.restarts.note(time.Now())
	t.emitRescan(reason)
}

// reset discards everything but the settings.
func (t *tracker) reset() {
	t.clear()
	t.audit, t.restartReason = nil, ""
	t.interval = t.opt.pollInterval
}

// begin follows the tree below a root that probeRoot has identified.
func (t *tracker) begin() error {
	t.fsKind = t.env.remote(t.root)
	t.top.remote = t.fsKind != ""
	t.openSource()
	t.enter(t.top, false)
	t.nextPoll = time.Now().Add(t.interval)
	t.nextRetry = time.Now().Add(t.env.retry)
	return t.unreadable[t.top]
}

// loseRoot stops following the tree until the root is available, and emits one rescan.
// It does not report the files as deleted, because the root may be unmounted; the
// owner decides.
func (t *tracker) loseRoot(err error) {
	t.reset()
	already := t.lost != nil
	t.lost = err
	if !already {
		t.emitRescan("the folder is missing or cannot be read: " + err.Error())
	}
}

// checkRoot reports whether the root is still the directory being followed. If not, it
// restarts or records the loss of the root.
func (t *tracker) checkRoot() bool {
	if id, err := probeRoot(t.root); err == nil && id == t.rootID {
		return true
	}
	t.restart("the folder was replaced by another one, or mounted again")
	return false
}

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
