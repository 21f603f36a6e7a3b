package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"notesd/notes"
)

// maxTemplates limits the number of the user's templates, because listing the prompts
// reads all of them.
const maxTemplates = 100

// A template is a prompt written by the user, as a note in the prompts folder. Its front
// matter may contain a description and arguments. Its body is text with placeholders in
// double braces:
//
//	{{topic}}              the value of an argument
//	{{search "sourdough"}} the notes that match, embedded; search operators apply:
//	                       {{search "tag:bread after:7d"}}
//	{{search topic}}       the same for the value of an argument, as plain words
//	{{note "Plan.md"}}     one note, embedded; also {{note topic}}
//	{{note "Plan#Risks"}}  a part of it
type template struct {
	Prompt
	body string
}

// templates reads the user's templates. It skips notes without a body. If the front
// matter of a note cannot be parsed, its body is used without a description and
// arguments.
func (c *Catalogue) templates(ctx context.Context) (found []Prompt, warnings []string, err error) {
	warnings = []string{}
	if c.folder == "" {
		return nil, warnings, nil
	}
	if filepath.IsAbs(c.folder) {
		return nil, append(warnings, fmt.Sprintf("the prompts folder %q is not in the vault: its prompts are not offered", c.folder)), nil
	}
	_ = c.notes.Refresh(ctx, c.folder) // if it fails, List returns the notes indexed so far
	list, err := c.notes.List(ctx, notes.ListQuery{Filter: notes.Filter{Folder: c.folder}, Sort: "path", Limit: maxTemplates})
	if err != nil {
		return nil, nil, err
	}
	warn := func(path, problem string) {
		warnings = append(warnings, fmt.Sprintf("the prompt %q: %s", path, problem))
	}
	if list.Total == 0 {
		warnings = append(warnings, fmt.Sprintf("the prompts folder %q does not exist or has no notes", c.folder))
	}
	if list.Total > maxTemplates {
		warn(c.folder, fmt.Sprintf("only the first %d of its %d notes are prompts", maxTemplates, list.Total))
	}
	for _, m := range list.Notes {
		note, err := c.notes.Read(ctx, notes.URI(m.Path), notes.Scope{})
		if err != nil {
			continue // deleted since the list was read, or no longer a text file
		}
		t := newTemplate(note)
		taken := func(other Prompt) bool { return other.Name == t.Name }
		switch {
		case t.body == "":
			continue
		case slices.ContainsFunc(found, taken):
			warn(note.Path, fmt.Sprintf("it is skipped: another prompt has the name %q", t.Name))
			continue
		case note.FrontMatterError != "":
			warn(note.Path, "its front matter is broken, so its description and arguments are missing: "+note.FrontMatterError)
		}
		t.Prompt.render = t.render
		found = append(found, t.Prompt)
	}
	return found, warnings, nil
}

func newTemplate(note *notes.Note) template {
	t := template{Prompt: Prompt{Name: strings.TrimSuffix(path.Base(note.Path), path.Ext(note.Path)), Title: note.Title}}
	if t.Description, _ = note.FrontMatter["description"].(string); t.Description == "" {
		t.Description = note.Title // some clients require a description
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

// newArgument parses an argument, which is a name or an object.
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

// render fills in the body. Text between placeholders becomes text messages, and notes
// are embedded at the position of their placeholder.
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
		placeholder, tail, closed := strings.Cut(after, "}}")
		if !closed {
			text.WriteString("{{" + after)
			break
		}
		rest = tail
		if err := t.fill(ctx, r, strings.TrimSpace(placeholder), &text, flush); err != nil {
			return err
		}
	}
	flush()
	if len(r.embedded) > 0 {
		r.say("%s", dataNotice)
	}
	return nil
}

// fill writes the value of a placeholder to text, or calls flush and embeds notes.
func (t template) fill(ctx context.Context, r *rendering, placeholder string, text *strings.Builder, flush func()) error {
	const most = 10
	verb, operand, _ := strings.Cut(placeholder, " ")
	operand = strings.TrimSpace(operand)
	switch {
	case verb == "search" && operand != "":
		query, err := t.value(r, operand)
		if err != nil || query == "" {
			return err
		}
		flush()
		sel, err := r.embedFound(ctx, Query{Text: query, Operators: quoted(operand)}, notes.Filter{}, most)
		if sel.total == 0 {
			fmt.Fprintf(text, "(No note matches %s.)", query)
		}
		text.WriteString(sel.leftOut("the best matches"))
		return err
	case verb == "note" && operand != "":
		ref, err := t.value(r, operand)
		if err != nil || ref == "" {
			return err
		}
		note, part, err := r.named(ctx, ref)
		base, _ := notes.SplitAnchor(ref)
		if _, dated := r.notes.Period(base, r.now()); dated && errors.Is(err, notes.ErrNotFound) {
			fmt.Fprintf(text, "(There is no note of %s yet.)", base)
			return nil
		}
		var sel selection
		if err == nil {
			flush()
			sel, err = r.embedPart(note, part)
		}
		if err != nil {
			return t.withoutNote(placeholder, ref, err)
		}
		text.WriteString(sel.leftOut(""))
		return nil
	}
	value, err := t.value(r, placeholder)
	text.WriteString(value)
	return err
}

// withoutNote returns the error for a placeholder whose note cannot be read. The whole
// prompt fails, because a model would otherwise answer without the note. A daily or weekly
// note is different: a review is also asked for before it is written.
func (t template) withoutNote(placeholder, ref string, err error) error {
	var cause *notes.Error
	if !errors.As(err, &cause) {
		return err
	}
	e := *cause
	e.Op, e.Path = "prompt", t.Name
	e.Detail = fmt.Sprintf("the note %s of its placeholder {{%s}} cannot be read: %s", notes.Quote(ref), placeholder, cmp.Or(cause.Detail, cause.Err.Error()))
	e.Hint = cmp.Or(e.Hint, "Pass the argument another note, or correct the prompt's note.")
	return &e
}

// quoted reports whether an operand is quoted text; otherwise it is the name of an
// argument.
func quoted(operand string) bool {
	return len(operand) >= 2 && operand[0] == '"' && operand[len(operand)-1] == '"'
}

// value returns the quoted text, or the value of the named argument.
func (t template) value(r *rendering, operand string) (string, error) {
	if quoted(operand) {
		return operand[1 : len(operand)-1], nil
	}
	if value, ok := r.args[operand]; ok { // "" if the caller omitted the argument
		return value, nil
	}
	if strings.Contains(operand, "{{") {
		return "", &notes.Error{Op: "prompt", Path: t.Name, Err: notes.ErrInvalid,
			Detail: "the template has a placeholder within another",
			Hint:   "Write an argument without quotes and braces there: {{search topic}} or {{note topic}}."}
	}
	return "", &notes.Error{Op: "prompt", Path: t.Name, Err: notes.ErrInvalid,
		Detail: fmt.Sprintf("the template has a placeholder {{%s}}, but no argument of that name", operand),
		Hint:   "Add it to arguments in the template's front matter."}
}
