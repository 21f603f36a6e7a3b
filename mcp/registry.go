package mcp

import (
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/tools"
)

// toolbox offers a session's tools and calls them.
type toolbox struct{ *session }

func (s *session) toolbox() toolbox { return toolbox{s} }

// selected reports whether the session's and the core's selections have the
// tool, and what it needs is there.
func (s toolbox) selected(t *tools.Tool) bool {
	return s.profile.selects(t) && s.outer.selects(t) && (!t.Tables || s.core.opts.Tables != nil)
}

// offers reports whether the session lists the tool and may call it.
func (s toolbox) offers(t *tools.Tool) bool {
	return s.selected(t) && (!t.Writes() || s.canWrite(t))
}

// canWrite reports whether the session may change anything with the tool. Tables
// are in no folder.
func (s toolbox) canWrite(t *tools.Tool) bool {
	p := s.bounds()
	reach := p.Write
	if reach == nil {
		reach = p.Read
	}
	return !p.ReadOnly && (t.Tables || reach == nil || len(reach) > 0)
}

// offered are the tools that the session lists now. The roots of its client may
// change them.
func (s toolbox) offered() []*tools.Tool {
	return slices.DeleteFunc(tools.All(), func(t *tools.Tool) bool { return !s.offers(t) })
}

// callable are the tools that the session may ever call.
func (s toolbox) callable() []*tools.Tool {
	return slices.DeleteFunc(tools.All(), func(t *tools.Tool) bool {
		return !s.selected(t) || s.profile.ReadOnly && t.Writes()
	})
}

// addTools registers tools. The SDK only routes calls: listTools lists the tools, so
// that the SDK does not parse schemas for each session.
func (s toolbox) addTools(server *sdk.Server, all ...*tools.Tool) {
	for _, t := range all {
		server.AddTool(&sdk.Tool{Name: t.Name, InputSchema: anyArguments}, s.handler(t))
	}
}

var anyArguments = json.RawMessage(`{"type":"object"}`)

// listTools answers tools/list, which has one page.
func (s toolbox) listTools(params *sdk.ListToolsParams, panel bool) (sdk.Result, error) {
	if params != nil && params.Cursor != "" {
		return nil, badCursor("tools/list")
	}
	tools := []*sdk.Tool{}
	for _, t := range s.offered() {
		def := definition(t, s.profile.Settings.tools())
		if panel && t.Panel {
			def.Meta = sdk.Meta{"ui": map[string]any{"resourceUri": panelURI}}
		}
		tools = append(tools, def)
	}
	return &sdk.ListToolsResult{Tools: tools, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// definition is the tool as clients see it under the limits.
func definition(t *tools.Tool, limits tools.Limits) *sdk.Tool {
	destructive, openWorld := t.Effect == tools.Changes, false
	return &sdk.Tool{
		Name:         t.Name,
		Title:        t.Title,
		Description:  t.Description,
		InputSchema:  t.InputSchema(limits),
		OutputSchema: t.OutputSchema(),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    t.Effect == tools.Reads,
			DestructiveHint: &destructive,
			IdempotentHint:  t.Idempotent || t.Effect == tools.Reads,
			OpenWorldHint:   &openWorld,
		},
	}
}
