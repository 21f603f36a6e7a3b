package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"notesd/internal/markdown"
	"notesd/internal/markdown/edit"
	"notesd/internal/markdown/tasks"
	"notesd/notes"
	"notesd/notes/store"
	"notesd/notes/vault/disk"
)

// Edit changes only the bytes that the edits name. If another program changes the note in
// between, nothing is written, and the error is an [*notes.Error] with [notes.ErrConflict],
// the note's present hash and a diff. Appending to a periodic note that does not exist
// creates it.
func (v *Vault) Edit(ctx context.Context, r notes.EditRequest) (notes.Written, error) {
	c := &composer{v: v, ctx: ctx, scope: r.Scope}
	if written, done, err := c.begin(r); done {
		return written, err
	}
	if err := c.completeTasks(r); err != nil {
		return notes.Written{}, err
	}
	var draft editDraft
	plan := func(o *operation) error {
		f, err := o.openForChange(r.Note, r.ExpectedHash)
		if err != nil {
			return err
		}
		var renames []edit.HeadingRename
		if f.New, renames, err = draft.of(ctx, f, r.Edits); err != nil {
			return editProblem(f.OldPath, err)
		}
		o.Files = []store.FileChange{f}
		if err := o.followHeadings(renames); err != nil {
			return err
		}
		return v.checkText("edit", string(o.Files[0].New))
	}
	request := change{kind: "edit", author: r.Author, key: r.RequestKey, scope: r.Scope, dryRun: r.DryRun}
	written, err := v.change(ctx, request, plan)
	for errors.Is(err, errDraft) {
		draft.make(ctx, r.Edits)
		if err := v.step("drafted"); err != nil {
			return notes.Written{}, err
		}
		written, err = v.change(ctx, request, plan)
	}
	return written, err
}

// editDraft is the result of costly edits to a note, computed without holding the vault's
// lock.
type editDraft struct {
	old, new []byte
	renames  []edit.HeadingRename
	err      error // from the edits
	made     int
}

const (
	// maxLockedEdits bounds the edits computed under the vault's lock, in bytes of the note
	// times number of edits: a few milliseconds.
	maxLockedEdits = 256 << 10
	// maxDrafts bounds how often edits are recomputed because the note has changed.
	maxDrafts = 3
)

// errDraft means that the edits must first be computed without the lock.
var errDraft = errors.New("costly edits of a note that has no draft")

// of returns the result of the edits, or errDraft.
func (d *editDraft) of(ctx context.Context, f store.FileChange, edits []notes.Edit) ([]byte, []edit.HeadingRename, error) {
	switch {
	case d.made > 0 && bytes.Equal(d.old, f.Old):
		return d.new, d.renames, d.err
	case len(f.Old)*len(edits) <= maxLockedEdits:
		return edit.ApplyRenaming(ctx, f.Old, edits)
	case d.made >= maxDrafts:
		return nil, nil, &notes.Error{Op: "edit", Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note changes faster than the edits can be computed", Hint: "Nothing was changed. Make fewer edits at once, or try again later.", Hash: notes.Hash(f.Old)}
	}
	d.old = f.Old
	return nil, nil, errDraft
}

func (d *editDraft) make(ctx context.Context, edits []notes.Edit) {
	d.new, d.renames, d.err = edit.ApplyRenaming(ctx, d.old, edits)
	d.made++
}

// openForChange looks up the note to be changed, checks that it may be, and reads it from
// disk.
func (o *operation) openForChange(ref, expectedHash string) (store.FileChange, error) {
	meta, err := o.v.store.Lookup(o.ctx, ref, o.scope)
	if err != nil {
		return store.FileChange{}, err
	}
	if err := o.v.store.CheckWhole(o.ctx, o.Kind, ref, meta, o.scope); err != nil {
		return store.FileChange{}, err
	}
	if err := o.mayWrite(meta.Path); err != nil {
		return store.FileChange{}, err
	}
	if o.Kind == "delete" { // removes the symlink, not its target
		return o.openNote(meta.Path, expectedHash)
	}
	return o.openTarget(meta.Path, expectedHash)
}

// openTarget opens a note for changes; if it is a symlink, the change is made to its
// target.
func (o *operation) openTarget(notePath, expectedHash string) (store.FileChange, error) {
	f, err := o.openNote(notePath, expectedHash)
	if err == nil {
		err = o.checkTarget(f)
	}
	return f, err
}

// checkTarget rejects a symlink to a file that the caller may not write, without revealing
// which file that is.
func (o *operation) checkTarget(f store.FileChange) error {
	if f.Link == "" || o.mayWrite(notes.Nfc(f.Source())) == nil {
		return nil
	}
	return &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrForbidden, Detail: "the note is a symlink to a file that this client may not write"}
}

