package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/tools"
	"notesd/mcp/transport"
)

// An outlet sends notifications to one client, without waiting for it.
type outlet func(method string, params any)

// The notifications that sessions send.
const (
	methodUpdated        = "notifications/resources/updated"
	methodListChanged    = "notifications/resources/list_changed"
	methodToolsChanged   = "notifications/tools/list_changed"
	methodPromptsChanged = "notifications/prompts/list_changed"
	methodAcknowledged   = "notifications/subscriptions/acknowledged"
	methodLog            = "notifications/message"
)

// silent is the outlet of a session that has no connection yet.
func silent(string, any) {}

// toConn returns an outlet to a line connection, whose Write only queues.
func toConn(conn *transport.Conn) outlet {
	return func(method string, params any) {
		data, _ := json.Marshal(params) // cannot fail for the SDK's types
		// An error means that the session is closing, which is reported elsewhere.
		_ = conn.Write(context.Background(), &jsonrpc.Request{Method: method, Params: data})
	}
}

// An sdkOutlet sends through the SDK, which waits for the client. It does so in a goroutine
// of its own, so that the notifier and other sessions do not wait. Its queue stays small: a
// resource or list that has changed twice is announced once, since the client reads the
// current state anyway, and only the newest log records are kept. The order between the
// kinds of notifications is lost; no client depends on it. A line connection does not need
// this: its queue is bounded, and a client that lets it overflow is disconnected.
type sdkOutlet struct {
	session *session
	wake    chan struct{}

	mu    sync.Mutex
	uris  map[string]struct{}
	lists map[string]bool // by the method of the notification
	logs  []*sdk.LoggingMessageParams
}

func newSDKOutlet(s *session) *sdkOutlet {
	return &sdkOutlet{session: s, wake: make(chan struct{}, 1), uris: make(map[string]struct{}), lists: make(map[string]bool)}
}

// notify queues a notification. A client that does not read loses the oldest log records.
func (o *sdkOutlet) notify(method string, params any) {
	const most = 100
	o.mu.Lock()
	defer o.mu.Unlock()
	switch p := params.(type) {
	case *sdk.ResourceUpdatedNotificationParams:
		o.uris[p.URI] = struct{}{}
	case *sdk.ResourceListChangedParams:
		o.lists[method] = true
	case *sdk.LoggingMessageParams:
		o.logs = append(o.logs[max(0, len(o.logs)+1-most):], p)
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *sdkOutlet) run(ended <-chan struct{}) {
	s := o.session
	for {
		select {
		case <-ended:
			return
		case <-o.wake:
		}
		o.mu.Lock()
		uris, lists, logs := slices.Sorted(maps.Keys(o.uris)), maps.Clone(o.lists), o.logs
		clear(o.uris)
		clear(o.lists)
		o.logs = nil
		o.mu.Unlock()
		if !s.http.reaches(s) {
			continue
		}
		ctx := context.Background() // with a request's context, it would go to that request's stream
		for _, uri := range uris {
			// Errors mean that the session has ended, or are logged by the SDK.
			_ = s.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		if lists[methodListChanged] {
			s.server.AddResource(fixedResources[0], s.resources().readResource) // makes the SDK announce that the list has changed
		}
		if lists[methodToolsChanged] {
			s.toolbox().addTools(s.server, tools.All()[0]) // likewise; more than one tool could cause two notifications
		}
		if lists[methodPromptsChanged] {
			s.server.AddPrompt(&sdk.Prompt{Name: routedPrompt}, s.prompts().get)
		}
		for _, record := range logs {
			_ = s.ss.Log(ctx, record)
		}
	}
}
