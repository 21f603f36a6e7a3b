package notes

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of failure, which callers can test with errors.Is.
var (
	ErrNotFound  = errors.New("not found")
	ErrExists    = errors.New("already exists")
	ErrConflict  = errors.New("changed in the meantime")
	ErrInvalid   = errors.New("invalid")
	ErrAmbiguous = errors.New("ambiguous")
	ErrReadOnly  = errors.New("read-only")
	ErrForbidden = errors.New("not allowed")
	ErrTooLarge  = errors.New("too large")
	// ErrUnavailable means that the vault folder cannot be used at the moment
	// (unmounted, replaced, unreadable). Nothing was changed, and a retry may succeed.
	ErrUnavailable = errors.New("unavailable")
	// ErrNoTrace is the ErrNotFound for a note that never existed, as far as the store
	// knows: the scan may not have reached it.
	ErrNoTrace = fmt.Errorf("%w: no trace of it", ErrNotFound)
)

// Error is a failure that is safe to show to a client. It never contains a path outside
// the vault, SQL, or the text of a note.
type Error struct {
	Op         string   // what was attempted: "read", "create", …
	Path       string   // the note or name concerned; may be empty
	Err        error    // one of the sentinels above
	Detail     string   // what was wrong, a clause without a full stop
	Hint       string   // what to do next, a sentence; may be empty
	Candidates []string // for ErrAmbiguous and ErrNotFound: possibly intended paths
	MovedTo    string   // for ErrNotFound: the note's new path
	Hash       string   // for ErrConflict: the note's current hash
	Diff       string   // for ErrConflict: from the caller's version to the current one
}

// Error returns the operation, its subject and the cause, on one line.
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

// Quote quotes a name so that it is safe on one line of a terminal or log.
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
