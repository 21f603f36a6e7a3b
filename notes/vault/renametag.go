package vault

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
)

// RenameTag renames a tag, and the tags nested in it, in all notes that the caller may
// read, as one operation. Links to headings that have the tag follow. Written.Path is the
// first of these notes by path; the others, and those with such links, are in Relinked. If a
// note may not be written, or cannot be changed as requested, RenameTag fails and nothing is
// changed. A note that another program changes concurrently is left alone and listed in
// Written.Conflicts. The cards of canvases change with the notes; bases that name the tag are
// listed in Written.Left.
func (v *Vault) RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error) {
	return v.change(ctx, writeRequest{kind: "rename_tag", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun, replan: true}, func(o *operation) error {
		if err := o.mayWrite(""); errors.Is(err, notes.ErrReadOnly) {
			return err
		}
		if err := o.requireAll(); err != nil {
			return err
		}
		paths, err := v.store.Paths(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		err = o.alsoChange(paths, func(notePath string, text []byte) ([]byte, error) {
			out, err := retagged(text, r.Tag, r.To)
			if err != nil {
				return nil, &notes.Error{Op: "rename tag", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed in any note."}
			}
			return out, v.opt.checkText(o.Kind, string(out))
		}, func(where, _ string) error {
			return &notes.Error{Op: "rename tag", Err: notes.ErrForbidden, Detail: fmt.Sprintf("%s has the tag, and this client may not write it", where), Hint: "Nothing was changed in any note."}
		})
		if err == nil && len(o.Files) > 0 {
			err = o.followHeadings(o.renamedHeadings(), nil, nil, namesTag(r.Tag), func(name string, text []byte) []byte { return retaggedIn(name, text, r.Tag, r.To) })
		}
		if err != nil || len(o.Files) > 0 {
			return err
		}
		if len(paths) > 0 && strings.TrimPrefix(r.Tag, "#") == strings.TrimPrefix(r.To, "#") {
			return &notes.Error{Op: "rename tag", Err: notes.ErrInvalid, Detail: "the tag has this name already"}
		}
		why, err := v.store.WhyNothing(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		e := &notes.Error{Op: "rename tag", Err: notes.ErrNotFound, Detail: "no note has the tag " + notes.Quote(r.Tag), Hint: "vault_overview lists the tags."}
		if len(why) > 0 {
			e.Detail = why[0]
		}
		return e
	})
}

// retagged returns a text with a tag renamed, or unchanged if it lacks the tag.
func retagged(text []byte, tag, to string) ([]byte, error) {
	out, err := edit.RenameTag(text, tag, to)
	if errors.Is(err, markdown.ErrMissing) {
		return text, nil
	}
	return out, err
}

// retaggedIn returns the text of a canvas with a tag renamed in its cards, or nil if it
// cannot be updated, as a base: what its formulas do with the tag is not known.
func retaggedIn(name string, text []byte, tag, to string) []byte {
	if !isCanvas(name) {
		return nil
	}
	return editCanvas(name, text, func(_ string, card []byte) ([]byte, error) { return retagged(card, tag, to) },
		func(_, _, value string) (string, error) { return value, nil })
}

// namesTag matches texts that seem to have a tag, or one nested in it.
func namesTag(tag string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)["'#]` + regexp.QuoteMeta(notes.Nfc(strings.TrimPrefix(tag, "#"))) + `([^\pL\pN_-]|$)`)
}
