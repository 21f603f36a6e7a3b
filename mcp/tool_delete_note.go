package mcp

import (
	"context"
	"fmt"
	"strings"

	"notesd/notes"
)

var deleteNote = define(tool{
	name:        "delete_note",
	title:       "Delete a note",
	description: "Delete a note; restore_note brings it back. Use it only when the user asks for it. The answer names the notes that still link to it.",
	effect:      changes,
	input: mustSchema(`{
		"type": "object",
		"properties": {
			"note": {"type": "string"},
			"expected_hash": {"type": "string"}
		},
		"required": ["note"]
	}`),
	output: mustJSON(`{
		"type": "object",
		"properties": {
			"path": {"type": "string"},
			"revision": {"type": "integer", "description": "of the deletion; restore an earlier one"},
			"linked_from": {"type": "array", "items": {"type": "string"}}
		},
		"required": ["path", "revision", "linked_from"]
	}`),
}, runDeleteNote)

type deleteArgs struct {
	Note         string `json:"note"`
	ExpectedHash string `json:"expected_hash"`
}

type deleteOutput struct {
	Path       string   `json:"path"`
	Revision   int64    `json:"revision"`
	LinkedFrom []string `json:"linked_from"`
}

func runDeleteNote(ctx context.Context, in *invocation, a deleteArgs) (outcome, error) {
	repeated, err := in.vault().Repeated(ctx, in.key)
	if err != nil {
		return outcome{}, err
	}
	ref, expected := a.Note, a.ExpectedHash
	if !repeated {
		meta, err := in.vault().Lookup(ctx, a.Note, in.scope())
		if err != nil {
			return outcome{}, err
		}
		if err := in.confirm(ctx, fmt.Sprintf("Delete the note %q? It can be restored from the history.", oneLine(meta.Path))); err != nil {
			return outcome{}, err
		}
		ref = notes.URI(meta.Path)
		if expected == "" {
			expected = in.session.seen.hash(meta.Path)
		}
	}
	d, err := in.vault().Delete(ctx, notes.DeleteRequest{
		Note: ref, ExpectedHash: expected,
		Scope: in.scope(), Author: in.author, RequestKey: in.key,
	})
	if err != nil {
		return outcome{}, unseen(err, a.ExpectedHash == "" && expected != "")
	}
	in.session.seen.forget(d.Path)
	out := deleteOutput{Path: d.Path, Revision: d.Revision, LinkedFrom: append([]string{}, d.LinkedFrom...)}
	var b strings.Builder
	fmt.Fprintf(&b, "Deleted %q, revision %d; restore_note brings it back", oneLine(out.Path), out.Revision)
	if n := len(out.LinkedFrom); n > 0 {
		const most = 20
		fmt.Fprintf(&b, "\nstill linked from (%d):", n)
		for _, p := range out.LinkedFrom[:min(n, most)] {
			b.WriteString("\n- " + oneLine(p))
		}
	}
	return outcome{structured: out, text: b.String()}, nil
}
