package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
)

// codeResourceNotFound is the session era's code for a missing resource; 2026-07-28 uses
// invalid params.
const codeResourceNotFound = -32002

// A Failure is an error as presented to clients, users and programs.
type Failure struct {
	Code       string   `json:"code"` // stable, for programs
	Message    string   `json:"message"`
	Hint       string   `json:"hint,omitempty"`
	Path       string   `json:"path,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
	Hash       string   `json:"hash,omitempty"`
	Diff       string   `json:"diff,omitempty"`

	Exit int `json:"-"` // exit code of a command that fails with it
}

func (f *Failure) Error() string { return f.Message }

// A failureRow defines how errors of one kind are presented.
type failureRow struct {
	err  error
	code string
	rpc  int64  // for methods that fail with a protocol error
	hint string // the next step, if the error itself has no hint
}

// failures maps the domain's sentinel errors to codes.
var failures = []failureRow{
	{notes.ErrNotFound, "not_found", jsonrpc.CodeInvalidParams, "Find the note with search_notes or list_notes."},
	{notes.ErrAmbiguous, "ambiguous", jsonrpc.CodeInvalidParams, "Pass one of these paths."},
	{notes.ErrExists, "exists", jsonrpc.CodeInvalidParams, "Choose another title or path."},
	{notes.ErrConflict, "conflict", jsonrpc.CodeInvalidParams, "Read the note again and repeat the change on its current text."},
	{notes.ErrInvalid, "invalid", jsonrpc.CodeInvalidParams, ""},
	{notes.ErrReadOnly, "read_only", jsonrpc.CodeInvalidRequest, "This session may read notes but not change them."},
	{notes.ErrForbidden, "forbidden", jsonrpc.CodeInvalidParams, ""},
	{notes.ErrTooLarge, "too_large", jsonrpc.CodeInvalidParams, ""},
	{notes.ErrUnavailable, "unavailable", jsonrpc.CodeInternalError, "Try again later; nothing was changed."},
}

// failed returns the result of a failed call.
func (s *session) failed(ctx context.Context, err error) *sdk.CallToolResult {
	f, _ := s.describe(ctx, err)
	return &sdk.CallToolResult{
		Meta:    sdk.Meta{MetaFailure: f},
		Content: []sdk.Content{&sdk.TextContent{Text: f.text()}},
		IsError: true,
	}
}

// sentence matches a sentence of a hint; a full stop in quotes does not end one.
var sentence = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*"|[^"])+?(?:\. |$)`)

// describe is [Core.describe] with a hint that does not name tools that the session lacks.
func (s *session) describe(ctx context.Context, err error) (Failure, int64) {
	f, code := s.core.describe(ctx, err)
	lacking := slices.DeleteFunc(tools.All(), s.toolbox().offers)
	f.Hint = strings.TrimSpace(sentence.ReplaceAllStringFunc(f.Hint, func(part string) string {
		if slices.ContainsFunc(lacking, func(t *tools.Tool) bool { return strings.Contains(part, t.Name) }) {
			return ""
		}
		return part
	}))
	return f, code
}

// MetaFailure is the key in a failed result's _meta that holds the [Failure] for programs.
// structuredContent cannot hold it, because it must match the output schema.
const MetaFailure = "notesd/error"

// resourceError converts err to the protocol error for a read of the resource uri.
func (s *session) resourceError(ctx context.Context, err error, uri string, modern bool) error {
	if !errors.Is(err, notes.ErrNotFound) {
		return s.rpcError(ctx, err)
	}
	code := int64(codeResourceNotFound)
	if modern {
		code = jsonrpc.CodeInvalidParams
	}
	f, _ := s.describe(ctx, err)
	data, _ := json.Marshal(struct {
		URI string `json:"uri"`
		Failure
	}{uri, f})
	return &jsonrpc.Error{Code: code, Message: "Resource not found: " + f.line(), Data: data}
}

// rpcError converts err to a protocol error. A *jsonrpc.Error keeps its code and data.
func (s *session) rpcError(ctx context.Context, err error) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &jsonrpc.Error{Code: wire.Code, Message: err.Error(), Data: wire.Data}
	}
	f, code := s.describe(ctx, err)
	data, _ := json.Marshal(f)
	return &jsonrpc.Error{Code: code, Message: f.line(), Data: data}
}

