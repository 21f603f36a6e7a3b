package watcher

import (
	"fmt"
	"slices"
)

// publish makes the tracker's state that of Watcher.Status.
func (t *tracker) publish() { t.setStatus(t.snapshot()) }

func (t *tracker) snapshot() Status {
	return Status{
		State:       t.state(),
		Backend:     t.backend(),
		Directories: t.count,
		Polled:      len(t.polled),
		Warnings:    t.warnings(),
		Rescans:     t.rescans,
	}
}

func (t *tracker) state() string {
	switch {
	case t.lost != nil:
		return StateLost
	case t.blind() || t.limit != nil || len(t.unreadable) > 0:
		return StateDegraded
	case t.top.remote:
		return StatePolling
	default:
		return StateWatching
	}
}

// blind reports whether there are no events where they were to be relied upon.
func (t *tracker) blind() bool { return t.srcErr != nil && !t.top.remote }

// backend is the one that the root is followed with.
func (t *tracker) backend() string {
	if t.opt.Backend == BackendPoll || t.top.remote || t.srcErr != nil {
		return BackendPoll
	}
	return BackendFSNotify
}

func (t *tracker) warnings() []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if t.lost != nil {
		warn("The folder %s cannot be followed until it is back: %v.", t.root, t.lost)
	}
	if t.blind() {
		warn("File system events cannot be had (%v), so every folder is polled. %s", t.srcErr, instanceRemedy())
	}
	if t.limit != nil {
		warn("No more folders can be watched (%v), so %d of %d are polled. %s",
			t.limit, len(t.polled), len(t.polled)+t.count, watchRemedy(len(t.polled)+t.count))
	}
	if t.fsKind != "" {
		warn("The folder is on a file system (%s) that does not report what other machines change, so it is polled. "+
			"If only this machine writes to it, choose the backend %q.", t.fsKind, BackendFSNotify)
	}
	if n := len(t.unreadable); n > 0 {
		first, why := t.firstUnreadable()
		warn("%d folder(s) cannot be read, the first being %q (%v). Allow reading, or ignore them.", n, first, why)
	}
	return all
}

// firstUnreadable is an example that stays the same from call to call.
func (t *tracker) firstUnreadable() (rel string, why error) {
	paths := make(map[string]error, len(t.unreadable))
	names := make([]string, 0, len(t.unreadable))
	for d, err := range t.unreadable {
		paths[d.rel()] = err
		names = append(names, d.rel())
	}
	rel = slices.Min(names)
	return rel, paths[rel]
}
