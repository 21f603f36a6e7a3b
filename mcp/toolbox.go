package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
)

// toolbox offers a session's tools and calls them.
type toolbox struct{ *session }

func (s *session) toolbox() toolbox { return toolbox{s} }

// addTools registers tools with the SDK, which only routes calls: listTools lists those
// that the session offers, so that the SDK does not parse schemas for each session, and
// checkTool refuses calls to others.
func (s toolbox) addTools(server *sdk.Server, all ...*tools.Tool) {
	for _, t := range all {
		server.AddTool(&sdk.Tool{Name: t.Name, InputSchema: anyArguments}, s.handler(t))
	}
}

var anyArguments = json.RawMessage(`{"type":"object"}`)

// listTools answers tools/list, in one page.
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

// definition returns the tool as clients see it under the limits.
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

// offered returns the tools that the session lists now. The client's roots may change them.
func (s toolbox) offered() []*tools.Tool {
	return slices.DeleteFunc(tools.All(), func(t *tools.Tool) bool { return !s.offers(t) })
}

// offers reports whether the session lists the tool and may call it.
func (s toolbox) offers(t *tools.Tool) bool {
	return s.selected(t) && (!t.Writes() || s.canWrite(t))
}

// selected reports whether the session's selection includes the tool, and the tables that it
// may need are available.
func (s toolbox) selected(t *tools.Tool) bool {
	return s.profile.selects(t) && (!t.Tables || s.core.opts.Tables != nil)
}

// canWrite reports whether the session may change anything with the tool. Vector tables
// belong to no folder.
func (s toolbox) canWrite(t *tools.Tool) bool {
	p := s.bounds()
	reach := p.Write
	if reach == nil {
		reach = p.Read
	}
	return !p.ReadOnly && (t.Tables || reach == nil || len(reach) > 0)
}

// handler adapts a tool to the SDK. A tool's error becomes a result that says what to do
// next.
func (s toolbox) handler(t *tools.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		stop := s.reportProgress(ctx, req)
		defer stop() // before the response: clients expect no progress after it
		began := s.core.now()
		out, err := s.invoke(ctx, t, req)
		if ask, ok := errors.AsType[*needsInput](err); ok { // the client repeats the call with the answer
			return &sdk.CallToolResult{
				Content:       []sdk.Content{}, // nil would be sent as null
				InputRequests: sdk.InputRequestMap{confirmKey: ask.question},
			}, nil
		}
		if s.core.opts.Observe != nil {
			s.core.opts.Observe(t.Name, s.core.now().Sub(began), err)
		}
		s.log.DebugContext(ctx, "called a tool", "tool", t.Name, "took", s.core.now().Sub(began), "failed", err != nil)
		if err != nil {
			return s.failed(ctx, err), nil
		}
		result := &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: out.Text}},
			StructuredContent: out.Structured,
		}
		if out.Panel != nil && showsPanel(req) {
			result.Meta = sdk.Meta{metaPanel: out.Panel}
		}
		return result, nil
	}
}

// invoke runs the tool unless the session exceeds its rate.
func (s toolbox) invoke(ctx context.Context, t *tools.Tool, req *sdk.CallToolRequest) (out tools.Outcome, err error) {
	defer recovered(t.Name, &err)
	if t.Writes() {
		if err := take(s.rate, writeCost-callCost, "changes"); err != nil { // admitting has charged callCost
			return out, err
		}
	}
	env := s.env()
	env.Author = s.author(req.ClientInfo())
	env.Confirm = func(ctx context.Context, question string) error { return s.confirm(ctx, req, question) }
	env.Describe = func(ctx context.Context, err error) (string, string) {
		f, _ := s.describe(ctx, err)
		return f.Message, f.Advice()
	}
	if key, _ := req.Params.Meta[MetaRequestKey].(string); key != "" && t.Writes() {
		var asks any
		_ = json.Unmarshal(req.Params.Arguments, &asks) // nil if there are none
		if s.profile.Subject != "" {                    // another subject may use the same key
			key = s.profile.Subject + " " + key
		}
		env.RequestKey = notes.BindRequest(key, t.Name, asks)
	}
	out, err = t.Call(ctx, env, req.Params.Arguments)
	if err == nil && t.Tables && t.Writes() {
		s.core.TablesChanged(t.Name == "create_table" || t.Name == "drop_table")
	}
	return out, err
}

