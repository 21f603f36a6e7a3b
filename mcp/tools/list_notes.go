package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
)

var listNotes = define(Tool{
	Name:        "list_notes",
	Title:       "List notes",
	Description: "List notes, newest first, by folder, name, tags or fields. Use it to browse or count; search_notes finds by content.",
	output:      outputOf[ListResult](),
}, runListNotes)

type listArgs struct {
	Folder      string         `json:"folder"`
	Glob        string         `json:"glob" doc:"like Projects/**/*.md"`
	Tags        []string       `json:"tags" doc:"all of them"`
	Where       map[string]any `json:"where" doc:"fields, {\"or\":[{\"due\":{\"lte\":\"today\"}},{\"status\":\"open\"}]}"`
	After       string         `json:"after" doc:"by the note's date; note_history has changes"`
	Before      string         `json:"before" doc:"exclusive"`
	Fields      []string       `json:"fields"`
	Sort        string         `json:"sort" enum:"date,modified,created,title,path,size"`
	Orphans     bool           `json:"orphans" doc:"no links in/out"`
	BrokenLinks bool           `json:"broken_links"`
	AsOf        string         `json:"as_of"`
	Limit       int            `json:"limit" min:"1" max:"500" doc:"default 50"`
	Cursor      string         `json:"cursor"`
}

// A ListResult is the result of list_notes.
type ListResult struct {
	Notes    []ListedNote `json:"notes"`
	Total    int          `json:"total"`
	Next     string       `json:"next_cursor,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
}

// A ListedNote is one note of a ListResult.
type ListedNote struct {
	Path     string         `json:"path"`
	URI      string         `json:"uri"`
	Title    string         `json:"title"`
	Date     string         `json:"date"` // a day
	Modified string         `json:"modified"`
	Size     int64          `json:"size"`
	Tags     []string       `json:"tags"`
	Fields   map[string]any `json:"fields,omitempty"`       // the requested ones that the note has
	Broken   []string       `json:"broken_links,omitempty"` // the first targets, if notes with broken links are asked for
}

// runListNotes lists the present from the store, which filters, sorts and pages by itself,
// and the past from history, in memory; see as_of.go. Both have the same form, so that a
// page that does not fit is read again with a smaller limit in either case.
func runListNotes(ctx context.Context, in *invocation, a listArgs) (Outcome, error) {
	a.Sort = cmp.Or(a.Sort, "date")
	selected := a
	selected.Cursor, selected.Limit, selected.Fields = "", 0, nil
	cursor, next, err := cursorOf(a.Cursor, selected)
	if err != nil {
		return Outcome{}, err
	}
	filter, err := in.filter(a.Folder, a.Tags, a.After, a.Before)
	if err != nil {
		return Outcome{}, err
	}
	filter.Glob, filter.Where, filter.Orphans, filter.BrokenLinks = a.Glob, a.Where, a.Orphans, a.BrokenLinks
	query := notes.ListQuery{Filter: filter, Sort: a.Sort, Limit: cmp.Or(a.Limit, 50), Cursor: cursor, Fields: a.Fields}
	at, err := in.asOf(a.AsOf)
	if err != nil {
		return Outcome{}, err
	}
	list, warnings := in.Vault.List, in.incomplete(ctx)
	if !at.IsZero() {
		if list, warnings, err = in.listAt(ctx, at, filter, query.Sort, a.Fields); err != nil {
			return Outcome{}, err
		}
	}
	page, err := list(ctx, query)
	if err != nil {
		return Outcome{}, err
	}
	if page.Total == 0 && at.IsZero() { // WhyNothing covers only the current notes
		why, err := in.Vault.WhyNothing(ctx, filter)
		if err != nil {
			return Outcome{}, err
		}
		warnings = append(warnings, why...)
	}
	broken := map[string][]string{} // by path
	if a.BrokenLinks {
		for _, m := range page.Notes {
			if broken[m.Path], err = in.brokenLinks(ctx, m.Path); err != nil {
				return Outcome{}, err
			}
		}
	}
	answer := func(n int) Outcome {
		out := ListResult{Notes: []ListedNote{}, Total: page.Total, Next: next(page.Next), Warnings: in.remarks(warnings...)}
		for _, m := range page.Notes[:n] {
			note := listed(m)
			note.Broken = broken[m.Path]
			out.Notes = append(out.Notes, note)
		}
		return Outcome{Structured: out, Text: listText(out)}
	}
	return fitPage(in.Limits.ResultBytes, len(page.Notes), answer, func(n int) (int, error) {
		query.Limit = n
		page, err = list(ctx, query)
		return len(page.Notes), err
	})
}

// brokenLinks returns the first targets of a note's broken links, so that a list of them does
// not take a call of note_links for each note; none if the note has just been deleted.
func (in *invocation) brokenLinks(ctx context.Context, path string) (targets []string, err error) {
	const most = 5
	report, err := in.Vault.Links(ctx, notes.URI(path), notes.LinkQuery{Direction: "out", Bare: true, Scope: in.Scope})
	if errors.Is(err, notes.ErrNotFound) {
		return nil, nil
	}
	for _, l := range report.Unresolved {
		target := l.Target
		if l.Anchor != "" {
			target += "#" + l.Anchor
		}
		switch {
		case slices.Contains(targets, target):
		case len(targets) == most:
			return append(targets, "…"), err
		default:
			targets = append(targets, target)
		}
	}
	return targets, err
}

func listed(m notes.Meta) ListedNote {
	return ListedNote{Path: m.Path, URI: notes.URI(m.Path), Title: m.Title, Date: m.Date.Format(time.DateOnly),
		Modified: m.Modified.UTC().Format(time.RFC3339), Size: m.Size, Tags: append([]string{}, m.Tags...), Fields: m.Fields}
}

func listText(out ListResult) string {
	return fmt.Sprintf("%d of %s", len(out.Notes), phrase.Count(out.Total, "note")) +
		phrase.FenceBelow("list", "path, title, day, bytes, tags", listLines(out.Notes)) + ending(out.Next, out.Warnings)
}

func listLines(list []ListedNote) string {
	lines := make([]string, len(list))
	for i, n := range list {
		lines[i] = listLine(n)
	}
	return strings.Join(lines, "\n")
}

// listLine describes a note in one line. The title is omitted if the file name says it, as
// it does in most vaults.
func listLine(n ListedNote) string {
	var b strings.Builder
	b.WriteString(phrase.OneLine(n.Path))
	if !saysTitle(n.Path, n.Title) {
		b.WriteString(" | " + phrase.OneLine(n.Title))
	}
	fmt.Fprintf(&b, " | %s | %d", n.Date, n.Size)
	for _, tag := range n.Tags {
		b.WriteString(" #" + phrase.OneLine(tag))
	}
	for _, field := range slices.Sorted(maps.Keys(n.Fields)) {
		text, isText := n.Fields[field].(string)
		if !isText {
			data, _ := json.Marshal(n.Fields[field]) // decoded from JSON
			text = string(data)
		}
		b.WriteString(" | " + phrase.OneLine(field) + ": " + phrase.OneLine(text))
	}
	if len(n.Broken) > 0 {
		b.WriteString(" | broken: " + phrase.OneLine(strings.Join(n.Broken, ", ")))
	}
	return b.String()
}
