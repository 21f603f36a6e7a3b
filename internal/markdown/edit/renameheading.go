package edit

import (
	"bytes"
	"strings"

	"notesd/internal/markdown"
)

// HeadingRename is the text of a note before and after its headings were renamed. Both have
// the same number of headings.
type HeadingRename struct{ Before, After []byte }

// RenameHeading replaces the text of the heading that ref names (see
// [markdown.FindSection]). It keeps the level, the heading marks, and a block id or
// attributes at the end. It does not change links to the heading; see [RewriteAnchors].
// The error is a [*markdown.SectionError], or wraps [ErrInvalid] if text would not make
// a single heading of that level.
func RenameHeading(src []byte, ref, text string) (HeadingRename, error) {
	var none HeadingRename
	doc := markdown.Parse(src)
	section, err := markdown.FindSection(doc, src, ref)
	if err != nil {
		return none, err
	}
	if section.BlockID != "" {
		return none, invalid("^%s is a block and no heading", section.BlockID)
	}
	level, text := markdown.SplitLevel(strings.TrimSpace(text))
	switch {
	case text == "":
		return none, invalid("rename_heading needs the new text of the heading")
	case strings.ContainsAny(text, "\r\n"):
		return none, invalid("the text of a heading is one line")
	case level > 0 && level != section.Level:
		return none, invalid("rename_heading keeps the level, which is %d: give the text alone", section.Level)
	}
	i := section.Index
	h := doc.Headings[i]
	old := src[h.TextStart:h.TextEnd]
	if _, at := markdown.BlockID(old); at > 0 {
		old = old[:at]
	}
	end := h.TextStart + len(bytes.TrimRight(old, " \t"))
	want := markdown.PlainText([]byte(text + string(src[end:h.TextEnd])))
	if h.TextStart == h.TextEnd {
		text = " " + text // the heading had no text
	}
	out := splice(src, h.TextStart, end, text)
	after := markdown.Parse(out).Headings
	if len(after) != len(doc.Headings) || after[i].Start != h.Start || after[i].Level != h.Level || after[i].Text != want {
		return none, invalid("%q cannot be the text of that heading", text)
	}
	return HeadingRename{src, out}, nil
}
