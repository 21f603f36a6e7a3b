package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// A watch is a list of resources that a client wants to hear of: in the session
// era the session has one, after that each subscriptions/listen is one.
type watch struct {
	id      any  // of the listen request, which its notifications carry; nil in the session era
	list    bool // of the list of resources, too
	prompts bool // of the list of prompts, where the SDK does not tell it
	tools   bool // of the list of tools, too
	uris    map[string][]string
}

// add notes that uri is watched, and reports whether that is new. The canonical
// URI leads to those that the client wrote, under which it is told.
func (w *watch) add(canonical, written string) bool {
	if slices.Contains(w.uris[canonical], written) {
		return false
	}
	w.uris[canonical] = append(w.uris[canonical], written)
	return true
}

func (w *watch) remove(canonical, written string) {
	w.uris[canonical] = slices.DeleteFunc(w.uris[canonical], func(s string) bool { return s == written })
	if len(w.uris[canonical]) == 0 {
		delete(w.uris, canonical)
	}
}

// meta is the _meta of the watch's notifications.
func (w *watch) meta() sdk.Meta {
	if w.id == nil {
		return nil
	}
	return sdk.Meta{sdk.MetaKeySubscriptionID: w.id}
}

// subscribe notes that the client wants to hear of a resource. The resource
// need not exist: a client may wait for it to appear.
func (s *session) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	return s.watch(ctx, s.own, req.Params.URI)
}

// errUnwatched refuses a subscription that would never be served.
var errUnwatched = invalidParams("changes of attachments are not announced: subscribe to the notes that link to them")

// watch adds a resource to a watch.
func (s *session) watch(ctx context.Context, w *watch, written string) error {
	uri, err := canonicalURI(written)
	if err != nil {
		return err
	}
	if isAttachment(uri) {
		return errUnwatched
	}
	if !notes.IsURI(uri) {
		s.readsDifferently(ctx, uri) // what later changes are compared with
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for w := range s.watches {
		for _, written := range w.uris {
			count += len(written)
		}
	}
	if count >= s.core.limits.Subscriptions {
		return invalidParams("this session watches %d resources already, which is the limit: unsubscribe from some first", count)
	}
	w.add(uri, written)
	return nil
}

func (s *session) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	uri, err := canonicalURI(req.Params.URI)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own.remove(uri, req.Params.URI)
	return nil
}

// listen serves subscriptions/listen on a line connection, until the client
// cancels it. The SDK keeps one listener of a kind for each connection, so that
// with two of them the end of one silences the other.
func (s *session) listen(ctx context.Context, req *sdk.SubscriptionsListenRequest) (sdk.Result, error) {
	want := req.Params.Notifications
	if want == nil {
		return nil, invalidParams(`"notifications" is missing: say what to listen for`)
	}
	w := &watch{
		id: requestID(req), list: want.ResourcesListChanged, prompts: want.PromptsListChanged && s.templated(), tools: want.ToolsListChanged,
		uris: make(map[string][]string),
	}
	agreed := sdk.NotificationSubscriptions{ResourcesListChanged: w.list, PromptsListChanged: w.prompts, ToolsListChanged: w.tools}
	s.mu.Lock()
	s.watches[w] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, w)
	}()
	for _, uri := range want.ResourceSubscriptions {
		switch err := s.watch(ctx, w, uri); {
		case errors.Is(err, errUnwatched):
			continue // not among what is agreed to
		case err != nil:
			return nil, err
		}
		agreed.ResourceSubscriptions = append(agreed.ResourceSubscriptions, uri)
	}
	s.out.notify("notifications/subscriptions/acknowledged", &sdk.SubscriptionsAcknowledgedParams{Meta: w.meta(), Notifications: agreed})
	if w.list || w.prompts || w.tools || len(agreed.ResourceSubscriptions) > 0 {
		<-ctx.Done()
	}
	return &sdk.SubscriptionsListenResult{Meta: w.meta()}, nil
}

// headerRequestID carries a listen request's id past the SDK, which has no other
// way to tell it to a handler.
const headerRequestID = "Notesd-Request-Id"

// withRequestID marks the request with its own id.
func withRequestID(req *jsonrpc.Request, raw string) {
	req.Extra = &sdk.RequestExtra{Header: http.Header{headerRequestID: {raw}}}
}

// requestID returns the id as a value that marshals as the client wrote it.
func requestID(req sdk.Request) any {
	extra := req.GetExtra()
	if extra == nil {
		return nil
	}
	return rawJSON(extra.Header.Get(headerRequestID))
}

// watchedURIs returns the canonical URIs that the session watches.
func (s *session) watchedURIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var uris []string
	for w := range s.watches {
		uris = append(uris, sortedKeys(w.uris)...)
	}
	return uris
}

// updated tells the client that the resource with the canonical uri has
// changed, under each of the names by which it asked.
func (s *session) updated(ctx context.Context, uri string) {
	var told []*sdk.ResourceUpdatedNotificationParams
	s.mu.Lock()
	for w := range s.watches {
		for _, written := range w.uris[uri] {
			told = append(told, &sdk.ResourceUpdatedNotificationParams{Meta: w.meta(), URI: written})
		}
	}
	s.mu.Unlock()
	if len(told) == 0 || (!notes.IsURI(uri) && !s.readsDifferently(ctx, uri)) {
		return
	}
	for _, params := range told {
		s.out.updated(params)
	}
}

// resourcesChanged tells the client that notes have come or gone.
func (s *session) resourcesChanged() {
	for _, meta := range s.expecting(func(w *watch) bool { return w.list }) {
		s.out.listChanged(&sdk.ResourceListChangedParams{Meta: meta})
	}
}

// expecting returns the _meta for each of the watches that asked for a kind of
// notification. A session's client expects none before it says that it is
// initialized.
func (s *session) expecting(asked func(*watch) bool) []sdk.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	var metas []sdk.Meta
	for w := range s.watches {
		if asked(w) && (w != s.own || s.initialized) {
			metas = append(metas, w.meta())
		}
	}
	return metas
}
