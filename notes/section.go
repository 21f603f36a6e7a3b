package notes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/markdown"
)

// Section returns the first and last line of the part of the note that ref names: a
// heading with its section, by its text, by its path ("Plan > Risks"), in the form of a
// link ("#Plan#Risks"), or with its line as in errors ("Risks (line 12)"); or a block
// by its ID ("^id"). Lines count from 1. An [*Error] with [ErrNotFound] or
// [ErrAmbiguous] lists candidates.
func (n *Note) Section(ref string) (first, last int, err error) {
	src := []byte(n.Content)
	section, err := markdown.FindSection(markdown.Parse(src), src, ref)
	if err != nil {
		return 0, 0, sectionProblem(n.Path, ref, err)
	}
	body := strings.TrimSuffix(n.Content[section.Start:section.End], "\n")
	return section.Line, section.Line + strings.Count(body, "\n"), nil
}

// An OutlineItem is a heading with the extent of its section, which includes nested
// sections.
type OutlineItem struct {
	Heading   string `json:"heading"`
	Level     int    `json:"level"`
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
	Bytes     int    `json:"bytes"` // from the heading on, as in an edit of the section
}

// Outline returns the note's headings with the extents of their sections.
func (n *Note) Outline() []OutlineItem {
	var items []OutlineItem
	doc := markdown.Parse([]byte(n.Content))
	for i, h := range doc.Headings {
		section := n.Content[h.Start:markdown.HeadingSection(doc, i).End]
		lines := strings.Count(strings.TrimSuffix(section, "\n"), "\n")
		items = append(items, OutlineItem{h.Text, h.Level, h.Line, h.Line + lines, len(section)})
	}
	return items
}

// HeadingRefs returns, for each of the note's headings in order, a reference accepted
// by [Note.Section] and [Edit]: its path ("Plan > Risks"), with its line if the path is
// not unique. Headings without text, and those in quotes, are omitted.
func (n *Note) HeadingRefs() []string {
	refs := markdown.References(markdown.Parse([]byte(n.Content)))
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "" })
}

// sectionProblem converts the parser's error about a reference to a section to an
// [Error].
func sectionProblem(notePath, ref string, err error) error {
	e := &Error{Op: "read", Path: notePath, Err: ErrNotFound, Detail: fmt.Sprintf("there is no heading %s", Quote(ref)), Hint: "Pass one of the note's headings, or lines."}
	if section, ok := errors.AsType[*markdown.SectionError](err); ok {
		e.Candidates = section.Candidates
	}
	switch {
	case errors.Is(err, markdown.ErrAmbiguous):
		e.Err, e.Detail = ErrAmbiguous, fmt.Sprintf("%d headings are called %s", len(e.Candidates), Quote(ref))
		e.Hint = "Pass one of these, with its line."
	case len(e.Candidates) == 0:
		e.Hint = "The note has no headings: read it whole, or pass lines."
	}
	if strings.HasPrefix(strings.TrimPrefix(ref, "#"), "^") {
		e.Detail = "there is no block " + Quote(ref)
	}
	return e
}
