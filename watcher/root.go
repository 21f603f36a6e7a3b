package watcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"notesd/internal/fsid"
)

// rootID is the identity of the root. It includes the mount, because remounting a file
// system keeps the inodes but loses the watches.
type rootID struct {
	fsid.Identity
	mount uint64 // 0 if unsupported
}

// probeRoot returns the identity of the directory at abs. It fails if abs is not a
// directory or cannot be listed, or if its disk does not answer: Run could not end then.
func probeRoot(abs string) (rootID, error) {
	return fsid.InTime("root "+abs, fsid.Patience, func() (rootID, error) { return probe(abs) })
}

func probe(abs string) (rootID, error) {
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
