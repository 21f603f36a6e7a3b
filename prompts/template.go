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
//	{{search "sourdough"}} notes that match, embedded; the operators of a search
//	                       count: {{search "tag:bread after:7d"}}
//	{{search topic}}       the same for an argument's value, as plain words
//	{{note "Plan.md"}}     one note, embedded; also {{note topic}}
type template struct {
	Prompt
	body string
}

// templates reads the user's prompts. A note without text is none; of one whose
// front matter is broken the text is used.
func (c *Catalogue) templates(ctx context.Context) ([]template, error) {
	if c.folder == "" || c.notes == nil {
		return nil, nil
	}
	if err := c.notes.Refresh(ctx, c.folder); err != nil {
		c.log.Debug("cannot refresh the prompts folder", "error", err) // what is known of it is used
	}
	list, err := c.notes.List(ctx, notes.ListQuery{Filter: notes.Filter{Folder: c.folder}, Sort: "path", Limit: maxTemplates})
	if err != nil {
		return nil, err
	}
	var found []template
	problems := map[string]string{}
	if list.Total > maxTemplates {
		problems[c.folder] = fmt.Sprintf("only the first %d of its %d notes are prompts", maxTemplates, list.Total)
	}
	for _, m := range list.Notes {
		note, err := c.notes.Read(ctx, notes.URI(m.Path), notes.Scope{})
		if err != nil {
			continue // it has just gone, or is no text any more
		}
		t := newTemplate(note)
		taken := func(other template) bool { return other.Name == t.Name }
		switch {
		case t.body == "":
			continue
		case slices.ContainsFunc(found, taken):
			problems[note.Path] = fmt.Sprintf("it is left out: there is another one with the name %q", t.Name)
			continue
		case note.FrontMatterError != "":
			problems[note.Path] = "its front matter is broken, so that its description and arguments are missing: " + note.FrontMatterError
		}
		found = append(found, t)
	}
	c.report(problems)
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
		_, err = r.embedFound(ctx, Query{Text: query, Operators: quoted(operand)}, notes.Filter{}, most)
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

// quoted reports whether an operand is a text of the template's author, and not
// the name of an argument.
func quoted(operand string) bool {
	operand = strings.TrimSpace(operand)
	return len(operand) >= 2 && operand[0] == '"' && operand[len(operand)-1] == '"'
}

// value is a quoted text or the value of an argument.
func (t template) value(r *rendering, operand string) (string, error) {
	operand = strings.TrimSpace(operand)
	if quoted(operand) {
		return operand[1 : len(operand)-1], nil
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