// MetaRequestKey is the key in a request's _meta under which a relay sends the same value
// when it repeats a call whose response was lost, so that a write is performed only once.
const MetaRequestKey = "notesd/requestKey"

// env returns the environment of a call, without the fields that depend on its request.
func (s *session) env() tools.Env {
	return tools.Env{
		Vault: s.core.opts.Vault, History: s.core.opts.History, Search: s.core.opts.Search, Tables: s.core.opts.Tables, Prompts: s.profile.Prompts,
		Scope: s.bounds().scope(), Limits: s.profile.Settings.tools(), Mode: s.profile.Settings.Mode, Open: s.core.opts.Open, Seen: &s.seen, Now: s.core.now,
	}
}

// confirmKey identifies the question in a round trip of 2026-07-28.
const confirmKey = "confirm"

// A needsInput error turns the response to a call into a question to the user; the client
// repeats the call with the answer.
type needsInput struct{ question *sdk.ElicitParams }

func (*needsInput) Error() string { return "waiting for the user" }

// confirm asks the user to agree to a destructive change, if the client supports
// elicitation by forms. The caller must not hold a lock. If the user does not agree, the error is
// ErrForbidden.
func (s toolbox) confirm(ctx context.Context, req *sdk.CallToolRequest, question string) error {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil || caps.Elicitation.URL != nil && caps.Elicitation.Form == nil {
		return nil
	}
	params := &sdk.ElicitParams{
		Mode: "form", Message: question,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`), // accepting the form means agreement
	}
	if isModern(req) {
		answer, ok := req.Params.InputResponses[confirmKey].(*sdk.ElicitResult)
		if !ok {
			return &needsInput{params}
		}
		return accepted(answer)
	}
	<-s.working // while it waits for the user, another request may work
	defer func() { s.working <- struct{}{} }()
	ctx, cancel := context.WithTimeout(ctx, s.core.limits.confirmWait)
	defer cancel()
	answer, err := req.Session.Elicit(ctx, params)
	if ctx.Err() != nil {
		return &notes.Error{Op: "ask the user", Err: notes.ErrForbidden, Detail: "there was no answer in time", Hint: "Nothing was changed."}
	}
	if err != nil {
		return &notes.Error{Op: "ask the user", Err: notes.ErrForbidden, Detail: "the client could not ask", Hint: "Nothing was changed."}
	}
	return accepted(answer)
}

func accepted(answer *sdk.ElicitResult) error {
	if answer.Action == "accept" {
		return nil
	}
	return &notes.Error{Op: "ask the user", Err: notes.ErrForbidden, Detail: "the user did not agree", Hint: "Nothing was changed."}
}

// progressInterval is the time before a call's first progress notification, and between two
// of them.
const progressInterval = time.Second

// reportProgress notifies the client of a call's progress every progressInterval, if the
// request has a progress token. The progress is the elapsed time in seconds. Nothing is
// sent after stop has returned.
func (s toolbox) reportProgress(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
			case <-done:
				return
			case <-ctx.Done():
				return
			}
			// An error means that the session is closing, which also cancels ctx.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      float64(n) * progressInterval.Seconds(),
				Message:       "still working",
			})
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}

// checkTool returns an error with the reason if the session does not offer the tool.
func (s toolbox) checkTool(name string) error {
	t := tools.Find(name)
	switch {
	case t == nil:
		message := fmt.Sprintf("unknown tool %q", phrase.Clip(name, 100))
		if near := phrase.Nearest(phrase.SnakeCase(name), s.toolNames()); near != "" {
			message += fmt.Sprintf(": did you mean %q?", near)
		}
		return invalidParams("%s", message)
	case s.offers(t):
		return nil
	case s.profile.ReadOnly && t.Writes():
		return invalidParams("the tool %q is not available: this session is read-only", name)
	}
	if s.selected(t) {
		return invalidParams("the tool %q is not available: this session may change none of the notes that it sees", name)
	}
	return invalidParams("the tool %q is not among the tools selected for this session", name)
}

func (s toolbox) toolNames() []string {
	var names []string
	for _, t := range s.offered() {
		names = append(names, t.Name)
	}
	return names
}
