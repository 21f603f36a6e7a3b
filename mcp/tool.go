package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// An effect is what a tool does to notes; it decides its hints.
type effect int

const (
	reads   effect = iota // changes nothing
	adds                  // makes something new, and touches nothing that exists
	changes               // changes or removes what exists; can be undone from the history
)

// A tool is one tool as data. Use [define] to make one.
type tool struct {
	name        string // snake_case, at most 64 characters
	title       string // for people
	description string // for models: what it does, and when to use it
	input       func() schema
	output      func() json.RawMessage
	effect      effect
	idempotent  bool // calling it again with the same arguments changes nothing more
	optional    bool // not in the default selection
	tables      bool // needs Options.Tables

	run func(context.Context, *invocation, json.RawMessage) (outcome, error)
}

// An invocation is one call of a tool.
type invocation struct {
	session *session
	request *sdk.CallToolRequest
	author  notes.Author
	key     string // identifies the call when it is sent again; may be ""
	limit   int    // bytes that the outcome may have, in either form
	ignored []string
}

// An outcome is what a tool returns.
type outcome struct {
	structured any    // marshals to an object that fits the tool's output schema
	text       string // the same facts, for reading
}

// remarked is what a reading tool returns: it has a place for remarks beside
// the tool's own, since some hosts show a model the structured form alone.
type remarked interface{ withRemarks(remarks ...string) any }

// reserve is what an answer leaves free for the remarks on its arguments.
func (in *invocation) reserve() int {
	n := 0
	for _, note := range in.ignored {
		n += 2*len(note) + len(`"notes":[],`)
	}
	return n
}

// fit returns the answer with as many of its items as keep the limit in both
// forms, at least one, and how many these are. answer has the first n.
func fit(limit, items int, answer func(n int) outcome) (outcome, int) {
	fits := func(out outcome) bool { return len(out.text) <= limit && jsonSize(out.structured) <= limit }
	out := answer(items)
	if items <= 1 || fits(out) {
		return out, items
	}
	n := max(1, sort.Search(items, func(i int) bool { return !fits(answer(i + 1)) }))
	return answer(n), n
}

// jsonSize is how many bytes a value is on the wire.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // the answer will fail, and say why
	}
	return len(data)
}

// vault and friends shorten what every tool needs.
func (in *invocation) vault() Vault       { return in.session.core.opts.Vault }
func (in *invocation) scope() notes.Scope { return in.session.bounds().scope() }

// define completes a tool with its function, whose argument struct A has a JSON
// field for each property of the input schema.
func define[A any](t tool, run func(context.Context, *invocation, A) (outcome, error)) *tool {
	t.run = func(ctx context.Context, in *invocation, raw json.RawMessage) (outcome, error) {
		var args A
		ignored, err := decodeArgs(t.input(), raw, t.writes(), &args)
		if err != nil {
			return outcome{}, err
		}
		in.ignored = ignored
		return run(ctx, in, args)
	}
	return &t
}

func (t *tool) writes() bool { return t.effect != reads }

// definition is the tool as clients see it under the limits.
func (t *tool) definition(limits Limits) *sdk.Tool {
	destructive, openWorld := t.effect == changes, false
	return &sdk.Tool{
		Name:         t.name,
		Title:        t.title,
		Description:  t.description,
		InputSchema:  t.input().told(limits),
		OutputSchema: t.output(),
		Annotations: &sdk.ToolAnnotations{
			Title:           t.title,
			ReadOnlyHint:    t.effect == reads,
			DestructiveHint: &destructive,
			IdempotentHint:  t.idempotent || t.effect == reads,
			OpenWorldHint:   &openWorld,
		},
	}
}

// MetaRequestKey is the key in a request's _meta under which a relay sends the
// same value when it repeats a call whose answer was lost, so that a write is
// not done twice.
const MetaRequestKey = "notesd/requestKey"

// MetaFailure is the key in a failed result's _meta that holds the [Failure] for
// programs; structuredContent has to fit the output schema, and cannot.
const MetaFailure = "notesd/error"

// handler adapts a tool to the SDK. Unlike the SDK's typed tools it decodes
// leniently, and what goes wrong becomes a result that says what to do.
func (s *session) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		key, _ := req.Params.Meta[MetaRequestKey].(string)
		if key != "" && t.writes() {
			var asks any
			if err := json.Unmarshal(req.Params.Arguments, &asks); err != nil {
				asks = string(req.Params.Arguments)
			}
			key = notes.BindRequest(key, t.name, asks)
		}
		in := &invocation{session: s, request: req, author: author(req), key: key, limit: s.limits.ResultBytes}
		stop := s.reportProgress(ctx, req)
		defer stop() // before the answer, after which a client expects no progress
		out, err := s.invoke(ctx, t, in)
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
		return in.result(out), nil
	}
}

// invoke runs the tool, if the session has not called too many.
func (s *session) invoke(ctx context.Context, t *tool, in *invocation) (out outcome, err error) {
	defer recovered(t.name, &err)
	if t.writes() {
		if err := take(s.rates.writes, "changes"); err != nil {
			return out, err
		}
	}
	return t.run(ctx, in, in.request.Params.Arguments)
}

// result makes the outcome the answer to a call.
func (in *invocation) result(out outcome) *sdk.CallToolResult {
	text := out.text
	for _, note := range in.ignored {
		text += "\n(" + note + ")"
	}
	if r, ok := out.structured.(remarked); ok && len(in.ignored) > 0 {
		out.structured = r.withRemarks(in.ignored...)
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: text}},
		StructuredContent: out.structured,
	}
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
