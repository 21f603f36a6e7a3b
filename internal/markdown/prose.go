package markdown

import (
	"regexp"
	"slices"
	"strings"
)

// Prose returns the text of a note with machine-generated data replaced by spaces:
// the drawing of an Excalidraw note, data URIs and long runs of base64. Line breaks
// and offsets are preserved. Text without such data is returned as is.
func Prose(text string) string {
	return blank(text, slices.Concat(drawing(text), dataURIs(text), encodedRuns(text)))
}

// WithoutDefinitions returns text with the link reference definitions of notes replaced by
// spaces, as in "[plan]: ../Work/plan.md 'The Plan'". They are not displayed, and Foam writes
// one for each wikilink, so their words describe other notes. Line breaks and offsets are
// preserved.
func WithoutDefinitions(text string) string { return blank(text, noteDefinitions(text)) }

// blank replaces spans of text, except line breaks, by spaces.
func blank(text string, spans [][2]int) string {
	if spans == nil {
		return text
	}
	b := []byte(text)
	for _, s := range spans {
		for i := s[0]; i < s[1]; i++ {
			if b[i] != '\n' && b[i] != '\r' {
				b[i] = ' '
			}
		}
	}
	return string(b)
}

// noteDefinition matches a line that defines a link to a Markdown file. A path without the
// extension could be a word of a dialogue, "[Anna]: yes".
var noteDefinition = regexp.MustCompile(`^ {0,3}\[[^\[\]^][^\[\]]*\]:[ \t]+(?:<[^<>:]+\.md(?:#[^<>]*)?>|[^\s<:]+\.md(?:#\S*)?)(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\r?$`)

// noteDefinitions returns the spans of the link reference definitions of notes. It also
// finds those in code.
func noteDefinitions(text string) (spans [][2]int) {
	for from := 0; ; {
		at := strings.Index(text[from:], "]: ")
		if at < 0 {
			return spans
		}
		start := from + strings.LastIndexByte(text[from:from+at], '\n') + 1
		end := len(text)
		if n := strings.IndexByte(text[from+at:], '\n'); n >= 0 {
			end = from + at + n
		}
		if noteDefinition.MatchString(text[start:end]) {
			spans = append(spans, [2]int{start, end})
		}
		from = end
	}
}

var (
	drawingHeading = regexp.MustCompile(`(?m)^##? Drawing[ \t]*\r?$`)
	drawingFence   = regexp.MustCompile("(?m)^(```+)compressed-json[ \t]*\r?$")
)

// drawing returns the spans of Excalidraw drawings: the text after the last heading
// "Drawing" of an Excalidraw note, and fences of compressed JSON in any note.
func drawing(text string) (spans [][2]int) {
	if strings.HasPrefix(text, "---") && strings.Contains(text[:min(len(text), 4096)], "\nexcalidraw-plugin:") {
		if all := drawingHeading.FindAllStringIndex(text, -1); all != nil {
			spans = append(spans, [2]int{all[len(all)-1][1], len(text)})
		}
	}
	if !strings.Contains(text, "```compressed-json") {
		return spans
	}
	for from := 0; ; {
		m := drawingFence.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return spans
		}
		start, mark := from+m[1], text[from+m[2]:from+m[3]]
		end := len(text)
		if i := strings.Index(text[start:], "\n"+mark); i >= 0 {
			end = start + i
		}
		spans = append(spans, [2]int{start, end})
		from = end
	}
}

// minEncoded is the shortest run of base64, or content of a data URI, that is
// replaced. Words are shorter.
const minEncoded = 64

var dataURI = regexp.MustCompile(`data:[A-Za-z]+/[A-Za-z0-9.+-]{1,80}(?:;[^,;\s]{1,80}){0,4},`)

func dataURIs(text string) (spans [][2]int) {
	end := 0
	for _, m := range dataURI.FindAllStringIndex(text, -1) {
		if m[0] < end {
			continue
		}
		end = len(text)
		if n := strings.IndexAny(text[m[1]:], " \t\r\n\"'<>)"); n >= 0 {
			end = m[1] + n
		}
		if end-m[1] >= minEncoded {
			spans = append(spans, [2]int{m[0], end})
		}
	}
	return spans
}

// base64Class classifies the characters of base64; 0 means any other.
var base64Class = func() (classes [256]byte) {
	for c := range classes {
		switch c := byte(c); {
		case c >= 'a' && c <= 'z':
			classes[c] = 1
		case c >= 'A' && c <= 'Z':
			classes[c] = 2
		case isDigit(c):
			classes[c] = 3
		case c == '+' || c == '/' || c == '=' || c == '-' || c == '_':
			classes[c] = 4
		}
	}
	return classes
}()

// encodedRuns returns the runs of base64. Every run of minEncoded characters includes
// one of the positions that are minEncoded apart, so that most of the text is skipped.
func encodedRuns(text string) (spans [][2]int) {
	for at := minEncoded - 1; at < len(text); at += minEncoded {
		if base64Class[text[at]] == 0 {
			continue
		}
		start, end := at, at+1
		for end < len(text) && base64Class[text[end]] != 0 {
			end++
		}
		for start > 0 && base64Class[text[start-1]] != 0 {
			start--
		}
		if isEncoded(text[start:end]) {
			spans = append(spans, [2]int{start, end})
		}
		at = end
	}
	return spans
}

// isEncoded reports whether a run is base64 or long hexadecimal, as opposed to a path
// or compound name. In random data, lower case, upper case and digits alternate (at
// two of three characters; at half of them in hexadecimal), many characters are
// distinct, digits occur, and marks that separate words are rare (two of 64 in base64).
func isEncoded(run string) bool {
	if len(run) < minEncoded {
		return false
	}
	var count [5]int
	var seen [256]bool
	changes, distinct, last := 0, 0, byte(0)
	for i := range len(run) {
		if !seen[run[i]] {
			seen[run[i]] = true
			distinct++
		}
		class := base64Class[run[i]]
		count[class]++
		if class != last {
			changes++
		}
		last = class
	}
	lower, upper, digits, marks := count[1], count[2], count[3], count[4]
	if lower > 0 && upper > 0 {
		return distinct >= 20 && changes*100 >= len(run)*42 && digits*32 >= len(run) && marks*8 <= len(run)
	}
	return len(run) >= 4*minEncoded && changes*100 >= len(run)*35 && digits*8 >= len(run) && marks == 0
}
