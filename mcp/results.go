package mcp

import (
	"errors"

	"notesd/notes"
)

// Results of tools that the command line shows, as structuredContent holds them.
type (
	// SearchResult is the result of search_notes.
	SearchResult = searchOutput
	// Why says why a hit was found.
	Why = why
	// Semantic is the state of semantic search behind a result.
	Semantic = semanticState
	// ListResult is the result of list_notes.
	ListResult = listOutput
	// ListedNote is one note of a ListResult.
	ListedNote = listedNote
	// HistoryResult is the result of note_history.
	HistoryResult = historyOutput
	// Revision is one version in a HistoryResult.
	Revision = revision
)

// ErrorCode returns the stable code of an error in the domain's words, as a
// Failure has it; "failed" for any other.
func ErrorCode(err error) string {
	var domain *notes.Error
	if errors.As(err, &domain) {
		for _, row := range failures {
			if errors.Is(domain.Err, row.err) {
				return row.code
			}
		}
	}
	return "failed"
}
