package mcp

import (
	"errors"

	"notesd/notes"
)

// Results of tools that the command line shows, as structuredContent holds them.
type (
	// SearchResult is the result of search_notes.
	SearchResult  = searchOutput
	Why           = why
	Semantic      = semanticState
	ListResult    = listOutput
	ListedNote    = listedNote
	HistoryResult = historyOutput
	Revision      = revision
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
