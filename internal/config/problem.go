package config

import (
	"fmt"
	"strings"
	"unicode"
)

// Problem is one mistake in the configuration.
type Problem struct {
	Origin string // where it was made: "/etc/notesd.toml:12", "NOTESD_LOG_LEVEL", "--vault"; empty for the combination of several
	Key    string // the key, as written; empty when the file as a whole is at fault
	Value  string // the value as written, shortened; empty when there is none to show
	Detail string // what is wrong: "must be …", "is not a known key"
	Hint   string // what to do about it; may be empty
}

// String says everything about the problem on one line that is safe to print
// whatever the file, its name or the environment holds.
func (p Problem) String() string {
	var b strings.Builder
	if p.Origin != "" {
		b.WriteString(p.Origin + ": ")
	}
	b.WriteString(p.Key)
	if p.Value != "" {
		b.WriteString(" = " + p.Value)
	}
	if p.Key != "" || p.Value != "" {
		b.WriteString(" ")
	}
	b.WriteString(p.Detail)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return printable(b.String())
}

// Error is a configuration that cannot be used. It holds at least one
// problem, in the order of the layers: file, environment, flags, and then
// what is wrong with the whole.
type Error struct {
	Problems []Problem
}

// Error lists all problems, one a line when there are several.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "configuration: %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// show renders a value for a message: quoted where it is text, and no longer
// than a line.
func show(v any) string {
	const most = 80
	s := fmt.Sprint(v)
	if text, ok := v.(string); ok {
		s = fmt.Sprintf("%q", text)
	}
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// printable replaces control characters, which could drive a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
