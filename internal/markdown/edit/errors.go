package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/markdown"
)

// Reasons for rejecting an edit; test for them with [errors.Is].
var (
	// ErrMismatch: the text does not occur the expected number of times.
	ErrMismatch = errors.New("the number of matches differs")
	// ErrFrontMatter: front matter cannot be edited safely.
	ErrFrontMatter = errors.New("front matter cannot be edited")
	// ErrInvalid: the edit itself is invalid.
	ErrInvalid = errors.New("invalid edit")
)

// MatchError reports that the text to replace does not occur as often as expected. It
// wraps [markdown.ErrMissing] if the text does not occur at all, else [ErrMismatch].
type MatchError struct {
	Want, Found int
	// Lines lists the lines on which the text was found; at most 50.
	Lines []int
	// Nearest is the passage of the note most similar to the text, and NearestLine its
	// line, if the text does not occur and there is a similar passage.
	Nearest     string
	NearestLine int
}

func (e *MatchError) Unwrap() error {
	if e.Found == 0 {
		return markdown.ErrMissing
	}
	return ErrMismatch
}

func (e *MatchError) Error() string {
	switch {
	case e.Found > 0:
		lines := slices.Compact(slices.Clone(e.Lines))
		shown := strings.Trim(strings.ReplaceAll(fmt.Sprint(lines[:min(len(lines), 8)]), " ", ", "), "[]")
		return fmt.Sprintf("the text occurs %d times, not %d (lines %s)", e.Found, e.Want, shown)
	case e.Nearest != "":
		return fmt.Sprintf("the text is not in the note; the nearest is on line %d: %q", e.NearestLine, e.Nearest)
	}
	return "the text is not in the note, nor half of its words"
}

// FrontMatterError reports why a key cannot be set. It wraps [ErrFrontMatter].
type FrontMatterError struct {
	Key    string
	Line   int // 0 if unknown
	Reason string
}

func (e *FrontMatterError) Unwrap() error { return ErrFrontMatter }

func (e *FrontMatterError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("front matter key %q cannot be set: %s (line %d)", e.Key, e.Reason, e.Line)
	}
	return fmt.Sprintf("front matter key %q cannot be set: %s", e.Key, e.Reason)
}

// EditError reports which of several edits failed.
type EditError struct {
	Index int // from 0
	Op    string
	Err   error
}

func (e *EditError) Unwrap() error { return e.Err }

func (e *EditError) Error() string {
	return fmt.Sprintf("edit %d (%s): %v", e.Index+1, e.Op, e.Err)
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
