package markdown

import (
	"bytes"
	"strings"
)

// quoting is the quoting around a front matter link, which determines how a new
// target must be escaped.
type quoting uint8

// The kinds of quoting.
const (
	Unquoted quoting = iota
	SingleQuoted
	DoubleQuoted
	LiteralQuoted // single quotes in TOML, which have no escapes
	InBrackets    // unquoted, where "[[x]]" is a list in a list
	comment       // in a comment, which contains no links
)

// addFrontMatterLinks records the wikilinks in the string values of front matter.
// "[[x]]" without quotes is a list in a list to YAML, but many people write links
// that way, so it counts too. In TOML, it is the header of a table.
func addFrontMatterLinks(doc *Document, src []byte) {
	fm := &doc.FrontMatter
	if fm.Err != nil || !bytes.Contains(src[fm.InnerStart:fm.InnerEnd], []byte("[[")) {
		return
	}
	inStrings := map[string]bool{}
	collectWikilinks(fm.Values, inStrings)
	line := 1 + bytes.Count(src[:fm.InnerStart], []byte{'\n'})
	for pos := fm.InnerStart; pos < fm.InnerEnd; line++ {
		end, next := LineAt(src, pos)
		addLineLinks(doc, src[:end], pos, line, inStrings)
		pos = next
	}
}

// addLineLinks records the links on the line of front matter that starts at pos and
// ends at the end of src.
func addLineLinks(doc *Document, src []byte, pos, line int, inStrings map[string]bool) {
	for i := pos; ; {
		open := bytes.Index(src[i:], []byte("[["))
		if open < 0 {
			return
		}
		open += i
		length := bytes.Index(src[open+2:], []byte("]]"))
		if length < 0 {
			return
		}
		closing := open + 2 + length
		if src[open+2] == '[' {
			i = open + 1
			continue
		}
		i = closing + 2
		inner := src[open+2 : closing]
		quote := quotingAt(src[pos:open])
		if quote == SingleQuoted && doc.FrontMatter.Format == "toml" {
			quote = LiteralQuoted
		}
		if quote == comment {
			return
		}
		if !inStrings[unquoteMeta(string(inner), quote)] {
			if quote != Unquoted || doc.FrontMatter.Format == "toml" || bytes.ContainsAny(inner, ",[]{}\"'") {
				continue
			}
			quote = InBrackets
		}
		l := splitWikilink(src, open+2, closing)
		l.Target = NFC(unquoteMeta(l.Target, quote))
		l.Anchor = unquoteMeta(l.Anchor, quote)
		l.Alias = unquoteMeta(l.Alias, quote)
		l.Kind, l.Start, l.End, l.Line, l.Quote = LinkFrontMatter, open, i, line, quote
		if l.Target != "" || l.Anchor != "" {
			doc.Links = append(doc.Links, l)
		}
	}
}

// quotingAt returns the quoting in effect after before, the start of a line.
func quotingAt(before []byte) quoting {
	open := Unquoted
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case open == DoubleQuoted && c == '\\', open == SingleQuoted && bytes.HasPrefix(before[i:], []byte("''")):
			i++ // the next byte is escaped
		case open == DoubleQuoted && c == '"', open == SingleQuoted && c == '\'':
			open = Unquoted
		case open == Unquoted && (c == '"' || c == '\'') && startsValue(before[:i]):
			open = SingleQuoted
			if c == '"' {
				open = DoubleQuoted
			}
		case open == Unquoted && c == '#' && (i == 0 || before[i-1] == ' '):
			return comment
		}
	}
	return open
}

// startsValue reports whether a quote after before opens a quoted value, as opposed to
// being an apostrophe.
func startsValue(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	return len(before) == 0 || bytes.IndexByte([]byte(":-[{,="), before[len(before)-1]) >= 0
}

// unquoteMeta decodes the escapes in a part of a quoted string.
func unquoteMeta(s string, quote quoting) string {
	switch quote {
	case SingleQuoted:
		return strings.ReplaceAll(s, "''", "'")
	case DoubleQuoted:
		if strings.IndexByte(s, '\\') < 0 {
			return s
		}
		values, _, err := decodeFrontMatter("yaml", []byte("v: \""+s+"\""))
		if text, ok := values["v"].(string); ok && err == nil {
			return text
		}
	}
	return s
}

// collectWikilinks adds the contents of each "[[…]]" in the strings of a value to
// found.
func collectWikilinks(value any, found map[string]bool) {
	switch v := value.(type) {
	case string:
		for {
			_, after, ok := strings.Cut(v, "[[")
			if !ok {
				return
			}
			inner, rest, ok := strings.Cut(after, "]]")
			if !ok {
				return
			}
			found[inner] = true
			v = rest
		}
	case []any:
		for _, item := range v {
			collectWikilinks(item, found)
		}
	case map[string]any:
		for _, item := range v {
			collectWikilinks(item, found)
		}
	}
}
