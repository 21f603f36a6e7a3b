package mcp

import (
	"cmp"
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
	// updateInterval is the minimum time between two notifications about one resource.
	updateInterval = 250 * time.Millisecond
	// A changed list is announced after listQuiet without another change, but no later than
	// listLatest after the first.
	listQuiet  = time.Second
	listLatest = 2 * time.Second
)

// A Notifier follows the vault's change feed from its head and notifies the sessions of
// changes to the resources that they watch. Apply records changes; Run, which owns the
// timers, sends notifications. A session queues its notifications, so that no client delays
// another.
//
// Changes are coalesced. A watched resource is announced immediately and then at most once
// per updateInterval: all changes within the interval are announced together at its end. A
// list is announced when listQuiet has passed without another change to it, or listLatest
// since the first. Sessions see different folders, so each session determines whether a
// resource derived from many notes has changed.
//
// It implements notes.Follower but stores nothing: see [SubscriptionStore].
type Notifier struct {
	core *Core
	wake chan struct{} // receives a token when there is something to announce

	mu        sync.Mutex
	at        notes.Position
	pending   map[string]struct{}  // canonical URIs of watched resources that have changed
	sent      map[string]time.Time // when a URI was last announced, for updateInterval
	listSince time.Time            // the first unannounced change of a list; zero if none
	listLast  time.Time
	list      bool                // the list of resources has changed for every client
	paths     map[string]struct{} // of the notes that are new, gone or moved
	prompts   bool                // a note in a prompts folder has changed
}

// NewNotifier returns the core's notifier, which announces changes after head.
func NewNotifier(core *Core, head notes.Position) *Notifier {
	n := &Notifier{
		core: core, at: head, wake: make(chan struct{}, 1),
		pending: make(map[string]struct{}), sent: make(map[string]time.Time), paths: make(map[string]struct{}),
	}
	core.notifier.Store(n)
	return n
}

// Position returns the position that was last passed to Apply.
func (n *Notifier) Position() (notes.Position, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at, nil
}

// Apply records the changes. It never blocks.
func (n *Notifier) Apply(_ context.Context, to notes.Position, changes []notes.Change) error {
	watched := n.core.watchedURIs()
	var promptFolders []string
	for _, catalogue := range n.core.Templates() {
		promptFolders = append(promptFolders, catalogue.Folder())
	}
	for _, c := range changes {
		if c.OldPath != "" {
			n.core.each(func(s *session) { s.seen.Moved(c.OldPath, c.Path) })
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = to
	for _, c := range changes {
		n.markWatched(watched, notes.URI(c.Path))
		if c.OldPath != "" {
			n.markWatched(watched, notes.URI(c.OldPath))
		}
		isPrompt := notes.InAny(c.Path, promptFolders) || notes.InAny(c.OldPath, promptFolders)
		n.prompts = n.prompts || isPrompt
		if c.Kind != notes.Modified {
			n.paths[c.Path], n.paths[cmp.Or(c.OldPath, c.Path)] = struct{}{}, struct{}{}
		}
		if c.Kind != notes.Modified || isPrompt {
			n.listed()
		}
	}
	if len(changes) > 0 {
		n.markDerived(watched)
	}
	n.signal()
	return nil
}

// Name implements [notes.Follower].
func (*Notifier) Name() string { return "what announces changes to clients" }

// Reset records that everything may have changed.
func (n *Notifier) Reset(context.Context) error {
	watched := n.core.watchedURIs()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = notes.Position{}
	for uri := range watched {
		n.pending[uri] = struct{}{}
	}
	n.list, n.prompts = true, true
	n.listed()
	n.signal()
	return nil
}

func (n *Notifier) markWatched(watched map[string]struct{}, uri string) {
	if _, ok := watched[uri]; ok {
		n.pending[uri] = struct{}{}
	}
}

// markDerived marks the watched resources that are derived from many notes. Each session
// checks whether their contents have changed.
func (n *Notifier) markDerived(watched map[string]struct{}) {
	for uri := range watched {
		if !notes.IsURI(uri) && !isTableURI(uri) {
			n.pending[uri] = struct{}{}
		}
	}
}

// FilesChanged records that the files at some vault-relative paths, or below them, may have
// changed. Apply reports notes; this reports the other files that clients watch. It never
// waits for a client.
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

// EverythingChanged records that any file other than a note may have changed.
func (n *Notifier) EverythingChanged() { n.mark(isAttachment) }

// tablesChanged records that rows of vector tables have changed and, if list is set, the
// list of tables.
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

// mark marks the watched resources for which may returns true. Each session checks whether
// their contents have changed.
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

// foldedPath returns the same path for all paths that may name one file on some file
// system.
func foldedPath(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// listed records the time of a change to a list. It must be called with mu held.
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
			if news.lists(s) {
				s.subs.listChanged(methodListChanged)
			}
			if news.prompts {
				s.subs.listChanged(methodPromptsChanged)
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

// news lists the changes to announce.
type news struct {
	uris          []string            // canonical, of resources that may have changed
	list, prompts bool                // the lists have changed
	paths         map[string]struct{} // of notes that are new, gone or moved
}

// lists reports whether the list of resources has changed for the session's client.
func (n news) lists(s *session) bool {
	scope := s.bounds().scope()
	for p := range n.paths {
		if scope.CanRead(p) {
			return true
		}
	}
	return n.list
}

// due removes and returns the changes that may be announced now, and the time until more
// are due, or 0 if nothing is pending.
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
			ready.list, ready.paths, ready.prompts = n.list, n.paths, n.prompts
			n.list, n.paths, n.prompts, n.listSince = false, make(map[string]struct{}), false, time.Time{}
		}
	}
	return ready, wait
}

// watchedURIs returns the canonical URIs watched by any session.
func (c *Core) watchedURIs() map[string]struct{} {
	all := make(map[string]struct{})
	c.each(func(s *session) {
		for _, uri := range s.subs.watchedURIs() {
			all[uri] = struct{}{}
		}
	})
	return all
}

// TablesChanged notifies clients that rows of vector tables have changed and, if list is
// set, the list of tables. Changes made by tools are reported without a call to it.
func (c *Core) TablesChanged(list bool) {
	if n := c.notifier.Load(); n != nil {
		n.tablesChanged(list)
	}
}

// FilesChanged calls [Notifier.FilesChanged] if the core has a notifier.
func (c *Core) FilesChanged(paths []string) {
	if n := c.notifier.Load(); n != nil {
		n.FilesChanged(paths)
	}
}