func (o *operation) openNote(notePath, expectedHash string) (store.FileChange, error) {
	rows, err := o.v.store.Rows(o.ctx, []string{notePath})
	if err != nil {
		return store.FileChange{}, err
	}
	r := rows[notePath]
	f := store.FileChange{Note: r.ID, OldPath: notePath, NewPath: notePath, OldDisk: r.DiskPath}
	if info, err := o.root.Lstat(r.DiskPath); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		real, ok := o.root.RealPath(r.DiskPath)
		if !ok {
			return f, &notes.Error{Op: "write", Path: notePath, Err: notes.ErrForbidden, Detail: "it is a symlink that is broken or leads out of the vault"}
		}
		f.OldDisk, f.Link = real, r.DiskPath
	}
	f.NewDisk = f.OldDisk
	if f.Old, err = o.readSettled(f.OldDisk, r.Stat.Size); err != nil {
		o.v.queue.Add(r.DiskPath)
		if errors.Is(err, fs.ErrNotExist) && isEvicted(o.root, f.OldDisk) {
			return f, &notes.Error{Op: o.Kind, Path: notePath, Err: notes.ErrUnavailable, Detail: skipEvicted, Hint: "Nothing was changed. Open the note on this machine, or choose Keep Downloaded for the vault's folder."}
		}
		return f, writeProblem(o.Kind, f.NewPath, err)
	}
	if expectedHash != "" && !matchesHash(f.Old, expectedHash) {
		return f, o.expectedConflict(f, expectedHash)
	}
	if info, err := o.root.Stat(f.OldDisk); err == nil && info.Mode().Perm()&0o222 == 0 { // exchanging names would succeed anyway
		return f, &notes.Error{Op: o.Kind, Path: f.NewPath, Err: notes.ErrForbidden, Detail: "the file is read-only", Hint: "Nothing was changed. The user can make the file writable."}
	}
	return f, checkReplaceable(o.root, o.Kind, f)
}

// matchesHash reports whether data has the hash, which may be a [notes.ShortHash].
func matchesHash(data []byte, hash string) bool {
	full := notes.Hash(data)
	return len(hash) >= len(notes.ShortHash(full)) && strings.HasPrefix(full, hash)
}

// settleFor is how long to wait for a file that has just become shorter, and settleEvery
// how often it is read meanwhile.
const (
	settleFor   = 100 * time.Millisecond
	settleEvery = 5 * time.Millisecond
)

// readSettled reads a file that is to be changed. A program that saves in place truncates
// the file first, so a file that was recently modified and is shorter than the stored note
// is read again for a while. If it remains empty, that is a conflict for [emptiedFor].
func (o *operation) readSettled(diskPath string, known int64) ([]byte, error) {
	for waited := time.Duration(0); ; waited += settleEvery {
		data, st, err := disk.Read(o.root, diskPath, o.v.opt.MaxNoteBytes)
		now := o.v.opt.Now()
		age := sinceChange(st, now)
		switch {
		case err == nil && st.Size < known && age >= 0 && age < settleFor && waited < settleFor:
		case err == nil && justEmptied(st, known, now):
			return nil, &notes.Error{Op: o.Kind, Path: notes.Nfc(diskPath), Err: notes.ErrConflict, Detail: "the file was emptied a moment ago, as by a program that is saving it",
				Hint: "Nothing was changed. Read the note in a few seconds and try again."}
		default:
			return data, err
		}
		<-time.After(settleEvery)
	}
}

// expectedConflict returns the conflict with the version that the caller read, with a diff
// from that version if history has it.
func (o *operation) expectedConflict(f store.FileChange, expectedHash string) error {
	was, err := o.v.store.VersionText(o.ctx, f.OldPath, expectedHash)
	if err != nil {
		return err
	}
	e := &notes.Error{Op: o.Kind, Path: f.OldPath, Err: notes.ErrConflict, Detail: "the note does not match expected_hash",
		Hint: "Read the note again and repeat the change on its current text.", Hash: notes.Hash(f.Old)}
	if was != nil {
		e.Diff = store.ShortDiff(was, f.Old, f.OldPath)
	}
	return e
}

