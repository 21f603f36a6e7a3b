package endpoint

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Error is the reason why a server returned no vectors, worded for the user.
type Error struct {
	Server     string        // for example "ollama at http://127.0.0.1:11434"
	Reason     string        // a sentence without its final period
	RetryAfter time.Duration // the pause requested by the server; 0: none
	ofTexts    bool          // these texts may be the cause; the server may embed others
	unclear    bool          // with ofTexts: the cause may as well be a passing fault of the server
	cause      error
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("waiting for %s: %s", e.Server, e.Reason) }

// Unwrap returns the underlying connection error, if any.
func (e *Error) Unwrap() error { return e.cause }

// Wait returns RetryAfter, for callers that test for this method: a search shows such an error.
func (e *Error) Wait() time.Duration { return e.RetryAfter }

func (c *Client) errorf(format string, args ...any) *Error {
	return &Error{Server: c.server, Reason: fmt.Sprintf(format, args...)}
}

func (e *Error) aboutTexts() *Error {
	e.ofTexts = true
	return e
}

func ofTexts(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.ofTexts
}

const (
	longestQuote = 200 // bytes of a server's message
	sharedWords  = 24  // bytes in common that count as a quotation of a note
)

// quotable returns a server's message in a form that is safe to show and log: one short
// line without the API key, or "" if it has parts of the texts that were sent.
func (c *Client) quotable(message string, texts []string) string {
	if c.o.APIKey != "" {
		message = strings.ReplaceAll(message, c.o.APIKey, "…")
	}
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
