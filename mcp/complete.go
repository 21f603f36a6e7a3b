package mcp

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/prompts"
)

// maxCompletions is the maximum number of values in a response, set by the protocol.
const maxCompletions = 100

// A completer answers requests for completion.
type completer struct{ resources }

// complete returns values for the argument of a prompt or URI template.
func (s completer) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	kind, err := s.completes(ctx, req.Params)
	if err != nil {
		return nil, err
	}
	values, err := s.candidates(ctx, kind, req.Params)
	if err != nil {
		return nil, err
	}
	typed := strings.TrimSpace(req.Params.Argument.Value)
	switch kind {
	case prompts.Tag:
		typed = strings.TrimPrefix(typed, "#")
	case prompts.Folder:
		typed = strings.Trim(typed, "/")
	}
	ranked := rank(values, typed)
	res := &sdk.CompleteResult{}
	res.Completion.Total = len(ranked)
	res.Completion.HasMore = len(ranked) > maxCompletions
	res.Completion.Values = ranked[:min(len(ranked), maxCompletions)]
	return res, nil
}

// completes returns the kind of the argument's values.
func (s completer) completes(ctx context.Context, params *sdk.CompleteParams) (prompts.Kind, error) {
	name := params.Argument.Name
	if params.Ref.Type == "ref/resource" {
		switch {
		case params.Ref.URI == noteTemplate.URITemplate && name == "path":
			return prompts.NoteRef, nil
		case params.Ref.URI == attachmentTemplate.URITemplate && name == "attachment":
			return "", nil // there is no list of all attachments
		case params.Ref.URI == tagTemplate.URITemplate && name == "tag":
			return prompts.Tag, nil
		case params.Ref.URI == tableTemplate.URITemplate && name == "table":
			return tableName, nil
		}
		return "", invalidParams("there is no resource template %q with an argument %q", phrase.Clip(params.Ref.URI, 100), phrase.Clip(name, 60))
	}
	p, err := s.prompts().find(ctx, params.Ref.Name)
	if err != nil {
		return "", err
	}
	for _, a := range p.Arguments {
		if a.Name == name {
			return a.Completes, nil
		}
	}
	return "", invalidParams("the prompt %q has no argument %q", p.Name, phrase.Clip(name, 60))
}

// candidates returns all values of a kind that the session may see.
func (s completer) candidates(ctx context.Context, kind prompts.Kind, params *sdk.CompleteParams) ([]string, error) {
	vault, scope := s.core.opts.Vault, s.bounds().scope()
	var values []string
	switch kind {
	case tableName:
		tables, err := s.tableResources(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			values = append(values, t.Name)
		}
	case prompts.NoteRef:
		return s.notePaths(ctx)
	case prompts.Tag:
		tags, err := vault.Tags(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, t := range tags {
			values = append(values, t.Tag)
		}
	case prompts.Folder:
		folders, err := vault.Folders(ctx, scope)
		if err != nil {
			return nil, err
		}
		all := map[string]bool{}
		for _, f := range folders {
			for p := f.Folder; p != "" && p != "."; p = path.Dir(p) {
				all[p] = true
			}
		}
		values = slices.Sorted(maps.Keys(all))
	case prompts.Day:
		return []string{"today", "yesterday", "this week", "last week", "tomorrow"}, nil
	case prompts.Heading:
		return s.headings(ctx, params.Context)
	}
	return values, nil
}

// headings returns the headings of the note in the argument completed before.
func (s completer) headings(ctx context.Context, chosen *sdk.CompleteContext) ([]string, error) {
	if chosen == nil || chosen.Arguments["note"] == "" {
		return nil, nil
	}
	note, err := s.core.opts.Vault.Read(ctx, chosen.Arguments["note"], s.bounds().scope())
	if errors.Is(err, notes.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return note.HeadingRefs(), nil
}

// notePaths returns the paths of the notes, newest first, up to the limit on
// listed resources.
func (s completer) notePaths(ctx context.Context) ([]string, error) {
	const page = 1000
	var paths []string
	q := notes.ListQuery{Filter: notes.Filter{Scope: s.bounds().Read}, Limit: page}
	for {
		list, err := s.core.opts.Vault.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, m := range list.Notes {
			paths = append(paths, m.Path)
		}
		if q.Cursor = list.Next; q.Cursor == "" || len(paths) >= s.core.limits.Resources {
			return paths, nil
		}
	}
}

// rank returns the values that begin with typed or contain it, ignoring case, accents and Unicode
// form, best matches first; equal matches keep their order. It never returns nil.
func rank(values []string, typed string) []string {
	type scored struct {
		value string
		score int
	}
	typed = notes.Unaccented(notes.Key(typed))
	matches := make([]scored, 0, len(values))
	for _, v := range values {
		if score, ok := closeness(notes.Unaccented(notes.Key(v)), typed); ok {
			matches = append(matches, scored{v, score})
		}
	}
	slices.SortStableFunc(matches, func(a, b scored) int { return a.score - b.score })
	out := make([]string, len(matches))
	for i, m := range matches {
		out[i] = m.value
	}
	return out
}

// closeness grades a match, 0 being the best, and reports whether there is one. The last segment
// of a path and of the names of nested headings count more than the others.
func closeness(value, typed string) (int, bool) {
	switch base := strings.TrimSpace(value[strings.LastIndexAny(value, "/>")+1:]); {
	case strings.HasPrefix(value, typed):
		return 0, true
	case strings.HasPrefix(base, typed):
		return 1, true
	}
	return 2, strings.Contains(value, typed)
}
