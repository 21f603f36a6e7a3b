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

// remarks returns a tool's own remarks followed by those on its arguments. Both forms of a
// result contain them, because some hosts show a model only the structured form.
func (in *invocation) remarks(own ...string) []string { return append(slices.Clip(own), in.onArgs...) }

// remarkLines returns the remarks as lines at the end of a result's text.
func remarkLines(remarks []string) string {
	var b strings.Builder
	for _, r := range remarks {
		b.WriteString("\n(" + phrase.OneLine(r) + ")")
	}
	return b.String()
}

// ending returns the last lines of a list's text: the cursor of the next page, if any, and
// the remarks.
func ending(next string, remarks []string) string {
	if next != "" {
		next = "\nMore with cursor " + next
	}
	return next + remarkLines(remarks)
}

// Hosts bound the size of a tool's result, and each byte of it takes up a model's context.
// Each tool therefore builds its result from the first n of its items, or bytes of its text, and
// fit determines n. The size of an item cannot be added up in advance: it differs between the two forms,
// and a shorter list has a longer remark. The whole result is therefore built and measured
// for each n that is tried, which takes some ten builds for a page of a thousand items.

// fit returns the result with as many items as the limit allows in both forms, but at least
// one. answer builds the result from the first n items.
func fit(limit, items int, answer func(n int) Outcome) Outcome {
	out, _ := fitting(limit, items, answer)
	return out
}

// fitting is fit, and returns the number of items in the result.
func fitting(limit, items int, answer func(n int) Outcome) (Outcome, int) {
	fits := func(out Outcome) bool { return len(out.Text) <= limit && jsonSize(out.Structured) <= limit }
	out := answer(items)
	if items <= 1 || fits(out) {
		return out, items
	}
	// A result grows with its items, so a binary search finds how many fit.
	n := max(1, sort.Search(items, func(i int) bool { return !fits(answer(i + 1)) }))
	return answer(n), n
}

// fitPage is fit for a page of a longer list, whose cursor continues after its last item. Only
// the list can make the cursor of a shorter page, so the page is read again with the number of
// items that fit, until all that were read fit with their cursor. again returns how many it
// read: a note may have been deleted since.
func fitPage(limit, items int, answer func(n int) Outcome, again func(n int) (items int, err error)) (Outcome, error) {
	for {
		out, n := fitting(limit, items, answer)
		if n == items {
			return out, nil
		}
		var err error
		if items, err = again(n); err != nil {
			return Outcome{}, err
		}
	}
}

// cut returns the first n elements of a list and, if these are not all, the list's length.
func cut[T any](list []T, n int) (some []T, total int) {
	if n >= len(list) {
		return list, 0
	}
	return list[:n:n], len(list)
}

// jsonSize returns the size of a value encoded as JSON, in bytes.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // encoding the result will report the error
	}
	return len(data)
}
