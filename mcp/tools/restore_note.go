package tools

import (
	"context"

	"notesd/notes"
)

var restoreNote = define(Tool{
	Name:        "restore_note",
	Title:       "Restore a note",
	Description: "Bring back an earlier version of a note, or a deleted note, as a new revision. Use it to undo a change, with a revision from note_history.",
	Effect:      Changes,
	Idempotent:  true,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"note": {"type": "string"},
			"revision": {"type": "integer", "minimum": 1},
			"expected_hash": {"type": "string"},
			"dry_run": {"type": "boolean"}
		},
		"required": ["note", "revision"]
	}`),
	output: outputOf[WriteResult](),
}, runRestoreNote)

type restoreArgs struct {
	Note         string `json:"note"`
	Revision     int64  `json:"revision"`
	ExpectedHash string `json:"expected_hash"`
	DryRun       bool   `json:"dry_run"`
}

func runRestoreNote(ctx context.Context, in *invocation, a restoreArgs) (Outcome, error) {
	expected := a.ExpectedHash
	if expected == "" {
		expected = in.lastSeen(ctx, a.Note)
	}
	w, err := in.Vault.Restore(ctx, notes.RestoreRequest{
		Note: a.Note, Revision: a.Revision, ExpectedHash: expected, DryRun: a.DryRun,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, unseen(err, a.ExpectedHash == "" && expected != "")
	}
	if !a.DryRun {
		in.Seen.wrote(w.Path, w.Path, w.Was, w.Hash)
	}
	return changed("Restored", w, a.DryRun), nil
}
