package markdown

import (
	"bytes"
	"strings"
)

// quoting is how the text around a front matter link is quoted, which decides
// how a new target must be escaped.
type quoting uint8

const (
	plain quoting = iota
	singleQuoted
	doubleQuoted
	literal // single quotes in TOML, which know no escapes
	flow    // outside quotes, where "[[x]]" is a list in a list
	comment // nothing there is a link
)

// addFrontMatterLinks records the wikilinks in front matter. Those that a
// string value holds are links; "[[x]]" without quotes, a list in a list to
// YAML, is what many people write and is one as well.
func addFrontMatterLinks(doc *Document, src []byte) {
	fm := &doc.FrontMatter
	if fm.Err != nil || !bytes.Contains(src[fm.InnerStart:fm.InnerEnd], []byte("[[")) {
		return
	}
	inStrings := map[string]bool{}
	collectWikilinks(fm.Values, inStrings)
	line := 1 + bytes.Count(src[:fm.InnerStart], []byte{'\n'})
	for pos := fm.InnerStart; pos < fm.InnerEnd; line++ {
		end, next := lineAt(src, pos)
		addLineLinks(doc, src[:end], pos, line, inStrings)
		pos = next
	}
}

// addLineLinks records the links on the line of front matter at pos, which ends
// with src.
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
		if quote == singleQuoted && doc.FrontMatter.Format == "toml" {
			quote = literal
		}
		if quote == comment {
			return
		}
		if !inStrings[unquoteMeta(string(inner), quote)] {
			if quote != plain || bytes.ContainsAny(inner, ",[]{}\"'") {
				continue
			}
			quote = flow
		}
		l := splitWikilink(src, open+2, closing)
		l.Target = nfc(unquoteMeta(l.Target, quote))
		l.Anchor = unquoteMeta(l.Anchor, quote)
		l.Alias = unquoteMeta(l.Alias, quote)
		l.Kind, l.Start, l.End, l.Line, l.quote = LinkFrontMatter, open, i, line, quote
		if l.Target != "" || l.Anchor != "" {
			doc.Links = append(doc.Links, l)
		}
	}
}

// quotingAt tells which quotes are open after before, the start of a line.
func quotingAt(before []byte) quoting {
	open := plain
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case open == doubleQuoted && c == '\\':
			i++
		case open == doubleQuoted && c == '"', open == singleQuoted && c == '\'':
			open = plain
		case open == plain && (c == '"' || c == '\'') && startsValue(before[:i]):
			open = singleQuoted
			if c == '"' {
				open = doubleQuoted
			}
		case open == plain && c == '#' && (i == 0 || before[i-1] == ' '):
			return comment
		}
	}
	return open
}

// startsValue tells whether a quote after before opens a quoted value and is no
// apostrophe.
func startsValue(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	return len(before) == 0 || bytes.IndexByte([]byte(":-[{,="), before[len(before)-1]) >= 0
}

// unquoteMeta resolves the escapes of a part of a quoted string.
func unquoteMeta(s string, quote quoting) string {
	switch quote {
	case singleQuoted:
		return strings.ReplaceAll(s, "''", "'")
	case doubleQuoted:
		if strings.IndexByte(s, '\\') < 0 {
			return s
		}
		values, _, err := decodeYAML([]byte("v: \"" + s + "\""))
		if text, ok := values["v"].(string); ok && err == nil {
			return text
		}
	}
	return s
}

// collectWikilinks puts what stands between "[[" and "]]" in the strings of a
// value into found.
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
