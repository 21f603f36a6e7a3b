package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// subscribe notes that the client wants to hear of a resource. The resource
// need not exist: a client may wait for it to appear.
func (s *session) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri, err := canonicalURI(req.Params.URI)
	if err != nil {
		return err
	}
	if !notes.IsURI(uri) {
		s.readsDifferently(ctx, uri) // what later changes are compared with
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	written := s.watched[uri]
	if _, ok := written[req.Params.URI]; ok {
		return nil
	}
	if s.watches >= s.core.limits.Subscriptions {
		return invalidParams("this session watches %d resources already, which is the limit: unsubscribe from some first", s.watches)
	}
	if written == nil {
		written = make(map[string]struct{})
		s.watched[uri] = written
	}
	written[req.Params.URI] = struct{}{}
	s.watches++
	return nil
}

func (s *session) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	uri, err := canonicalURI(req.Params.URI)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	written := s.watched[uri]
	if _, ok := written[req.Params.URI]; !ok {
		return nil
	}
	delete(written, req.Params.URI)
	s.watches--
	if len(written) == 0 {
		delete(s.watched, uri)
		delete(s.digests, uri)
	}
	return nil
}

// watchedURIs returns the canonical URIs that the session has subscribed to.
func (s *session) watchedURIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortedKeys(s.watched)
}

// updated tells the client that the resource with the canonical uri has
// changed, under each of the names by which it asked.
func (s *session) updated(ctx context.Context, uri string) {
	s.mu.Lock()
	written := sortedKeys(s.watched[uri])
	s.mu.Unlock()
	if len(written) == 0 || (!notes.IsURI(uri) && !s.readsDifferently(ctx, uri)) {
		return
	}
	for _, name := range written {
		s.notify("notifications/resources/updated", &sdk.ResourceUpdatedNotificationParams{URI: name})
	}
}

// resourcesChanged tells the client that notes have come or gone. Before the
// client says that it is initialized it expects no notifications.
func (s *session) resourcesChanged() {
	s.mu.Lock()
	ready := s.initialized
	s.mu.Unlock()
	if ready {
		s.notify("notifications/resources/list_changed", &sdk.ResourceListChangedParams{})
	}
}
