package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"notesd/notes"
)

var noteHistory = define(tool{
	name:        "note_history",
	title:       "History of a note",
	description: "The versions of a note, newest first: who changed it, when and how. Use it to see what happened to a note, deleted ones too, and to find a revision for restore_note.",
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"note": {"type": "string", "description": "also the path of a deleted note"},
			"limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "default 20"},
			"cursor": {"type": "string"}
		},
		"required": ["note"]
	}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"revisions": {"type": "array", "items": {
				"type": "object",
				"properties": {
					"revision": {"type": "integer"},
					"time": {"type": "string"},
					"author": {"type": "string"},
					"operation": {"type": "string"},
					"path": {"type": "string"},
					"old_path": {"type": "string"},
					"hash": {"type": "string"},
					"size": {"type": "integer"},
					"added": {"type": "integer", "description": "lines"},
					"removed": {"type": "integer"}
				},
				"required": ["revision", "time", "author", "operation", "path", "size", "added", "removed"]
			}},
			"next_cursor": {"type": "string"}
		},
		"required": ["revisions"]
	}`),
}, runNoteHistory)

type historyArgs struct {
	Note   string `json:"note"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type historyOutput struct {
	Revisions []revision `json:"revisions"`
	Next      string     `json:"next_cursor,omitempty"`
}

type revision struct {
	Revision  int64  `json:"revision"`
	Time      string `json:"time"`
	Author    string `json:"author"`
	Operation string `json:"operation"`
	Path      string `json:"path"`
	OldPath   string `json:"old_path,omitempty"`
	Hash      string `json:"hash,omitempty"`
	Size      int64  `json:"size"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
}

func runNoteHistory(ctx context.Context, in *invocation, a historyArgs) (outcome, error) {
	page, err := in.vault().History(ctx, notes.HistoryQuery{Note: a.Note, Limit: a.Limit, Cursor: a.Cursor, Scope: in.scope()})
	if err != nil {
		return outcome{}, err
	}
	out := historyOutput{Revisions: make([]revision, 0, len(page.Revisions)), Next: page.Next}
	for _, r := range page.Revisions {
		out.Revisions = append(out.Revisions, revision{
			Revision: r.Revision, Time: r.Time.UTC().Format(time.RFC3339), Author: strings.TrimSpace(r.Author.Name + " " + r.Author.Version),
			Operation: r.Operation, Path: r.Path, OldPath: r.OldPath, Hash: r.Hash, Size: r.Size, Added: r.Added, Removed: r.Removed,
		})
	}
	return outcome{structured: out, text: historyText(out)}, nil
}

func historyText(out historyOutput) string {
	if len(out.Revisions) == 0 {
		return "There is no history yet"
	}
	lines := make([]string, len(out.Revisions))
	for i, r := range out.Revisions {
		lines[i] = fmt.Sprintf("%d | %s | %s by %s | %s | +%d -%d | %d", r.Revision, r.Time, r.Operation, oneLine(r.Author), oneLine(r.Path), r.Added, r.Removed, r.Size)
		if r.OldPath != "" {
			lines[i] += " | was " + oneLine(r.OldPath)
		}
	}
	text := plural(len(lines), "revision") + ", newest first\n" +
		fence("history", "revision, time, change, path, lines, bytes", strings.Join(lines, "\n"))
	if out.Next != "" {
		text += "\nMore with cursor " + out.Next
	}
	return text
}
