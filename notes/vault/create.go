package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
)

// Create writes a new note durably and makes it known to the store and the
// followers before it returns. It never replaces a file: a path that is taken
// is an [*Error] with [ErrExists].
func (v *Vault) Create(ctx context.Context, r notes.CreateRequest) (notes.Written, error) {
	if err := v.guard.checkText("create", r.Content); err != nil {
		return notes.Written{}, err
	}
	for _, tag := range r.Tags {
		if words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(tag), "#")); len(words) > 1 {
			return notes.Written{}, &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: fmt.Sprintf("the tag %s has a space in it, which no tag can have", notes.Quote(tag)),
				Hint: "Write " + notes.Quote(strings.Join(words, "-")) + ", or give each word as a tag of its own."}
		}
	}
	c := &composer{v: v, ctx: ctx, scope: r.Scope}
	r, err := c.fill(r)
	if err != nil {
		return notes.Written{}, err
	}
	return c.create(r, false)
}

func (c *composer) create(r notes.CreateRequest, dryRun bool) (notes.Written, error) {
	return c.v.change(c.ctx, change{kind: "create", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: dryRun}, func(o *operation) error {
		p, err := o.newPath(r)
		if err != nil {
			return err
		}
		text, err := composeNote(p, r)
		if err != nil {
			return err
		}
		o.Files = []store.FileChange{{NewPath: p, NewDisk: p, New: text}}
		return c.v.guard.checkText("create", string(text))
	})
}

// newPath decides where a new note goes. A path that ends in a slash is a
// folder.
func (o *operation) newPath(r notes.CreateRequest) (string, error) {
	if strings.HasSuffix(strings.TrimSpace(r.Path), "/") {
		r.Folder, r.Path = r.Path, ""
	}
	if r.Path != "" {
		return o.explicitPath(r.Path)
	}
	if strings.TrimSpace(r.Title) == "" {
		return "", &notes.Error{Op: "create", Err: notes.ErrInvalid, Detail: "the note has neither a title nor a path", Hint: "Give a title; the file name is made from it."}
	}
	folder := strings.Trim(r.Folder, "/ ")
	if folder != "" && folder != "." {
		clean, err := notes.CleanPath(folder)
		if err != nil {
			return "", err
		}
		folder = clean
	} else {
		folder = ""
	}
	return o.titledPath(folder, strings.TrimSpace(r.Title))
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
	e := &notes.Error{Op: "create", Path: p, Err: notes.ErrExists, Candidates: []string{taken}, Detail: "this note exists already", Hint: "Change it with edit_note, or choose another title."}
	if taken != p {
		e.Detail = fmt.Sprintf("%s exists already, and differs only in case or Unicode form: it is the same name on some systems", notes.Quote(taken))
	}
	return e
}

// maxNumbered ends the search for a free name.
const maxNumbered = 1000

// titledPath makes the path from the title. A note of this title, in any case
// or Unicode form, is an error; one of another title that needs the same file
// name gets a number.
func (o *operation) titledPath(folder, title string) (string, error) {
	wanted := path.Join(folder, notes.FileName(title))
	if err := o.checkNew(wanted); err != nil {
		return "", err
	}
	for n := 1; n < maxNumbered; n++ {
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
	return "", &notes.Error{Op: "create", Path: wanted, Err: notes.ErrExists, Detail: "a thousand notes have this name", Hint: "Choose another title."}
}

func (o *operation) hasTitle(p, title string) bool {
	meta, err := o.v.store.Lookup(o.ctx, p, notes.Scope{})
	return err != nil || notes.Key(meta.Title) == notes.Key(title) || notes.Key(notes.BaseName(p)) == notes.Key(title)
}

// takenBy returns the path of what has the name already, in any case, or "".
func (o *operation) takenBy(p string) (string, error) {
	if _, err := o.root.Lstat(p); err == nil {
		return p, nil
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsid.ErrNotDirectory) {
		return "", writeProblem("create", p, err)
	}
	return o.v.store.PathByKey(o.ctx, notes.Key(p))
}
