package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var vaultOverview = define(Tool{
	Name:        "vault_overview",
	Title:       "Overview of the vault",
	Description: "Counts, folders, tags, the newest notes and the state of the index. Use it first in an unfamiliar vault.",
	output:      outputOf[Overview](),
}, runVaultOverview)

// An Overview is the result of vault_overview.
type Overview struct {
	Notes        int                 `json:"notes"`
	Folders      []notes.FolderCount `json:"folders"`
	FoldersTotal int                 `json:"folders_total"`
	Tags         []notes.TagCount    `json:"tags"`
	TagsTotal    int                 `json:"tags_total"`
	Recent       []ListedNote        `json:"recent"`
	Canvases     []string            `json:"canvases,omitempty"` // and bases
	Indexing     indexing            `json:"indexing"`
	Skipped      int                 `json:"skipped"`
	Next         string              `json:"next_cursor,omitempty"`
	Open         string              `json:"open,omitempty"`
	OpenIn       map[string]string   `json:"open_in,omitempty"`
	Warnings     []string            `json:"warnings"`
}

type indexing struct {
	Done    bool `json:"done"` // or impossible, with a warning
	Scanned int  `json:"scanned"`
	ToScan  int  `json:"to_scan"`
}

type overviewArgs struct {
	List   string `json:"list" enum:"tags,folders" doc:"all of them instead, by name"`
	Cursor string `json:"cursor"`
}

// runVaultOverview shortens the three lists to the same length if the overview does not fit:
// the totals say what is missing, and the argument list has all of the tags and folders.
func runVaultOverview(ctx context.Context, in *invocation, a overviewArgs) (Outcome, error) {
	if a.List != "" {
		return in.names(ctx, a)
	}
	if a.Cursor != "" {
		return Outcome{}, usagef("the cursor continues a list of tags or folders: pass list with it")
	}
	out, err := NewOverview(ctx, in.Env)
	if err != nil {
		return Outcome{}, err
	}
	out.Warnings = in.remarks(out.Warnings...)
	return fit(in.Limits.ResultBytes, max(len(out.Folders), len(out.Tags), len(out.Recent)), func(n int) Outcome {
		fewer := out
		fewer.Folders, fewer.Tags, fewer.Recent = out.Folders[:min(n, len(out.Folders))], out.Tags[:min(n, len(out.Tags))], out.Recent[:min(n, len(out.Recent))]
		return Outcome{Structured: fewer, Text: fewer.Text()}
	}), nil
}

// names lists all tags or all folders by name. The cursor is the last name shown, which
// stays valid when names are added or removed between pages.
func (in *invocation) names(ctx context.Context, a overviewArgs) (Outcome, error) {
	folders, err := in.Vault.Folders(ctx, in.Scope)
	if err != nil {
		return Outcome{}, err
	}
	tags, err := in.Vault.Tags(ctx, in.Scope)
	if err != nil {
		return Outcome{}, err
	}
	out := Overview{FoldersTotal: len(folders), TagsTotal: len(tags), Folders: []notes.FolderCount{}, Tags: []notes.TagCount{}, Recent: []ListedNote{},
		Indexing: indexing{Done: in.Vault.Ready()}, Warnings: append([]string{}, in.remarks(in.incomplete(ctx)...)...)}
	for _, f := range folders {
		if a.List == "folders" && (a.Cursor == "" || f.Folder > a.Cursor) {
			out.Folders = append(out.Folders, f)
		}
		out.Notes += f.Notes
	}
	for _, t := range tags {
		if a.List == "tags" && (a.Cursor == "" || t.Tag > a.Cursor) {
			out.Tags = append(out.Tags, t)
		}
	}
	slices.SortFunc(out.Folders, func(a, b notes.FolderCount) int { return strings.Compare(a.Folder, b.Folder) })
	slices.SortFunc(out.Tags, func(a, b notes.TagCount) int { return strings.Compare(a.Tag, b.Tag) })
	all := out
	return fit(in.Limits.ResultBytes, max(len(all.Folders), len(all.Tags)), func(n int) Outcome {
		out.Next = ""
		out.Folders, out.Tags = all.Folders[:min(n, len(all.Folders))], all.Tags[:min(n, len(all.Tags))]
		switch {
		case n < len(all.Folders):
			out.Next = all.Folders[n-1].Folder
		case n < len(all.Tags):
			out.Next = all.Tags[n-1].Tag
		}
		return Outcome{Structured: out, Text: namesText(out)}
	}), nil
}

func namesText(o Overview) string {
	folders, tags := o.counts()
	lines := slices.Concat(folders, tags)
	text := fmt.Sprintf("%s, %s; with the number of notes", phrase.Count(o.FoldersTotal, "folder"), phrase.Count(o.TagsTotal, "tag"))
	text += phrase.FenceBelow("names", "from the vault", strings.Join(lines, "\n"))
	if o.Next != "" {
		text += fmt.Sprintf("\nMore with cursor %q", phrase.OneLine(o.Next))
	}
	return text + remarkLines(o.Warnings)
}

