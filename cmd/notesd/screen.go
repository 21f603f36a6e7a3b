package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"notesd/internal/phrase"
	"notesd/internal/service"
	"notesd/internal/web"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// screen is a standard stream that may be a terminal.
type screen struct {
	io.Writer
	terminal bool
	colour   bool
	width    int   // columns; 0 if not a terminal
	failed   error // first error returned by a Write
}

// Write writes and keeps the first error, which is checked once at the end of the run.
func (s *screen) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

func newScreen(f *os.File) *screen {
	s := &screen{Writer: f, terminal: term.IsTerminal(int(f.Fd()))}
	if s.terminal {
		s.width, _, _ = term.GetSize(int(f.Fd())) // 0 if unknown
	}
	s.colour = s.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && understandsEscapes()
	return s
}

// understandsEscapes returns false for the legacy Windows console, which shows colour
// codes as text.
func understandsEscapes() bool {
	return runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "" || os.Getenv("TERM") != ""
}

// paint colours text, which becomes one line without control characters.
func (s *screen) paint(code, text string) string {
	text = s.line(text)
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

// plain replaces control characters in text from notes: on a terminal they could move the
// cursor or change earlier lines. Line breaks of Windows become line feeds there.
func (s *screen) plain(text string) string {
	if !s.terminal {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && phrase.Unsafe(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// line is plain with line breaks and tabs replaced by spaces, for use within a line. Other
// white space is kept, because a path may contain it.
func (s *screen) line(text string) string { return s.plain(lineBreaks.Replace(text)) }

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// json prints v as one document.
func (s *screen) json(v any) error {
	enc := json.NewEncoder(s)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// result prints the result of a command: a document with --json, otherwise by calling
// show.
func (o *output) result(document any, show func()) error {
	if o.json {
		return o.out.json(document)
	}
	show()
	return nil
}

// resultLine is result for a single line of text.
func (o *output) resultLine(document any, text string) error {
	return o.result(document, func() { fmt.Fprintln(o.out, text) })
}

// note prints remarks about the result to standard error, each once: a daemon's status and
// its results share some remarks.
func (o *output) note(texts ...string) {
	for _, text := range texts {
		if _, printed := o.noted.LoadOrStore(text, true); !o.json && !printed {
			fmt.Fprintln(o.err, o.err.dim(commandNames.Replace(text)))
		}
	}
}

// count formats a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

// countOf formats the number of items shown of a total, which may be unknown (0).
func countOf(shown, total int, noun string) string {
	if shown < total {
		return thousands(shown) + " of " + count(total, noun)
	}
	return count(shown, noun)
}

// thousands separates groups of digits with narrow spaces, as in 10 000.
func thousands(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n)
	}
	return humanize.FormatInteger("# ###.", n)
}

// size formats a number of bytes in the unit that keeps it short.
func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// columns returns the width for wrapped text.
func (s *screen) columns() int {
	if s.width <= 0 {
		return 100
	}
	return min(s.width, 120)
}

// wrap breaks text, a single line, at spaces into lines of at most the given columns. Longer
// words are broken only at characters of two columns, whose scripts have no spaces.
func wrap(text string, columns int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last >= 0 && uniseg.StringWidth(lines[last]+" "+word) <= columns {
			lines[last] += " " + word
		} else {
			lines = append(lines, split(word, columns)...)
		}
	}
	return lines
}

// split breaks a word that is longer than a line before characters of two columns.
func split(word string, columns int) (lines []string) {
	start, used := 0, 0
	for i, r := range word {
		n := uniseg.StringWidth(string(r))
		if n == 2 && used+n > columns {
			lines = append(lines, word[start:i])
			start, used = i, 0
		}
		used += n
	}
	return append(lines, word[start:])
}

// highlight marks the words in text that start with one of the terms.
func highlight(s *screen, text string, terms []string) string {
	var b strings.Builder
	for _, p := range web.Marked(text, terms) {
		if p.Mark {
			p.Text = s.mark(p.Text)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// commandNames replaces the names of tools in messages by those of commands.
var commandNames = strings.NewReplacer(
	"Appending to it (edit_note) creates it, from the vault's template if it has one. So does create_note with this title.", "notesd daily --create and --append create it, from the vault's template if it has one.",
	"search_notes", "notesd search",
	"list_notes folder=", "notesd list --folder=",
	"list_notes after=", "notesd list --after=",
	" before=", " --before=",
	"list_notes", "notesd list",
	"list_tasks", "notesd tasks",
	"read_note", "notesd read",
	"create_note", "notesd new",
	"edit_note", "notesd edit",
	"move_note", "notesd move",
	"delete_note", "notesd delete",
	"note_links", "notesd links",
	"related_notes", "notesd related",
	"vault_overview lists the tags", "notesd tags lists them",
	"vault_overview", "notesd status",
	"note_history", "notesd history",
	"restore_note", "notesd restore",
	"list_tables", "notesd tables",
	"create_heading true", "--create-heading",
	"or pass count ", "or pass --count ",
	"diff takes a note and two of its revisions, like [12, 15]", "--diff takes a note and two of its revisions, like 12,15",
	"; status all lists them", "; --status all lists them",
)

// toolIsOff names a tool that the command calls, where the user has named the command.
var toolIsOff = regexp.MustCompile(`^the tool "\w+" is not available: `)

// forShell replaces the names of tools in a failure by those of commands.
func forShell(err error) error {
	if f, ok := errors.AsType[*service.Failure](err); ok {
		f.Message, f.Hint = commandNames.Replace(toolIsOff.ReplaceAllString(f.Message, "")), commandNames.Replace(f.Hint)
	}
	return err
}

// localTime formats a time of a tool's result in the local time zone.
func localTime(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// meter is a progress bar that appears only when needed and only on a
// terminal.
type meter struct {
	screen *screen
	label  string
	bar    *progressbar.ProgressBar

	done, total int
}

// set sets the values that show displays.
func (m *meter) set(done, total int) { m.done, m.total = done, total }

func (m *meter) show() {
	if !m.screen.terminal || m.total <= 0 {
		return
	}
	if m.bar == nil {
		options := []progressbar.Option{
			progressbar.OptionSetWriter(m.screen),
			progressbar.OptionSetDescription(m.label),
			// A wrapped line would not be cleared. The text beside the bar takes up to 50
			// columns, of which the count takes 20.
			progressbar.OptionSetWidth(min(30, max(5, m.screen.columns()-50))),
			progressbar.OptionThrottle(100 * time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(true),
		}
		if m.screen.columns() >= 60 {
			options = append(options, progressbar.OptionShowCount())
		}
		m.bar = progressbar.NewOptions(m.total, options...)
	}
	m.bar.ChangeMax(m.total)
	_ = m.bar.Set(min(m.done, m.total-1)) // clear draws the final state; drawing errors are ignored
}

func (m *meter) clear() {
	if m.bar != nil {
		_ = m.bar.Finish()
		fmt.Fprint(m.screen, "\r\x1b[K")
		m.bar = nil
	}
}
