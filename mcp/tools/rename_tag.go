package tools

import (
	"context"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var renameTag = define(Tool{
	Name:        "rename_tag",
	Title:       "Rename a tag",
	Description: "Rename a tag, and those nested in it, in all notes at once. Use it with dry_run first; edit_note changes the tags of one note.",
	Effect:      Changes,
	output:      outputOf[RenameTagResult](),
}, runRenameTag)

type renameTagArgs struct {
	Tag    string `json:"tag" required:"true"`
	To     string `json:"to" required:"true"`
	DryRun bool   `json:"dry_run"`
}

// A RenameTagResult is the result of rename_tag.
type RenameTagResult struct {
	Changed   []string `json:"changed"`
	Total     int      `json:"total"`
	Conflicts []string `json:"conflicts,omitempty"`
	Left      []string `json:"left,omitempty"`
	Change    int64    `json:"change,omitempty" doc:"restore_note undoes it"`
	Diff      string   `json:"diff,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// runRenameTag names the first of the changed notes. The diff, of one note only, shows
// how tags are rewritten.
func runRenameTag(ctx context.Context, in *invocation, a renameTagArgs) (Outcome, error) {
	if strings.Trim(a.To, "# ") == "" {
		return Outcome{}, usagef("to is the new name of the tag; to remove the tag, use edit_note with op remove_tag and notes, the paths that list_notes tags=%q has", phrase.OneLine(a.Tag))
	}
	remarks, err := in.merging(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	w, err := in.Vault.RenameTag(ctx, notes.RenameTagRequest{Tag: a.Tag, To: a.To, DryRun: a.DryRun, Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey})
	if err != nil {
		return Outcome{}, err
	}
	if !a.DryRun {
		in.Seen.wrote(w)
	}
	changed := append([]string{w.Path}, w.Relinked...) // Written names one of the notes separately
	return fit(in.Limits.ResultBytes, min(mostPaths, len(changed)), func(n int) Outcome {
		out := RenameTagResult{Changed: changed[:n], Total: len(changed), Conflicts: w.Conflicts, Left: w.Left, Change: w.Change, Diff: w.Diff, DryRun: a.DryRun, Notes: remarks}
		return Outcome{Structured: out, Text: renameTagText(a, out)}
	}), nil
}

// merging returns a remark if notes have a resulting tag already: only the history can then tell
// the two apart. Of a repeated call, it is not known whether they had.
func (in *invocation) merging(ctx context.Context, a renameTagArgs) ([]string, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil || repeated {
		return nil, err
	}
	from, to := notes.Key(strings.Trim(a.Tag, "# /"))+"/", notes.Key(strings.Trim(a.To, "# /"))+"/"
	tags, err := in.Vault.Tags(ctx, in.Scope)
	has := map[string]bool{}
	for _, t := range tags {
		has[notes.Key(t.Tag)+"/"] = true
	}
	for _, t := range tags {
		key := notes.Key(t.Tag) + "/"
		if nested, ok := strings.CutPrefix(key, to); !ok || !has[from+nested] || strings.HasPrefix(key, from) {
			continue // the last: it is renamed too
		}
		remark := "#%s was already in %s: the two are one tag now"
		if a.DryRun {
			remark = "#%s is already in %s: the two would become one tag"
		}
		return []string{fmt.Sprintf(remark, phrase.OneLine(t.Tag), phrase.Count(t.Notes, "note"))}, nil
	}
	return nil, err
}

func renameTagText(a renameTagArgs, out RenameTagResult) string {
	var b strings.Builder
	tag, to := strings.TrimPrefix(phrase.OneLine(a.Tag), "#"), strings.TrimPrefix(phrase.OneLine(a.To), "#")
	if out.DryRun {
		fmt.Fprintf(&b, "Nothing was written: renaming #%s to #%s would change %s", tag, to, phrase.Count(out.Total, "note"))
	} else {
		fmt.Fprintf(&b, "Renamed #%s to #%s: %s changed, change %d", tag, to, phrase.Count(out.Total, "note"), out.Change)
	}
	listPaths(&b, "notes", out.Changed, out.Total)
	listPaths(&b, "changed or in use by another program, not updated", out.Conflicts, 0)
	listPaths(&b, "not updated, and may use the tag", out.Left, 0)
	return b.String() + phrase.FenceBelow("diff", out.Changed[0], out.Diff) + remarkLines(out.Notes)
}
