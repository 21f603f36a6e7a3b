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

// fill makes the request one for an exact path where its title or path names a
// period, and puts the template's text before its content: the one that it names,
// else the one that the app has for notes of the period.
func (v *Vault) fill(ctx context.Context, r notes.CreateRequest) (notes.CreateRequest, error) {
	now := v.opt.Now()
	at, template := now, r.Template
	if ref := cmp.Or(r.Path, r.Title); r.Folder == "" && (r.Path == "" || r.Title == "") {
		p, period, err := v.store.PeriodicPath(ctx, ref, r.Scope)
		if err != nil {
			return r, err
		}
		if m, err := v.store.Lookup(ctx, ref, r.Scope); p == "" || err == nil && m.Path != p {
			return v.fillFrom(ctx, r, template, at) // a note of this name goes before the period
		}
		r.Path, r.Title = p, ""
		at = time.Date(period.Start.Year(), period.Start.Month(), period.Start.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
		template = cmp.Or(template, v.store.AppOf(p).Periodic.Notes[period.Unit].Template)
	}
	return v.fillFrom(ctx, r, template, at)
}

func (v *Vault) fillFrom(ctx context.Context, r notes.CreateRequest, template string, at time.Time) (notes.CreateRequest, error) {
	if template == "" {
		return r, nil
	}
	app := v.store.AppOf(cmp.Or(r.Path, r.Folder)).Periodic
	note, err := v.readTemplate(ctx, template, app.Templates, r.Scope)
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
func (v *Vault) readTemplate(ctx context.Context, name, folder string, scope notes.Scope) (*notes.Note, error) {
	if folder != "" && !notes.IsURI(name) {
		inFolder := path.Join(folder, name)
		if !notes.IsNoteName(inFolder) {
			inFolder += ".md"
		}
		if note, err := v.Read(ctx, notes.URI(inFolder), scope); err == nil {
			return note, nil
		}
	}
	note, err := v.Read(ctx, name, scope)
	var e *notes.Error
	if errors.As(err, &e) && errors.Is(err, notes.ErrNotFound) {
		err = &notes.Error{Op: "read the template", Path: name, Err: notes.ErrNotFound, Detail: "there is no such note", Candidates: e.Candidates, Hint: "Name a note whose text is the template; list_notes shows them."}
	}
	return note, err
}

// begin creates the periodic note that an edit appends or prepends to and that
// is not there yet. It reports whether the request was one for it.
func (v *Vault) begin(ctx context.Context, r notes.EditRequest) (written notes.Written, done bool, err error) {
	for _, e := range r.Edits {
		if e.Op != edit.OpAppend && e.Op != edit.OpPrepend {
			return written, false, nil
		}
	}
	if _, ok := v.store.Period(r.Note, v.opt.Now()); !ok || r.ExpectedHash != "" {
		return written, false, nil
	}
	if _, err := v.Read(ctx, r.Note, r.Scope); !errors.Is(err, notes.ErrNotFound) {
		return written, false, nil // the edit says what is wrong
	}
	create, err := v.fill(ctx, notes.CreateRequest{Title: r.Note, Scope: r.Scope, Author: r.Author, RequestKey: r.RequestKey})
	if err != nil || create.Path == "" {
		return written, false, nil
	}
	text, err := edit.Apply(ctx, []byte(create.Content), r.Edits)
	if err != nil {
		return written, true, editProblem(create.Path, err)
	}
	create.Content = string(text)
	written, err = v.create(ctx, create, r.DryRun)
	return written, !errors.Is(err, notes.ErrExists), err // made by another program meanwhile: edit that
}
