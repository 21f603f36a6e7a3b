package edit

import (
	"bytes"
	"regexp"
	"strings"

	"notesd/internal/markdown"
)

// delimiterRow matches the line between the header and the body of a table, such as
// "|---|:-:|", and the markers of the quote or the indentation of the list item before it.
var delimiterRow = regexp.MustCompile(`^([ \t>]*)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// delimiterPrefix reports whether a line is a delimiter row, and returns what precedes it.
func delimiterPrefix(line []byte) (prefix string, ok bool) {
	m := delimiterRow.FindSubmatch(line)
	if m == nil || bytes.IndexByte(line, '|') < 0 {
		return "", false
	}
	return string(m[1]), true
}

// areRows reports whether content consists of rows of a table, without a header.
func areRows(content string) bool {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		_, isDelimiter := delimiterPrefix([]byte(line))
		if isDelimiter || len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
			return false
		}
	}
	return true
}

// insertRows inserts rows at the end of the table before at or, if there is none, as the
// first rows of the table after it. A row without a table would be displayed as text, so
// it is rejected.
func insertRows(src []byte, bodyStart, at int, rows string) ([]byte, error) {
	place, prefix, ok := tableEnd(src, bodyStart, at)
	if !ok {
		place, prefix, ok = tableStart(src, at)
	}
	if !ok {
		row, line := markdown.Truncate(string(firstLine(rows)), 80), 1+bytes.Count(src[:at], []byte{'\n'})
		return nil, invalid("%q is a row, but there is no table at line %d: give a table with its header and a line like |---|, or insert the row with replace_text", row, line)
	}
	lines := strings.SplitAfter(rows, "\n")
	for i, line := range lines {
		lines[i] = prefix + strings.TrimLeft(line, " \t")
	}
	eol := lineEnding(src, place)
	rows = withLineEnding(strings.Join(lines, ""), eol)
	if src[place-1] != '\n' {
		return splice(src, place, place, eol+rows), nil
	}
	return splice(src, place, place, rows+eol), nil
}

// rowsEnd returns where rows are appended to a section: at, its end, if a table is there, else
// after the last row of its only table.
func rowsEnd(src []byte, doc *markdown.Document, section markdown.Section, at int) int {
	if _, _, ok := tableEnd(src, doc.BodyStart, at); ok {
		return at
	}
	tables, end := 0, at
	for start, paragraphEnd := range doc.Paragraphs(src) {
		if start < section.ContentStart || start >= section.End {
			continue
		}
		pos, inTable := start, false
		for line := range bytes.Lines(src[start:paragraphEnd]) {
			pos += len(line)
			if _, isDelimiter := delimiterPrefix(bytes.TrimRight(line, "\r\n")); isDelimiter && !inTable {
				if _, _, inTable = tableEnd(src, start, pos); inTable {
					tables++
				}
			}
			if inTable = inTable && bytes.IndexByte(line, '|') >= 0; inTable {
				end = pos
			}
		}
	}
	if tables != 1 {
		return at
	}
	return end
}

// tableEnd returns the end of the table before at, from which only blank lines and the
// table's block id may separate it, and what its rows start with.
func tableEnd(src []byte, bodyStart, at int) (end int, prefix string, ok bool) {
	pos := bodyStart + len(bytes.TrimRight(src[bodyStart:at], " \t\r\n"))
	last := src[bodyStart+bytes.LastIndexByte(src[bodyStart:pos], '\n')+1 : pos]
	if id, mark := markdown.BlockID(last); id != "" && mark == 0 {
		pos = bodyStart + len(bytes.TrimRight(src[bodyStart:pos-len(last)], " \t\r\n"))
	}
	_, end = markdown.LineAt(src, pos)
	for row := true; pos > bodyStart; row = false {
		start := bodyStart + bytes.LastIndexByte(src[bodyStart:pos], '\n') + 1
		line := src[start:pos]
		if isBlank(line) || row && bytes.IndexByte(line, '|') < 0 {
			break
		}
		if prefix, ok = delimiterPrefix(line); ok {
			header := previousLine(src[bodyStart:], start-bodyStart)
			return end, prefix, bytes.IndexByte(header, '|') >= 0
		}
		pos = max(bodyStart, markdown.TrimLineBreak(src, start))
	}
	return 0, "", false
}

// tableStart returns the start of the body of the table after at, from which only blank
// lines may separate it, and what its rows start with.
func tableStart(src []byte, at int) (body int, prefix string, ok bool) {
	at, _ = trimBlankLines(src, at, len(src))
	end, next := markdown.LineAt(src, at)
	if bytes.IndexByte(src[at:end], '|') < 0 {
		return 0, "", false
	}
	end, body = markdown.LineAt(src, next)
	prefix, ok = delimiterPrefix(src[next:end])
	return body, prefix, ok
}
