package markdown

import (
	"regexp"
	"strings"
)

// InlineMarks match what stands within a line and is shown as its first group, if it has one:
// wikilinks, images, the links around them and others, autolinks, and comments and tags of HTML.
var InlineMarks = []*regexp.Regexp{
	regexp.MustCompile(`!?\[\[(?:[^\]\[|\n]*\|)?([^\]\[|\n]*?)(?:#\^[^\]\[|\n]*)?\]\]`),
	regexp.MustCompile(`!` + linkMark),
	regexp.MustCompile(linkMark),
	regexp.MustCompile(`<([a-zA-Z][a-zA-Z0-9+.-]+:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>`),
	regexp.MustCompile(`<!--.*?-->`), // apart, or many that do not end take quadratic time
	regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`),
}

const linkMark = `\[([^\]\[]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)`

// Marks at the beginning and the end of a line.
var (
	shownID     = regexp.MustCompile(`(?m)(?:^|[ \t])\^(?:[a-zA-Z0-9-]*[a-zA-Z][a-zA-Z0-9-]*|\d{6})[ \t\r]*$`) // 10 ^6 is no block
	headingMark = regexp.MustCompile(`(?m)^([ \t]{0,3}#{1,6}[ \t]+[^\n]*[\pL\pN)\]*])[ \t#]*(\r?\n)`)
	lineMark    = regexp.MustCompile(`(?m)^[ \t]*(?:(?:#{1,6}[ \t]+|>[ \t]?(?:\[![a-zA-Z-]+\][+-]?)?|(` + itemMark + `))+|(?:\|[ \t]*:?-|[ \t]*:?-{3})[-:| \t\r]*$|(?:` + "```|~~~" + `).*$)`)
	firstItem   = regexp.MustCompile(`(?m)^` + itemMark)
	starMark    = regexp.MustCompile(`\*([^\s*](?:[^*\n]*[^\s*])?)\*`)
	spanMarks   = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "", "==", "", "[[", "", "]]", "", "&nbsp;", " ", "\u00AD", "", "\uFEFF", "")
)

// itemMark matches the marker of a list item and its checkbox. A year at the beginning of a line
// is text.
const itemMark = `(?:[-*+]|\d{1,3}[.)])(?:[ \t]+(?:\[.\](?:[ \t]+|$))?|\z)`

// ShownInline returns text without [InlineMarks] and block ids.
func ShownInline(text string) string {
	if strings.ContainsAny(text, "[<") {
		for _, mark := range InlineMarks {
			text = mark.ReplaceAllString(text, "$1")
		}
	}
	if strings.Contains(text, "^") {
		text = shownID.ReplaceAllString(text, "")
	}
	return text
}

// ItemStart is in place of the marker and the checkbox of a list item in the result of [Shown].
const ItemStart = '\v'

// Shown returns a part of a note's body without markup, line by line. With colons, a heading
// above another line ends with one, unless it has a punctuation mark.
func Shown(text string, colons bool) string {
	text = ShownInline(text)
	if colons {
		text = headingMark.ReplaceAllString(text, "$1:$2")
	}
	text = firstItem.ReplaceAllString(lineMark.ReplaceAllString(text, "$1"), string(ItemStart))
	text = spanMarks.Replace(text)
	if strings.Contains(text, "*") {
		text = starMark.ReplaceAllString(text, "$1")
	}
	return text
}

// ShownNote returns a note, of which fm is the front matter, as [ShownProperties] and [Shown] do.
func ShownNote(text string, fm FrontMatter, colons bool) string {
	if fm.Format != "yaml" {
		fm.End = 0
	}
	return ShownProperties(text[:fm.End]) + Shown(text[fm.End:], colons)
}

// quotedValue matches a field whose value is in quotation marks.
var quotedValue = regexp.MustCompile(`^([^\s"':]+: +)["'](.*)["']$`)

// ShownProperties returns lines of front matter in YAML, without quotation marks, as text with as
// many lines: "type: Apps, Tools; url: example.org".
func ShownProperties(front string) string {
	var b strings.Builder
	last, breaks := "", 0 // the last field or item, and the line breaks after it
	for line := range strings.Lines(front) {
		text := strings.TrimSpace(line)
		item, listed := strings.CutPrefix(text, "- ")
		switch {
		case text == "" || text == "---" || text == "+++":
			text = ""
		case last == "" || listed && strings.HasSuffix(last, ":"):
		case listed:
			b.WriteByte(',')
		default:
			b.WriteByte(';')
		}
		if shown := strings.TrimSpace(Shown(strings.Trim(quotedValue.ReplaceAllString(item, "$1$2"), `"'`), false)); text != "" && shown != "" {
			b.WriteString(strings.Repeat("\n", breaks) + shown)
			last, breaks = shown, 0
		}
		breaks += strings.Count(line, "\n")
	}
	return b.String() + strings.Repeat("\n", breaks)
}
