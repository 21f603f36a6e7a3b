package watcher

import (
	"fmt"
	"slices"
)

// publish makes the tracker's state available to Watcher.Status.
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
	case t.withoutEvents() || t.limit != nil || len(t.unreadable) > 0:
		return StateDegraded
	case t.top.remote:
		return StatePolling
	default:
		return StateWatching
	}
}

// withoutEvents reports whether no source could be opened although the root's
// file system has reliable events.
func (t *tracker) withoutEvents() bool { return t.srcErr != nil && !t.top.remote }

// backend returns the back end that follows the root.
func (t *tracker) backend() string {
	if t.opt.backend == BackendPoll || t.top.remote || t.srcErr != nil {
		return BackendPoll
	}
	return BackendFSNotify
}

func (t *tracker) warnings() []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if t.lost != nil {
		warn("The folder %s cannot be watched until it is available: %v.", t.root, t.lost)
	}
	if t.withoutEvents() {
		warn("File system events are unavailable (%v), so every folder is polled. %s", t.srcErr, instanceRemedy())
	}
	if t.limit != nil {
		warn("The limit on watched folders is reached (%v), so %d of %d are polled. %s",
			t.limit, len(t.polled), len(t.polled)+t.count, watchRemedy(len(t.polled)+t.count))
	}
	if t.fsKind != "" {
		warn("The folder is on a file system (%s) that does not report the changes of other machines, so it is polled. "+
			"Changes are found a few seconds later than on a local disk.", t.fsKind)
	}
	if n := len(t.unreadable); n > 0 {
		first, why := t.firstUnreadable()
		warn("%d folder(s) cannot be read, for example %q (%v). Grant read access or ignore them.", n, first, why)
	}
	return all
}

// firstUnreadable returns the first unreadable directory by name, so that the
// warning stays the same from call to call.
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
