package mcp

import (
	"context"

	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// Passages adapts a search engine for the prompt catalogue.
type Passages struct{ Engine Searcher }

// Passages returns the best passage of each note that matches the query, and
// not weakly.
func (p Passages) Passages(ctx context.Context, query prompts.Query, f notes.Filter, limit int) ([]notes.Passage, error) {
	text := query.Text
	if !query.Operators {
		text = plainWords(text)
	}
	res, err := p.Engine.Search(ctx, search.Query{Text: text, Filter: f, Limit: limit})
	if err != nil {
		return nil, err
	}
	passages := []notes.Passage{}
	for _, h := range res.Hits {
		if h.Weak && (res.Weak || res.Semantic.State == search.StateReady) {
			continue
		}
		passages = append(passages, notes.Passage{NoteID: h.NoteID, Path: h.Path, Title: h.Title, Heading: h.Heading,
			LineStart: h.LineStart, LineEnd: h.LineEnd, Text: h.Snippet})
	}
	return passages, nil
}
