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
		if _, ok := e.passed[field]; field == "" || ok {
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

// A WriteResult is the result of restore_note, and of edit_note for one note.
type WriteResult struct {
	Path      string   `json:"path"`
	URI       string   `json:"uri,omitempty"` // none of a folder
	OldPath   string   `json:"old_path,omitempty"`
	Hash      string   `json:"hash"`
	Revision  int64    `json:"revision" doc:"0: nothing was written"`
	Change    int64    `json:"change,omitempty"` // undone by restore_note
	Diff      string   `json:"diff"`
	Relinked  []string `json:"relinked,omitempty"`
	Relinking int      `json:"relinked_total,omitempty"` // if relinked is incomplete
	Conflicts []string `json:"conflicts,omitempty"`
	Left      []string `json:"left,omitempty"`
	Broken    int      `json:"broken_links,omitempty"` // links to a heading or block that the change removed
	BrokenIn  []string `json:"broken_in,omitempty"`    // the first notes with such links
	Unchanged bool     `json:"unchanged,omitempty"`
	DryRun    bool     `json:"dry_run,omitempty"`
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

// An editedNote is a WriteResult without the URI and, unless it is a dry run, the diff.
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
	out := in.changed(ctx, editVerb(w), w, a.DryRun, true)
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
		// Each note is a request of its own in the journal, so that a repeated call makes the
		// edits that are missing, and only these.
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

// edit edits one note, as part of an earlier change unless that is 0.
func (in *invocation) edit(ctx context.Context, ref string, edits []notes.Edit, a editArgs, partOf int64) (notes.Written, error) {
	// An edit that quotes the text it replaces fails by itself if the note has changed. The
	// edits below would replace text that the session has not seen.
	expected := a.ExpectedHash
	if expected == "" && slices.ContainsFunc(edits, func(e notes.Edit) bool {
		return e.Op == "replace_section" || e.Op == "replace_all" || e.Op == "toggle_task" && e.Text == ""
	}) {
		expected = in.lastSeen(ctx, ref)
	}
	w, err := in.Vault.Edit(ctx, notes.EditRequest{
		Note: ref, Edits: edits, ExpectedHash: expected, PartOf: partOf, DryRun: a.DryRun,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return notes.Written{}, unseen(err, a.ExpectedHash == "" && expected != "")
	}
	if !a.DryRun {
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

// changed returns the outcome of a change to one note and perhaps to the links in others, with as
// many of these as fit, and its diff if that is shown. restore_note undoes all of it by the number
// of the change.
func (in *invocation) changed(ctx context.Context, verb string, w notes.Written, dryRun, diff bool) Outcome {
	out := WriteResult{Path: w.Path, URI: noteURI(w), Hash: w.Hash, Revision: w.Revision, Conflicts: w.Conflicts, Left: w.Left, Change: w.Change, DryRun: dryRun}
	if w.OldPath != w.Path {
		out.OldPath = w.OldPath
	}
	out.Unchanged = w.Hash != "" && w.Was == w.Hash && out.OldPath == ""
	if !dryRun && !out.Unchanged {
		out.Broken, out.BrokenIn = in.broken(ctx, w)
	}
	if diff {
		out.Diff = w.Diff
	}
	return fit(in.Limits.ResultBytes, len(w.Relinked), func(n int) Outcome {
		out.Relinked, out.Relinking = cut(w.Relinked, n)
		return Outcome{Structured: out, Text: changedText(verb, w, out)}
	})
}

// broken returns the number of links in other notes to a heading or block that a change
// has removed, and the first of these notes. The change is made already: if this cannot be
// determined, the result lacks a remark.
//
// Most changes remove no heading, which their diff shows without a query. For the others, the
// vault lists the links to the note, and marks those whose heading or block is missing now.
// These include links that were broken before. The replaced text, which history has under
// its hash, tells them apart: only if it has the heading did this change break the link. It
// is read for the first such link.
func (in *invocation) broken(ctx context.Context, w notes.Written) (links int, from []string) {
	if !mayRemoveAnchor(w.Diff) {
		return 0, nil
	}
	var had func(anchor string) bool // in the replaced text
	return in.linksWith(ctx, w.Path, func(l notes.LinkedNote) bool {
		if l.NoAnchor && had == nil {
			text, err := in.History.Version(ctx, notes.URI(w.Path), w.Was, in.Scope)
			if had = notes.Anchors(text); err != nil || text == nil {
				had = func(string) bool { return false }
			}
		}
		return l.NoAnchor && had(l.Anchor)
	})
}

// linksWith returns the number of links in other notes to the note at p that meet the
// condition, and the first of these notes.
func (in *invocation) linksWith(ctx context.Context, p string, condition func(notes.LinkedNote) bool) (links int, from []string) {
	const most, mostNotes = 500, 5
	report, err := in.Vault.Links(ctx, notes.URI(p), notes.LinkQuery{Direction: "in", Limit: most, Scope: in.Scope})
	if err != nil {
		return 0, nil
	}
	for _, l := range report.Backlinks {
		if !condition(l) {
			continue
		}
		links++
		if len(from) < mostNotes && !slices.Contains(from, l.From) {
			from = append(from, l.From)
		}
	}
	return links, from
}

// brokenText describes the links of broken_links.
func brokenText(links int, why string, in []string) string {
	return fmt.Sprintf("%s to a heading or block that %s, in %s", phrase.Count(links, "link"), why, phrase.Clip(phrase.OneLine(strings.Join(in, ", ")), 1000))
}

// mayRemoveAnchor reports whether a removed line of a diff may be a heading or have a block
// id. A line or diff that is shortened, which "…" marks, may hide one.
func mayRemoveAnchor(diff string) bool {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "…") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--- ") && strings.ContainsAny(line, "#^=…") {
			return true
		}
	}
	return false
}

func changedText(verb string, w notes.Written, out WriteResult) string {
	var b strings.Builder
	name, old := phrase.OneLine(w.Path), phrase.OneLine(out.OldPath)
	switch deleted := w.Hash == "" && old == ""; {
	case out.Unchanged:
		fmt.Fprintf(&b, "%q is unchanged: it is like that already, hash %s", name, notes.ShortHash(w.Hash))
	case out.DryRun && deleted:
		fmt.Fprintf(&b, "Nothing was written: %q would be deleted", name)
	case out.DryRun && old != "":
		fmt.Fprintf(&b, "Nothing was written: %q would be %q again", old, name)
	case out.DryRun:
		fmt.Fprintf(&b, "Nothing was written: %q would become", name)
	case deleted:
		fmt.Fprintf(&b, "%s %q is deleted, revision %d", verb, name, w.Revision)
	case w.Hash == "":
		fmt.Fprintf(&b, "%s the folder %q is %q again", verb, old, name)
	case old != "":
		fmt.Fprintf(&b, "%s %q is %q again, revision %d, hash %s", verb, old, name, w.Revision, notes.ShortHash(w.Hash))
	default:
		fmt.Fprintf(&b, "%s %q, revision %d, hash %s", verb, name, w.Revision, notes.ShortHash(w.Hash))
	}
	if out.Change != 0 {
		fmt.Fprintf(&b, ", change %d", out.Change)
	}
	if out.Broken > 0 {
		fmt.Fprintf(&b, "\n%s; restore_note change=%d undoes this, rename_heading takes links along", brokenText(out.Broken, "is gone", out.BrokenIn), out.Change)
	}
	listPaths(&b, "also changed", out.Relinked, out.Relinking)
	listPaths(&b, "unreadable, broken or not writable, not updated", w.Left, 0)
	conflicts := "changed since, not restored; undo their later changes first"
	if verb == "Edited" {
		conflicts = "changed or in use by another program, not updated"
	}
	listPaths(&b, conflicts, w.Conflicts, 0)
	if out.Diff != "" {
		b.WriteString("\n" + phrase.Fence("diff", w.Path, out.Diff))
	}
	return b.String()
}
