package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/transport"
	"notesd/notes"
)

// subscriptions are the resources and lists whose changes are reported to a session's
// client. The session's mutex guards the fields.
type subscriptions struct {
	*session
	own       *watch // of the session era
	watches   map[*watch]struct{}
	digests   map[string][sha256.Size]byte // of watched resources other than notes
	restoring map[string]bool              // URIs in the SubscriptionStore, while they are restored from it
	restore   sync.Mutex                   // held while they are, before the session's mutex: another stream must not begin without them
}

func newSubscriptions(s *session) *subscriptions {
	own := &watch{lists: []string{methodListChanged, methodPromptsChanged, methodToolsChanged}, uris: make(map[string][]string)}
	return &subscriptions{session: s, own: own, watches: map[*watch]struct{}{own: {}}, digests: make(map[string][sha256.Size]byte)}
}

// A watch is a list of resources whose changes a client asked for. In the session era, each
// session has one; after that, each subscriptions/listen is one.
type watch struct {
	id    any      // of the listen request, repeated in its notifications; nil in the session era
	lists []string // methods of the requested notifications of changed lists
	uris  map[string][]string
}

// subscribe adds a resource to the session's watch and, if the session can continue, to the
// store.
func (s *subscriptions) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri, err := s.watchable(ctx, req.Params.URI)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if err = s.checkLimit(1); err == nil {
		s.own.add(uri, req.Params.URI)
	}
	stored := s.restoring[req.Params.URI]
	s.mu.Unlock()
	key, continues := s.storedAs(req.Session)
	if err != nil || stored || !continues {
		return err
	}
	return s.storeError(s.core.opts.Subscriptions.Subscribe(ctx, key, req.Params.URI))
}

func (s *subscriptions) unsubscribe(ctx context.Context, req *sdk.UnsubscribeRequest) error {
	s.mu.Lock()
	s.own.remove(req.Params.URI)
	s.mu.Unlock()
	key, continues := s.storedAs(req.Session)
	if !continues {
		return nil
	}
	if err := Await(ctx, s.core.opts.Opened); err != nil {
		return err
	}
	return s.storeError(s.core.opts.Subscriptions.Unsubscribe(ctx, key, req.Params.URI))
}

// beginRestore returns the URIs in the store, as the client wrote them, that the session does
// not watch. Until done is called, subscribing to one does not store it once more.
func (s *subscriptions) beginRestore(stored []string) (missing []string, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restoring = make(map[string]bool, len(stored))
	watched := slices.Concat(slices.Collect(maps.Values(s.own.uris))...)
	for _, uri := range stored {
		s.restoring[uri] = true
		if !slices.Contains(watched, uri) {
			missing = append(missing, uri)
		}
	}
	return missing, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.restoring = nil
	}
}

// storedAs returns the key of the session in the store. It returns false for a session that
// cannot be continued.
func (s *subscriptions) storedAs(ss *sdk.ServerSession) (key string, ok bool) {
	if s.http == nil {
		return "", false
	}
	as := resumedAs{s.profile.Subject, cmp.Or(s.resumes.id, ss.ID())}
	_, ok = introductionOf(as.id)
	return as.key(), ok
}

func (s *subscriptions) storeError(err error) error {
	if err == nil {
		return nil
	}
	s.log.Warn("a subscription cannot be stored", "err", err)
	return &notes.Error{Op: "subscribe", Err: notes.ErrUnavailable, Detail: "the subscription could not be stored; try again later"}
}

// listen serves subscriptions/listen on a line connection until the client cancels it. The
// SDK keeps one listener of each kind per connection, so that of two, the end of one
// silences the other.
func (s *subscriptions) listen(ctx context.Context, req *sdk.SubscriptionsListenRequest) (sdk.Result, error) {
	uris, err := s.watchableOnly(ctx, req.Params.Notifications)
	if err != nil {
		return nil, err
	}
	w := &watch{id: transport.RequestID(req), uris: uris}
	agreed := *req.Params.Notifications
	for method, wanted := range map[string]bool{
		methodListChanged: agreed.ResourcesListChanged, methodPromptsChanged: agreed.PromptsListChanged, methodToolsChanged: agreed.ToolsListChanged,
	} {
		if wanted {
			w.lists = append(w.lists, method)
		}
	}
	if err := s.addWatch(w, agreed); err != nil {
		return nil, err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, w)
	}()
	if len(w.lists) > 0 || len(uris) > 0 {
		<-ctx.Done()
	}
	return &sdk.SubscriptionsListenResult{Meta: w.meta()}, nil
}

