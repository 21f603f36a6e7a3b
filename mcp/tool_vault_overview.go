package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"notesd/notes"
)

var vaultOverview = define(tool{
	name:        "vault_overview",
	title:       "Overview of the vault",
	description: "How many notes there are, the folders, the most used tags, the newest notes, and what is still being indexed. Use it to get one's bearings in an unknown vault.",
	input:       mustSchema(`{"type": "object", "properties": {}}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"notes": {"type": "integer"},
			"folders": {"type": "array", "items": {"type": "object", "properties": {"folder": {"type": "string"}, "notes": {"type": "integer"}}}},
			"tags": {"type": "array", "items": {"type": "object", "properties": {"tag": {"type": "string"}, "notes": {"type": "integer"}}}},
			"folders_total": {"type": "integer"},
			"tags_total": {"type": "integer"},
			"recent": {"type": "array", "items": {"type": "object"}},
			"indexing": {"type": "object", "properties": {"done": {"type": "boolean"}, "scanned": {"type": "integer"}, "to_scan": {"type": "integer"}}},
			"skipped": {"type": "integer", "description": "files that are not notes although they look like it"},
			"warnings": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["notes", "folders", "tags", "recent", "indexing", "warnings"]
	}`),
}, runVaultOverview)

type overviewOutput struct {
	Notes        int           `json:"notes"`
	Folders      []folderCount `json:"folders"`
	FoldersTotal int           `json:"folders_total"`
	Tags         []tagCount    `json:"tags"`
	TagsTotal    int           `json:"tags_total"`
	Recent       []listedNote  `json:"recent"`
	Indexing     indexing      `json:"indexing"`
	Skipped      int           `json:"skipped"`
	Warnings     []string      `json:"warnings"`
}

type folderCount struct {
	Folder string `json:"folder"`
	Notes  int    `json:"notes"`
}

type tagCount struct {
	Tag   string `json:"tag"`
	Notes int    `json:"notes"`
}

type indexing struct {
	Done    bool `json:"done"`
	Scanned int  `json:"scanned"`
	ToScan  int  `json:"to_scan"`
}

func runVaultOverview(ctx context.Context, in *invocation, _ struct{}) (outcome, error) {
	out, err := in.session.overview(ctx)
	if err != nil {
		return outcome{}, err
	}
	result, _ := fit(in.limit-in.reserve(), max(len(out.Folders), len(out.Tags), len(out.Recent)), func(n int) outcome {
		fewer := out
		fewer.Folders, fewer.Tags, fewer.Recent = out.Folders[:min(n, len(out.Folders))], out.Tags[:min(n, len(out.Tags))], out.Recent[:min(n, len(out.Recent))]
		return outcome{structured: fewer, text: fewer.text()}
	})
	return result, nil
}

func (o overviewOutput) withRemarks(remarks ...string) any {
	o.Warnings = append(o.Warnings, remarks...)
	return o
}

// overview gathers what the tool and the resource notes://overview show.
func (s *session) overview(ctx context.Context) (overviewOutput, error) {
	const most, newest = 20, 10
	vault, scope := s.core.opts.Vault, s.bounds().scope()
	status, err := vault.Status(ctx)
	if err != nil {
		return overviewOutput{}, err
	}
	all, err := vault.List(ctx, notes.ListQuery{Filter: notes.Filter{Scope: scope.Read}, Limit: 1})
	if err != nil {
		return overviewOutput{}, err
	}
	tomorrow := s.core.now().AddDate(0, 0, 1) // what is planned for later is not the newest
	recent, err := vault.List(ctx, notes.ListQuery{Filter: notes.Filter{Scope: scope.Read, Before: tomorrow}, Sort: "date", Limit: newest})
	if err != nil {
		return overviewOutput{}, err
	}
	folders, err := vault.Folders(ctx, scope)
	if err != nil {
		return overviewOutput{}, err
	}
	tags, err := vault.Tags(ctx, scope)
	if err != nil {
		return overviewOutput{}, err
	}
	out := overviewOutput{
		Notes: all.Total, FoldersTotal: len(folders), TagsTotal: len(tags),
		Folders: []folderCount{}, Tags: []tagCount{}, Recent: []listedNote{}, Warnings: append([]string{}, status.Warnings...),
		Indexing: indexing{Done: vault.Ready(), Scanned: status.Scanned, ToScan: status.ToScan},
		Skipped:  status.SkippedTotal,
	}
	slices.SortStableFunc(folders, func(a, b notes.FolderCount) int { return b.Notes - a.Notes })
	slices.SortStableFunc(tags, func(a, b notes.TagCount) int { return b.Notes - a.Notes })
	for _, f := range folders[:min(most, len(folders))] {
		out.Folders = append(out.Folders, folderCount{Folder: f.Folder, Notes: f.Notes})
	}
	for _, t := range tags[:min(most, len(tags))] {
		out.Tags = append(out.Tags, tagCount{Tag: t.Tag, Notes: t.Notes})
	}
	for _, m := range recent.Notes {
		out.Recent = append(out.Recent, listed(m))
	}
	if s.templated() && scope.CanRead(s.catalogue.Folder()) {
		problems, err := s.catalogue.Warnings(ctx)
		if err != nil {
			return overviewOutput{}, err
		}
		out.Warnings = append(out.Warnings, problems...)
	}
	if status.Unavailable != "" {
		out.Warnings = append(out.Warnings, "the vault is unavailable: "+status.Unavailable)
	}
	return out, nil
}

func (o overviewOutput) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d notes in %d folders, %d tags", o.Notes, o.FoldersTotal, o.TagsTotal)
	if !o.Indexing.Done {
		b.WriteString("\n(" + stillRead(o.Indexing.Scanned, o.Indexing.ToScan) + ")")
	}
	var names strings.Builder
	if len(o.Folders) > 0 {
		folders := make([]string, len(o.Folders))
		for i, f := range o.Folders {
			folders[i] = fmt.Sprintf("%s (%d)", oneLine(cmp.Or(f.Folder, "/")), f.Notes)
		}
		names.WriteString("folders: " + strings.Join(folders, "; "))
	}
	if len(o.Tags) > 0 {
		names.WriteString("\ntags:")
		for _, t := range o.Tags {
			fmt.Fprintf(&names, " #%s (%d)", oneLine(t.Tag), t.Notes)
		}
	}
	if len(o.Recent) > 0 {
		names.WriteString("\nnewest:\n" + listLines(o.Recent))
	}
	if names.Len() > 0 {
		b.WriteString("\n" + fence("overview", "names from the vault", strings.TrimSpace(names.String())))
	}
	if o.Skipped > 0 {
		fmt.Fprintf(&b, "\n%d files were skipped", o.Skipped)
	}
	for _, w := range o.Warnings {
		b.WriteString("\n(" + oneLine(w) + ")")
	}
	return b.String()
}