// NewOverview collects what the tool and the resource notes://overview show. A session that
// may read only some folders gets nothing that is about the vault as a whole.
func NewOverview(ctx context.Context, env Env) (Overview, error) {
	const most, newest = 20, 10
	vault, scope := env.Vault, env.Scope
	status, err := vault.Status(ctx)
	if err != nil {
		return Overview{}, err
	}
	tomorrow, _ := vault.Period("tomorrow", env.Now()) // notes dated in the future are not recent
	recent, err := vault.List(ctx, notes.ListQuery{Filter: notes.Filter{Scope: scope.Read, Before: tomorrow.Start}, Sort: "date", Limit: newest})
	if err != nil {
		return Overview{}, err
	}
	folders, err := vault.Folders(ctx, scope)
	if err != nil {
		return Overview{}, err
	}
	tags, err := vault.Tags(ctx, scope)
	if err != nil {
		return Overview{}, err
	}
	out := Overview{
		FoldersTotal: len(folders), TagsTotal: len(tags),
		Folders: []notes.FolderCount{}, Tags: []notes.TagCount{}, Recent: []ListedNote{}, Warnings: []string{},
		Indexing: indexing{Done: vault.Ready() || vault.Stale() != ""},
	}
	for _, f := range folders {
		out.Notes += f.Notes
	}
	slices.SortStableFunc(folders, func(a, b notes.FolderCount) int { return b.Notes - a.Notes })
	slices.SortStableFunc(tags, func(a, b notes.TagCount) int { return b.Notes - a.Notes })
	out.Folders = append(out.Folders, folders[:min(most, len(folders))]...)
	out.Tags = append(out.Tags, tags[:min(most, len(tags))]...)
	canvases, err := vault.Canvases(ctx, scope)
	if err != nil {
		return Overview{}, err
	}
	out.Canvases = canvases[:min(most, len(canvases))]
	for _, m := range recent.Notes {
		out.Recent = append(out.Recent, listed(m))
	}
	if scope.Read == nil { // counts include all notes; warnings name notes and folders; links reveal where the vault is
		out.Indexing.Scanned, out.Indexing.ToScan = status.Scanned, status.ToScan
		out.Warnings, out.Skipped = append(out.Warnings, status.Warnings...), status.SkippedTotal
		copies, err := vault.ConflictCopies(ctx)
		if err != nil {
			return Overview{}, err
		}
		if copies != "" {
			out.Warnings = append(out.Warnings, copies)
		}
		out.Open = env.Open[""]
		if out.Open == "" && len(env.Open) > 0 {
			out.OpenIn = env.Open
		}
	} else {
		out.Warnings = append(out.Warnings, fmt.Sprintf("this client sees only the notes in %s: its settings or the folder of its workspace exclude the others",
			cmp.Or(phrase.Clip(phrase.OneLine(strings.Join(scope.Read, "; ")), 300), "no folder")))
	}
	if env.Prompts != nil && env.Prompts.Folder() != "" && scope.CanRead(env.Prompts.Folder()) {
		problems, err := env.Prompts.Warnings(ctx)
		if err != nil {
			return Overview{}, err
		}
		out.Warnings = append(out.Warnings, problems...)
	}
	if why := vault.Stale(); why != "" {
		out.Warnings = append(out.Warnings, why)
	}
	return out, nil
}

// counts returns the folders and the tags with the number of their notes.
func (o Overview) counts() (folders, tags []string) {
	for _, f := range o.Folders {
		folders = append(folders, fmt.Sprintf("%s (%d)", phrase.OneLine(cmp.Or(f.Folder, "/")), f.Notes))
	}
	for _, t := range o.Tags {
		tags = append(tags, fmt.Sprintf("#%s (%d)", phrase.OneLine(t.Tag), t.Notes))
	}
	return folders, tags
}

// Text returns the overview as text.
func (o Overview) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s, %s", phrase.Count(o.Notes, "note"), phrase.Count(o.FoldersTotal, "folder"), phrase.Count(o.TagsTotal, "tag"))
	if o.Open != "" {
		b.WriteString("\nTo open a note: " + o.Open + " with its path, percent-encoded")
	}
	for _, folder := range slices.Sorted(maps.Keys(o.OpenIn)) {
		b.WriteString("\nTo open a note in " + folder + ": " + o.OpenIn[folder] + " with its path after " + folder + "/, percent-encoded")
	}
	if !o.Indexing.Done {
		b.WriteString("\n(" + stillRead(o.Indexing.Scanned, o.Indexing.ToScan) + ")")
	}
	var names strings.Builder
	folders, tags := o.counts()
	if len(folders) > 0 {
		names.WriteString("folders: " + strings.Join(folders, "; "))
	}
	if len(tags) > 0 {
		names.WriteString("\ntags: " + strings.Join(tags, " "))
	}
	if len(o.Canvases) > 0 {
		names.WriteString("\ncanvases and bases, for read_note: " + phrase.OneLine(strings.Join(o.Canvases, "; ")))
	}
	if len(o.Recent) > 0 {
		names.WriteString("\nnewest:\n" + listLines(o.Recent))
	}
	b.WriteString(phrase.FenceBelow("overview", "names from the vault", strings.TrimSpace(names.String())))
	if o.Skipped > 0 {
		fmt.Fprintf(&b, "\n%d files were skipped", o.Skipped)
	}
	return b.String() + remarkLines(o.Warnings)
}
