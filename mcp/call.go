package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/tools"
	"notesd/notes"
)

// MetaRequestKey is the key in a request's _meta under which a relay sends the
// same value when it repeats a call whose answer was lost, so that a write is
// not done twice.
const MetaRequestKey = "notesd/requestKey"

// MetaFailure is the key in a failed result's _meta that holds the [Failure] for
// programs; structuredContent has to fit the output schema, and cannot.
const MetaFailure = "notesd/error"

// env is what a call works with.
func (s *session) env() tools.Env {
	return tools.Env{
		Vault: s.core.opts.Vault, Search: s.core.opts.Search, Tables: s.core.opts.Tables, Prompts: s.catalogue,
		Scope: s.bounds().scope(), Limits: s.limits.tools(), Mode: s.profile.Settings.Mode, Seen: &s.seen, Now: s.core.now,
	}
}

// handler adapts a tool to the SDK. What goes wrong becomes a result that says
// what to do.
func (s *session) handler(t *tools.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		stop := s.reportProgress(ctx, req)
		defer stop() // before the answer, after which a client expects no progress
		out, err := s.invoke(ctx, t, req)
		var ask *needsInput
		if errors.As(err, &ask) {
			return &sdk.CallToolResult{
				Content:       []sdk.Content{}, // the SDK would send null
				InputRequests: sdk.InputRequestMap{confirmKey: ask.question},
			}, nil
		}
		if err != nil {
			return s.failed(ctx, err), nil
		}
		if !utf8.ValidString(out.Text) {
			out.Text = string([]rune(out.Text))
		}
		return &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: out.Text}},
			StructuredContent: out.Structured,
		}, nil
	}
}

// invoke runs the tool, if the session has not called too many.
func (s *session) invoke(ctx context.Context, t *tools.Tool, req *sdk.CallToolRequest) (out tools.Outcome, err error) {
	defer recovered(t.Name, &err)
	if t.Writes() {
		if err := take(s.rates.writes, "changes"); err != nil {
			return out, err
		}
	}
	env := s.env()
	env.Author = author(req)
	env.Confirm = func(ctx context.Context, question string) error { return s.confirm(ctx, req, question) }
	if key, _ := req.Params.Meta[MetaRequestKey].(string); key != "" && t.Writes() {
		var asks any
		if err := json.Unmarshal(req.Params.Arguments, &asks); err != nil {
			asks = string(req.Params.Arguments)
		}
		env.RequestKey = notes.BindRequest(key, t.Name, asks)
	}
	return t.Call(ctx, env, req.Params.Arguments)
}

// failed is the answer to a call that failed.
func (s *session) failed(ctx context.Context, err error) *sdk.CallToolResult {
	f, _ := s.core.describe(ctx, err)
	return &sdk.CallToolResult{
		Meta:    sdk.Meta{MetaFailure: f},
		Content: []sdk.Content{&sdk.TextContent{Text: f.text()}},
		IsError: true,
	}
}
