package prompts

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"notesd/notes"
)

// Notes is where prompts find what they embed; *notes.Vault is one.
type Notes interface {
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
	// Refresh brings what List knows of a folder up to date while the first
	// scan has not ended; later it does nothing.
	Refresh(ctx context.Context, folder string) error
}

// Searcher finds the notes that match a query, the best first.
type Searcher interface {
	Passages(ctx context.Context, query Query, f notes.Filter, limit int) ([]notes.Passage, error)
}

// Query is what a prompt searches for.
type Query struct {
	Text      string
	Operators bool // the text may hold tag:x, -word and the like; without, all of it is plain words
}

// Options configure a Catalogue.
type Options struct {
	Notes  Notes
	Search Searcher         // nil: prompts that take a query list the newest notes instead
	Folder string           // of the user's own templates, in the vault; "": none
	Budget int              // bytes of notes embedded in one rendering; 0 is 100 000
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: none
}

// A Prompt is an entry of the catalogue.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []Argument
}

// An Argument of a prompt.
type Argument struct {
	Name        string
	Description string
	Required    bool
	Completes   Kind
}

// Kind says what an argument's values are, for completion.
type Kind string

// The kinds of values.
const (
	FreeText Kind = ""
	NoteRef  Kind = "note"
	Tag      Kind = "tag"
	Folder   Kind = "folder"
	Heading  Kind = "heading" // of the note that the argument "note" names
)

// A Message is one message of the user's to a model: text, or a note.
type Message struct {
	Text     string
	Resource *Resource // set instead of Text
}

// A Resource is a note embedded in a message.
type Resource struct {
	URI  string
	Text string // untrusted: the note's own words
}

// Rendered is a prompt with its arguments filled in.
type Rendered struct {
	Description string
	Messages    []Message
}

// Catalogue holds the prompts.
type Catalogue struct {
	notes  Notes
	search Searcher
	folder string
	budget int
	now    func() time.Time
	log    *slog.Logger

	mu       sync.Mutex
	problems map[string]string // of the templates as they were last read, by path
}

// New returns the catalogue of built-in prompts and of the templates in a
// folder, which are read when they are asked for.
func New(o Options) *Catalogue {
	if o.Budget <= 0 {
		o.Budget = 100_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Catalogue{notes: o.Notes, search: o.Search, folder: strings.Trim(o.Folder, "/"), budget: o.Budget, now: o.Now, log: o.Log}
}

// Folder returns the vault's folder that holds the user's templates; "": there
// are none.
func (c *Catalogue) Folder() string { return c.folder }

// Warnings returns what is wrong with the user's templates, by path.
func (c *Catalogue) Warnings(ctx context.Context) ([]string, error) {
	if _, err := c.templates(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	warnings := []string{}
	for _, p := range slices.Sorted(maps.Keys(c.problems)) {
		warnings = append(warnings, fmt.Sprintf("the prompt %q: %s", p, c.problems[p]))
	}
	return warnings, nil
}

// report remembers what is wrong with the templates, and logs what is new.
func (c *Catalogue) report(problems map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, problem := range problems {
		if c.problems[p] != problem {
			c.log.Warn("a prompt of the prompts folder is not as it was meant", "note", p, "problem", problem)
		}
	}
	c.problems = problems
}

// Builtins returns the prompts that are always there.
func (c *Catalogue) Builtins() []Prompt {
	list := make([]Prompt, len(builtins))
	for i, b := range builtins {
		list[i] = b.Prompt
	}
	return list
}

// List returns all prompts. A template with the name of a built-in prompt takes
// its place.
func (c *Catalogue) List(ctx context.Context) ([]Prompt, error) {
	templates, err := c.templates(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Prompt, 0, len(templates)+len(builtins))
	for _, t := range templates {
		list = append(list, t.Prompt)
	}
	for _, p := range c.Builtins() {
		if !slices.ContainsFunc(list, func(t Prompt) bool { return t.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list, nil
}

// Render fills in a prompt. A missing required argument or an unknown prompt is
// a *notes.Error with ErrInvalid or ErrNotFound; notes outside the scope are
// treated as if they did not exist.
func (c *Catalogue) Render(ctx context.Context, name string, args map[string]string, scope notes.Scope) (Rendered, error) {
	prompt, render, err := c.find(ctx, name)
	if err != nil {
		return Rendered{}, err
	}
	if missing := prompt.Missing(args); missing != "" {
		return Rendered{}, &notes.Error{Op: "prompt", Path: name, Err: notes.ErrInvalid,
			Detail: fmt.Sprintf("the argument %q is required", missing)}
	}
	r := &rendering{Catalogue: c, scope: scope, args: trimmed(args), left: c.budget}
	if err := render(ctx, r); err != nil {
		return Rendered{}, err
	}
	return Rendered{Description: prompt.Description, Messages: r.messages}, nil
}

func (c *Catalogue) find(ctx context.Context, name string) (Prompt, func(context.Context, *rendering) error, error) {
	templates, err := c.templates(ctx)
	if err != nil {
		return Prompt{}, nil, err
	}
	for _, t := range templates {
		if t.Name == name {
			return t.Prompt, t.render, nil
		}
	}
	for _, b := range builtins {
		if b.Name == name {
			return b.Prompt, b.render, nil
		}
	}
	return Prompt{}, nil, &notes.Error{Op: "prompt", Path: name, Err: notes.ErrNotFound, Detail: "there is no such prompt"}
}

// Missing returns the first required argument that args lack, or "".
func (p Prompt) Missing(args map[string]string) string {
	for _, a := range p.Arguments {
		if a.Required && strings.TrimSpace(args[a.Name]) == "" {
			return a.Name
		}
	}
	return ""
}

func trimmed(args map[string]string) map[string]string {
	out := make(map[string]string, len(args))
	for name, value := range args {
		out[name] = strings.TrimSpace(value)
	}
	return out
}