// describe returns what a client may see of err and, for methods that fail with a protocol
// error, its code. An unexpected error is logged with an id, and the client sees only the
// id.
func (c *Core) describe(ctx context.Context, err error) (Failure, int64) {
	switch {
	case errors.Is(err, context.Canceled):
		return Failure{Code: "cancelled", Message: "cancelled"}, jsonrpc.CodeInternalError
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Code: "timeout", Message: "this took too long and was stopped", Hint: "Request less at a time."}, jsonrpc.CodeInternalError
	}
	if f, row := domainFailure(err); f != nil {
		if errors.Is(err, notes.ErrNoTrace) && !c.opts.Vault.Ready() {
			f.Hint = "The notes are still being read: try again in a moment, or pass the path of the note."
		}
		if f.Hint == "" && (row.code != "ambiguous" || len(f.Candidates) > 0) {
			f.Hint = row.hint
		}
		return *f, row.rpc
	}
	if busy, ok := errors.AsType[*busyError](err); ok {
		return Failure{Code: "busy", Message: busy.Error()}, transport.CodeBusy
	}
	if usage, ok := errors.AsType[*tools.UsageError](err); ok {
		return Failure{Code: "invalid", Message: usage.Error()}, jsonrpc.CodeInvalidParams
	}
	id := c.newErrorID()
	c.log.LogAttrs(ctx, slog.LevelError, "internal error", slog.String("id", id), slog.Any("error", err))
	if c.opts.Trouble != nil && c.opts.Trouble(err) != "" {
		return Failure{
			Code:    "unavailable",
			Message: "notesd's database cannot be used: " + c.opts.Trouble(err),
			Hint:    "Check the disk with notesd's state; notesd doctor says if it can be written to.",
		}, jsonrpc.CodeInternalError
	}
	return Failure{
		Code:    "internal",
		Message: fmt.Sprintf("internal error (id %s)", id),
		Hint:    "Search notesd's log for the id.",
	}, jsonrpc.CodeInternalError
}

// DomainFailure returns the failure of a *notes.Error, or nil for any other error.
func DomainFailure(err error) *Failure {
	f, _ := domainFailure(err)
	return f
}

// domainFailure returns the failure of a *notes.Error and its row, or nil for any other
// error.
func domainFailure(err error) (*Failure, failureRow) {
	if domain, ok := errors.AsType[*notes.Error](err); ok {
		for _, row := range failures {
			if errors.Is(domain.Err, row.err) {
				return &Failure{
					Code: row.code, Message: domain.Error(), Hint: domain.Hint, Path: domain.Path,
					Candidates: domain.Candidates, Hash: domain.Hash, Diff: domain.Diff,
				}, row
			}
		}
	}
	return nil, failureRow{}
}

// text returns the failure for a model to read.
func (f Failure) text() string {
	var b strings.Builder
	b.WriteString(f.sentence())
	others := f.others()
	for _, candidate := range others[:min(mostCandidates, len(others))] {
		b.WriteString("\n- " + candidate)
	}
	if len(others) > mostCandidates { // which may not be all either
		b.WriteString("\n… and more")
	}
	if f.Hash != "" {
		b.WriteString("\nhash now: " + notes.ShortHash(f.Hash))
	}
	return b.String() + phrase.FenceBelow("diff", f.Path, f.Diff)
}

// line returns the failure for a protocol error, of which hosts show only the message.
func (f Failure) line() string {
	f.Hint = f.Advice()
	return f.sentence()
}

// Advice returns the hint and the candidates in one line.
func (f Failure) Advice() string {
	others := f.others()
	return strings.TrimSpace(f.Hint + " " + strings.Join(others[:min(mostCandidates, len(others))], ", "))
}

// sentence returns the message and the hint.
func (f Failure) sentence() string {
	s := f.Message
	if !strings.HasSuffix(s, "?") {
		s += "."
	}
	if f.Hint != "" {
		s += " " + f.Hint
	}
	return s
}

// mostCandidates bounds the candidates in a text: a note may have a thousand headings.
const mostCandidates = 30

// others returns the candidates that the message does not already name.
func (f Failure) others() (others []string) {
	for _, candidate := range f.Candidates {
		if candidate != f.Path && !strings.Contains(f.Message, notes.Quote(candidate)) {
			others = append(others, phrase.OneLine(candidate))
		}
	}
	return others
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// recovered must be deferred. It converts a panic to an error with the stack; what names
// the function that panicked.
func recovered(what string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s panicked: %v\n%s", what, v, debug.Stack())
	}
}
