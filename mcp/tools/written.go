package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

// A WriteResult is the result of restore_note, and of edit_note for one note.
type WriteResult struct {
	Path      string   `json:"path"`
	URI       string   `json:"uri,omitempty"` // none of a folder
	OldPath   string   `json:"old_path,omitempty"`
	Hash      string   `json:"hash"`
	Revision  int64    `json:"revision"`         // 0: nothing was written
	Change    int64    `json:"change,omitempty"` // undone by restore_note
	Diff      string   `json:"diff"`
	Relinked  []string `json:"relinked,omitempty"`
	Relinking int      `json:"relinked_total,omitempty"` // if relinked is incomplete
	Conflicts []string `json:"conflicts,omitempty"`
	Left      []string `json:"left,omitempty"`
	Broken    int      `json:"broken_links,omitempty"` // links to a heading or block that the change removed
	BrokenIn  []string `json:"broken_in,omitempty"`    // the first notes with such links
	Notes     []string `json:"notes,omitempty"`
	Unchanged bool     `json:"unchanged,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
}

// showDiff is the argument of changed for results with the diff.
const showDiff = true

// changed returns the outcome of a change to one note and perhaps to the links in others, with as
// many of these as fit, and its diff if that is shown. restore_note undoes all of it by the number
// of the change.
func (in *invocation) changed(ctx context.Context, verb string, w notes.Written, dryRun, diff bool) Outcome {
	out := WriteResult{Path: w.Path, URI: noteURI(w), Hash: w.Hash, Revision: w.Revision, Conflicts: w.Conflicts, Left: w.Left, Change: w.Change, DryRun: dryRun}
	if w.OldPath != w.Path {
		out.OldPath = w.OldPath
	}
	if len(w.From) > 0 { // an undo has moved several notes back
		w.Relinked = slices.Concat(w.Moved, w.Relinked)
	}
	out.Notes = in.remarks()
	out.Unchanged = w.Hash != "" && w.Was == w.Hash && out.OldPath == ""
	if !dryRun && !out.Unchanged {
		out.Broken, out.BrokenIn = in.broken(ctx, w)
		if lines, removed := addedLinks(w.Diff); len(lines) > 0 {
			out.Notes = in.remarks(in.mistakenLinks(ctx, w.Path, func(line int) bool { return lines[line] }, removed)...)
		}
	}
	if diff {
		out.Diff = w.Diff
	}
	return fit(in.Limits.ResultBytes, len(w.Relinked), func(n int) Outcome {
		out.Relinked, out.Relinking = cut(w.Relinked, n)
		return Outcome{Structured: out, Text: changedText(verb, w, out)}
	})
}

// changedText describes a change in words: what became of the note, then what the user may have
// to act on, then the diff.
func changedText(verb string, w notes.Written, out WriteResult) string {
	var b strings.Builder
	name, old := phrase.Quote(w.Path), phrase.Quote(out.OldPath)
	switch deleted := w.Hash == "" && out.OldPath == ""; {
	case out.Unchanged:
		fmt.Fprintf(&b, "%s is unchanged: it is like that already, hash %s", name, notes.ShortHash(w.Hash))
	case out.DryRun && deleted:
		fmt.Fprintf(&b, "Nothing was written: %s would be deleted", name)
	case out.DryRun && out.OldPath != "":
		fmt.Fprintf(&b, "Nothing was written: %s would be %s again", old, name)
	case out.DryRun:
		fmt.Fprintf(&b, "Nothing was written: %s would become", name)
	case deleted:
		fmt.Fprintf(&b, "%s %s is deleted, revision %d", verb, name, w.Revision)
	case w.Hash == "":
		fmt.Fprintf(&b, "%s the folder %s is %s again", verb, old, name)
	case out.OldPath != "":
		fmt.Fprintf(&b, "%s %s is %s again, revision %d, hash %s", verb, old, name, w.Revision, notes.ShortHash(w.Hash))
	default:
		fmt.Fprintf(&b, "%s %s, revision %d, hash %s", verb, name, w.Revision, notes.ShortHash(w.Hash))
	}
	if out.Change != 0 {
		fmt.Fprintf(&b, ", change %d", out.Change)
	}
	if out.Broken > 0 {
		fmt.Fprintf(&b, "\n%s; restore_note change=%d undoes this, rename_heading takes links along", brokenText(out.Broken, "is gone", out.BrokenIn), out.Change)
	}
	listPaths(&b, "also changed", out.Relinked, out.Relinking)
	listPaths(&b, "unreadable, broken or not writable, not updated", w.Left, 0)
	conflicts := "changed since, not restored; undo their later changes first"
	if verb == "Edited" {
		conflicts = "changed or in use by another program, not updated"
	}
	listPaths(&b, conflicts, w.Conflicts, 0)
	return b.String() + remarkLines(out.Notes) + phrase.FenceBelow("diff", w.Path, out.Diff)
}

// mistakenLinks returns a remark about the links in some lines of a note that do not lead where
// the writer meant: they name the title or alias of a note, or a heading that it lacks. A link
// to a note that does not exist may be meant to be followed later, and one that was in the text
// before is not the writer's.
func (in *invocation) mistakenLinks(ctx context.Context, p string, written func(line int) bool, before string) []string {
	const most, size = 5, 300
	report, err := in.Vault.Links(ctx, notes.URI(p), notes.LinkQuery{Direction: "out", Limit: 100, Lines: written, Scope: in.Scope})
	if err != nil { // the change is made already
		return nil
	}
	links := slices.DeleteFunc(report.Unresolved, func(l notes.LinkedNote) bool {
		return !l.NoAnchor && len(l.Near) == 0 || strings.Contains(before, "[["+l.Target) || strings.Contains(before, "("+l.Target)
	})
	if len(links) == 0 {
		return nil
	}
	var lines []string
	for _, l := range links[:min(most, len(links))] {
		lines = append(lines, phrase.Clip(unresolvedOf(l).line(), size))
	}
	if more := len(links) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return []string{"broken links: " + strings.Join(lines, "; ")}
}

// addedLinks returns the numbers of the lines with links that a diff adds, and the lines that it
// removes.
func addedLinks(diff string) (added map[int]bool, removed string) {
	added = map[int]bool{}
	n := 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			_, _ = fmt.Sscanf(line[strings.IndexByte(line, '+'):], "+%d", &n) // a diff has the number here
		case n == 0: // the names of the files
		case line[0] == '+':
			if strings.Contains(line, "[[") || strings.Contains(line, "](") {
				added[n] = true
			}
			n++
		case line[0] == ' ':
			n++
		case line[0] == '-':
			removed += line
		}
	}
	return added, removed
}

// broken returns the number of links in other notes to a heading or block that a change
// has removed, and the first of these notes. The change is made already: if this cannot be
// determined, the result lacks a remark.
//
// Most changes remove no heading, which their diff shows without a query. For the others, the
// vault lists the links to the note, and marks those whose heading or block is missing now.
// These include links that were broken before. The replaced text, which history has under
// its hash, tells them apart: only if it has the heading did this change break the link. It
// is read for the first such link.
func (in *invocation) broken(ctx context.Context, w notes.Written) (links int, from []string) {
	if !mayRemoveAnchor(w.Diff) {
		return 0, nil
	}
	var had func(anchor string) bool // in the replaced text
	return in.linksWith(ctx, w.Path, func(l notes.LinkedNote) bool {
		if l.NoAnchor && had == nil {
			text, _ := in.History.Version(ctx, notes.URI(w.Path), w.Was, in.Scope)
			had = notes.Anchors(text)
		}
		return l.NoAnchor && had(l.Anchor)
	})
}

// brokenText describes the links of broken_links.
func brokenText(links int, why string, in []string) string {
	return fmt.Sprintf("%s to a heading or block that %s, in %s", phrase.Count(links, "link"), why, phrase.Clip(phrase.OneLine(strings.Join(in, ", ")), 1000))
}

// mayRemoveAnchor reports whether a removed line of a diff may be a heading or have a block
// id. A line or diff that is shortened, which "…" marks, may hide one.
func mayRemoveAnchor(diff string) bool {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "…") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--- ") && strings.ContainsAny(line, "#^=…") {
			return true
		}
	}
	return false
}

// linksWith returns the number of links in other notes to the note at p that meet the
// condition, and the first of these notes.
func (in *invocation) linksWith(ctx context.Context, p string, condition func(notes.LinkedNote) bool) (links int, from []string) {
	const most, mostNotes = 500, 5
	report, err := in.Vault.Links(ctx, notes.URI(p), notes.LinkQuery{Direction: "in", Limit: most, Bare: true, Scope: in.Scope})
	if err != nil {
		return 0, nil
	}
	for _, l := range report.Backlinks {
		if !condition(l) {
			continue
		}
		links++
		if len(from) < mostNotes && !slices.Contains(from, l.From) {
			from = append(from, l.From)
		}
	}
	return links, from
}

// noteURI returns the URI of the note that a change concerns, or "" for a folder, which has
// no resource.
func noteURI(w notes.Written) string {
	if !notes.IsNoteName(w.Path) {
		return ""
	}
	return notes.URI(w.Path)
}

// listRelinked lists the notes whose links a change was to update.
func listRelinked(b *strings.Builder, relinked []string, total int, conflicts, left []string) {
	listPaths(b, "links changed in", relinked, total)
	listPaths(b, "changed or in use by another program, not updated", conflicts, 0)
	listPaths(b, "unreadable, broken or not writable, not updated", left, 0)
}

// mostPaths bounds lists of notes on which the caller need not act: list_notes has the others.
const mostPaths = 20

// listPaths lists the first of some notes; total is 0 if paths is complete.
func listPaths(b *strings.Builder, heading string, paths []string, total int) {
	if len(paths) == 0 {
		return
	}
	total = max(total, len(paths))
	fmt.Fprintf(b, "\n%s (%d):", heading, total)
	listItems(b, paths[:min(mostPaths, len(paths))], total)
}

// listItems lists the first of total items.
func listItems(b *strings.Builder, items []string, total int) {
	for _, item := range items {
		b.WriteString("\n- " + phrase.OneLine(item))
	}
	if more := total - len(items); more > 0 {
		fmt.Fprintf(b, "\n… and %d more", more)
	}
}
