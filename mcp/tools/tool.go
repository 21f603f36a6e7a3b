// Package tools holds the tools of notesd. A [Tool] is data: a name, a
// description, two JSON schemas, hints, and a function from arguments to an
// [Outcome]. The caller provides a call's dependencies and permissions in its
// [Env]. The package is independent of sessions, connections and JSON-RPC.
package tools

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// An Effect is what a tool does to notes; it decides its hints.
type Effect int

// Effects of tools.
const (
	Reads   Effect = iota // changes nothing
	Adds                  // makes something new and touches nothing that exists
	Changes               // changes or removes what exists; the history can undo it
)

// A Tool is one tool as data.
type Tool struct {
	Name        string // snake_case, at most 64 characters
	Title       string // for people
	Description string // for models: what it does, and when to use it
	Effect      Effect
	Idempotent  bool // calling it again with the same arguments changes nothing more
	Tables      bool // needs Env.Tables
	Panel       bool // its results have a view in the panel of clients that show one

	input  func() schema
	output func() json.RawMessage
	run    func(context.Context, *invocation, json.RawMessage) (Outcome, error)
}

// define completes a tool with its function, whose argument struct A has a JSON field for
// each property of the input schema, which is A's unless t has one.
func define[A any](t Tool, run func(context.Context, *invocation, A) (Outcome, error)) *Tool {
	if t.input == nil {
		t.input = inputOf[A]()
	}
	t.run = func(ctx context.Context, in *invocation, raw json.RawMessage) (Outcome, error) {
		var args A
		ignored, err := decodeArgs(t.input(), raw, t.Writes(), &args)
		if err != nil {
			return Outcome{}, err
		}
		in.ignored = ignored
		return run(ctx, in, args)
	}
	return &t
}

// Writes reports whether the tool changes anything.
func (t *Tool) Writes() bool { return t.Effect != Reads }

// InputSchema returns the JSON schema of the tool's arguments, which names the
// limits.
func (t *Tool) InputSchema(l Limits) json.RawMessage { return t.input().with(l) }

// OutputSchema returns the JSON schema of what the tool returns.
func (t *Tool) OutputSchema() json.RawMessage { return t.output() }

// Call runs the tool. Unlike the SDK's typed tools it decodes its arguments
// leniently. An error that the caller can correct is a *notes.Error or a
// *UsageError.
func (t *Tool) Call(ctx context.Context, env Env, args json.RawMessage) (Outcome, error) {
	return t.run(ctx, &invocation{Env: env}, args)
}

// An Env is what one call works with and is bounded by.
type Env struct {
	Vault   Vault
	History History
	Search  Searcher
	Tables  Tables             // nil: no vector tables
	Prompts *prompts.Catalogue // whose problems vault_overview lists; nil: none

	Scope  notes.Scope
	Limits Limits
	Mode   search.Mode       // of searches that name none
	Open   map[string]string // links that open a note in the user's app, with {path} for its path in the folder, by folder; "" is the vault
	Seen   *Seen

	Author     notes.Author
	RequestKey string // identifies the call when it is sent again; may be ""

	// Confirm asks the user before something that they may regret. No lock may be
	// held meanwhile. Its error ends the call.
	Confirm func(ctx context.Context, question string) error
	Now     func() time.Time
}

// Limits bound what one call returns.
type Limits struct {
	ResultBytes int // of an outcome, in either form
	Hits        int // of a search that does not say how many
}

// gatherBytes is how much gather_context gathers by default.
func (l Limits) gatherBytes() int { return min(12_000, l.ResultBytes) }

// An invocation is one call of a tool.
type invocation struct {
	Env
	ignored []string // remarks on arguments that were ignored
}

// An Outcome is what a tool returns.
type Outcome struct {
	Structured any    // marshals to an object that fits the tool's output schema
	Text       string // the same facts, for reading

	// Panel is what the panel needs beside Structured: a [SearchPanel], an
	// [EditPanel] or nil. No model sees it.
	Panel any
}

// remarks returns a reading tool's remarks and those on its arguments. Both forms
// of an answer have them: some hosts show a model the structured form alone.
func (in *invocation) remarks(own ...string) []string { return append(slices.Clip(own), in.ignored...) }

// remarkLines are the remarks at the end of an answer's text.
func remarkLines(remarks []string) string {
	var b strings.Builder
	for _, r := range remarks {
		b.WriteString("\n(" + phrase.OneLine(r) + ")")
	}
	return b.String()
}

// Hosts bound a tool's result, and a model pays for every byte of it in context. Each tool
// therefore makes its answer from the first n of its items, and fit finds n.

// fit returns the answer with as many of its items as keep the limit in both
// forms, at least one, and how many these are. answer has the first n.
func fit(limit, items int, answer func(n int) Outcome) (Outcome, int) {
	fits := func(out Outcome) bool { return len(out.Text) <= limit && jsonSize(out.Structured) <= limit }
	out := answer(items)
	if items <= 1 || fits(out) {
		return out, items
	}
	n := max(1, sort.Search(items, func(i int) bool { return !fits(answer(i + 1)) }))
	return answer(n), n
}

// fitPage is fit for a page of a longer list. Where it has more items than fit, again reads
// a page of n, so that the cursor in the answer is the one after the last that is shown,
// and returns how many it has.
func fitPage(limit, items int, answer func(n int) Outcome, again func(n int) (items int, err error)) (Outcome, error) {
	out, n := fit(limit, items, answer)
	if n == items {
		return out, nil
	}
	items, err := again(n)
	if err != nil {
		return Outcome{}, err
	}
	return answer(items), nil
}

// cursorLike stands for the cursor of a page that is too long, in the measure of one that
// fits: about as many bytes as it will have.
func cursorLike(size int) string { return strings.Repeat("x", size) }

// cut returns the first n of a list, and how many it has if these are not all.
func cut[T any](list []T, n int) (some []T, total int) {
	if n >= len(list) {
		return list, 0
	}
	return list[:n:n], len(list)
}

// jsonSize is how many bytes a value is on the wire.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // the answer will fail, and say why
	}
	return len(data)
}
