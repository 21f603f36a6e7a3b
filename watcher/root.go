package watcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// auditSize is how many directories are verified at each tick: a few thousand
// a minute, for well under a thousandth of a CPU.
const auditSize = 64

// rootID is the identity of the root: another mount of the same file system
// has the same inode but took the watches with it.
type rootID struct {
	fileID
	mount uint64 // 0 where the system does not tell
}

// probeRoot says which directory is at abs, if one is and can be listed.
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

// restart begins anew: a new source, every directory watched or polled, then a
// rescan. It is the one answer to all that makes the watches doubtful.
func (t *tracker) restart(reason string) {
	t.reset()
	id, err := probeRoot(t.root)
	if err == nil {
		t.rootID = id
		err = t.begin()
	}
	if err != nil {
		t.lose(err)
		return
	}
	t.lost = nil
	t.restarts.note(time.Now())
	t.askRescan(reason)
}

// reset forgets all that is known about the tree.
func (t *tracker) reset() {
	t.closeSource()
	t.tree = newTree()
	t.batch = newBatch()
	t.audit, t.limit, t.srcErr, t.doubt, t.missing = nil, nil, nil, "", 0
	t.interval = t.opt.PollInterval
}

// begin follows the tree below a root that was just probed.
func (t *tracker) begin() error {
	t.fsKind = ""
	if t.opt.Backend == BackendAuto {
		t.fsKind = t.env.remote(t.root)
	}
	t.top.remote = t.opt.Backend == BackendPoll || t.fsKind != ""
	if t.opt.Backend != BackendPoll {
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
		t.log.Warn("file system events cannot be had: polling", "err", t.srcErr)
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

// lose stops following until the root is back, and says so once: that all
// files are gone is for the owner to judge, not for us to report path by path.
func (t *tracker) lose(err error) {
	t.reset()
	already := t.lost != nil
	t.lost = err
	if !already {
		t.askRescan("the folder is missing or cannot be read: " + err.Error())
	}
}

// rootStands reports whether the root is still the folder that is followed.
// If not, it has done what that calls for.
func (t *tracker) rootStands() bool {
	id, err := probeRoot(t.root)
	switch {
	case err != nil:
		t.lose(err)
	case id != t.rootID:
		t.restart("the folder was replaced by another, or mounted anew")
	default:
		return true
	}
	return false
}

// look is what each tick does: the changes that no event tells of.
func (t *tracker) look() {
	if t.lost != nil {
		if _, err := probeRoot(t.root); err == nil {
			t.restart("the folder is back")
		}
		return
	}
	if !t.rootStands() {
		return
	}
	t.verify()
	if now := time.Now(); !now.Before(t.nextRetry) {
		t.nextRetry = now.Add(t.env.retry)
		t.countWatches()
		t.retryWatches()
	}
}

// verify compares some of the watched directories with the disk, in turn:
// something may have been mounted over them.
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
			t.refollow(d.rel(), d, true)
		}
	}
	t.audit = t.audit[n:]
}

// countWatches notices watches that ended without an event, as those below a
// mount point do when it is unmounted. A difference may be an event that is
// still on its way, so it must be seen twice.
func (t *tracker) countWatches() {
	if t.src == nil {
		return
	}
	missing := t.count - len(t.src.WatchList())
	if missing > 0 && missing == t.missing {
		t.suspect(fmt.Sprintf("%d directories were no longer watched", missing))
	}
	t.missing = missing
}
