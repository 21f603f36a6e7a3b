package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"notesd/internal/fsid"
	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Create durably writes a new note and updates the store and the followers before it
// returns. It never replaces a file: if the path is taken, the error is an [*notes.Error]
// with [notes.ErrExists].
func (v *Vault) Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error) {
	if err := v.opt.checkText("create", r.Content); err != nil {
		return notes.Written{}, err
	}
	var tags []string
	for _, tag := range r.Tags {
		if strings.Trim(tag, "# ") == "" { // an empty field
			continue
		}
		name, problem := edit.TagName(tag)
		if problem != "" {
			return notes.Written{}, &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: problem, Hint: "Nothing was written."}
		}
		tags = append(tags, name)
	}
	r.Tags = tags
	if written, done, err := v.answered(ctx, writeRequest{kind: "create", key: r.RequestKey}); done {
		return written, err
	}
	r.Path, r.Folder = v.store.InVault(r.Path), v.store.InVault(r.Folder)
	c := &noteComposer{v: v, ctx: ctx, scope: r.Scope}
	r, err := c.fill(r)
	if err != nil {
		return notes.Written{}, err
	}
	return c.create(r, false)
}

func (c *noteComposer) create(r notes.CreateRequest, dryRun bool) (notes.Written, error) {
	return c.v.change(c.ctx, writeRequest{kind: "create", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: dryRun, partOf: c.partOf}, func(o *operation) error {
		p, err := o.newPath(r)
		if err != nil {
			return err
		}
		if notes.Key(c.v.store.PageTitle(p)) == notes.Key(strings.TrimSpace(r.Title)) {
			r.Title = "" // Logseq derives it from the name
		}
		text, err := composeNote(p, r)
		if err != nil {
			return err
		}
		o.Files = []store.FileChange{{NewPath: p, NewDisk: newDisk(o.root, p), New: text}}
		if o.LinkedFrom, err = c.v.store.DivertedBy(c.ctx, p, r.Scope); err != nil {
			return err
		}
		return c.v.opt.checkText("create", string(text))
	})
}

// newDisk returns where a new note is created: in its folder as the disk spells it.
func newDisk(root *disk.Root, p string) string {
	return path.Join(root.Spelled(path.Dir(p)), path.Base(p))
}

// newPath determines the path of a new note. A path that ends in a slash is a folder.
// Without a path or folder, the note goes where the vault's app puts new notes.
func (o *operation) newPath(r notes.CreateRequest) (string, error) {
	if strings.HasSuffix(strings.TrimSpace(r.Path), "/") {
		r.Folder, r.Path = r.Path, ""
	}
	if r.Path != "" {
		return o.explicitPath(o.fromRoot(r.Path))
	}
	if strings.TrimSpace(r.Title) == "" {
		return "", &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: "the note has neither a title nor a path", Hint: "Pass a title; the file name is derived from it."}
	}
	folder := strings.TrimRight(strings.TrimSpace(o.fromRoot(r.Folder)), "/")
	if folder == "." {
		folder = ""
	}
	if folder != "" {
		var err error
		if folder, err = notes.CleanPath(folder); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(r.Folder) == "" || folder != "" && folder == o.v.store.FolderOf(folder) {
		if usual := path.Join(folder, o.v.store.AppOf(folder).NewNotes); o.scope.CanRead(usual) {
			folder = usual
		}
	}
	return o.titledPath(folder, strings.TrimSpace(r.Title))
}

// fromRoot removes the leading slash of a path from the vault's root, as Obsidian's users
// may write it. It returns a path of several segments unchanged if the vault has no folder
// with the name of the first: it is probably a file system path.
func (o *operation) fromRoot(p string) string {
	rest, slash := strings.CutPrefix(strings.TrimSpace(p), "/")
	first, below, _ := strings.Cut(rest, "/")
	if !slash || rest == "" {
		return p
	}
	if below != "" && !o.isFolder(first) {
		return p
	}
	return rest
}

func (o *operation) explicitPath(p string) (string, error) {
	p, err := notes.CleanPath(p)
	if err != nil {
		return "", err
	}
	if !notes.IsNoteName(p) {
		p += ".md"
	}
	if err := o.checkNew(p); err != nil {
		return "", err
	}
	taken, err := o.takenBy(p)
	if err != nil || taken == "" {
		return p, err
	}
	return "", exists(p, taken)
}

func exists(p, taken string) error {
	e := &notes.Error{Op: "create", Path: p, Err: notes.ErrExists, Candidates: []string{taken}, Detail: "this note exists already", Hint: "Choose another title. To change the note, use edit_note."}
	if taken != p {
		e.Detail = fmt.Sprintf("%s exists already, and differs only in case or Unicode form: it is the same name on some systems", notes.Quote(taken))
	}
	return e
}

