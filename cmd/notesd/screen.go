package main

import (
	"encoding/json"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// screen is one of the standard streams that people may look at.
type screen struct {
	io.Writer
	terminal bool
	colour   bool
	width    int   // columns; 0 where there is no terminal
	failed   error // the first that a Write returned
}

// Write writes, and remembers that it could not: what is printed piece by piece
// is checked once, at the end of the run.
func (s *screen) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

func newScreen(f *os.File, env []string) *screen {
	s := &screen{Writer: f, terminal: term.IsTerminal(int(f.Fd()))}
	if s.terminal {
		s.width, _, _ = term.GetSize(int(f.Fd())) // 0 when unknown
	}
	s.colour = s.terminal && lookup(env, "NO_COLOR") == "" && lookup(env, "TERM") != "dumb" && understandsEscapes(env)
	return s
}

// understandsEscapes is about Windows' old console, which shows colour codes as
// text.
func understandsEscapes(env []string) bool {
	return runtime.GOOS != "windows" || lookup(env, "WT_SESSION") != "" || lookup(env, "TERM") != ""
}

// lookup returns the value of a variable in an environment; the last one counts.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, value, ok := strings.Cut(kv, "="); ok && n == name {
			return value
		}
	}
	return ""
}

func (s *screen) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s *screen) bold(text string) string { return s.paint("1", text) }
func (s *screen) dim(text string) string  { return s.paint("2", text) }
func (s *screen) red(text string) string  { return s.paint("1;31", text) }
func (s *screen) mark(text string) string { return s.paint("1;33", text) }
func (s *screen) path(text string) string { return s.paint("36", text) }

// plain makes text from a note, or about one, safe to show: on a terminal a
// control character could move the cursor or change what stands above.
func (s *screen) plain(text string) string {
	if !s.terminal {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// line is plain on one line.
func (s *screen) line(text string) string { return strings.Join(strings.Fields(s.plain(text)), " ") }

// json prints v as one document.
func (s *screen) json(v any) error {
	enc := json.NewEncoder(s)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
