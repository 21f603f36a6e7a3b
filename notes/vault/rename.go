package vault

import (
	"bytes"
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

// followHeadings rewrites the links to headings of the operation's note that it
// renames, in that note and in all others, which become part of the operation.
func (o *operation) followHeadings(renames []edit.HeadingRename) error {
	if len(renames) == 0 {
		return nil
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
	linking, targets, err := o.v.store.LinksTo(o.ctx, []string{store.LinkKey(first.OldPath)})
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
				if t, _ := o.v.store.ChooseTarget(notePath, l.Target, notes.LinkKind(l.Kind), targets[store.LinkKey(l.Target)]); t.Id != first.Note {
					return "", false
				}
			}
			anchor, ok := rename(l.Anchor)
			if ok && !edit.CanAnchor(l, anchor) {
				missed = &notes.Error{Op: "edit", Path: first.OldPath, Err: notes.ErrInvalid, Detail: fmt.Sprintf("a link in %s cannot be written as one to the heading %s", notes.Quote(notePath), notes.Quote(anchor)),
					Hint: "Nothing was changed. Choose a text without brackets and quotes, or change the heading with replace_text, and its links will be broken."}
			}
			return anchor, ok
		})
		return out, missed
	}
	if first.New, err = rewrite(first.OldPath, first.New); err != nil {
		return err
	}
	if err := o.alsoFiles(first.OldPath, func(name string, text []byte) []byte {
		if !strings.EqualFold(path.Ext(name), ".canvas") {
			return text
		}
		named := "" // a canvas names the files of its own folder
		if folder := o.v.store.FolderOf(name); folder == o.v.store.FolderOf(first.OldPath) {
			named = inFolder(first.OldPath, folder)
		}
		return renamedIn(name, text, named, rename, rewrite)
	}, func(*store.FileChange) {}); err != nil {
		return err
	}
	return o.alsoChange(slices.DeleteFunc(linking, func(p string) bool { return p == first.OldPath }), rewrite, func(notePath string) error {
		where := "a note that this client may not read"
		if o.scope.CanRead(notePath) {
			where = notes.Quote(notePath)
		}
		return &notes.Error{Op: o.Kind, Path: first.OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and that note may not be written", where),
			Hint: "Nothing was changed. Change the heading with replace_text, and those links will be broken."}
	})
}

// alsoChange adds to the operation those of the notes that rewrite changes.
// refused is the error for one that the caller may not write.
func (o *operation) alsoChange(paths []string, rewrite func(notePath string, text []byte) ([]byte, error), refused func(notePath string) error) error {
	files := map[string]bool{}
	for _, f := range o.Files {
		files[f.OldDisk] = true
	}
	for _, p := range paths {
		f, err := o.openNote(p, "")
		if err != nil && !o.scope.CanRead(p) {
			return refused(p)
		}
		if err != nil {
			return err
		}
		if f.Link != "" { // changed as the note that it leads to
			rows, err := o.v.store.Rows(o.ctx, []string{notes.Nfc(f.Source())})
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				continue
			}
		}
		if files[f.OldDisk] {
			continue
		}
		files[f.OldDisk] = true
		if f.New, err = rewrite(p, f.Old); err != nil {
			return err
		}
		if bytes.Equal(f.Old, f.New) {
			continue
		}
		if o.mayWrite(p) != nil || o.checkTarget(f) != nil {
			return refused(p)
		}
		if err := o.v.guard.checkText(o.Kind, string(f.New)); err != nil {
			return err
		}
		o.Files = append(o.Files, f)
	}
	return nil
}

// RenameTag renames a tag, and those nested in it, in all notes that the caller
// may read, as one operation: Written.Path is the first of them by path, and
// Relinked are the others. A note that may not be written, or cannot be changed
// so, makes it fail with nothing changed; one that another program changes in
// that moment is left alone and listed in Written.Conflicts.
func (v *Vault) RenameTag(ctx context.Context, r notes.RenameTagRequest) (notes.Written, error) {
	return v.change(ctx, change{kind: "rename_tag", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}, func(o *operation) error {
		if err := o.mayWrite(""); errors.Is(err, notes.ErrReadOnly) {
			return err
		}
		paths, err := v.store.Paths(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		err = o.alsoChange(paths, func(notePath string, text []byte) ([]byte, error) {
			out, _, err := edit.RenameTag(text, r.Tag, r.To)
			if errors.Is(err, markdown.ErrMissing) {
				return text, nil // it was changed since
			}
			if err != nil {
				return nil, &notes.Error{Op: "rename_tag", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed in any note."}
			}
			return out, nil
		}, func(notePath string) error {
			return &notes.Error{Op: "rename_tag", Path: notePath, Err: notes.ErrForbidden, Detail: "the note has the tag, and this client may not write it", Hint: "Nothing was changed in any note."}
		})
		if err != nil || len(o.Files) > 0 {
			return err
		}
		why, err := v.store.WhyNothing(ctx, notes.Filter{Tags: []string{r.Tag}, Scope: r.Scope.Read})
		if err != nil {
			return err
		}
		e := &notes.Error{Op: "rename_tag", Err: notes.ErrNotFound, Detail: "no note has the tag " + notes.Quote(r.Tag)}
		if len(why) > 0 {
			e.Detail = why[0]
		}
		return e
	})
}
