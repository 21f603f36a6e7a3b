package mcp

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"notesd/notes"
)

const (
	// updateInterval is the least time between two notifications about one
	// resource, whatever the disk does.
	updateInterval = 250 * time.Millisecond
	// Notes that come and go are announced after listQuiet without another, but
	// not later than listLatest after the first.
	listQuiet  = time.Second
	listLatest = 2 * time.Second
)

// A Notifier follows the vault's change feed from its head and notifies the
// sessions of what they watch. Apply records changes; Run, which owns the timers,
// sends. A session queues its notifications, so that no client delays another.
//
// Changes are coalesced. A watched resource is announced at once and then once in
// updateInterval at most: what changes within the interval is announced once, at its end.
// A list is announced when listQuiet has passed without another change of it, or
// listLatest since the first. Whether a resource that is made from many notes reads
// differently is decided by each session when it is announced, since sessions see
// different folders.
//
// It implements notes.Follower, but keeps nothing: after a restart clients
// subscribe again.
type Notifier struct {
	core *Core
	wake chan struct{} // has a token when there is something new

	mu        sync.Mutex
	at        notes.Position
	pending   map[string]struct{}  // canonical URIs that are watched and have changed
	sent      map[string]time.Time // when a URI was last announced, for updateInterval
	listSince time.Time            // the first unannounced change of the list; zero: none
	listLast  time.Time
	list      bool // the change is of the list of resources
	prompts   bool // it is of a note in the prompts folder
	edited    bool // a note has other text, which sessions that continue take for a change of the list
}

// NewNotifier returns the core's notifier, which has seen everything up to head.
func NewNotifier(core *Core, head notes.Position) *Notifier {
	n := &Notifier{
		core: core, at: head, wake: make(chan struct{}, 1),
		pending: make(map[string]struct{}), sent: make(map[string]time.Time),
	}
	core.notifier.Store(n)
	return n
}

// Position returns the last change that Apply was given.
func (n *Notifier) Position() (notes.Position, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at, nil
}

// Apply records what has changed. It never blocks.
func (n *Notifier) Apply(_ context.Context, to notes.Position, changes []notes.Change) error {
	watched, promptFolders, continued := n.core.watchedURIs(), n.core.promptFolders(), false
	n.core.each(func(s *session) { continued = continued || s.continued.Load() })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = to
	for _, c := range changes {
		n.note(watched, notes.URI(c.Path))
		if c.OldPath != "" {
			n.note(watched, notes.URI(c.OldPath))
		}
		isPrompt := notes.InAny(c.Path, promptFolders) || notes.InAny(c.OldPath, promptFolders)
		n.prompts = n.prompts || isPrompt
		n.list, n.edited = n.list || c.Kind != notes.Modified, continued
		if c.Kind != notes.Modified || isPrompt || continued {
			n.listed()
		}
	}
	if len(changes) > 0 {
		n.noteDerived(watched)
	}
	n.signal()
	return nil
}

// Name implements [notes.Follower].
func (*Notifier) Name() string { return "what announces changes to clients" }

// Reset records that anything may have changed.
func (n *Notifier) Reset(context.Context) error {
	watched := n.core.watchedURIs()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = notes.Position{}
	for uri := range watched {
		n.pending[uri] = struct{}{}
	}
	n.listSince, n.listLast = time.Now(), time.Now()
	n.list, n.prompts, n.edited = true, true, true
	n.signal()
	return nil
}

// promptFolders returns the folders of the sessions' own prompts.
func (c *Core) promptFolders() (folders []string) {
	c.each(func(s *session) {
		if s.prompts.templated() {
			folders = append(folders, s.prompts.catalogue.Folder())
		}
	})
	return folders
}

func (n *Notifier) note(watched map[string]struct{}, uri string) {
	if _, ok := watched[uri]; ok {
		n.pending[uri] = struct{}{}
	}
}

// noteDerived marks the watched resources that are made from many notes. Each
// session finds out for itself whether one really reads differently now.
func (n *Notifier) noteDerived(watched map[string]struct{}) {
	for uri := range watched {
		if !notes.IsURI(uri) && !isTableURI(uri) {
			n.pending[uri] = struct{}{}
		}
	}
}

