package markdown

import (
	"bytes"
	"strings"
)

// Operations of an [Edit].
const (
	OpReplaceText    = "replace_text"
	OpReplaceSection = "replace_section"
	OpInsertBefore   = "insert_before"
	OpInsertAfter    = "insert_after"
	OpAppend         = "append"
	OpPrepend        = "prepend"
	OpSetFrontMatter = "set_front_matter"
	OpReplaceAll     = "replace_all"
)

var operations = []string{
	OpReplaceText, OpReplaceSection, OpInsertBefore, OpInsertAfter,
	OpAppend, OpPrepend, OpSetFrontMatter, OpReplaceAll,
}

// Edit is one change to a note. Which fields count depends on Op.
type Edit struct {
	Op string `json:"op"`
	// Old and New belong to replace_text, with Count, the number of times that
	// Old must occur, 1 when zero.
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	Count int    `json:"count,omitempty"`
	// Heading is a section reference as [FindSection] takes it, for
	// replace_section, insert_before and insert_after.
	Heading string `json:"heading,omitempty"`
	// Content belongs to those, and to append, prepend and replace_all.
	Content string `json:"content,omitempty"`
	// Key and Value belong to set_front_matter; a nil Value removes the key.
	Key   string `json:"key,omitempty"`
	Value any    `json:"value,omitempty"`
}

// Apply makes the edits one after the other, each on the outcome of those
// before it, and returns the new text. When one fails nothing is returned but an
// [*EditError]. The source is not modified.
func Apply(src []byte, edits []Edit) ([]byte, error) {
	if len(edits) == 0 {
		return nil, invalid("there are no edits")
	}
	out := src
	for i, edit := range edits {
		next, err := edit.apply(out)
		if err != nil {
			return nil, &EditError{Index: i, Op: edit.Op, Err: err}
		}
		out = next
	}
	return out, nil
}

func (e *Edit) apply(src []byte) ([]byte, error) {
	switch e.Op {
	case OpReplaceText:
		return ReplaceText(src, e.Old, e.New, e.Count)
	case OpReplaceSection:
		return ReplaceSection(src, e.Heading, e.Content)
	case OpInsertBefore:
		return InsertBefore(src, e.Heading, e.Content)
	case OpInsertAfter:
		return InsertAfter(src, e.Heading, e.Content)
	case OpAppend:
		return Append(src, e.Content)
	case OpPrepend:
		return Prepend(src, e.Content)
	case OpSetFrontMatter:
		return SetFrontMatter(src, e.Key, e.Value)
	case OpReplaceAll:
		return replaceAll(src, e.Content), nil
	}
	return nil, invalid("op %q is none of %s", e.Op, strings.Join(operations, ", "))
}

// replaceAll returns content with the line endings, if it has any, and the byte
// order mark of src.
func replaceAll(src []byte, content string) []byte {
	if bytes.IndexByte(src, '\n') >= 0 {
		content = withLineEnding(content, lineEnding(src))
	}
	if bytes.HasPrefix(src, []byte(byteOrderMark)) && !strings.HasPrefix(content, byteOrderMark) {
		content = byteOrderMark + content
	}
	return []byte(content)
}
