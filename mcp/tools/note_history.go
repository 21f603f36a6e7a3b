package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
)

var noteHistory = define(Tool{
	Name:        "note_history",
	Title:       "History of a note",
	Description: "Versions of a note or folder, even deleted; without a note, all recent changes. Use it to see what happened, and before restore_note.",
	output:      outputOf[HistoryResult](),
}, runNoteHistory)

type historyArgs struct {
	Note   string  `json:"note"`
	Since  string  `json:"since"`
	Diff   []int64 `json:"diff" doc:"two revisions of a note"`
	Limit  int     `json:"limit" min:"1" max:"200" doc:"default 20"`
	Cursor string  `json:"cursor"`
}

// A HistoryResult is the result of note_history.
type HistoryResult struct {
	Revisions []Revision `json:"revisions"`
	Diff      string     `json:"diff,omitempty"`
	Next      string     `json:"next_cursor,omitempty"`
	Notes     []string   `json:"notes,omitempty"`
}

// A Revision is one version in a HistoryResult.
type Revision struct {
	Revision  int64  `json:"revision"`
	Time      string `json:"time"`
	Author    string `json:"author"`
	Operation string `json:"operation"`
	Path      string `json:"path"`
	OldPath   string `json:"old_path,omitempty"`
	Hash      string `json:"hash,omitempty"` // its first digits, as expected_hash takes them
	Size      int64  `json:"size"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Change    int64  `json:"change,omitempty"`
}

func runNoteHistory(ctx context.Context, in *invocation, a historyArgs) (Outcome, error) {
	if len(a.Diff) > 0 {
		return in.diff(ctx, a)
	}
	since, err := in.startOf("since", a.Since)
	if err != nil {
		return Outcome{}, err
	}
	query := notes.HistoryQuery{Note: a.Note, Since: since, Limit: a.Limit, Cursor: a.Cursor, Scope: in.Scope}
	if strings.HasSuffix(a.Note, "/") && in.vaultPath(a.Note) != "" { // a folder, even if a note has its name
		query.Note, query.Folder = "", in.vaultPath(a.Note)
	}
	page, err := in.History.Revisions(ctx, query)
	if errors.Is(err, notes.ErrNotFound) && in.isFolder(ctx, a.Note) {
		query.Note, query.Folder = "", in.vaultPath(a.Note)
		page, err = in.History.Revisions(ctx, query)
	}
	if err != nil {
		return Outcome{}, err
	}
	answer := func(n int) Outcome {
		out := historyOutputOf(page.Revisions[:n], page.Next)
		out.Notes = in.remarks()
		return Outcome{Structured: out, Text: historyText(out, since)}
	}
	return fitPage(in.Limits.ResultBytes, len(page.Revisions), answer, func(n int) (int, error) {
		query.Limit = n
		page, err = in.History.Revisions(ctx, query)
		return len(page.Revisions), err
	})
}

// isFolder reports whether the name, which is not that of a note, is that of a folder that has
// or had notes.
func (in *invocation) isFolder(ctx context.Context, name string) bool {
	folder := in.vaultPath(name)
	if folder == "" {
		return false
	}
	folders, err := in.Vault.Folders(ctx, in.Scope)
	if err == nil && slices.ContainsFunc(folders, func(f notes.FolderCount) bool { return notes.Under(notes.Key(f.Folder), notes.FolderKey(folder)) }) {
		return true
	}
	page, err := in.History.Revisions(ctx, notes.HistoryQuery{Folder: folder, Limit: 1, Scope: in.Scope})
	return err == nil && len(page.Revisions) > 0
}

// diff returns the differences between two revisions, the older one first.
func (in *invocation) diff(ctx context.Context, a historyArgs) (Outcome, error) {
	if len(a.Diff) != 2 || a.Note == "" {
		return Outcome{}, usagef("diff takes a note and two of its revisions, like [12, 15]")
	}
	from, to := min(a.Diff[0], a.Diff[1]), max(a.Diff[0], a.Diff[1])
	diff, err := in.History.Diff(ctx, a.Note, from, to, in.Scope)
	if err != nil {
		return Outcome{}, err
	}
	out := HistoryResult{Revisions: []Revision{}, Notes: in.remarks()}
	return fit(in.Limits.ResultBytes, len(diff), func(size int) Outcome {
		out.Diff = phrase.Clip(diff, size)
		text := fmt.Sprintf("From revision %d to %d", from, to)
		if diff == "" {
			text += " nothing changed"
		}
		return Outcome{Structured: out, Text: text + phrase.FenceBelow("diff", a.Note, out.Diff) + remarkLines(out.Notes)}
	}), nil
}

func historyOutputOf(revisions []notes.Revision, next string) HistoryResult {
	out := HistoryResult{Revisions: make([]Revision, 0, len(revisions)), Next: next}
	for _, r := range revisions {
		out.Revisions = append(out.Revisions, Revision{
			Revision: r.Revision, Time: r.Time.UTC().Format(time.RFC3339), Author: strings.TrimSpace(r.Author.Name + " " + r.Author.Version),
			Operation: r.Operation, Path: r.Path, OldPath: r.OldPath, Hash: notes.ShortHash(r.Hash), Size: r.Size, Added: r.Added, Removed: r.Removed, Change: r.Change,
		})
	}
	return out
}

func historyText(out HistoryResult, since time.Time) string {
	switch {
	case len(out.Revisions) == 0 && !since.IsZero():
		return "Nothing has changed since " + since.Format("2006-01-02 15:04") + "; without since, earlier changes are listed" + remarkLines(out.Notes)
	case len(out.Revisions) == 0:
		return "There is no history of that yet" + remarkLines(out.Notes)
	}
	lines := make([]string, len(out.Revisions))
	for i, r := range out.Revisions {
		lines[i] = r.text()
	}
	return phrase.Count(len(lines), "revision") + ", newest first" +
		phrase.FenceBelow("history", "revision, time, what changed", strings.Join(lines, "\n")) + ending(out.Next, out.Notes)
}

// What describes the operation and its author for people.
func (r Revision) What() string {
	what, by := r.Operation, phrase.OneLine(r.Author)
	if word, ok := map[string]string{"create": "created", "edit": "edited", "move": "moved", "relink": "links changed", "delete": "deleted", "restore": "restored", "rename_tag": "tag renamed", "sync": "synced", "found": "first seen"}[what]; ok {
		what = word
	}
	if by == notes.Outside.Name {
		by = "another program"
	}
	if r.Operation != "found" {
		what += " by " + by
	}
	return what
}

// text describes the revision in one line.
func (r Revision) text() string {
	line := phrase.OneLine(r.Path) + " " + r.What()
	if r.OldPath != "" {
		line += ", was " + phrase.OneLine(r.OldPath)
	}
	if r.Added+r.Removed > 0 {
		line += fmt.Sprintf(", +%d -%d lines", r.Added, r.Removed)
	}
	if r.Hash != "" {
		line += fmt.Sprintf(", %d bytes", r.Size)
	}
	if r.Change != 0 {
		line += fmt.Sprintf(", change %d", r.Change)
	}
	revision := "-"
	if r.Revision != 0 {
		revision = fmt.Sprint(r.Revision)
	}
	return revision + " | " + r.Time + " | " + line
}
