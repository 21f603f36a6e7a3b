package prompts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"notesd/notes"
)

// Notes is where prompts find what they embed; *notes.Vault is one.
type Notes interface {
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error)
}

// Searcher finds the notes that bear on a text, the best first.
type Searcher interface {
	Passages(ctx context.Context, text string, f notes.Filter, limit int) ([]notes.Passage, error)
}

// Options configure a Catalogue.
type Options struct {
	Notes  Notes
	Search Searcher         // nil: prompts that take a query list the newest notes instead
	Budget int              // bytes of notes embedded in one rendering; 0 is 100 000
	Now    func() time.Time // nil: time.Now
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
	budget int
	now    func() time.Time
}

// New returns the catalogue of built-in prompts.
func New(o Options) *Catalogue {
	if o.Budget <= 0 {
		o.Budget = 100_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Catalogue{notes: o.Notes, search: o.Search, budget: o.Budget, now: o.Now}
}

// List returns all prompts.
func (c *Catalogue) List() []Prompt {
	list := make([]Prompt, len(builtins))
	for i, b := range builtins {
		list[i] = b.Prompt
	}
	return list
}

// Find returns the prompt with a name.
func (c *Catalogue) Find(name string) (Prompt, bool) {
	for _, b := range builtins {
		if b.Name == name {
			return b.Prompt, true
		}
	}
	return Prompt{}, false
}

// Render fills in a prompt. A missing required argument or an unknown prompt is
// a *notes.Error with ErrInvalid or ErrNotFound; notes outside the scope are
// treated as if they did not exist.
func (c *Catalogue) Render(ctx context.Context, name string, args map[string]string, scope notes.Scope) (Rendered, error) {
	for _, b := range builtins {
		if b.Name != name {
			continue
		}
		if missing := b.missing(args); missing != "" {
			return Rendered{}, &notes.Error{Op: "prompt", Path: name, Err: notes.ErrInvalid,
				Detail: fmt.Sprintf("the argument %q is required", missing)}
		}
		r := &rendering{Catalogue: c, scope: scope, args: trimmed(args), left: c.budget}
		if err := b.render(ctx, r); err != nil {
			return Rendered{}, err
		}
		return Rendered{Description: b.Description, Messages: r.messages}, nil
	}
	return Rendered{}, &notes.Error{Op: "prompt", Path: name, Err: notes.ErrNotFound, Detail: "there is no such prompt"}
}

// missing returns the first required argument that args lack.
func (p Prompt) missing(args map[string]string) string {
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
