package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var editNote = define(Tool{
	Name:        "edit_note",
	Title:       "Edit a note",
	Description: "Change parts of a note; every other byte stays. Use it after read_note, with old copied exactly or a heading named. All edits of a note are made or none.",
	Effect:      Changes,
	Panel:       true,
	output:      outputOf[editOutput](),
}, runEditNote)

type editArgs struct {
	Note         string    `json:"note"`
	Several      []string  `json:"notes" doc:"instead: several"`
	Edits        []oneEdit `json:"edits" required:"true"`
	ExpectedHash string    `json:"expected_hash"`
	DryRun       bool      `json:"dry_run" doc:"only show the diff"`
}

// oneEdit is an edit with the fields that were passed: one omitted by mistake must not be
// taken as an instruction to remove text.
type oneEdit struct {
	notes.Edit
	passed map[string]json.RawMessage
}

func (e *oneEdit) UnmarshalJSON(data []byte) error {
	return errors.Join(decodeExact(data, &e.Edit), json.Unmarshal(data, &e.passed))
}

// all returns the edits, or an error if one lacks a field without which it would remove
// text. Models also pass new content as text, which only toggle_task has.
func (a editArgs) all() ([]notes.Edit, error) {
	lacking := map[string]string{"replace_text": "new", "replace_section": "content", "replace_all": "content", "set_front_matter": "value", "rename_heading": "new"}
	edits := make([]notes.Edit, len(a.Edits))
	for i, e := range a.Edits {
		edits[i] = e.Edit
		if text, ok := e.Value.(string); ok {
			edits[i].Value = decoded(text)
		}
		field := lacking[e.Op]
		if e.Op != "toggle_task" && e.Text != "" && e.Content == "" {
			edits[i].Content, edits[i].Text = e.Text, ""
			if field == "content" {
				continue
			}
		}
		if _, ok := e.passed[field]; field == "" || ok || field == "content" && e.Old != "" { // which is refused: another op is meant
			continue
		}
		nothing := `"" removes the text`
		switch e.Op {
		case "set_front_matter":
			nothing = "null removes the key"
		case "rename_heading":
			nothing = "pass the heading's new text"
		}
		return nil, usagef("edit %d (%s): %s is missing; %s", i+1, e.Op, field, nothing)
	}
	return edits, nil
}

// decoded returns the list or object that a value was meant to be: some clients pass these
// encoded in a string. A text such as [[2026]] is a link.
func decoded(text string) any {
	var value any
	if text != "" && strings.ContainsRune("[{", rune(text[0])) && !strings.HasPrefix(text, "[[") && json.Valid([]byte(text)) && decodeExact([]byte(text), &value) == nil {
		return value
	}
	return text
}

// An EditManyResult is the result of edit_note for several notes.
type EditManyResult struct {
	Results   []any `json:"results"` // an editedNote or a noteFailure for each note, in order
	Changed   int   `json:"changed"`
	Unchanged int   `json:"unchanged"`
	Failed    int   `json:"failed"`
	Change    int64 `json:"change,omitempty"` // undone by restore_note, in all notes
	Truncated bool  `json:"truncated,omitempty"`
	DryRun    bool  `json:"dry_run,omitempty"`
}

// An editedNote is a WriteResult without the URI and, unless it is a dry run, the diff. Of the
// hash, it has the first digits, as expected_hash takes them.
type editedNote struct {
	WriteResult
	URI  string `json:"uri,omitempty"`
	Diff string `json:"diff,omitempty"`
}