// FilesChanged records that the files at some vault-relative paths, or what is
// below them, may have changed. Apply reports notes; this is for the other files
// that clients watch. It does not wait for a client.
func (n *Notifier) FilesChanged(paths []string) {
	changed := make(map[string]struct{}, len(paths))
	for _, p := range paths {
		changed[foldedPath(p)] = struct{}{}
	}
	n.mark(func(uri string) bool {
		p, err := notes.ParseURI(uri)
		for p = foldedPath(p); err == nil && p != "."; p = path.Dir(p) {
			if _, ok := changed[p]; ok {
				return isAttachment(uri)
			}
		}
		return false
	})
}

// EverythingChanged records that any file may have changed.
func (n *Notifier) EverythingChanged() { n.mark(isAttachment) }

// tablesChanged records that tables of vectors have other rows or, if list is
// set, that there are others.
func (n *Notifier) tablesChanged(list bool) {
	n.mark(isTableURI)
	if !list {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = true
	n.listed()
	n.signal()
}

// mark marks the watched resources that may read differently. Each session finds
// out for itself whether one does.
func (n *Notifier) mark(may func(uri string) bool) {
	watched := n.core.watchedURIs()
	n.mu.Lock()
	defer n.mu.Unlock()
	for uri := range watched {
		if may(uri) {
			n.pending[uri] = struct{}{}
			n.signal()
		}
	}
}

// foldedPath is the same for all that may name one file on some disk.
func foldedPath(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// listed notes the time of a change of a list. The caller holds mu.
func (n *Notifier) listed() {
	n.listLast = time.Now()
	if n.listSince.IsZero() {
		n.listSince = n.listLast
	}
}

func (n *Notifier) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run announces changes until ctx is cancelled, and returns its error.
func (n *Notifier) Run(ctx context.Context) error {
	timer := time.NewTimer(listLatest)
	defer timer.Stop()
	for {
		news, wait := n.due(time.Now())
		n.core.each(func(s *session) {
			for _, uri := range news.uris {
				s.subs.updated(ctx, uri)
			}
			if news.list || news.edited && s.continued.Load() {
				s.subs.listChanged(noteListChanged)
			}
			if news.prompts {
				s.prompts.changed(ctx)
			}
		})
		timer.Stop()
		if wait > 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-n.wake:
		case <-timer.C:
		}
	}
}

// news is what sessions are to be notified of.
type news struct {
	uris          []string // canonical, of resources that read differently
	list, prompts bool     // which lists have changed
	edited        bool     // or a note
}

// due removes and returns what may be announced now, and how long until more is
// due; 0 if nothing is pending.
func (n *Notifier) due(now time.Time) (ready news, wait time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	later := func(d time.Duration) {
		if wait == 0 || d < wait {
			wait = d
		}
	}
	for uri, at := range n.sent {
		if now.Sub(at) >= updateInterval {
			delete(n.sent, uri)
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(n.pending)) {
		if at, ok := n.sent[uri]; ok {
			later(updateInterval - now.Sub(at))
			continue
		}
		ready.uris = append(ready.uris, uri)
		n.sent[uri] = now
		delete(n.pending, uri)
	}
	if !n.listSince.IsZero() {
		at := n.listLast.Add(listQuiet)
		if latest := n.listSince.Add(listLatest); latest.Before(at) {
			at = latest
		}
		if at.After(now) {
			later(at.Sub(now))
		} else {
			ready.list, ready.prompts, ready.edited = n.list, n.prompts, n.edited
			n.list, n.prompts, n.edited, n.listSince = false, false, false, time.Time{}
		}
	}
	return ready, wait
}

// watchedURIs returns the canonical URIs that any session watches.
func (c *Core) watchedURIs() map[string]struct{} {
	all := make(map[string]struct{})
	c.each(func(s *session) {
		for _, uri := range s.subs.watchedURIs() {
			all[uri] = struct{}{}
		}
	})
	return all
}

// TablesChanged notifies clients that rows of vector tables have changed and, if
// list is set, the list of tables. Changes made by tools are reported without it.
func (c *Core) TablesChanged(list bool) {
	if n := c.notifier.Load(); n != nil {
		n.tablesChanged(list)
	}
}

// FilesChanged notifies clients as [Notifier.FilesChanged] does, once there is one.
func (c *Core) FilesChanged(paths []string) {
	if n := c.notifier.Load(); n != nil {
		n.FilesChanged(paths)
	}
}
