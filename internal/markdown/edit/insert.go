package edit

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// ReplaceSection replaces the text of the section that ref names (see
// [markdown.FindSection]), including its subsections. The heading is kept unless
// content starts with a heading of the same text, which then replaces it but keeps its
// attributes, such as {#id}, unless it has its own. Footnotes and link definitions at the
// section's end are kept if other text or content refers to them and content has none of the
// same label. A block keeps its id and, in a list, its marker. Blank lines around the text are
// kept.
func ReplaceSection(src []byte, ref, content string) ([]byte, error) {
	doc := markdown.Parse(src)
	section, err := markdown.FindSection(doc, src, ref)
	if err != nil {
		return nil, err
	}
	eol := lineEnding(src, section.ContentStart)
	content = adopt(content, eol)
	if section.BlockID != "" {
		return replaceBlock(src, section, content)
	}
	start := section.ContentStart
	if text, rest, ok := cutHeading(content, section); ok {
		if section.Nested {
			content = rest
		} else {
			start = section.Start
			old := string(src[doc.Headings[section.Index].TextEnd:section.ContentStart])
			if line := content[len(text) : len(content)-len(rest)]; !strings.Contains(line, "}") {
				content = text + old[:strings.LastIndexByte(old, '}')+1] + content[len(text):]
			}
		}
	}
	switch {
	case section.Nested && inItem(src, section, content):
	case section.Nested:
		content = indentLines(content, bodyIndentation(src, section))
	default:
		content = withDefinitions(withoutRule(content, src, section.End), src, section, eol)
		if old := adopt(string(src[start:section.End]), eol); sticks(src, section.End) && old != content {
			content += eol
		}
	}
	return replaceBody(src, start, section.End, content, eol), nil
}

// withoutRule returns content without a rule at its end if there is one at offset at of src: a
// rule above the next heading is no part of the section, but is often repeated with its text.
func withoutRule(content string, src []byte, at int) string {
	end, _ := markdown.LineAt(src, at)
	trimmed := strings.TrimRight(content, " \t\r\n")
	last := strings.LastIndexByte(trimmed, '\n') + 1
	if isRule(src[at:end]) && isRule([]byte(trimmed[last:])) && isBlank(previousLine([]byte(trimmed), last)) { // a heading's underline has text above
		return trimLines(trimmed[:last])
	}
	return content
}

// withDefinitions returns the new content of a section with the definitions at the section's end
// that are still needed, because the note's text or another definition refers to them. Definitions
// with a section of their own are that section's text.
func withDefinitions(content string, src []byte, section markdown.Section, eol string) string {
	above := aboveDefinitions(src, section.ContentStart, section.End, "")
	if isBlank(src[section.ContentStart:above]) {
		return content
	}
	named := map[string]int{} // labels, including those of the definitions
	for _, name := range label.FindAllString(string(src[:section.ContentStart])+content+string(src[above:]), -1) {
		named[strings.ToLower(name)]++
	}
	own := map[string]bool{}
	for line := range strings.Lines(content) {
		if definition.MatchString(line) {
			own[strings.ToLower(label.FindString(line))] = true
		}
	}
	var kept, rule strings.Builder
	keep := false
	for line := range bytes.Lines(src[above:section.End]) {
		switch {
		case definition.Match(line):
			name := strings.ToLower(string(label.Find(line)))
			keep = (named[name] > 1 || strings.HasPrefix(name, "[//")) && !own[name] // comments stand around Foam's definitions
		case isRule(bytes.TrimRight(line, "\r\n")):
			rule.Write(line)
			rule.WriteString(eol)
		}
		if keep {
			kept.Write(line)
		}
	}
	if kept.Len() == 0 {
		return content
	}
	if content != "" {
		content += eol + eol
	}
	return content + trimLines(rule.String()+kept.String())
}

func isRule(line []byte) bool { return !isBlank(line) && markdown.IsThematicBreak(line) }

