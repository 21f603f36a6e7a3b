package mcp

import (
	"context"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// confirmWait is how long a user has to answer. A client that shows nobody the
// question must not hold the call for ever.
const confirmWait = 5 * time.Minute

// confirmKey names the question in a round trip of 2026-07-28.
const confirmKey = "confirm"

// A needsInput error makes the answer to a call a question to the user; the
// client calls again with what they said.
type needsInput struct{ question *sdk.ElicitParams }

func (*needsInput) Error() string { return "waiting for the user" }

// confirm asks the user before something that they may regret, where the
// client can ask. No lock may be held meanwhile. A refusal is ErrForbidden.
func (s *session) confirm(ctx context.Context, req *sdk.CallToolRequest, question string) error {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return nil
	}
	params := &sdk.ElicitParams{
		Mode: "form", Message: question,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`), // accepting is the answer
	}
	if isModern(req) {
		answer, ok := req.Params.InputResponses[confirmKey].(*sdk.ElicitResult)
		if !ok {
			return &needsInput{params}
		}
		return accepted(answer)
	}
	s.rest()
	defer s.resume()
	ctx, cancel := context.WithTimeout(ctx, confirmWait)
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

// rest gives up the session's slot for work while it waits for its user.
func (s *session) rest()   { <-s.working }
func (s *session) resume() { s.working <- struct{}{} }