// titledPath derives the path from the title. If a note has this title already, in any case
// or Unicode form, that is an error; if a note of another title has the file name, a number
// is appended. A Logseq page gets the name that Logseq would give it.
func (o *operation) titledPath(folder, title string) (string, error) {
	name := notes.FileName(title)
	if l := o.v.store.AppOf(folder).Logseq; l != nil {
		names := notes.LogseqNames(title, notes.NameFormat{})
		if name = names[1] + ".md"; l.Lowbar {
			name = names[0] + ".md"
		}
	}
	wanted, err := notes.CleanPath(path.Join(folder, name))
	if err != nil {
		return "", err
	}
	if err := o.checkNew(wanted); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		p := wanted
		if n > 1 {
			p = notes.Numbered(wanted, n)
		}
		taken, err := o.takenBy(p)
		if err != nil || taken == "" {
			return p, err
		}
		if o.hasTitle(taken, title) {
			return "", exists(p, taken)
		}
	}
}

func (o *operation) hasTitle(p, title string) bool {
	meta, err := o.v.store.Lookup(o.ctx, p, notes.Scope{})
	return err != nil || slices.Contains([]string{notes.Key(meta.Title), notes.Key(notes.BaseName(p)), notes.Key(o.v.store.PageTitle(p))}, notes.Key(title))
}

// takenBy returns the path of the file or note that already has the name, in any case, or
// "".
func (o *operation) takenBy(p string) (string, error) {
	spelled, _ := o.root.SpelledSo(p)
	if _, err := o.root.Lstat(p); err == nil && spelled || isEvicted(o.root, p) {
		return p, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsid.ErrNotDirectory) {
		return "", writeProblem(o.Kind, p, err)
	}
	return o.v.store.PathByKey(o.ctx, notes.Key(p))
}

// noteComposer completes requests for new notes.
type noteComposer struct {
	v      *Vault
	ctx    context.Context
	scope  notes.Scope
	partOf int64 // see [notes.EditRequest]
}

// fill sets an exact path if the title or path names a period, and puts the template's text
// before the content. The template is the one that the request names, or else the one that
// the app uses for notes of the period.
func (c *noteComposer) fill(r notes.CreateRequest) (notes.CreateRequest, error) {
	now := c.v.opt.Now()
	at, template := now, r.Template
	if ref := cmp.Or(r.Path, r.Title); r.Folder == "" && (r.Path == "" || r.Title == "") {
		p, period, err := c.v.store.PeriodicPath(c.ctx, ref, c.scope)
		if err != nil {
			return r, err
		}
		if p == "" {
			return c.fillFrom(r, template, at)
		}
		if m, err := c.v.store.Lookup(c.ctx, ref, c.scope); err == nil && m.Path != p {
			return c.fillFrom(r, template, at) // a note with this name takes precedence over the period
		}
		r.Path, r.Title = p, ""
		at = time.Date(period.Start.Year(), period.Start.Month(), period.Start.Day(), now.Hour(), now.Minute(), now.Second(), 0, now.Location())
		if at.Before(period.Start) { // the time does not exist on that day: a clock change
			at = period.Start
		}
		template = cmp.Or(template, c.v.store.AppOf(p).Periodic.Notes[period.Unit].Template)
	}
	return c.fillFrom(r, template, at)
}

func (c *noteComposer) fillFrom(r notes.CreateRequest, template string, at time.Time) (notes.CreateRequest, error) {
	if template == "" {
		return r, nil
	}
	app := c.v.store.AppOf(cmp.Or(r.Path, r.Folder)).Periodic
	note, err := c.readTemplate(template, app.Templates)
	switch {
	case errors.Is(err, notes.ErrNotFound) && r.Template == "":
		return r, nil // the app ignores a missing template, too
	case err != nil:
		return r, err
	case markdown.Parse([]byte(r.Content)).FrontMatter.Format != "":
		return r, &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: "the content begins with front matter, which cannot follow a template", Hint: "Pass it as front_matter instead."}
	}
	title := strings.TrimSpace(r.Title)
	name := notes.BaseName(path.Base(cmp.Or(r.Path, notes.FileName(title))))
	title = cmp.Or(title, name)
	properties := markdown.ReadFrontMatter([]byte(note.Content)).End
	d := draft{path: r.Path, text: []byte(app.Fill(note.Content[:properties], name, at) + app.Fill(note.Content[properties:], title, at))}
	if broken := markdown.ReadFrontMatter(d.text).Err; broken != nil && len(r.FrontMatter)+len(r.Tags) > 0 {
		return r, &notes.Error{Op: "read the template", Path: note.Path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("its front matter is broken: %v", broken), Hint: "Correct the template first, or pass neither front_matter nor tags."}
	}
	if r.Title != "" {
		if err := d.retitle(name, title); err != nil {
			return r, err
		}
	}
	if r.FrontMatter, err = d.override(r.FrontMatter); err != nil {
		return r, err
	}
	r.Content = withoutTitle(r.Content, d.text)
	if strings.TrimSpace(r.Content) != "" { // after a blank line, or as part of the template's last list
		if d.text, _, err = edit.Apply(c.ctx, d.text, []notes.Edit{{Op: edit.OpAppend, Content: r.Content}}); err != nil {
			return r, editProblem(template, err)
		}
	}
	r.Content = string(d.text)
	return r, nil
}

