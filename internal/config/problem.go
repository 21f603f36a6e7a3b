package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"notesd/internal/phrase"
)

// Problem is one mistake in the configuration.
type Problem struct {
	Origin string // "/etc/notesd.toml:12", "NOTESD_LOG_LEVEL", "--vault"; empty if several sources are involved
	Key    string // the key as written; empty if the problem concerns the whole file
	Value  string // the value as written, shortened; may be empty
	Detail string // "must be …", "is not a known key"
	Hint   string // the remedy; may be empty
}

// String formats the problem as one line. It replaces control characters, so that the
// line is safe to print whatever the source contains.
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
	return phrase.OneLine(b.String())
}

// Error reports an invalid configuration. It contains at least one problem, in the
// order of the layers (file, environment, flags), followed by problems of the combined
// settings.
type Error struct {
	Problems []Problem
}

// Error lists all problems, one per line if there are several.
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

// show formats a value for a message: it quotes text and truncates long values. JSON reads
// like a list of TOML, and close to a table of it.
func show(v any) string {
	s := fmt.Sprint(v)
	switch v := v.(type) {
	case string:
		s = fmt.Sprintf("%q", v)
	case []string, []any, map[string]any:
		if text, err := json.Marshal(v); err == nil {
			s = string(text)
		}
	}
	return phrase.Clip(s, 80)
}

// suggest returns a hint with the known key that an unknown one probably means, either
// the right name in the wrong section or a misspelling, or "" if none is close.
func suggest(unknown string) string {
	name := func(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
	keys := make([]string, len(settings))
	for i, s := range settings {
		if name(s.key) == name(unknown) {
			return "did you mean " + s.key + "?"
		}
		keys[i] = s.key
	}
	if near := phrase.Nearest(unknown, keys); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
