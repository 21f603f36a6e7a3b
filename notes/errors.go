package notes

import (
	"errors"
	"strings"
)

// The kinds of failure that callers may test with errors.Is.
var (
	ErrNotFound  = errors.New("not found")
	ErrExists    = errors.New("already exists")
	ErrConflict  = errors.New("changed in the meantime")
	ErrInvalid   = errors.New("invalid")
	ErrAmbiguous = errors.New("ambiguous")
	ErrReadOnly  = errors.New("read-only")
	ErrForbidden = errors.New("not allowed")
	ErrTooLarge  = errors.New("too large")
	// ErrUnavailable: the vault folder cannot be used at the moment (unmounted,
	// replaced, unreadable). Nothing was changed; trying later may succeed.
	ErrUnavailable = errors.New("unavailable")
)

// Error is a failure in the domain's own words: safe to show to a client. It
// never holds a path outside the vault, SQL, or the text of a note.
type Error struct {
	Op         string   // what was attempted: "read", "create", …
	Path       string   // the note or name it was about; may be empty
	Err        error    // one of the sentinels above
	Detail     string   // what exactly was wrong, a clause without a full stop
	Hint       string   // what to do next, a sentence; may be empty
	Candidates []string // for ErrAmbiguous and ErrNotFound: paths that were meant, perhaps
	MovedTo    string   // for ErrNotFound: the path that the note has now
	Hash       string   // for ErrConflict: the note's present hash
	Diff       string   // for ErrConflict: from what the caller knew to what is there now
}

// Error says what failed, about what, and why, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Path != "" {
		b.WriteString(" " + Quote(e.Path))
	}
	b.WriteString(": ")
	if e.Detail != "" {
		b.WriteString(e.Detail)
	} else {
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Quote makes any name safe on one line of a terminal or log.
func Quote(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s) + `"`
}
