package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/notes"
	"notesd/notes/store"
)

// RenameTag renames a tag, and the tags nested in it, in all notes that the caller may
// read, as one operation. Written.Path is the first of these notes by path; the others are
// in Relinked. If a note may not be written, or cannot be changed as requested, RenameTag
// fails and nothing is changed. A note that another program changes concurrently is left
// alone and listed in Written.Conflicts.
func (v *Vault) RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error) {
	return v.change(ctx, change{kind: "rename_tag", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}, func(o *operation) error {
		if err := o.mayWrite(""); errors.Is(err, notes.ErrReadOnly) {
			return err
		}
		if err := o.v.scanning.check(); err != nil {
			return err
		}
		paths, err := v.store.Paths(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		err = o.alsoChange(paths, func(notePath string, text []byte) ([]byte, error) {
			out, err := edit.RenameTag(text, r.Tag, r.To)
			if errors.Is(err, markdown.ErrMissing) {
				return text, nil // changed since the query
			}
			if err != nil {
				return nil, &notes.Error{Op: "rename tag", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed in any note."}
			}
			return out, v.checkText(o.Kind, string(out))
		}, func(where, _ string) error {
			return &notes.Error{Op: "rename tag", Err: notes.ErrForbidden, Detail: fmt.Sprintf("%s has the tag, and this client may not write it", where), Hint: "Nothing was changed in any note."}
		})
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

// followHeadings rewrites links to the headings that an edit renames, in the edited note
// and in all others, which it adds to the operation.
func (o *operation) followHeadings(renames []edit.HeadingRename) error {
	if len(renames) == 0 {
		return nil
	}
	if err := o.v.scanning.check(); err != nil {
		return err
	}
	first := &o.Files[0]
	before := make([]*markdown.Anchors, len(renames))
	for i, r := range renames {
		before[i] = markdown.NewAnchors(markdown.Parse(r.Before), r.Before)
	}
	rename := func(anchor string) (string, bool) {
		changed := false
		for i, r := range renames {
			if renamed, ok := before[i].Rename(anchor, r.Heading, r.Text); ok {
				anchor, changed = renamed, true
			}
		}
		return anchor, changed
	}
	linking, targets, err := o.v.store.LinksTo(o.ctx, first.OldPath)
	if err != nil {
		return err
	}
	slices.Sort(linking)
	rewrite := func(notePath string, text []byte) ([]byte, error) {
		var missed error
		doc := markdown.Parse(text)
		out := edit.RewriteAnchors(text, doc, func(l markdown.Link) (string, bool) {
			if l.External || l.Target == "" && notePath != first.OldPath {
				return "", false
			}
			if l.Target != "" {
				if t, _ := o.v.store.ChooseTarget(notePath, l.Target, l.Kind, targets[store.LinkKey(l.Target)]); t.ID != first.Note {
					return "", false
				}
			}
			anchor, ok := rename(l.Anchor)
			if ok && !edit.CanAnchor(l, anchor) {
				missed = &notes.Error{Op: "edit", Path: first.OldPath, Err: notes.ErrInvalid, Detail: fmt.Sprintf("a link in %s cannot be rewritten to the heading %s", notes.Quote(notePath), notes.Quote(anchor)),
					Hint: "Nothing was changed. Choose a text without brackets and quotes, or change the heading with replace_text, and its links will be broken."}
			}
			return anchor, ok
		})
		return out, errors.Join(missed, o.v.checkText(o.Kind, string(out)))
	}
	if first.New, err = rewrite(first.OldPath, first.New); err != nil {
		return err
	}
	if err := o.alsoFiles(first.OldPath, func(name string, text []byte) []byte {
		if !strings.EqualFold(path.Ext(name), ".canvas") {
			return text
		}
		named := "" // paths in a canvas are relative to its own folder of the vault
		if folder := o.v.store.FolderOf(name); folder == o.v.store.FolderOf(first.OldPath) {
			named = inFolder(first.OldPath, folder)
		}
		return renamedIn(name, text, named, rename, rewrite)
	}); err != nil {
		return err
	}
	others := slices.DeleteFunc(linking, func(p string) bool { return p == first.OldPath })
	return o.alsoChange(others, rewrite, func(where, why string) error {
		return &notes.Error{Op: o.Kind, Path: first.OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and %s", where, why),
			Hint: "Nothing was changed. Change the heading with replace_text, and those links will be broken."}
	})
}