// withoutTitle returns content without the title at its start if the template begins with it and
// has no other heading of that level.
func withoutTitle(content string, template []byte) string {
	given, own := markdown.Parse([]byte(content)).Headings, markdown.Parse(template).Headings
	titles := 0
	for _, h := range own {
		if h.Level == 1 {
			titles++
		}
	}
	if len(given) == 0 || titles != 1 || strings.TrimSpace(content[:given[0].Start]) != "" ||
		strings.TrimSpace(content[given[0].Start:given[0].ContentStart]) != strings.TrimSpace(string(template[own[0].Start:own[0].ContentStart])) {
		return content
	}
	return content[given[0].ContentStart:]
}

// retitle sets the title in the template's properties, which may be a command of Templater, and
// replaces the file's name as an alias by the title from which it was made, such as "A: b" of "A- b".
func (d *draft) retitle(name, title string) (err error) {
	values := markdown.ReadFrontMatter(d.text).Values
	for _, key := range []string{"title", "aliases"} {
		key, _ := markdown.KeyOf(values, key)
		value, has := values[key]
		switch list, _ := value.([]any); {
		case has && (value == name || strings.EqualFold(key, "title")):
			value = title
		case slices.Contains(list, any(name)):
			list[slices.Index(list, any(name))] = title
		default:
			continue
		}
		if d.text, err = edit.SetFrontMatter(d.text, key, value); err != nil {
			return d.unwritable(key, err)
		}
	}
	return nil
}

// readTemplate reads a template by its name in the folder of templates, or like any other
// note.
func (c *noteComposer) readTemplate(name, folder string) (*notes.Note, error) {
	if folder != "" && !notes.IsURI(name) {
		if note, err := c.v.Read(c.ctx, path.Join(folder, name), c.scope); err == nil {
			return note, nil
		}
	}
	note, err := c.v.Read(c.ctx, name, c.scope)
	if e, ok := errors.AsType[*notes.Error](err); ok && errors.Is(err, notes.ErrNotFound) {
		list := "list_notes"
		if folder != "" && c.scope.CanRead(path.Join(folder, "x.md")) {
			list += " folder=" + notes.Quote(folder)
		}
		err = &notes.Error{Op: "read the template", Path: name, Err: notes.ErrNotFound, Detail: "there is no such note", Candidates: e.Candidates, Hint: "Name a note whose text is the template. " + list + " shows them."}
	}
	return note, err
}

// override sets the template's keys to the values of the request, except for tags, which it
// returns, to be added to the template's.
func (d *draft) override(values map[string]any) (rest map[string]any, err error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.EqualFold(name, "tags") {
			rest = map[string]any{name: values[name]}
			continue
		}
		key, _ := d.own(name)
		if d.text, err = edit.SetFrontMatter(d.text, key, values[name]); err != nil {
			return nil, d.unwritable(name, err)
		}
	}
	return rest, nil
}

// composeNote composes the note's text: the content and, in front matter, the requested
// values and a title that neither the file name nor a heading has. The content's own front
// matter is kept: tags are added to its tags, and a different value for one of its keys is
// an error.
func composeNote(p string, r notes.CreateRequest) ([]byte, error) {
	text := []byte(r.Content)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	d := draft{path: p, text: text}
	wanted := r.Tags
	for _, name := range slices.Sorted(maps.Keys(r.FrontMatter)) {
		if strings.EqualFold(name, "tags") {
			wanted = slices.Concat(markdown.TagValues(r.FrontMatter[name]), wanted)
			continue
		}
		if err := d.set(name, r.FrontMatter[name], "front_matter"); err != nil {
			return nil, err
		}
	}
	for _, tag := range wanted {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "#"); tag == "" {
			continue
		}
		var err error
		if d.text, err = edit.AddFrontMatterTag(d.text, tag); err != nil {
			return nil, d.unwritable("tags", err)
		}
	}
	_, explicit := r.FrontMatter["title"] // null means no title
	if title := strings.TrimSpace(r.Title); title != "" && !explicit && notes.Parse(p, d.text, time.Time{}).Title != title {
		if err := d.set("title", title, "title"); err != nil {
			return nil, err
		}
	}
	return d.text, nil
}

// draft is the text of a note that is being composed.
type draft struct {
	path string
	text []byte
}

// own returns the text's front matter key that equals name in any case.
func (d *draft) own(name string) (key string, found bool) {
	return markdown.KeyOf(markdown.Parse(d.text).FrontMatter.Values, name)
}

// set sets a key to the value passed in the argument.
func (d *draft) set(name string, value any, argument string) error {
	key, found := d.own(name)
	if found && value == nil {
		return nil
	}
	text, err := edit.SetFrontMatter(d.text, key, value)
	switch {
	case err != nil:
		return d.unwritable(name, err)
	case found && !bytes.Equal(text, d.text):
		return &notes.Error{Op: "create", Path: d.path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("%s has different values in the content's front matter and in %s", notes.Quote(name), argument), Hint: "Nothing was written. Pass it in only one of them."}
	}
	d.text = text
	return nil
}

func (d *draft) unwritable(name string, err error) error {
	return &notes.Error{Op: "create", Path: d.path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("front matter %s cannot be written: %v", notes.Quote(name), err)}
}
