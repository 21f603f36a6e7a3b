package watcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// auditSize is the number of directories verified at each tick: a few thousand
// per minute, for well under a thousandth of a CPU.
const auditSize = 64

// rootID is the identity of the root. It includes the mount, because a file
// system that is mounted again has the same inodes, but its watches are lost.
type rootID struct {
	fileID
	mount uint64 // 0 where the system does not provide it
}

// probeRoot identifies the directory at abs. It fails unless abs is a directory
// that can be listed.
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
	id, err := identify(abs, fi)
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

// reset closes the source and discards the tree and the batch.
func (t *tracker) reset() {
	t.closeSource()
	t.tree = newTree()
	t.batch = newBatch()
	t.audit, t.limit, t.srcErr, t.restartReason, t.missing = nil, nil, nil, "", 0
	t.interval = t.opt.pollInterval
}

// begin follows the tree below a root that probeRoot has identified.
func (t *tracker) begin() error {
	t.fsKind = ""
	if t.opt.backend == BackendAuto {
		t.fsKind = t.env.remote(t.root)
	}
	t.top.remote = t.opt.backend == BackendPoll || t.fsKind != ""
	if t.opt.backend != BackendPoll {
		t.openSource()
	}
	t.enter(t.top, false)
	t.nextPoll = time.Now().Add(t.interval)
	t.nextRetry = time.Now().Add(t.env.retry)
	return t.unreadable[t.top]
}

func (t *tracker) openSource() {
	t.src, t.srcErr = t.env.open()
	if t.srcErr != nil {
		t.src = nil
		t.log.Warn("file system events are unavailable: polling", "err", t.srcErr)
	}
}

func (t *tracker) closeSource() {
	if t.src == nil {
		return
	}
	if err := t.src.Close(); err != nil {
		t.log.Debug("closing the event source", "err", err)
	}
	t.src = nil
}

// loseRoot stops following until the root is available and emits one rescan.
// The files are not reported as deleted, because the root may be unmounted; the
// owner decides.
func (t *tracker) loseRoot(err error) {
	t.reset()
	already := t.lost != nil
	t.lost = err
	if !already {
		t.emitRescan("the folder is missing or cannot be read: " + err.Error())
	}
}

// checkRoot reports whether the root is the directory that is being followed. If
// it is not, checkRoot has restarted or recorded the loss of the root.
func (t *tracker) checkRoot() bool {
	id, err := probeRoot(t.root)
	switch {
	case err != nil:
		t.loseRoot(err)
	case id != t.rootID:
		t.restart("the folder was replaced by another one, or mounted again")
	default:
		return true
	}
	return false
}

// check runs at each tick and detects the changes for which there is no event.
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
		t.countWatches()
		t.retryWatches()
	}
}

// verify compares the next auditSize watched directories with the disk, because
// a file system may have been mounted over them.
func (t *tracker) verify() {
	if len(t.audit) == 0 {
		for _, d := range t.ids {
			if d.mode == watched && d.parent != nil {
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

// countWatches detects watches that ended without an event, as those below a
// mount point do when it is unmounted. Two counts must show the same difference,
// because a single one can come from an event that is still queued.
func (t *tracker) countWatches() {
	if t.src == nil {
		return
	}
	missing := t.count - len(t.src.WatchList())
	if missing > 0 && missing == t.missing {
		t.requestRestart(fmt.Sprintf("%d directories were no longer watched", missing))
	}
	t.missing = missing
}