// sticks reports whether new text would run into the block at end, because there is
// no blank line before it and it does not start with '#'.
func sticks(src []byte, end int) bool {
	return end < len(src) && src[end] != '#' && !isBlank(previousLine(src, end))
}

// bodyIndentation returns the indentation of the text below a heading in a list item:
// that of its first line, else a tab more than the heading's, or as far as its text.
func bodyIndentation(src []byte, section markdown.Section) string {
	if start, end := trimBlankLines(src, section.ContentStart, section.End); start < end {
		return leadingSpace(src[start:end])
	}
	if bytes.Contains(src, []byte("\n\t")) {
		return leadingSpace(src[section.Start:]) + "\t"
	}
	return beforeHeading(src, section)
}

func leadingSpace(line []byte) string {
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// replaceBody replaces the text in src[start:end], a run of whole lines, with content,
// keeping the blank lines at its ends.
func replaceBody(src []byte, start, end int, content, eol string) []byte {
	textStart, textEnd := trimBlankLines(src, start, end)
	if textStart < textEnd {
		if content == "" {
			textStart = start
			_, textEnd = markdown.LineAt(src[:end], textEnd)
		}
		return splice(src, textStart, textEnd, content)
	}
	// There is no text to replace. The blank lines there, if any, belong to the text
	// that follows.
	if content == "" {
		return bytes.Clone(src)
	}
	before, after := eol, eol
	if src[start-1] != '\n' { // a heading is above
		before = eol + eol
	}
	if end < len(src) {
		after = eol + eol
	} else if src[start-1] != '\n' {
		after = ""
	}
	return splice(src, start, end, before+content+after)
}

// cutHeading reports whether content starts with the heading of section, and returns
// content up to the end of the heading's text and after its line. Of a heading in a list item, the
// rest is returned without indentation, see [withoutIndentation].
func cutHeading(content string, section markdown.Section) (text, rest string, ok bool) {
	if section.Nested {
		content = strings.TrimLeft(content, " \t\r\n")
	}
	doc := markdown.Parse([]byte(content))
	if len(doc.Headings) == 0 {
		return "", "", false
	}
	h := doc.Headings[0]
	if strings.TrimSpace(content[:h.Start]) != "" || !markdown.SameHeading(h.Text, section.Heading) {
		return "", "", false
	}
	rest = content[h.ContentStart:]
	if section.Nested {
		rest = withoutIndentation(trimLines(rest))
	}
	return content[:h.TextEnd], rest, true
}

// beforeID matches what is between a block and its id: white space, or lines of quote markers.
var beforeID = regexp.MustCompile(`[ \t]*(?:\r?\n[ \t>]*)*$`)

// replaceBlock replaces the text of a block and keeps its id.
func replaceBlock(src []byte, section markdown.Section, content string) ([]byte, error) {
	marker, old := src[section.Start:section.ContentStart], src[section.ContentStart:section.End]
	at := bytes.LastIndexByte(old, '^')
	before := string(beforeID.Find(old[:at]))
	if rest, ok := strings.CutSuffix(content, string(old[at:])); ok && strings.Contains(before, "\n") && strings.HasSuffix(rest, "\n") {
		content = trimLines(rest) // the id stands below the block, not in its quote or item
	}
	if content = unquoted(content, bytes.Count(marker, []byte{'>'})); content == "" {
		return nil, invalid("the new text of block ^%s is empty", section.BlockID)
	}
	id, _ := markdown.BlockID([]byte(content[strings.LastIndexByte(content, '\n')+1:]))
	if section.Item {
		content = strings.TrimLeft(content[markdown.ListMarker([]byte(content), false):], " \t")
	}
	content = continueLines(content, marker)
	if id == "" {
		id = section.BlockID
		content += before + string(old[at:])
	}
	out := splice(src, section.ContentStart, section.End, content)
	if _, err := markdown.FindSection(markdown.Parse(out), out, "^"+id); errors.Is(err, markdown.ErrMissing) { // such as after a fence
		return nil, invalid("the new text cannot end with its id: put ^%s on a line of its own, after a blank line", id)
	}
	return out, nil
}

// quoteMarker matches the marker of a quote at the start of a line.
var quoteMarker = regexp.MustCompile(`^ {0,3}> ?`)

// unquoted removes quote markers that all lines of content have, except blank ones, at most
// depth of them on each line. The text of a quoted block has them if it was copied from the note.
func unquoted(content string, depth int) string {
	lines := strings.SplitAfter(content, "\n")
	bare := func(line string) bool { return strings.TrimSpace(line) != "" && !quoteMarker.MatchString(line) }
	for ; depth > 0 && !slices.ContainsFunc(lines, bare); depth-- {
		for i, line := range lines {
			lines[i] = line[len(quoteMarker.FindString(line)):]
		}
	}
	return trimLines(strings.Join(lines, ""))
}

// InsertBefore inserts content before the heading or block that ref names (see
// [markdown.FindSection]).
func InsertBefore(src []byte, ref, content string) ([]byte, error) {
	doc := markdown.Parse(src)
	section, err := markdown.FindSection(doc, src, ref)
	if err != nil {
		return nil, err
	}
	at := section.Start
	if _, board := doc.FrontMatter.Values["kanban-plugin"]; board { // a lane between the archive and its rule would be archived
		at = aboveRule(src, doc.BodyStart, at)
	}
	return insertBlock(src, doc, at, content, indentation(src, section))
}

// InsertAfter inserts content after the section or block that ref names (see
// [markdown.FindSection]), including the subsections of a section and the children of
// a list item, but before the footnotes and link definitions at the end of the note.
func InsertAfter(src []byte, ref, content string) ([]byte, error) {
	doc := markdown.Parse(src)
	section, err := markdown.FindSection(doc, src, ref)
	if err != nil {
		return nil, err
	}
	at := afterText(src, section.Start, section.After)
	if section.BlockID == "" && section.After == doc.TextEnd {
		at = noteEnd(src, doc, section.Start, content)
	}
	return insertBlock(src, doc, at, content, indentation(src, section))
}

// Append inserts content at the end of the note, before the footnotes and link definitions there,
// and before any comments at its end and the rule above them. In a drawing of Excalidraw, that is above
// the data, which the plugin replaces as a whole when it saves.
func Append(src []byte, content string) ([]byte, error) {
	doc := markdown.Parse(src)
	_, drawing := doc.FrontMatter.Values["excalidraw-plugin"]
	for _, h := range doc.Headings {
		if drawing && h.Level == 1 && (h.Text == "Excalidraw Data" || h.Text == "Text Elements") {
			doc.TextEnd = min(doc.TextEnd, h.Start)
		}
	}
	return insertBlock(src, doc, noteEnd(src, doc, doc.BodyStart, content), content, "")
}

// noteEnd returns where content is added below the text of the note from start, the start of the
// note or of its last section.
func noteEnd(src []byte, doc *markdown.Document, start int, content string) int {
	at := afterText(src, start, doc.TextEnd)
	above := aboveDefinitions(src, start, at, content)
	if slices.ContainsFunc(doc.Headings, func(h markdown.Heading) bool { return h.ContentStart == above }) {
		return at // the definitions have a section of their own
	}
	return above
}

// definition matches the first line of a footnote, and a link definition of a URL or path, as
// opposed to a line of a log such as "[Ann]: yes".
var definition = regexp.MustCompile(`^\[(?:\^[^\]\s]+\]:|[^\]\[^][^\]\[]*\]:[ \t]+(?:<[^>]*>|\S*[/#]\S*|\S+\.\w+)(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*$)`)

// label matches the label of a definition or of what refers to it.
var label = regexp.MustCompile(`\[[^\]\[]+\]`)

// aboveDefinitions returns the start of the line after the text in src[start:end], a run of whole
// lines, without the footnotes and link definitions at its end and the rule above them, or end if
// content is one of these too.
func aboveDefinitions(src []byte, start, end int, content string) int {
	above, text, wrapped := end, false, false // text: lines below continue a footnote; wrapped: without indentation
scan:
	for at := end; at > start && !definition.Match(firstLine(content)); {
		line := previousLine(src, at)
		at = markdown.TrimLineBreak(src, at) - len(line)
		first, _ := utf8.DecodeRune(line)
		indent := leadingSpace(line)
		switch {
		case definition.Match(line) && (!text || bytes.HasPrefix(line, []byte("[^"))):
			above, text, wrapped = at, false, false
		case isBlank(line) && wrapped:
			break scan
		case isBlank(line):
		case len(indent) >= 4 || strings.Contains(indent, "\t"):
			text = true
		case unicode.IsLetter(first) || unicode.IsDigit(first):
			text, wrapped = true, true
		default:
			break scan
		}
	}
	if above < end {
		above = aboveRule(src, start, above)
	}
	return afterText(src, start, above)
}

// aboveRule returns the start of the rule that is the last text of src[start:at], or at.
func aboveRule(src []byte, start, at int) int {
	end := afterText(src, start, at)
	rule := previousLine(src, end)
	end = markdown.TrimLineBreak(src, end) - len(rule)
	if end > start && isRule(rule) && isBlank(previousLine(src, end)) { // a heading's underline has text above
		return end
	}
	return at
}

// afterText returns the start of the line after the text in src[start:end], or end if
// all lines are blank.
func afterText(src []byte, start, end int) int {
	if textStart, textEnd := trimBlankLines(src, start, end); textStart < textEnd {
		_, end = markdown.LineAt(src, textEnd)
	}
	return end
}

// Prepend inserts content at the start of the body: after front matter, page properties, and the
// one heading of level 1, which is the note's title, with Notion's properties below it, unless
// content has one.
func Prepend(src []byte, content string) ([]byte, error) {
	doc := markdown.Parse(src)
	at := textFrom(src, doc.BodyStart)
	if doc.PropertiesEnd > 0 {
		_, at = markdown.LineAt(src, doc.PropertiesEnd-1)
	}
	if titles := titlesOf(doc); len(titles) == 1 && titles[0].Start == at && len(titlesOf(markdown.Parse([]byte(content)))) == 0 {
		_, properties := doc.NotionProperties(src)
		at = textFrom(src, max(titles[0].ContentStart, properties))
	}
	return insertBlock(src, doc, at, content, "")
}

// titlesOf returns the headings of level 1.
func titlesOf(doc *markdown.Document) []markdown.Heading {
	return slices.DeleteFunc(slices.Clone(doc.Headings), func(h markdown.Heading) bool { return h.Level > 1 || h.Nested })
}

// textFrom returns the start of the first line with text from the offset at on, or at if there is
// none.
func textFrom(src []byte, at int) int {
	if start, end := trimBlankLines(src, at, len(src)); start < end {
		return start
	}
	return at
}

// addToSection inserts content at the end of a section (append), before the next
// heading of the same or a higher level or the rule above it, or at its start
// (prepend), after the heading. A heading that content repeats is left out.
func (e *Edit) addToSection(src []byte) ([]byte, error) {
	doc := markdown.Parse(src)
	section, err := markdown.FindSection(doc, src, e.Heading)
	create := errors.Is(err, markdown.ErrMissing) && e.CreateHeading
	if create {
		var added int
		if src, added, err = addHeading(src, e.Heading); err != nil {
			return nil, err
		}
		doc = markdown.Parse(src)
		section = markdown.HeadingSection(doc, added)
	}
	if err != nil {
		return nil, err
	}
	if section.BlockID != "" {
		return nil, invalid("^%s is a block and has no section; insert_after puts text after it", section.BlockID)
	}
	content := e.Content
	own := string(src[section.Start:section.ContentStart])
	if heading, rest, ok := cutHeading(content, section); ok {
		if heading, own = strings.TrimSpace(heading), strings.TrimSpace(own); section.Nested {
			heading, own = withoutMarkers(heading), withoutMarkers(own)
		}
		if heading == own {
			content = rest
		}
	}
	if e.CreateHeading && strings.TrimSpace(content) == "" { // only the heading is wanted
		return src, nil
	}
	at, indent := section.ContentStart, ""
	if section.Nested && (e.Op == OpPrepend || !inItem(src, section, trimLines(content))) { // prepended, it would take in the text below it
		indent = bodyIndentation(src, section)
	}
	if textStart, textEnd := trimBlankLines(src, section.ContentStart, section.End); textStart < textEnd {
		at = textStart
		if e.Op == OpAppend {
			_, at = markdown.LineAt(src, textEnd)
			at = aboveDefinitions(src, textStart, at, content)
			if areRows(trimLines(content)) {
				at = rowsEnd(src, doc, section, at)
			}
		}
	}
	return insertBlock(src, doc, at, content, indent)
}

// withoutMarkers returns the text of a line without list markers before it.
func withoutMarkers(line string) string {
	for {
		line = strings.TrimSpace(line)
		size := markdown.ListMarker([]byte(line+" "), false) // 0 for an empty line
		if size == 0 {
			return line
		}
		line = line[size:]
	}
}

// addHeading adds a heading at the end of the note and returns its number. Its level is that of
// ref ("### Maps"), or 2 if ref has none ("Maps").
func addHeading(src []byte, ref string) (out []byte, added int, err error) {
	level, name := markdown.SplitLevel(strings.TrimSpace(ref))
	name = strings.TrimSpace(strings.TrimLeft(name, "#"))
	if strings.HasPrefix(name, "^") {
		return nil, 0, invalid("%s is a block, and no heading can be made for it", name)
	}
	if _, line := markdown.SplitLine(name); name == "" || line > 0 || strings.ContainsAny(name, "\r\n") || strings.Contains(name, markdown.PathSeparator) {
		return nil, 0, invalid("create_heading needs the text of one heading, not %q", ref)
	}
	if level == 0 {
		level = 2
	}
	out, err = Append(src, strings.Repeat("#", level)+" "+name)
	if err != nil {
		return nil, 0, err
	}
	doc := markdown.Parse(out)
	text := markdown.PlainText([]byte(name))
	for added = len(doc.Headings) - 1; added >= 0 && doc.Headings[added].Text != text; {
		added-- // those of a drawing's data follow
	}
	if added < 0 {
		return nil, 0, invalid("no heading can be made at the end of the note, which is inside code or HTML; close that first")
	}
	return out, added, nil
}

// insertBlock inserts content between the lines before and after at, separated from
// each by a blank line unless both belong to one list, or content starts a list that was
// directly under its heading. Rows of a table join a table there, see insertRows. Front
// matter, as in a whole note that is to be merged, is accepted only at the start.
func insertBlock(src []byte, doc *markdown.Document, at int, content, indent string) ([]byte, error) {
	eol := lineEnding(src, at)
	content = adopt(content, eol)
	if content == "" {
		return nil, invalid("the content is empty")
	}
	if areRows(content) {
		return insertRows(src, doc.BodyStart, at, content)
	}
	if len(markdown.ReadFrontMatter([]byte(content)).Values) > 0 && len(bytes.TrimSpace(src[:at])) > 0 {
		return nil, invalid("the content starts with front matter, which would be text here: leave it out, and set its keys with set_front_matter")
	}
	content = indentLines(content, indent)
	first := firstLine(content)
	end, _ := markdown.LineAt(src, at)
	following := src[at:end]
	before, after := "", ""
	if at > 0 && src[at-1] != '\n' && string(src[:at]) != markdown.ByteOrderMark {
		before = eol
	}
	if at > doc.BodyStart {
		tight := !isBlank(following) && continues(first, following) &&
			slices.ContainsFunc(doc.Headings, func(h markdown.Heading) bool { return h.ContentStart == at })
		if !isBlank(previousLine(src, at)) && !continues(src[doc.BodyStart:at], first) && !tight {
			before += eol
		}
	}
	if at < len(src) {
		after = eol
		if !isBlank(following) && !continues([]byte(content), following) {
			after += eol
		}
	} else if len(src) == 0 || src[len(src)-1] == '\n' {
		after = eol
	}
	return splice(src, at, at, before+content+after), nil
}

// continues reports whether the line next continues the list at the end of text, whose
// last line may be indented text below the item's first.
func continues(text, next []byte) bool {
	if !isItem(next) {
		return false
	}
	for end := len(text); end > 0; {
		line := previousLine(text, end)
		if isItem(line) || leadingSpace(line) == "" || isBlank(line) {
			return isItem(line)
		}
		end = markdown.TrimLineBreak(text, end) - len(line)
	}
	return false
}

// isItem reports whether a line is the first of a list item.
func isItem(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && markdown.ListMarker(line, false) > 0 && !markdown.IsThematicBreak(line)
}

// indentation returns the indentation of a list item, which new siblings share.
func indentation(src []byte, section markdown.Section) string {
	if !section.Item && !section.Nested {
		return ""
	}
	return leadingSpace(src[section.Start:])
}

// indentLines puts indent before each line of content that is not blank, in place of the
// indentation there, unless its first line has as much.
func indentLines(content, indent string) string {
	if content == "" || column(content) >= column(indent) {
		return content
	}
	if content = withoutIndentation(content); column(content) > 0 {
		return content
	}
	lines := strings.SplitAfter(content, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "")
}

// column returns the column, from 0, of the first character of s that is no space or tab.
func column(s string) int {
	n := 0
	for _, c := range leadingSpace([]byte(s)) {
		if c == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

// inItem reports whether content is indented as far as the heading of a section in a list item, so
// that it belongs to that item.
func inItem(src []byte, section markdown.Section, content string) bool {
	return column(content) >= column(beforeHeading(src, section))
}

// beforeHeading returns white space as wide as what is before a heading in a list item.
func beforeHeading(src []byte, section markdown.Section) string {
	end, _ := markdown.LineAt(src, section.Start)
	line := strings.TrimRightFunc(string(src[section.Start:end]), unicode.IsSpace)
	return asSpace(line[:len(line)-len(withoutMarkers(line))])
}

// withoutIndentation returns content without the indentation of its first line if all lines have
// it, since the item that it was written for may be indented in another way.
func withoutIndentation(content string) string {
	indent := leadingSpace([]byte(content))
	for line := range strings.Lines(content) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, indent) {
			return content
		}
	}
	return strings.ReplaceAll("\n"+content, "\n"+indent, "\n")[1:]
}

// asSpace returns markers with white space in place of those of list items.
func asSpace(markers string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, markers)
}

// continueLines indents all lines but the first so that they continue the block whose
// first line starts with marker: it repeats quote markers and replaces list markers
// with white space. Blank lines get the quote markers too.
func continueLines(content string, marker []byte) string {
	first, rest, ok := strings.Cut(content, "\n")
	if !ok {
		return content
	}
	indent := asSpace(string(marker))
	text := strings.LastIndexByte(indent, '>') + 1
	if text > 0 && strings.HasPrefix(indent[text:], " ") {
		text++
	}
	rest = indentLines(rest, indent[text:])
	return first + "\n" + indent[:text] + strings.ReplaceAll(rest, "\n", "\n"+indent[:text])
}
