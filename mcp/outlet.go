package mcp

import (
	"context"
	"encoding/json"
	"log/slog"

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

// rawJSON is a value that is JSON already.
func rawJSON(text string) any {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}
