package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

var createNote = define(Tool{
	Name:        "create_note",
	Title:       "Create a note",
	Description: "Write a new Markdown note. Use it to save something as its own note; an existing note is never replaced.",
	Effect:      Adds,
	output:      outputOf[CreateResult](),
}, runCreateNote)

type createArgs struct {
	Title       string         `json:"title" doc:"today: the daily note"`
	Content     *string        `json:"content" doc:"Markdown, without the title and front matter; optional with template"`
	Template    string         `json:"template"`
	Folder      string         `json:"folder"`
	Path        string         `json:"path" doc:"instead of folder and title: Work/Plan.md"`
	Tags        []string       `json:"tags"`
	FrontMatter map[string]any `json:"front_matter"`
}

func (a *createArgs) UnmarshalJSON(data []byte) error {
	type plain createArgs
	return decodeExact(data, (*plain)(a))
}

// A CreateResult is the result of create_note.
type CreateResult struct {
	Path     string `json:"path"`
	URI      string `json:"uri"`
	Title    string `json:"title"`
	Hash     string `json:"hash"`
	Revision int64  `json:"revision"`
	Change   int64  `json:"change,omitempty"`     // undone by restore_note
	Made     string `json:"new_folder,omitempty"` // outermost folder that did not exist: it may be misspelt

	Diverted  []string `json:"diverted,omitempty"`       // notes with links that led to another note of this name
	Diverting int      `json:"diverted_total,omitempty"` // if diverted is incomplete
	Notes     []string `json:"notes,omitempty"`
}

// runCreateNote accepts a place in the forms that models use: a title and a folder, a whole
// path, or both if they agree. The vault makes a file name of the title, and keeps in the
// front matter a title that the file name cannot carry.
func runCreateNote(ctx context.Context, in *invocation, a createArgs) (Outcome, error) {
	if a.Path == "" && a.Folder == "" && notes.IsNoteName(a.Title) && strings.Contains(a.Title, "/") {
		a.Title, a.Path = "", a.Title // "Work/Plan.md" is a path, not a title
	}
	switch {
	case a.Title == "" && a.Path == "":
		return Outcome{}, usagef("title is required: pass the note's title, or a path instead")
	// Models often repeat the folder of a path.
	case a.Path != "" && !notes.Under(notes.Key(in.vaultPath(a.Path)), notes.Key(in.vaultPath(a.Folder))):
		return Outcome{}, usagef("path and folder name two places: pass the whole path, or folder and title")
	}
	// Empty content is accepted. Content may be missing only if a template, or the vault's
	// own template for dated notes, provides it.
	_, dated := in.Vault.Period(cmp.Or(a.Title, a.Path), in.Now())
	content, templated := "", a.Template != "" || dated
	if a.Content != nil {
		content = *a.Content
	} else if !templated {
		return Outcome{}, usagef("content is required: pass Markdown, which may be empty, or a template")
	}
	w, err := in.Vault.Create(ctx, notes.CreateRequest{
		Title: a.Title, Content: content, Template: a.Template, Folder: a.Folder, Path: a.Path, Tags: a.Tags, FrontMatter: a.FrontMatter,
		Scope: in.Scope, Author: in.Author, RequestKey: in.RequestKey,
	})
	if err != nil {
		return Outcome{}, err
	}
	in.Seen.Read(w.Path, w.Hash)
	out := CreateResult{Path: w.Path, URI: notes.URI(w.Path), Title: w.Title, Hash: w.Hash, Revision: w.Revision, Change: w.Change}
	var text strings.Builder
	fmt.Fprintf(&text, "Created %s, revision %d, hash %s, change %d", phrase.Quote(w.Path), w.Revision, notes.ShortHash(w.Hash), w.Change)
	if len(w.Made) > 0 {
		out.Made = w.Made[0]
		fmt.Fprintf(&text, "\n(the folder %s is new)", phrase.Quote(out.Made))
	}
	if len(w.LinkedFrom) > 0 {
		const most = 20
		out.Diverted, out.Diverting = cut(w.LinkedFrom, most)
		remark := fmt.Sprintf("links that meant another note of this name or alias lead here now, or to neither; to keep them, undo this with restore_note change=%d and choose another title", w.Change)
		out.Notes = []string{remark}
		listPaths(&text, remark, out.Diverted, out.Diverting)
	}
	remarks := in.mistakenLinks(ctx, w.Path, nil, "")
	if templated && strings.Contains(w.Diff, "<%") && !strings.Contains(content, "<%") {
		remarks = append(remarks, "the template has <% %> commands of Templater, which are not run: replace them with edit_note")
	}
	out.Notes = append(out.Notes, remarks...)
	text.WriteString(remarkLines(remarks))
	return Outcome{Structured: out, Text: text.String()}, nil
}
