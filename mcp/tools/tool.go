package tools

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// An Effect is what a tool does to the vault. It determines the tool's hints.
type Effect int

// Effects of tools.
const (
	Reads   Effect = iota // changes nothing
	Adds                  // creates something without touching what exists
	Changes               // changes or removes what exists
)

// A Tool describes one tool.
type Tool struct {
	Name        string // snake_case, at most 64 characters
	Title       string // for people
	Description string // for models: what it does, and when to use it
	Effect      Effect
	Idempotent  bool // repeating a call with the same arguments has no further effect
	Tables      bool // needs Env.Tables
	Panel       bool // its results have a view in the panel of clients that show one

	input  func() schema
	output func() json.RawMessage
	run    func(context.Context, *invocation, json.RawMessage) (Outcome, error)
}

var allTools = []*Tool{
	searchNotes,
	readNote,
	listNotes,
	listTasks,
	noteLinks,
	relatedNotes,
	gatherContext,
	vaultOverview,
	createNote,
	editNote,
	moveNote,
	renameTag,
	deleteNote,
	noteHistory,
	restoreNote,
	checkQuotes,
	createTable, addVector, searchVectors, listTables, deleteVectors, dropTable,
}

// All returns all tools, in the order in which they are listed.
func All() []*Tool { return slices.Clone(allTools) }

// Names returns the names of all tools.
func Names() []string {
	names := make([]string, len(allTools))
	for i, t := range allTools {
		names[i] = t.Name
	}
	return names
}

// Find returns the tool with the name, or nil.
func Find(name string) *Tool {
	for _, t := range allTools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// define completes a tool with its function. The argument struct A has a JSON field for
// each property of the input schema, which is derived from A.
func define[A any](t Tool, run func(context.Context, *invocation, A) (Outcome, error)) *Tool {
	t.input = inputOf[A]()
	t.run = func(ctx context.Context, in *invocation, raw json.RawMessage) (Outcome, error) {
		var args A
		var err error
		// Of a tool that only reads, an ignored argument costs a better answer; one that
		// writes could change something else than was meant.
		if in.onArgs, err = decodeArgs(t.input(), raw, t.Writes(), &args); err != nil {
			return Outcome{}, err
		}
		return run(ctx, in, args)
	}
	return &t
}

// Writes reports whether the tool changes anything.
func (t *Tool) Writes() bool { return t.Effect != Reads }

// InputSchema returns the JSON schema of the tool's arguments, with the limits inserted.
func (t *Tool) InputSchema(l Limits) json.RawMessage { return t.input().with(l) }

// OutputSchema returns the JSON schema of the tool's structured result.
func (t *Tool) OutputSchema() json.RawMessage { return t.output() }

// Call runs the tool. Unlike the SDK's typed tools, it decodes arguments leniently. An
// error that the caller can correct is a *notes.Error or a *UsageError.
func (t *Tool) Call(ctx context.Context, env Env, args json.RawMessage) (Outcome, error) {
	return t.run(ctx, &invocation{Env: env}, args)
}

// An Env contains the dependencies and the bounds of one call.
type Env struct {
	Vault   Vault
	History History
	Search  Searcher
	Tables  Tables             // nil: no vector tables
	Prompts *prompts.Catalogue // its problems are listed by vault_overview; may be nil

	Scope  notes.Scope
	Limits Limits
	Mode   search.Mode       // of searches without a mode
	Open   map[string]string // by folder, "" being the vault: a link that opens a note in the user's app; {path} is the path in the folder
	Seen   *Seen

	Author     notes.Author
	RequestKey string // identifies a repeated call; may be ""

	// Confirm asks the user before a change that they may regret. The caller must not hold
	// a lock. An error ends the call.
	Confirm func(ctx context.Context, question string) error
	// Describe returns an error's message and hint as the client may see them.
	Describe func(ctx context.Context, err error) (message, hint string)
	Now      func() time.Time
}

// Limits bound the result of one call.
type Limits struct {
	ResultBytes int // of an outcome, in either form
	Hits        int // of a search without a limit
}

// gatherBytes returns the default budget of gather_context.
func (l Limits) gatherBytes() int { return min(12_000, l.ResultBytes) }

// An invocation is one call of a tool.
type invocation struct {
	Env
	onArgs []string // remarks on arguments, such as those that were ignored
}

// An Outcome is the result of a tool.
type Outcome struct {
	Structured any    // marshals to an object that matches the tool's output schema
	Text       string // the same facts as text

	// Panel contains what the panel needs in addition to Structured: a [SearchPanel], an
	// [EditPanel] or nil. Models do not see it.
	Panel any
}
