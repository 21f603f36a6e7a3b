package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An outlet sends notifications to one client. None of its methods waits for
// the client.
type outlet interface {
	updated(*sdk.ResourceUpdatedNotificationParams)
	listChanged(*sdk.ResourceListChangedParams)
	toolsChanged(*sdk.ToolListChangedParams)
	notify(method string, params any)
}

// A connOutlet writes to a connection whose Write only queues.
type connOutlet struct {
	conn sdk.Connection
	log  *slog.Logger
}

func (o connOutlet) updated(p *sdk.ResourceUpdatedNotificationParams) {
	o.notify("notifications/resources/updated", p)
}

func (o connOutlet) listChanged(p *sdk.ResourceListChangedParams) {
	o.notify("notifications/resources/list_changed", p)
}

func (o connOutlet) toolsChanged(p *sdk.ToolListChangedParams) {
	o.notify("notifications/tools/list_changed", p)
}

func (o connOutlet) notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		o.log.Error("encode a notification", "method", method, "error", err)
		return
	}
	// An error means that the session is closing, and it says so itself.
	_ = o.conn.Write(context.Background(), &jsonrpc.Request{Method: method, Params: data})
}

// silent is the outlet of a session that has no connection yet.
type silent struct{}

func (silent) updated(*sdk.ResourceUpdatedNotificationParams) {}
func (silent) listChanged(*sdk.ResourceListChangedParams)     {}
func (silent) toolsChanged(*sdk.ToolListChangedParams)        {}
func (silent) notify(string, any)                             {}

// An sdkOutlet sends through the SDK, which waits for the client: so it has a
// goroutine for it, and what piles up meanwhile is merged or dropped.
type sdkOutlet struct {
	session *session
	server  *sdk.Server
	ss      *sdk.ServerSession
	wake    chan struct{}

	mu    sync.Mutex
	uris  map[string]struct{}
	list  bool
	tools bool
	logs  []*sdk.LoggingMessageParams
}

func newSDKOutlet(s *session, ss *sdk.ServerSession) *sdkOutlet {
	return &sdkOutlet{session: s, server: s.server, ss: ss, wake: make(chan struct{}, 1), uris: make(map[string]struct{})}
}

func (o *sdkOutlet) updated(p *sdk.ResourceUpdatedNotificationParams) {
	o.put(func() { o.uris[p.URI] = struct{}{} })
}

func (o *sdkOutlet) listChanged(*sdk.ResourceListChangedParams) {
	o.put(func() { o.list = true })
}

func (o *sdkOutlet) toolsChanged(*sdk.ToolListChangedParams) {
	o.put(func() { o.tools = true })
}

// notify queues log records, the only other notifications; a client that does
// not read loses the oldest.
func (o *sdkOutlet) notify(_ string, params any) {
	const most = 100
	if record, ok := params.(*sdk.LoggingMessageParams); ok {
		o.put(func() {
			if len(o.logs) == most {
				o.logs = o.logs[1:]
			}
			o.logs = append(o.logs, record)
		})
	}
}

func (o *sdkOutlet) put(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
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
		uris, list, tools, logs := slices.Sorted(maps.Keys(o.uris)), o.list, o.tools, o.logs
		clear(o.uris)
		o.list, o.tools, o.logs = false, false, nil
		o.mu.Unlock()
		ctx := context.Background() // not that of a request, to whose stream it would go
		for _, uri := range uris {
			// Errors mean that the session has ended, or are logged by the SDK.
			_ = o.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		if list {
			o.server.AddResource(fixedResources[0], o.session.readResource) // the SDK's way to say that the list has changed
		}
		if tools {
			o.session.addTools(o.server, o.session.callable()[0]) // the same; several could be notified of twice
		}
		for _, record := range logs {
			_ = o.ss.Log(ctx, record)
		}
	}
}
