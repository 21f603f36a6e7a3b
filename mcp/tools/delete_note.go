package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var deleteNote = define(Tool{
	Name:        "delete_note",
	Title:       "Delete a note",
	Description: "Delete a note; restore_note brings it back. Use it only when the user asks for it. The answer lists the notes that still link to it.",
	Effect:      Changes,
	output:      outputOf[DeleteResult](),
}, runDeleteNote)

type deleteArgs struct {
	Note         string `json:"note" required:"true"`
	Redirect     string `json:"redirect" doc:"note that gets the links to it, as after a merge"`
	ExpectedHash string `json:"expected_hash"`
	DryRun       bool   `json:"dry_run"`
}

// A DeleteResult is the result of delete_note.
type DeleteResult struct {
	Path       string   `json:"path"`
	Revision   int64    `json:"revision"`
	Change     int64    `json:"change"`
	LinkedFrom []string `json:"linked_from"`
	Linking    int      `json:"linked_from_total,omitempty"` // if linked_from is incomplete
	Relinked   []string `json:"relinked,omitempty"`
	Relinking  int      `json:"relinked_total,omitempty"` // if relinked is incomplete
	Conflicts  []string `json:"conflicts,omitempty"`
	Left       []string `json:"left,omitempty"`
	Broken     int      `json:"broken_links,omitempty"` // links to a heading or block that the note in redirect lacks
	BrokenIn   []string `json:"broken_in,omitempty"`    // the first notes with such links
	DryRun     bool     `json:"dry_run,omitempty"`
}

// runDeleteNote asks the user before it deletes, but not again when a call is repeated
// because its response was lost: that call finds no note, and gets the first result by its
// key. A dry run comes before the question, so that the user is not asked about a deletion
// that would fail. After the question, the note is identified by its path, since another
// may have its title by then.
func runDeleteNote(ctx context.Context, in *invocation, a deleteArgs) (Outcome, error) {
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil {
		return Outcome{}, err
	}
	var out DeleteResult
	r := notes.DeleteRequest{Note: a.Note, Redirect: a.Redirect, ExpectedHash: a.ExpectedHash, DryRun: true, Scope: in.Scope, Author: in.Author}
	if !repeated {
		would, err := in.Vault.Delete(ctx, r)
		if err != nil {
			return Outcome{}, err
		}
		if a.Redirect != "" {
			out.Broken, out.BrokenIn = in.lacking(ctx, would.Path, a.Redirect)
		}
		if err := in.confirmDelete(ctx, would.Path, a); err != nil {
			return Outcome{}, err
		}
		r.Note, r.ExpectedHash = notes.URI(would.Path), cmp.Or(a.ExpectedHash, in.Seen.texts.of(would.Path).hash)
	}
	r.DryRun, r.RequestKey = a.DryRun, in.RequestKey
	d, err := in.Vault.Delete(ctx, r)
	if err != nil {
		return Outcome{}, unseen(err, a.ExpectedHash == "" && r.ExpectedHash != "")
	}
	if a.DryRun {
		in.Seen.shown(d.Path, d.Was)
	} else {
		in.Seen.forget(d.Path)
		in.Seen.wrote(d)
	}
	out.Path, out.Revision, out.Change, out.Conflicts, out.Left, out.DryRun = d.Path, d.Revision, d.Change, d.Conflicts, d.Left, a.DryRun
	linkedFrom := append([]string{}, d.LinkedFrom...)
	return fit(in.Limits.ResultBytes, max(len(linkedFrom), len(d.Relinked)), func(n int) Outcome {
		out.LinkedFrom, out.Linking = cut(linkedFrom, n)
		out.Relinked, out.Relinking = cut(d.Relinked, n)
		return Outcome{Structured: out, Text: deleteText(out)}
	}), nil
}

// lacking returns the number of links in other notes to a heading or block of the note at
// gone that the note that redirect names does not have, and the first of these notes.
func (in *invocation) lacking(ctx context.Context, gone, redirect string) (links int, from []string) {
	to, err := in.Vault.Read(ctx, redirect, in.Scope)
	if err != nil {
		return 0, nil
	}
	has := notes.Anchors([]byte(to.Content))
	return in.linksWith(ctx, gone, func(l notes.LinkedNote) bool { return l.Anchor != "" && !l.NoAnchor && !has(l.Anchor) })
}

func (in *invocation) confirmDelete(ctx context.Context, path string, a deleteArgs) error {
	if a.DryRun {
		return nil
	}
	question := fmt.Sprintf("Delete the note %s? It can be restored from the history.", phrase.Quote(path))
	if a.Redirect != "" {
		question = fmt.Sprintf("Delete the note %s, and change all links to it into links to %s? The history can undo it.", phrase.Quote(path), phrase.Quote(phrase.Clip(a.Redirect, 200)))
	}
	return in.Confirm(ctx, question)
}

func deleteText(out DeleteResult) string {
	var b strings.Builder
	if out.DryRun {
		fmt.Fprintf(&b, "Nothing was written: %s would be deleted", phrase.Quote(out.Path))
	} else {
		fmt.Fprintf(&b, "Deleted %s, revision %d; restore_note change=%d brings it back", phrase.Quote(out.Path), out.Revision, out.Change)
	}
	listPaths(&b, "still linked from", out.LinkedFrom, out.Linking)
	listRelinked(&b, out.Relinked, out.Relinking, out.Conflicts, out.Left)
	if out.Broken > 0 {
		b.WriteString("\n" + brokenText(out.Broken, "the other note lacks", out.BrokenIn))
	}
	return b.String()
}