// completeTasks adds to edits of tasks what the note itself does not contain: the current
// day, the settings of the Tasks plugin, and how other notes of the vault write dates.
func (c *composer) completeTasks(r notes.EditRequest) error {
	store := c.v.store
	for i := range r.Edits {
		e := &r.Edits[i]
		if e.Op != edit.OpToggleTask {
			continue
		}
		e.Tasks.Today = c.v.opt.Now()
		for _, date := range []*string{&e.Due, &e.Scheduled} {
			if p, ok := store.Period(*date, e.Tasks.Today); ok && p.Unit == notes.Day {
				*date = p.Start.Format(time.DateOnly) // today, tomorrow
			}
		}
		note, err := store.Lookup(c.ctx, r.Note, r.Scope)
		if err != nil {
			return err
		}
		e.Tasks.Settings = store.AppOf(note.Path).Tasks
		if e.Tasks.Done, e.Tasks.Dates, err = store.TaskNotations(c.ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin creates the periodic note that an edit appends or prepends to, if it does not
// exist. done reports whether it handled the request.
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
		return written, false, nil // the edit reports the error
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
	return written, !errors.Is(err, notes.ErrExists), err // created by another program meanwhile; edit that
}

// followHeadings rewrites links to the headings that an edit renames, in the edited note
// and in all others, which it adds to the operation.
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
	}, func(*store.FileChange) {}); err != nil {
		return err
	}
	others := slices.DeleteFunc(linking, func(p string) bool { return p == first.OldPath })
	return o.alsoChange(others, rewrite, func(*store.FileChange) {}, func(where, why string) error {
		return &notes.Error{Op: o.Kind, Path: first.OldPath, Err: notes.ErrForbidden, Detail: fmt.Sprintf("links in %s would have to change, and %s", where, why),
			Hint: "Nothing was changed. Change the heading with replace_text, and those links will be broken."}
	})
}

// alsoChange adds to the operation those of the notes that rewrite changes, each after
// calling also with it. refused returns the error for a note that the caller may not write,
// or one that cannot be changed and that the caller may not read. Its argument where names
// the note only if the caller may read it.
func (o *operation) alsoChange(paths []string, rewrite func(notePath string, text []byte) ([]byte, error), also func(*store.FileChange), refused func(where, why string) error) error {
	files := map[string]bool{}
	for _, f := range o.Files {
		files[f.OldDisk] = true
	}
	for _, p := range paths {
		where, hidden := notes.Quote(p), !o.scope.CanRead(p)
		if hidden {
			where = "a note that this client may not read"
		}
		f, err := o.openNote(p, "")
		switch {
		case err != nil && hidden:
			return refused(where, "it cannot be opened")
		case err != nil:
			return err
		}
		if f.Link != "" { // a target that is a note is changed as that note; any other once, through its first symlink
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
		f.New, err = rewrite(p, f.Old)
		switch {
		case err != nil && hidden:
			return refused(where, "they cannot be rewritten")
		case err != nil:
			return err
		case bytes.Equal(f.Old, f.New):
			continue
		case o.mayWrite(p) != nil || o.checkTarget(f) != nil:
			return refused(where, "that note may not be written")
		}
		also(&f)
		o.Files = append(o.Files, f)
	}
	return nil
}

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
		}, func(*store.FileChange) {}, func(where, _ string) error {
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

// editProblem converts an error of the edit and markdown packages to a [notes.Error] with a
// hint.
func editProblem(notePath string, err error) error {
	if _, own := errors.AsType[*notes.Error](err); own || errors.Is(err, errDraft) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &notes.Error{Op: "edit", Path: notePath, Err: notes.ErrInvalid, Detail: err.Error(), Hint: "Nothing was changed.", Candidates: notes.SectionCandidates(err)}
	var match *edit.MatchError
	var section *markdown.SectionError
	var failed *edit.EditError
	switch {
	case errors.As(err, &section) && errors.Is(err, markdown.ErrMissing):
		inserts := !errors.As(err, &failed) || failed.Op == edit.OpAppend || failed.Op == edit.OpPrepend
		switch {
		case inserts:
			e.Hint = "Nothing was changed. Name one of its headings, or pass create_heading true to make this one at the end of the note."
		case len(e.Candidates) > 0:
			e.Hint = "Nothing was changed. Name one of its headings."
		}
	case errors.Is(err, tasks.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Pass the line of the intended one as well as its text."
	case errors.Is(err, tasks.ErrMissing):
		e.Hint = "Nothing was changed. list_tasks shows the tasks with their texts."
	case errors.Is(err, markdown.ErrAmbiguous):
		e.Err, e.Hint = notes.ErrAmbiguous, "Nothing was changed. Name the section by its whole path, such as \"Plan > Risks\"."
	case errors.As(err, &match) && match.Found > 0:
		e.Hint = fmt.Sprintf("Nothing was changed. Give more of the surrounding text in old, or pass count %d.", match.Found)
	case errors.As(err, &match) && match.Nearest != "":
		e.Hint = "Nothing was changed. Copy that text exactly, or read the note."
	case errors.As(err, &match):
		e.Hint = "Nothing was changed. Read the note and copy the text exactly."
	}
	return e
}