// addWatch adds the watch of a listen. It queues the acknowledgment first, because that must
// be the first message about the watch.
func (s *subscriptions) addWatch(w *watch, agreed sdk.NotificationSubscriptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkLimit(len(agreed.ResourceSubscriptions)); err != nil {
		return err
	}
	s.out(methodAcknowledged, &sdk.SubscriptionsAcknowledgedParams{Meta: w.meta(), Notifications: agreed})
	s.watches[w] = struct{}{}
	return nil
}

// watchableOnly removes from a listen the resources whose changes cannot be reported, which the
// acknowledgment omits, and returns the others as those of a watch. If nothing is left to
// listen for, the listen fails with the first error.
func (s *subscriptions) watchableOnly(ctx context.Context, want *sdk.NotificationSubscriptions) (map[string][]string, error) {
	if want == nil {
		return nil, invalidParams(`"notifications" is missing: say what to listen for`)
	}
	w := watch{uris: make(map[string][]string)}
	var refused error
	want.ResourceSubscriptions = slices.DeleteFunc(want.ResourceSubscriptions, func(written string) bool {
		uri, err := s.watchable(ctx, written)
		if err != nil {
			refused = cmp.Or(refused, err)
			return true
		}
		w.add(uri, written)
		return false
	})
	if len(w.uris) > 0 || want.ResourcesListChanged || want.PromptsListChanged || want.ToolsListChanged {
		return w.uris, nil
	}
	return w.uris, refused
}

// checkLimit returns an error if the session cannot watch n more resources. It must be called
// with mu held.
func (s *subscriptions) checkLimit(n int) error {
	count := 0
	for w := range s.watches {
		for _, written := range w.uris {
			count += len(written)
		}
	}
	if limit := s.core.limits.Subscriptions; count+n > limit {
		return invalidParams("this session watches %d resources already, and may watch %d: unsubscribe from some first", count, limit)
	}
	return nil
}

// watchable returns the canonical form of a URI, without the part of a note, or an error with
// the reason why its changes cannot be reported. A note or a table need not exist: a client may
// wait for it to appear.
func (s *subscriptions) watchable(ctx context.Context, written string) (string, error) {
	if err := s.awaitReady(ctx); err != nil {
		return "", err
	}
	whole, _ := s.resources().partOf(ctx, written)
	uri, err := canonicalURI(whole)
	switch {
	case err != nil:
		return "", err
	case !s.covers(uri), isNote(uri) && s.leadsOutside(ctx, uri):
		return "", &notes.Error{Op: "watch", Path: uri, Err: notes.ErrNotFound, Detail: "there is no such resource"}
	case isNote(uri):
		return uri, nil
	}
	s.mu.Lock()
	watched := s.watchesLocked(uri)
	s.mu.Unlock()
	if watched { // a change since its digest may not have been announced yet
		return uri, nil
	}
	_, err = s.readsDifferently(ctx, uri) // stores the digest that later contents are compared with
	if err != nil && isAttachment(uri) {  // a file is an attachment only while a note links to it
		return "", err
	}
	return uri, nil
}

// leadsOutside reports whether a note exists but is hidden from this session, although the
// session may read its path: a symlink into a folder that it may not read.
func (s *subscriptions) leadsOutside(ctx context.Context, uri string) bool {
	scope := s.bounds().scope()
	if scope.Read == nil {
		return false
	}
	if _, err := s.core.opts.Vault.Lookup(ctx, uri, scope); !errors.Is(err, notes.ErrNotFound) {
		return false
	}
	_, err := s.core.opts.Vault.Lookup(ctx, uri, notes.Scope{})
	return err == nil
}

// watchedURIs returns the canonical URIs that the session watches.
func (s *subscriptions) watchedURIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var uris []string
	for w := range s.watches {
		uris = append(uris, slices.Sorted(maps.Keys(w.uris))...)
	}
	return uris
}

