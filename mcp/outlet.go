package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An outlet sends notifications to one client. It does not wait for the client.
type outlet func(method string, params any)

// The notifications that sessions send.
const (
	noteUpdated        = "notifications/resources/updated"
	noteListChanged    = "notifications/resources/list_changed"
	noteToolsChanged   = "notifications/tools/list_changed"
	notePromptsChanged = "notifications/prompts/list_changed"
	noteAcknowledged   = "notifications/subscriptions/acknowledged"
	noteLog            = "notifications/message"
)

// silent is the outlet of a session that has no connection yet.
func silent(string, any) {}

// toConn writes to a connection whose Write only queues.
func toConn(conn sdk.Connection) outlet {
	return func(method string, params any) {
		data, _ := json.Marshal(params) // of the SDK's own types
		// An error means that the session is closing, and it says so itself.
		_ = conn.Write(context.Background(), &jsonrpc.Request{Method: method, Params: data})
	}
}

// An sdkOutlet sends through the SDK, which waits for the client. It has a goroutine for
// that, so that the notifier and the other sessions do not wait, and what piles up
// meanwhile is kept small: a resource or a list that has changed twice is announced once,
// as the client reads the newest state anyway, and of log records the newest are kept.
// The order between the kinds is lost, which no client depends on. A line connection
// needs none of this: its queue is bounded, and a client that lets it overflow is cut off.
type sdkOutlet struct {
	session *session
	server  *sdk.Server
	ss      *sdk.ServerSession
	wake    chan struct{}

	mu    sync.Mutex
	uris  map[string]struct{}
	lists map[string]bool // by the notification of a change
	logs  []*sdk.LoggingMessageParams
}

func newSDKOutlet(s *session, ss *sdk.ServerSession) *sdkOutlet {
	return &sdkOutlet{session: s, server: s.server, ss: ss, wake: make(chan struct{}, 1), uris: make(map[string]struct{}), lists: make(map[string]bool)}
}

// notify queues a notification. A client that does not read loses the oldest log
// records.
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
		ctx := context.Background() // not that of a request, to whose stream it would go
		for _, uri := range uris {
			// Errors mean that the session has ended, or are logged by the SDK.
			_ = o.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		if lists[noteListChanged] {
			o.server.AddResource(fixedResources[0], o.session.resources().readResource) // the SDK's way to say that the list has changed
		}
		if lists[noteToolsChanged] {
			o.session.toolbox().addTools(o.server, o.session.toolbox().callable()[0]) // the same; several could be notified of twice
		}
		if lists[notePromptsChanged] {
			o.server.AddPrompt(&sdk.Prompt{Name: routedPrompt}, o.session.prompts.get)
		}
		for _, record := range logs {
			_ = o.ss.Log(ctx, record)
		}
	}
}