type noteFailure struct {
	Note  string `json:"note"`
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

// editOutput has the fields of both results, for the output schema.
type editOutput struct {
	WriteResult `schema:"optional"`
	Results     []any `json:"results,omitempty"` // of several notes
}

func runEditNote(ctx context.Context, in *invocation, a editArgs) (Outcome, error) {
	edits, err := a.all()
	if err != nil {
		return Outcome{}, err
	}
	refs, err := severalNotes(a.Note, a.Several)
	if err != nil {
		return Outcome{}, err
	}
	if len(a.Several) > 0 {
		return in.editMany(ctx, refs, edits, a)
	}
	w, err := in.edit(ctx, a.Note, edits, a, 0)
	if err != nil {
		return Outcome{}, err
	}
	out := in.changed(ctx, editVerb(w), w, a.DryRun, showDiff)
	if a.DryRun && w.Was != w.Hash {
		out.Panel = proposed(w, a.Edits)
	}
	return out, nil
}

// editMany edits several notes, each on its own: an error concerns one note and does not
// stop the others. A note that is named twice is edited once, since an append would
// otherwise be made twice; it is recognized by its path, because a title and a path may name
// the same note. A result without diffs stays short enough for fifty notes. If nothing was
// edited, the call fails: models overlook failures in a successful result.
//
// The journal knows one answer for each request key, so the edit of each note has a key of its
// own: that of the call for the first note, and for the others the same behind their number in
// the list. The number is of the list as passed, duplicates included, so that a repeated call
// gives every note the key that it had.
func (in *invocation) editMany(ctx context.Context, refs []string, edits []notes.Edit, a editArgs) (Outcome, error) {
	if a.ExpectedHash != "" {
		return Outcome{}, usagef("expected_hash is the hash of one note: pass it with note, not with notes")
	}
	out := EditManyResult{DryRun: a.DryRun}
	var results []any
	var texts []string
	key, named := in.RequestKey, map[string]bool{}
	for i, ref := range refs {
		if meta, err := in.Vault.Lookup(ctx, ref, in.Scope); err == nil {
			if named[meta.Path] {
				continue
			}
			named[meta.Path] = true
		}
		if key != "" && i > 0 {
			in.RequestKey = strconv.Itoa(i) + "/" + key
		}
		w, err := in.edit(ctx, ref, edits, a, out.Change)
		if ctx.Err() != nil {
			return Outcome{}, ctx.Err()
		}
		if err != nil {
			message, hint := in.Describe(ctx, err)
			failure := noteFailure{phrase.Clip(phrase.OneLine(ref), 200), phrase.Clip(message, 300), phrase.Clip(hint, 300)}
			out.Failed++
			results, texts = append(results, failure), append(texts, strings.TrimSpace(fmt.Sprintf("%s: %s. %s", failure.Note, failure.Error, failure.Hint)))
			continue
		}
		out.Change = cmp.Or(out.Change, w.Change)
		named[w.Path] = true // a periodic note may have been created
		one := in.changed(ctx, editVerb(w), w, a.DryRun, a.DryRun)
		result := one.Structured.(WriteResult)
		if result.Unchanged {
			out.Unchanged++
		} else {
			out.Changed++
		}
		result.Hash = notes.ShortHash(result.Hash)
		results, texts = append(results, editedNote{WriteResult: result, Diff: result.Diff}), append(texts, one.Text)
	}
	if out.Failed == len(results) {
		const most = 10 // of the reasons, which are mostly the same
		why := strings.Join(texts[:min(most, len(texts))], "\n- ")
		if more := len(texts) - most; more > 0 {
			why += fmt.Sprintf("\n… and %d more", more)
		}
		return Outcome{}, usagef("no note was edited:\n- %s", strings.TrimSuffix(why, "."))
	}
	verb := "Edited"
	if a.DryRun {
		verb = "Nothing was written: would edit"
	}
	summary := fmt.Sprintf("%s %s", verb, phrase.Count(out.Changed, "note"))
	if out.Change != 0 {
		summary += fmt.Sprintf(" as change %d", out.Change)
	}
	summary += fmt.Sprintf("; %d unchanged, %d failed", out.Unchanged, out.Failed)
	return fit(in.Limits.ResultBytes, len(results), func(n int) Outcome {
		out.Results, out.Truncated = results[:n], n < len(results)
		text := summary + "\n- " + strings.Join(texts[:n], "\n- ")
		if out.Truncated {
			text += fmt.Sprintf("\n… and %d more", len(results)-n)
		}
		return Outcome{Structured: out, Text: text}
	}), nil
}

// edit edits one note, as part of an earlier change unless that is 0. Edits that could replace
// unread text are made only to the version that the session has seen.
func (in *invocation) edit(ctx context.Context, ref string, edits []notes.Edit, a editArgs, partOf int64) (notes.Written, error) {
	expected := a.ExpectedHash
	if slices.ContainsFunc(edits, notes.Edit.ReplacesUnread) {
		known := in.lastSeen(ctx, ref, edits)
		expected = cmp.Or(expected, known.hash)
		if strings.HasPrefix(known.hash, expected) {
			if err := in.sameLines(ctx, ref, edits, known); err != nil {
				return notes.Written{}, err
			}
		}
	}
	w, err := in.Vault.Edit(ctx, notes.EditRequest{
		Note: ref, Edits: edits, ExpectedHash: expected, PartOf: partOf, DryRun: a.DryRun,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return notes.Written{}, unseen(err, a.ExpectedHash == "" && expected != "")
	}
	if a.DryRun {
		in.Seen.shown(w.Path, w.Was)
	} else {
		in.Seen.wrote(w)
	}
	return w, nil
}

// An EditPanel is a proposed edit, to be shown in full before it is made.
type EditPanel struct {
	Diff  string   `json:"diff"`  // of all notes, complete; "" if it is too long to be shown
	Apply editCall `json:"apply"` // arguments of edit_note that make this edit, unless the note is no longer the one shown
}

type editCall struct {
	Note         string                       `json:"note"`
	Edits        []map[string]json.RawMessage `json:"edits"`
	ExpectedHash string                       `json:"expected_hash"`
}

// proposed returns the edit for the version shown in the diff, by URI: the user may accept
// it much later, when a title or alias refers to another note.
func proposed(w notes.Written, edits []oneEdit) EditPanel {
	p := EditPanel{Diff: w.Whole, Apply: editCall{Note: notes.URI(w.Path), ExpectedHash: w.Was}}
	for _, e := range edits {
		p.Apply.Edits = append(p.Apply.Edits, e.passed)
	}
	return p
}

// editVerb names an edit, which creates a periodic note that does not exist.
func editVerb(w notes.Written) string {
	if w.Was == "" {
		return "Created"
	}
	return "Edited"
}