// updated notifies the client that the resource with the canonical URI has changed, under
// each of the URIs that the client used.
func (s *subscriptions) updated(ctx context.Context, uri string) {
	var updates []*sdk.ResourceUpdatedNotificationParams
	s.mu.Lock()
	for w := range s.watches {
		for _, written := range w.uris[uri] {
			updates = append(updates, &sdk.ResourceUpdatedNotificationParams{Meta: w.meta(), URI: written})
		}
	}
	s.mu.Unlock()
	if len(updates) == 0 || !s.covers(uri) {
		return
	}
	if !isNote(uri) {
		if differs, _ := s.readsDifferently(ctx, uri); !differs {
			return
		}
	}
	for _, params := range updates {
		s.out(methodUpdated, params)
	}
}

// listChanged sends the notification of a changed list to the watches that requested it. In
// the session era, none is sent before notifications/initialized.
func (s *subscriptions) listChanged(method string) {
	s.mu.Lock()
	var metas []sdk.Meta
	for w := range s.watches {
		if slices.Contains(w.lists, method) && (w != s.own || s.initialized) {
			metas = append(metas, w.meta())
		}
	}
	s.mu.Unlock()
	for _, meta := range metas {
		s.out(method, &sdk.ResourceListChangedParams{Meta: meta}) // the params are the same for all lists
	}
}

// everythingChanged returns server-sent events that make a client reload everything for
// which it may have missed notifications. The events have an id: some clients count a
// stream with an id as progress, and do not give up on a session whose streams end often.
func (s *subscriptions) everythingChanged() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	id := "_" + rand.Text()
	event := func(method, params string) {
		fmt.Fprintf(&b, "event: message\nid: %s\ndata: {\"jsonrpc\":\"2.0\",\"method\":%q,\"params\":%s}\n\n", id, method, params)
	}
	for _, method := range s.own.lists {
		event(method, "{}")
	}
	for _, written := range s.own.uris {
		for _, uri := range written {
			quoted, _ := json.Marshal(uri)
			event(methodUpdated, `{"uri":`+string(quoted)+`}`)
		}
	}
	return b.Bytes()
}

// covers reports whether the session may learn of changes to a resource.
func (s *subscriptions) covers(uri string) bool {
	if isTableURI(uri) {
		return s.core.opts.Tables != nil
	}
	if !notes.IsURI(uri) {
		return true // its text is limited to what the session may read
	}
	path, err := notes.ParseURI(uri)
	return err == nil && s.bounds().scope().CanRead(path) && !s.core.opts.Vault.Ignored(path)
}

// readsDifferently reports whether the content of a derived resource or an attachment
// differs from the content last compared, if any. The error is the reason why it cannot be
// read.
func (s *subscriptions) readsDifferently(ctx context.Context, uri string) (bool, error) {
	contents, err := s.resources().contents(ctx, uri)
	if err != nil {
		contents = &sdk.ResourceContents{Text: "cannot be read: " + err.Error()} // the client's own read reports why
	}
	sum := sha256.Sum256(append([]byte(contents.Text), contents.Blob...))
	s.mu.Lock()
	defer s.mu.Unlock()
	differs := s.digests[uri] != sum
	if len(s.digests) > s.core.limits.Subscriptions { // some resources are no longer watched
		maps.DeleteFunc(s.digests, func(uri string, _ [sha256.Size]byte) bool { return !s.watchesLocked(uri) })
	}
	s.digests[uri] = sum
	return differs, err
}

func (s *subscriptions) watchesLocked(uri string) bool {
	for w := range s.watches {
		if w.uris[uri] != nil {
			return true
		}
	}
	return false
}

// add records a watched URI, in canonical form and as the client wrote it; notifications
// contain the latter.
func (w *watch) add(canonical, written string) {
	if !slices.Contains(w.uris[canonical], written) {
		w.uris[canonical] = append(w.uris[canonical], written)
	}
}

func (w *watch) remove(written string) {
	for canonical, uris := range w.uris {
		w.uris[canonical] = slices.DeleteFunc(uris, func(s string) bool { return s == written })
		if len(w.uris[canonical]) == 0 {
			delete(w.uris, canonical)
		}
	}
}

// meta returns the _meta of the watch's notifications.
func (w *watch) meta() sdk.Meta {
	if w.id == nil {
		return nil
	}
	return sdk.Meta{sdk.MetaKeySubscriptionID: w.id}
}
