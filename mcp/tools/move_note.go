package tools

import (
	"context"
	"fmt"
	"path"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var moveNote = define(Tool{
	Name:        "move_note",
	Title:       "Move or rename a note",
	Description: "Move notes or a folder; links follow. Use it to rename or file.",
	Effect:      Changes,
	output:      outputOf[MoveResult](),
}, runMoveNote)

type moveArgs struct {
	Note        string   `json:"note"`
	Several     []string `json:"notes" doc:"several"`
	To          string   `json:"to" required:"true" doc:"whole path, or a folder ending in /"`
	UpdateLinks *bool    `json:"update_links" doc:"default true"`
	DryRun      bool     `json:"dry_run"`
}

// A MoveResult is the result of move_note.
type MoveResult struct {
	Path      string   `json:"path"`
	URI       string   `json:"uri,omitempty"` // none of a folder
	OldPath   string   `json:"old_path"`
	Title     string   `json:"title,omitempty"` // if it is still the old name
	Hash      string   `json:"hash"`
	Revision  int64    `json:"revision"`
	Change    int64    `json:"change,omitempty"`
	Moved     []string `json:"moved,omitempty"`
	From      []string `json:"moved_from,omitempty"` // the former paths of those, unless the folder moved
	Total     int      `json:"moved_total,omitempty"`
	Relinked  []string `json:"relinked"`
	Relinking int      `json:"relinked_total,omitempty"` // if relinked is incomplete
	Conflicts []string `json:"conflicts"`
	Left      []string `json:"left,omitempty"`
	Diff      string   `json:"diff"`
	DryRun    bool     `json:"dry_run,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// runMoveNote names the first of the notes in a folder, and shortens the lists to fit, but never
// the conflicts and the files that were left: the model has to mend these.
func runMoveNote(ctx context.Context, in *invocation, a moveArgs) (Outcome, error) {
	refs, err := severalNotes(a.Note, a.Several)
	switch {
	case err != nil:
		return Outcome{}, err
	case len(a.Several) > 0 && strings.TrimSpace(a.To) != "" && !notes.IsNoteName(path.Base(a.To)):
		a.To = strings.TrimSuffix(strings.TrimSpace(a.To), "/") + "/"
	}
	w, err := in.Vault.Move(ctx, notes.MoveRequest{
		Note: refs[0], More: refs[1:], To: a.To, UpdateLinks: a.UpdateLinks == nil || *a.UpdateLinks, DryRun: a.DryRun,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, err
	}
	if !a.DryRun {
		in.Seen.wrote(w)
	}
	out := MoveResult{
		Path: w.Path, URI: noteURI(w), OldPath: w.OldPath, Hash: w.Hash, Revision: w.Revision, Change: w.Change,
		Total: len(w.Moved), Conflicts: append([]string{}, w.Conflicts...), Left: w.Left, Diff: w.Diff, DryRun: a.DryRun,
	}
	// Links use the path, results the title. A rename may be meant to change both.
	if old := notes.BaseName(w.OldPath); !a.DryRun && w.Hash != "" && old != notes.BaseName(w.Path) {
		if meta, err := in.Vault.Lookup(ctx, out.URI, in.Scope); err == nil && meta.Title == old {
			out.Title = old
		}
	}
	// A name alone is a path in the vault's root. It may be meant for the folder of the note.
	if folder := path.Dir(w.OldPath); folder != "." && path.Dir(w.Path) == "." && !strings.Contains(a.To, "/") && !notes.IsNoteName(a.To) {
		out.Notes = []string{fmt.Sprintf("this is in the root of the vault; to rename it in its folder, pass to %s", phrase.Quote(folder+"/"+w.Path))}
	}
	most := mostPaths
	if len(w.From) > 0 { // the first of several is one of them
		w.Moved, w.From = append([]string{w.Path}, w.Moved...), append([]string{w.OldPath}, w.From...)
		out.Path, out.URI, out.OldPath, out.Hash, out.Revision, out.Diff = strings.TrimPrefix(path.Dir(w.Path), ".")+"/", "", "", "", 0, ""
		out.Total, most = len(w.Moved), maxNotes
	}
	relinked := append([]string{}, w.Relinked...)
	return fit(in.Limits.ResultBytes, max(len(w.Moved), len(relinked)), func(n int) Outcome {
		out.Moved, _ = cut(w.Moved, min(n, most))
		out.From, _ = cut(w.From, len(out.Moved))
		out.Relinked, out.Relinking = cut(relinked, n)
		return Outcome{Structured: out, Text: moveText(out)}
	}), nil
}

func moveText(out MoveResult) string {
	var b strings.Builder
	switch {
	case len(out.From) > 0:
		verb, change := "Moved", fmt.Sprintf(", change %d", out.Change)
		if out.DryRun {
			verb, change = "Nothing was written: this would move", ""
		}
		fmt.Fprintf(&b, "%s %s to %s%s:", verb, phrase.Count(out.Total, "note"), phrase.Quote(out.Path), change)
		items := make([]string, len(out.Moved))
		for i, p := range out.Moved {
			items[i] = out.From[i] + " → " + p
		}
		listItems(&b, items, out.Total)
	case out.DryRun:
		fmt.Fprintf(&b, "Nothing was written: this would move %s to %s", phrase.Quote(out.OldPath), phrase.Quote(out.Path))
	case out.Hash == "":
		fmt.Fprintf(&b, "Moved the folder %s to %s, change %d", phrase.Quote(out.OldPath), phrase.Quote(out.Path), out.Change)
	default:
		fmt.Fprintf(&b, "Moved %s to %s, revision %d, change %d, hash %s", phrase.Quote(out.OldPath), phrase.Quote(out.Path), out.Revision, out.Change, notes.ShortHash(out.Hash))
	}
	if out.Title != "" {
		fmt.Fprintf(&b, "\nits title is still %s; edit_note changes it", phrase.Quote(out.Title))
	}
	if len(out.From) == 0 {
		listPaths(&b, "notes in it", out.Moved, out.Total)
	}
	listRelinked(&b, out.Relinked, out.Relinking, out.Conflicts, out.Left)
	return b.String() + phrase.FenceBelow("diff", out.Path, out.Diff) + remarkLines(out.Notes)
}
