package prompts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notesd/notes"
)

// Notes provides the notes that prompts embed. *vault.Vault implements it.
type Notes interface {
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
	// Period parses words for a period, such as "this week".
	Period(words string, now time.Time) (notes.Period, bool)
	// Refresh indexes a folder for List while the first scan is running. After that it is
	// a no-op.
	Refresh(ctx context.Context, folder string) error
}

// Searcher returns the paths of the notes that match a query, best first.
type Searcher interface {
	Find(ctx context.Context, query Query, f notes.Filter, limit int) (paths []string, err error)
}

// Query is a search by a prompt.
type Query struct {
	Text      string
	Operators bool   // interpret tag:x, -word and other operators in the text; otherwise all of it is plain words
	Of        string // path of the note that contains the text, excluded from the results; "" if none
}

// Options configure a Catalogue.
type Options struct {
	Notes  Notes
	Search Searcher
	Folder string           // vault-relative folder of the user's templates; "" if none
	Budget int              // bytes of notes embedded in one rendering; 0 means 100 000
	Now    func() time.Time // defaults to time.Now
}

// A Prompt is an entry of the catalogue at the time it was listed.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument

	render func(context.Context, *rendering) error
}

// An Argument is an argument of a prompt.
type Argument struct {
	Name        string
	Description string
	Required    bool
	Completes   Kind
}

// Kind is the kind of an argument's values, for completion.
type Kind string

// The kinds of values.
const (
	FreeText Kind = ""
	NoteRef  Kind = "note"
	Tag      Kind = "tag"
	Folder   Kind = "folder"
	Heading  Kind = "heading" // of the note in the argument "note"
	Day      Kind = "day"     // or a week
)

// A Message is one user message to a model: text or a note.
type Message struct {
	Text     string
	Resource *Resource // set instead of Text
}

// A Resource is a note embedded in a message.
type Resource struct {
	URI  string
	Text string // content of the note, untrusted
}

// Rendered is a prompt with its arguments filled in.
type Rendered struct {
	Description string
	Messages    []Message
	Versions    map[string]string // hash of each note in Messages, by path
}

// Catalogue holds the prompts.
type Catalogue struct {
	notes  Notes
	search Searcher
	folder string
	budget int
	now    func() time.Time
}

// New returns a catalogue of the built-in prompts and the user's templates, which are
// read again on each request.
func New(o Options) *Catalogue {
	if o.Budget <= 0 {
		o.Budget = 100_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Catalogue{notes: o.Notes, search: o.Search, folder: strings.TrimSuffix(o.Folder, "/"), budget: o.Budget, now: o.Now}
}

// Folder returns the vault-relative folder of the user's templates, or "".
func (c *Catalogue) Folder() string { return c.folder }

// Warnings returns the problems of the user's templates as sentences, ordered by path.
// The slice is not nil unless there is an error.
func (c *Catalogue) Warnings(ctx context.Context) ([]string, error) {
	_, warnings, err := c.templates(ctx)
	return warnings, err
}

// List returns all prompts: the user's by path, then the built-in ones. A template
// replaces a built-in prompt with the same name. Errors come from Options.Notes.
func (c *Catalogue) List(ctx context.Context) ([]Prompt, error) {
	list, _, err := c.templates(ctx)
	if err != nil {
		return nil, err
	}
	own := len(list)
	for _, p := range builtins {
		if !slices.ContainsFunc(list[:own], func(t Prompt) bool { return t.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list, nil
}

// Render fills in a prompt of the catalogue. If a required argument is missing, or one is
// given that the prompt does not have, it returns a *notes.Error that is ErrInvalid. Notes
// outside the scope are treated as missing.
func (c *Catalogue) Render(ctx context.Context, p Prompt, args map[string]string, scope notes.Scope) (Rendered, error) {
	args = regroup(p.Arguments, args)
	invalid := func(format, name string) (Rendered, error) {
		return Rendered{}, &notes.Error{Op: "prompt", Path: p.Name, Err: notes.ErrInvalid, Detail: fmt.Sprintf(format, name)}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if args[name] != "" && !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == name }) {
			return invalid("there is no argument %.60q", name)
		}
	}
	for _, a := range p.Arguments {
		if a.Required && args[a.Name] == "" {
			return invalid("the argument %q is required", a.Name)
		}
	}
	r := &rendering{Catalogue: c, scope: scope, args: args, left: c.budget, embedded: map[string]string{}, whole: map[string]bool{}}
	if err := p.render(ctx, r); err != nil {
		return Rendered{}, err
	}
	return Rendered{Description: p.Description, Messages: r.messages, Versions: r.embedded}, nil
}

// regroup returns the arguments with surrounding space trimmed, and rejoins arguments
// that the client has split. Claude Code splits a command line at every space, even
// within quotes: `"Sourdough Starter" brief` becomes `"Sourdough` and `Starter`, and
// words beyond the last argument are lost. A value with a space was not split: it may begin
// with an apostrophe. Quotes around a whole argument are removed, except in free text,
// where they may mean a phrase.
func regroup(list []Argument, args map[string]string) map[string]string {
	out := make(map[string]string, len(args))
	for name, value := range args {
		out[name] = strings.TrimSpace(value)
	}
	var given []string
	for _, a := range list {
		if out[a.Name] != "" {
			given = append(given, out[a.Name])
		}
	}
	split := false
	for _, a := range list {
		value := out[a.Name]
		if split { // the remaining words shift to the following arguments
			value = strings.Join(given[:min(1, len(given))], "")
		}
		if value != "" {
			given = given[1:]
			if quote := value[:1]; (quote == `"` || quote == "'") && len(value) > 1 && !strings.Contains(value, " ") && strings.Count(value, quote) == 1 {
				end := 1 + slices.IndexFunc(given, func(word string) bool { return strings.HasSuffix(word, quote) })
				if end == 0 { // the closing quote is lost
					end = len(given)
				}
				value, given, split = strings.Trim(strings.Join(append([]string{value}, given[:end]...), " "), quote), given[end:], true
			} else if inner, quoted := strings.CutPrefix(value, `"`); quoted && a.Completes != FreeText {
				value = strings.TrimSuffix(inner, `"`)
			}
		}
		out[a.Name] = value
	}
	return out
}
