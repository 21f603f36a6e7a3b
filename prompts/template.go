package prompts

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"notesd/notes"
)

// maxTemplates bounds how many of the user's own prompts there may be: they are
// all read to be listed.
const maxTemplates = 100

// A template is a prompt of the user's: a note in the prompts folder. Its front
// matter may hold a description and arguments, its body is text with places in
// double braces:
//
//	{{topic}}              the argument's value
//	{{search "sourdough"}} notes that match, embedded; also {{search topic}}
//	{{note "Plan.md"}}     one note, embedded; also {{note topic}}
type template struct {
	Prompt
	body string
}

// templates reads the user's prompts. Those that cannot be read as one are left
// out: they are notes, and may be anything.
func (c *Catalogue) templates(ctx context.Context) ([]template, error) {
	if c.folder == "" || c.notes == nil {
		return nil, nil
	}
	list, err := c.notes.List(ctx, notes.ListQuery{Filter: notes.Filter{Folder: c.folder}, Sort: "path", Limit: maxTemplates})
	if err != nil {
		return nil, err
	}
	var found []template
	for _, m := range list.Notes {
		note, err := c.notes.Read(ctx, notes.URI(m.Path), notes.Scope{})
		if err != nil {
			continue // it has just gone, or is no text any more
		}
		t := newTemplate(note)
		taken := func(other template) bool { return other.Name == t.Name }
		if t.body != "" && !slices.ContainsFunc(found, taken) {
			found = append(found, t)
		}
	}
	return found, nil
}

func newTemplate(note *notes.Note) template {
	t := template{Prompt: Prompt{Name: strings.TrimSuffix(path.Base(note.Path), path.Ext(note.Path)), Title: note.Title}}
	if t.Description, _ = note.FrontMatter["description"].(string); t.Description == "" {
		t.Description = note.Title // some clients want one of every prompt
	}
	if list, ok := note.FrontMatter["arguments"].([]any); ok {
		for _, item := range list {
			if a, ok := newArgument(item); ok {
				t.Arguments = append(t.Arguments, a)
			}
		}
	}
	if len(note.Chunks) > 0 {
		t.body = strings.TrimSpace(note.Content[note.Chunks[0].Start:])
	}
	return t
}

// newArgument reads an argument, given by its name or as an object.
func newArgument(item any) (Argument, bool) {
	switch item := item.(type) {
	case string:
		return Argument{Name: item}, item != ""
	case map[string]any:
		name, _ := item["name"].(string)
		description, _ := item["description"].(string)
		required, _ := item["required"].(bool)
		return Argument{Name: name, Description: description, Required: required}, name != ""
	}
	return Argument{}, false
}

// render fills in the body: what stands between places is text, and what places
// bring in of notes is embedded where they stand.
func (t template) render(ctx context.Context, r *rendering) error {
	var text strings.Builder
	flush := func() {
		if s := strings.TrimSpace(text.String()); s != "" {
			r.messages = append(r.messages, Message{Text: s})
		}
		text.Reset()
	}
	for rest := t.body; rest != ""; {
		before, after, found := strings.Cut(rest, "{{")
		text.WriteString(before)
		if !found {
			break
		}
		place, tail, closed := strings.Cut(after, "}}")
		if !closed {
			text.WriteString("{{" + after)
			break
		}
		rest = tail
		if err := t.fill(ctx, r, strings.TrimSpace(place), &text, flush); err != nil {
			return err
		}
	}
	flush()
	if len(r.embedded) > 0 {
		r.say("%s", dataNotice)
	}
	return nil
}

// fill writes what a place stands for.
func (t template) fill(ctx context.Context, r *rendering, place string, text *strings.Builder, flush func()) error {
	const most = 10
	verb, operand, _ := strings.Cut(place, " ")
	switch {
	case verb == "search" && operand != "":
		query, err := t.value(r, operand)
		if err != nil || query == "" {
			return err
		}
		flush()
		_, err = r.embedFound(ctx, query, notes.Filter{}, most)
		return err
	case verb == "note" && operand != "":
		ref, err := t.value(r, operand)
		if err != nil || ref == "" {
			return err
		}
		note, err := r.notes.Read(ctx, ref, r.scope)
		if err != nil {
			return err
		}
		flush()
		if !r.embed(note) {
			r.embedStart(note)
		}
		return nil
	}
	value, err := t.value(r, place)
	text.WriteString(value)
	return err
}

// value is a quoted text or the value of an argument.
func (t template) value(r *rendering, operand string) (string, error) {
	operand = strings.TrimSpace(operand)
	if n := len(operand); n >= 2 && operand[0] == '"' && operand[n-1] == '"' {
		return operand[1 : n-1], nil
	}
	if value, ok := r.args[operand]; ok {
		return value, nil
	}
	if slices.ContainsFunc(t.Arguments, func(a Argument) bool { return a.Name == operand }) {
		return "", nil // an argument that was left out
	}
	return "", &notes.Error{Op: "prompt", Path: t.Name, Err: notes.ErrInvalid,
		Detail: fmt.Sprintf("the template has a place {{%s}}, and no argument of that name", operand),
		Hint:   "Add it to arguments in the template's front matter."}
}
