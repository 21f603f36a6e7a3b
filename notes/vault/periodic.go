package vault

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
)

// composer makes requests for new notes whole.
type composer struct {
	v     *Vault
	ctx   context.Context
	scope notes.Scope
}

// fill makes the request one for an exact path where its title or path names a
// period, and puts the template's text before its content: the one that it names,
// else the one that the app has for notes of the period.
func (c *composer) fill(r notes.CreateRequest) (notes.CreateRequest, error) {
	now := c.v.opt.Now()
	at, template := now, r.Template
	if ref := cmp.Or(r.Path, r.Title); r.Folder == "" && (r.Path == "" || r.Title == "") {
		p, period, err := c.v.store.PeriodicPath(c.ctx, ref, c.scope)
		if err != nil {
			return r, err
		}
		if m, err := c.v.store.Lookup(c.ctx, ref, c.scope); p == "" || err == nil && m.Path != p {
			return c.fillFrom(r, template, at) // a note of this name goes before the period
		}
		r.Path, r.Title = p, ""
		at = time.Date(period.Start.Year(), period.Start.Month(), period.Start.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
		template = cmp.Or(template, c.v.store.AppOf(p).Periodic.Notes[period.Unit].Template)
	}
	return c.fillFrom(r, template, at)
}

func (c *composer) fillFrom(r notes.CreateRequest, template string, at time.Time) (notes.CreateRequest, error) {
	if template == "" {
		return r, nil
	}
	app := c.v.store.AppOf(cmp.Or(r.Path, r.Folder)).Periodic
	note, err := c.readTemplate(template, app.Templates)
	switch {
	case errors.Is(err, notes.ErrNotFound) && r.Template == "":
		return r, nil // as the app does
	case err != nil:
		return r, err
	case markdown.Parse([]byte(r.Content)).FrontMatter.Format != "":
		return r, &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: "the content begins with front matter, and so may the template that goes before it", Hint: "Pass it as front_matter."}
	}
	title := strings.TrimSpace(r.Title)
	if title == "" {
		title = notes.BaseName(path.Base(r.Path))
	}
	d := draft{path: r.Path, text: []byte(app.Fill(note.Content, title, at))}
	if r.FrontMatter, err = d.override(r.FrontMatter); err != nil {
		return r, err
	}
	text := string(d.text)
	if r.Content != "" && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r.Content = text + r.Content
	return r, nil
}

// override gives the template's keys the values of the request, and returns what
// is left of these: tags, which are added to the template's.
func (d *draft) override(values map[string]any) (rest map[string]any, err error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.EqualFold(name, "tags") {
			rest = map[string]any{name: values[name]}
			continue
		}
		key, _, _ := d.own(name)
		if d.text, err = edit.SetFrontMatter(d.text, key, values[name]); err != nil {
			return nil, &notes.Error{Op: "create", Path: d.path, Err: notes.ErrInvalid, Detail: "front matter " + notes.Quote(name) + " cannot be written: " + err.Error()}
		}
	}
	return rest, nil
}

// readTemplate reads a template by its name in the folder of templates, or as
// any note.
func (c *composer) readTemplate(name, folder string) (*notes.Note, error) {
	if folder != "" && !notes.IsURI(name) {
		inFolder := path.Join(folder, name)
		if !notes.IsNoteName(inFolder) {
			inFolder += ".md"
		}
		if note, err := c.v.Read(c.ctx, notes.URI(inFolder), c.scope); err == nil {
			return note, nil
		}
	}
	note, err := c.v.Read(c.ctx, name, c.scope)
	var e *notes.Error
	if errors.As(err, &e) && errors.Is(err, notes.ErrNotFound) {
		err = &notes.Error{Op: "read the template", Path: name, Err: notes.ErrNotFound, Detail: "there is no such note", Candidates: e.Candidates, Hint: "Name a note whose text is the template; list_notes shows them."}
	}
	return note, err
}

// begin creates the periodic note that an edit appends or prepends to and that
// is not there yet. It reports whether the request was one for it.
func (c *composer) begin(r notes.EditRequest) (written notes.Written, done bool, err error) {
	for _, e := range r.Edits {
		if e.Op != edit.OpAppend && e.Op != edit.OpPrepend {
			return written, false, nil
		}
	}
	if _, ok := c.v.store.Period(r.Note, c.v.opt.Now()); !ok || r.ExpectedHash != "" {
		return written, false, nil
	}
	if _, err := c.v.Read(c.ctx, r.Note, c.scope); !errors.Is(err, notes.ErrNotFound) {
		return written, false, nil // the edit says what is wrong
	}
	create, err := c.fill(notes.CreateRequest{Title: r.Note, Scope: c.scope, Author: r.Author, RequestKey: r.RequestKey})
	if err != nil || create.Path == "" {
		return written, false, nil
	}
	text, err := edit.Apply(c.ctx, []byte(create.Content), r.Edits)
	if err != nil {
		return written, true, editProblem(create.Path, err)
	}
	create.Content = string(text)
	written, err = c.create(create, r.DryRun)
	return written, !errors.Is(err, notes.ErrExists), err // made by another program meanwhile: edit that
}
