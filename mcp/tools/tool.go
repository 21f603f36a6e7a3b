package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
	"notesd/vectors/table"
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
		if in.remarked, err = decodeArgs(t.input(), raw, t.Writes(), &args); err != nil {
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
	remarked []string // remarks on the call, such as those on ignored arguments
}

// An Outcome is the result of a tool.
type Outcome struct {
	Structured any    // marshals to an object that matches the tool's output schema
	Text       string // the same facts as text

	// Panel contains what the panel needs in addition to Structured: a [SearchPanel], an
	// [EditPanel] or nil. Models do not see it.
	Panel any
}

// Hosts bound the size of a tool's result, and each byte of it takes up a model's context.
// Each tool therefore builds its result from the first n of its items, or bytes of its text, and
// fit determines n. The size of an item cannot be added up in advance: it differs between the
// two forms, and a shorter list has a longer remark. The whole result is therefore built and
// measured for each n that is tried, which takes some ten builds for a page of a thousand items.

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

// cursorOf returns the part of a cursor that its list has made, and a function that returns the
// cursor of the next page. A cursor begins with a hash of the arguments that select its list:
// with others, it would silently continue another list.
func cursorOf(cursor string, list any) (own string, next func(own string) string, err error) {
	key := notes.Hash(fmt.Append(nil, list))[:6] // prints an empty list like one that was omitted
	own, ok := strings.CutPrefix(cursor, key)
	if cursor != "" && !ok {
		return "", nil, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: "the cursor belongs to a list with other arguments",
			Hint: "Pass it with the arguments of the call that returned it, or omit it to start from the beginning."}
	}
	return own, func(own string) string {
		if own == "" {
			return ""
		}
		return key + own
	}, nil
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

// remarks returns a tool's own remarks followed by those on its arguments. Both forms of a
// result contain them, because some hosts show a model only the structured form.
func (in *invocation) remarks(own ...string) []string {
	return append(slices.Clip(own), in.remarked...)
}

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

// stale adds to a result's remarks that it may be older than the files, if so.
func (in *invocation) stale(remarks []string) []string {
	if why := in.Vault.Stale(); why != "" {
		return append(slices.Clip(remarks), why+". This answer may be out of date.")
	}
	return remarks
}

// incomplete returns remarks on what a list of notes may lack at present.
func (in *invocation) incomplete(ctx context.Context) []string {
	if stale := in.stale(nil); stale != nil {
		return stale
	}
	if in.Vault.Ready() {
		return nil
	}
	status, err := in.Vault.Status(ctx)
	if err != nil || in.Scope.Read != nil { // the counts are of all notes
		return []string{"the folder is still being read: more notes may come"}
	}
	return []string{stillRead(status.Scanned, status.ToScan)}
}

// stillRead describes the progress of the first scan.
func stillRead(scanned, toScan int) string {
	if toScan == 0 {
		return "the folder is still being scanned: notes may have changed"
	}
	return fmt.Sprintf("the folder is still being read: %d of %d files so far", scanned, toScan)
}

// A Vault is how tools and resources access the notes; *vault.Vault implements it. A ref is
// a path, URI, title, alias or unambiguous name; for an attachment, a path or URI.
type Vault interface {
	// Ready reports whether the first scan has finished. It never blocks.
	Ready() bool
	// Stale returns why results may be older than the files, or "". It never blocks.
	Stale() string
	// Ignored reports whether a path cannot be that of a note. It never blocks.
	Ignored(path string) bool
	// InVault converts the absolute path of a note or folder of the vault, or an Obsidian
	// link, to a path in the vault. It never blocks.
	InVault(ref string) string
	Status(ctx context.Context) (notes.Status, error)
	// Period parses words that name a period; weeks begin as in the vault's calendar.
	Period(words string, now time.Time) (notes.Period, bool)
	// DuePeriod and PastPeriod also take weekdays and distances from now: what is due on
	// friday is so on the next one, and what was done on friday was on the last.
	DuePeriod(words string, now time.Time) (notes.Period, bool)
	PastPeriod(words string, now time.Time) (notes.Period, bool)
	// Moment parses a time, an age like 36h, or a period, of which it returns the last
	// moment (now if it has not ended) if last is set, otherwise the first.
	Moment(text string, now time.Time, last bool) (time.Time, bool)

	Lookup(ctx context.Context, ref string, scope notes.Scope) (notes.Meta, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	Tasks(ctx context.Context, q notes.TaskQuery) (notes.TaskPage, error)
	// WhyNothing returns reasons why a filter matches no note, if any are known.
	WhyNothing(ctx context.Context, f notes.Filter) ([]string, error)
	Links(ctx context.Context, ref string, q notes.LinkQuery) (notes.LinkReport, error)
	Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error)
	Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error)
	// ConflictCopies returns a warning about the conflict copies of sync programs, or "".
	ConflictCopies(ctx context.Context) (string, error)
	// Canvases returns the paths of the canvases and bases.
	Canvases(ctx context.Context, scope notes.Scope) ([]string, error)
	Attachment(ctx context.Context, ref string, scope notes.Scope) (notes.Attachment, error)
	Attachments(ctx context.Context, note string, scope notes.Scope) ([]notes.Attachment, error)

	Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error)
	Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error)
	Move(ctx context.Context, r notes.MoveRequest) (notes.Written, error)
	RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error)
	Delete(ctx context.Context, r notes.DeleteRequest) (notes.Written, error)
	// Repeated reports whether a request has already been carried out.
	Repeated(ctx context.Context, requestKey string) (bool, error)
}

// History is how tools access the past of the notes; *vault.History implements it.
type History interface {
	Revisions(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error)
	// Revision and ReadAt return a note as it was; At calls each for the notes as of a
	// time, and returns false if these were too large to be read at once.
	Revision(ctx context.Context, ref string, revision int64, scope notes.Scope) (*notes.Note, error)
	ReadAt(ctx context.Context, ref string, at time.Time, scope notes.Scope) (*notes.Note, error)
	At(ctx context.Context, at time.Time, f notes.Filter, each func(*notes.Note) error) (complete bool, err error)
	// Diff returns the differences between two revisions.
	Diff(ctx context.Context, ref string, from, to int64, scope notes.Scope) (string, error)
	// Version returns the text of a version by the first digits of its hash, or nil.
	Version(ctx context.Context, ref, rev string, scope notes.Scope) ([]byte, error)
	Restore(ctx context.Context, r notes.RestoreRequest) (notes.Written, error)
}

// A Searcher answers queries; *search.Engine implements it.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
}

// Tables are the user's vector tables; *table.Tables implements it.
type Tables interface {
	Create(ctx context.Context, r table.CreateTableRequest) (table.Info, error)
	List(ctx context.Context) ([]table.Info, error)
	Describe(ctx context.Context, name string, ids int) (table.Info, []string, error)
	Drop(ctx context.Context, name, requestKey string) (table.Info, error)

	Add(ctx context.Context, r table.AddRequest) ([]string, error)
	Search(ctx context.Context, q table.Query) ([]table.Hit, error)
	DeleteRows(ctx context.Context, r table.DeleteRowsRequest) (int, error)
}
