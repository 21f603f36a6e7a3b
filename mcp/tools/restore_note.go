package tools

import (
	"cmp"
	"context"
	"fmt"

	"notesd/internal/phrase"
	"notesd/notes"
)

var restoreNote = define(Tool{
	Name:        "restore_note",
	Title:       "Restore a note",
	Description: "Bring back an earlier version of a note, or a deleted note, as a new revision; or undo a change in all its notes. Use it with a revision or change from note_history.",
	Effect:      Changes,
	Idempotent:  true,
	output:      outputOf[WriteResult](),
}, runRestoreNote)

type restoreArgs struct {
	Note         string `json:"note"`
	Revision     int64  `json:"revision"`
	Change       int64  `json:"change" doc:"instead of note and revision"`
	ExpectedHash string `json:"expected_hash"`
	DryRun       bool   `json:"dry_run"`
}

// runRestoreNote accepts a note and a revision, or a change. A restore replaces the whole
// text, so it is conditional on the version that the session has seen, as in edit_note;
// undoing a change checks each of its notes itself.
func runRestoreNote(ctx context.Context, in *invocation, a restoreArgs) (Outcome, error) {
	switch {
	case a.Change != 0 && (a.Note != "" || a.Revision != 0 || a.ExpectedHash != ""):
		return Outcome{}, usagef("change undoes a whole change, and is given alone; note and revision bring back one note")
	case a.Change == 0 && a.Note == "":
		return Outcome{}, usagef("give a note and one of its revisions, or the number of a change; note_history lists both")
	}
	implied := false
	w, err := in.History.Restore(ctx, notes.RestoreRequest{
		Note: a.Note, Revision: a.Revision, Change: a.Change, ExpectedHash: a.ExpectedHash, DryRun: a.DryRun,
		Seen: func(path string) string {
			hash := in.Seen.texts.of(path).hash
			implied = hash != ""
			return hash
		},
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, unseen(err, implied)
	}
	if a.DryRun {
		in.Seen.shown(cmp.Or(w.OldPath, w.Path), w.Was)
	} else {
		in.Seen.wrote(w)
	}
	if a.Change != 0 {
		return in.changed(ctx, fmt.Sprintf("Undid change %d:", a.Change), w, a.DryRun, showDiff), nil
	}
	if w.Was == "" && !a.DryRun {
		in.remarked = append(in.remarked, in.redirected(ctx, w.Path)...)
	}
	return in.changed(ctx, "Restored", w, a.DryRun, showDiff), nil
}

// redirected returns a remark if the deletion of a note that is back led the links to it to
// another note: they still lead there.
func (in *invocation) redirected(ctx context.Context, path string) []string {
	page, err := in.History.Revisions(ctx, notes.HistoryQuery{Note: path, Limit: 2, Scope: in.Scope})
	if err != nil || len(page.Revisions) < 2 || page.Revisions[1].Operation != "delete" || page.Revisions[1].Change == 0 {
		return nil
	}
	deletion := page.Revisions[1].Change
	links, err := in.History.Restore(ctx, notes.RestoreRequest{Change: deletion, DryRun: true, Scope: in.Scope})
	if err != nil { // it changed no other note
		return nil
	}
	return []string{fmt.Sprintf("its deletion changed the links in %s; restore_note change=%d changes them back", phrase.Count(1+len(links.Relinked), "note"), deletion)}
}
