package endpoint

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Error says why a server gave no vectors, in words for its owner.
type Error struct {
	Server     string        // which one: "ollama at http://127.0.0.1:11434"
	Reason     string        // a sentence without its end
	RetryAfter time.Duration // when the server wants to be asked again; 0: it has not said
	refused    bool          // these texts, not all: asking for less may help
	cause      error
}

// Error is one line.
func (e *Error) Error() string { return fmt.Sprintf("waiting for %s: %s", e.Server, e.Reason) }

// Unwrap returns the error of the connection, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// Wait is RetryAfter, for callers that know errors by what they can do.
func (e *Error) Wait() time.Duration { return e.RetryAfter }

func (c *Client) errorf(format string, args ...any) *Error {
	return &Error{Server: c.server, Reason: fmt.Sprintf(format, args...)}
}

func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.refused
}

const (
	longestQuote = 200 // bytes of a server's own words
	sharedWords  = 24  // bytes in common that make them a quotation of a note
)

// quotable makes a server's own words fit to be shown and logged: one line,
// short, and nothing of the texts that were sent, which no log may hold.
func quotable(message string, texts []string) string {
	message = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(message, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(message) > longestQuote {
		message = strings.ToValidUTF8(message[:longestQuote], "") + "…"
	}
	for from := 0; from+sharedWords <= len(message); from++ {
		for _, t := range texts {
			if strings.Contains(t, message[from:from+sharedWords]) {
				return ""
			}
		}
	}
	return message
}
