package tools

import (
	"context"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var deleteNote = define(Tool{
	Name:        "delete_note",
	Title:       "Delete a note",
	Description: "Delete a note; restore_note brings it back. Use it only when the user asks for it. The answer names the notes that still link to it.",
	Effect:      Changes,
	output:      outputOf[DeleteResult](),
}, runDeleteNote)

type deleteArgs struct {
	Note         string `json:"note" required:"true"`
	ExpectedHash string `json:"expected_hash"`
}

// A DeleteResult is the result of delete_note.
type DeleteResult struct {
	Path       string   `json:"path"`
	Revision   int64    `json:"revision"`
	Change     int64    `json:"change"`
	LinkedFrom []string `json:"linked_from"`
}

func runDeleteNote(ctx context.Context, in *invocation, a deleteArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	ref, expected := a.Note, a.ExpectedHash
	if !repeated {
		meta, err := in.Vault.Lookup(ctx, a.Note, in.Scope)
		if err != nil {
			return Outcome{}, err
		}
		if err := in.Confirm(ctx, fmt.Sprintf("Delete the note %q? It can be restored from the history.", phrase.OneLine(meta.Path))); err != nil {
			return Outcome{}, err
		}
		ref = notes.URI(meta.Path)
		if expected == "" {
			expected = in.Seen.hash(meta.Path)
		}
	}
	d, err := in.Vault.Delete(ctx, notes.DeleteRequest{
		Note: ref, ExpectedHash: expected,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, unseen(err, a.ExpectedHash == "" && expected != "")
	}
	in.Seen.forget(d.Path)
	out := DeleteResult{Path: d.Path, Revision: d.Revision, Change: d.Change, LinkedFrom: append([]string{}, d.LinkedFrom...)}
	var b strings.Builder
	fmt.Fprintf(&b, "Deleted %q, revision %d; restore_note change=%d brings it back", phrase.OneLine(out.Path), out.Revision, out.Change)
	if n := len(out.LinkedFrom); n > 0 {
		const most = 20
		fmt.Fprintf(&b, "\nstill linked from (%d):", n)
		for _, p := range out.LinkedFrom[:min(n, most)] {
			b.WriteString("\n- " + phrase.OneLine(p))
		}
	}
	return Outcome{Structured: out, Text: b.String()}, nil
}
