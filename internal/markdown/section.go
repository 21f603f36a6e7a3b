package markdown

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"notesd/internal/phrase"
)

const maxCandidates = 50

// Section is a heading with the text below it, or a block with an id.
type Section struct {
	Heading string // its text; empty for a block
	Index   int    // of the heading in the document's headings
	BlockID string // the id of a block without '^'; empty for a heading
	// Level is the heading's level, 0 for a block.
	Level int
	Line  int
	// Start is the start of the first line, ContentStart the start of the text
	// (after the heading's line, or after a list item's marker), and End its end
	// (for a section, the start of the line after it).
	Start, ContentStart, End int

	Nested bool // the heading is in a list item
	Item   bool // the block is a list item
	After  int  // offset at which to insert text after it
}

// FindSection returns the section that ref names: a heading's text ("Risks", or
// "## Risks" to select the level too), with or without inline markup, the path to it
// ("Plan > Risks"), either with its line as errors show it ("Risks (line 12)"), a link's
// anchor ("#Plan#Risks", "my-heading"), or a block's id ("^id"). Exact matches take precedence over matches
// that ignore case and punctuation. doc must be the result of [Parse] for src. The
// error is a [*SectionError].
func FindSection(doc *Document, src []byte, ref string) (Section, error) {
	ref = strings.TrimSpace(ref)
	name, line := SplitLine(ref)
	if i := slices.IndexFunc(doc.Headings, func(h Heading) bool { return h.Line == line }); i >= 0 {
		// In the form that References returns, syntax in the path, such as '#', has no meaning.
		if path, whole := pathText(doc, i); whole && strings.Trim(strings.TrimSpace(path), `"`) == NFC(name) {
			return HeadingSection(doc, i), nil
		}
	}
	if id, ok := strings.CutPrefix(strings.TrimLeft(name, "#"), "^"); ok && isBlockID([]byte(id)) {
		return findBlock(doc, src, ref, id, line)
	}
	level, name := SplitLevel(name)
	end, _ := headingAttributes([]byte(name))
	if name = name[:end]; name == "" {
		return Section{}, missing(doc, ref)
	}
	if found := onLine(doc, matchPaths(doc, name), line); len(found) == 1 {
		return HeadingSection(doc, found[0]), nil
	}
	refs := references(name)
	if plain := PlainText([]byte(name)); plain != "" && plain != name { // ref has inline markup
		refs = append(refs, references(plain)...)
	}
	for _, same := range []func(a, b string) bool{sameText, SameHeading} {
		for _, names := range refs {
			found := onLine(doc, ofLevel(doc, matchHeadings(doc, names, same), level), line)
			switch {
			case len(found) == 1:
				return HeadingSection(doc, found[0]), nil
			case len(found) > 1:
				return Section{}, &SectionError{Ref: ref, Err: ErrAmbiguous, Candidates: candidates(doc, found)}
			}
		}
	}
	return Section{}, missing(doc, ref)
}

func missing(doc *Document, ref string) error {
	list := candidates(doc, likely(doc, ref))
	for _, b := range doc.Blocks {
		if len(list) < maxCandidates {
			list = append(list, withLine("^"+b.ID, b.Line))
		}
	}
	return &SectionError{Ref: ref, Err: ErrMissing, Candidates: list}
}

// likely returns the headings in order or, if they are too many to be listed, those first that ref
// may mean: they have more of its words, or are spelled more like it.
func likely(doc *Document, ref string) []int {
	const (
		long    = 64  // bytes of a heading to compare
		spelled = 500 // headings whose spelling is compared: those with the most words
	)
	all, unlike := make([]int, len(doc.Headings)), make([]int, len(doc.Headings))
	for i := range all {
		all[i] = i
	}
	if len(all) <= maxCandidates {
		return all
	}
	name, _ := SplitLine(ref)
	name = name[max(strings.LastIndexByte(name, '>'), strings.LastIndexByte(name, '#'))+1:]
	name = phrase.Cut(fold(name), long)
	words := strings.Fields(name)
	for i, h := range doc.Headings {
		text := phrase.Cut(fold(h.Text), long)
		for _, w := range words {
			if !strings.Contains(text, w) {
				unlike[i] += long
			}
		}
	}
	byLikeness := func(a, b int) int { return cmp.Compare(unlike[a], unlike[b]) }
	slices.SortStableFunc(all, byLikeness)
	all = all[:min(len(all), spelled)]
	for _, i := range all {
		unlike[i] += phrase.Distance([]byte(name), []byte(phrase.Cut(fold(doc.Headings[i].Text), long)))
	}
	slices.SortStableFunc(all, byLikeness)
	return all
}

// SplitLine splits a reference such as "Risks (line 12)". The line is 0 if ref has none.
func SplitLine(ref string) (string, int) {
	m := lineSuffix.FindStringSubmatch(ref)
	if m == nil {
		return ref, 0
	}
	line, _ := strconv.Atoi(m[2]) // at most nine digits
	return strings.Trim(m[1], `"`), line
}

// onLine filters headings by line; 0 means any.
func onLine(doc *Document, headings []int, line int) []int {
	if line == 0 {
		return headings
	}
	return slices.DeleteFunc(headings, func(i int) bool { return doc.Headings[i].Line != line })
}

// ofLevel filters headings by level; 0 means any. If none has the level, it returns
// all of them, because the level in references such as "## Risks" is often wrong.
func ofLevel(doc *Document, headings []int, level int) []int {
	other := func(i int) bool { return doc.Headings[i].Level != level }
	if level == 0 || !slices.ContainsFunc(headings, func(i int) bool { return !other(i) }) {
		return headings
	}
	return slices.DeleteFunc(headings, other)
}

// SplitLevel splits a reference such as "## Risks". The level is 0 if ref has none.
func SplitLevel(ref string) (int, string) {
	rest := strings.TrimLeft(ref, "#")
	if hashes := len(ref) - len(rest); hashes <= 6 && strings.HasPrefix(rest, " ") {
		return hashes, strings.TrimSpace(rest)
	}
	return 0, ref
}

// references returns the interpretations of name, as lists of headings from the
// outermost: a single heading, a path separated by ">", an anchor separated by "#".
func references(name string) [][]string {
	refs := [][]string{{name}}
	for _, separator := range []string{">", "#"} {
		if !strings.Contains(name, separator) {
			continue
		}
		var names []string
		for _, part := range strings.Split(name, separator) {
			if part = strings.TrimSpace(part); part != "" {
				names = append(names, part)
			}
		}
		if len(names) > 0 {
			refs = append(refs, names)
		}
	}
	return refs
}

// matchPaths returns the headings whose path, in the form of candidates, ends with
// name. It also finds headings that contain ">".
func matchPaths(doc *Document, name string) []int {
	if !strings.Contains(name, PathSeparator) {
		return nil
	}
	name = PathSeparator + NFC(name)
	last := name[strings.LastIndex(name, PathSeparator)+len(PathSeparator):]
	var found []int
	for i, h := range doc.Headings {
		if strings.HasSuffix(h.Text, last) &&
			strings.HasSuffix(PathSeparator+strings.Join(headingPath(doc, i), PathSeparator), name) {
			found = append(found, i)
		}
	}
	return found
}

// matchHeadings returns the headings whose text is the last of names and that are
// nested in headings with the other names, in that order.
func matchHeadings(doc *Document, names []string, same func(a, b string) bool) []int {
	var found []int
	last := len(names) - 1
	for i, h := range doc.Headings {
		if !same(h.Text, names[last]) && (h.ID == "" || h.ID != names[last]) {
			continue
		}
		left := last
		for p := h.parent; p >= 0 && left > 0; p = doc.Headings[p].parent {
			if same(doc.Headings[p].Text, names[left-1]) {
				left--
			}
		}
		if left == 0 {
			found = append(found, i)
		}
	}
	return found
}

func sameText(a, b string) bool { return a == NFC(b) }

// SameHeading reports whether two headings are equal when case and punctuation are
// ignored, as in the anchors of links.
func SameHeading(a, b string) bool {
	folded := fold(a)
	return folded == fold(b) && folded != "" || strings.EqualFold(a, b)
}

func fold(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range NFC(s) {
		if !isWord(r) && !unicode.IsMark(r) && !unicode.IsSymbol(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func candidates(doc *Document, headings []int) (refs []string) {
	for _, i := range headings[:min(len(headings), maxCandidates)] {
		refs = append(refs, withLine(strings.Join(headingPath(doc, i), PathSeparator), doc.Headings[i].Line))
	}
	return refs
}

// withLine returns a reference that SplitLine splits.
func withLine(ref string, line int) string { return fmt.Sprintf("%s (line %d)", ref, line) }

// HeadingSection returns the section of the i-th heading.
func HeadingSection(doc *Document, i int) Section {
	h := doc.Headings[i]
	end := min(h.End, doc.TextEnd) // exclude the data of plugins at the end of the note
	n, ok := slices.BinarySearchFunc(doc.leaves, end, func(l leaf, at int) int { return cmp.Compare(l.start, at) })
	if ok && doc.leaves[n].kind == leafHeading && doc.divides(n-1) {
		end = doc.leaves[n-1].start
	}
	return Section{
		Heading: h.Text, Index: i, Level: h.Level, Line: h.Line,
		Start: h.Start, ContentStart: h.ContentStart, End: end,
		Nested: h.Nested, After: end,
	}
}

// divides reports whether the i-th leaf is a rule that divides the text above it from the heading
// or comment below: Kanban recognizes its archive by one. A rule on the line below a heading
// underlines that.
func (d *Document) divides(i int) bool {
	return i > 0 && d.leaves[i].kind == leafBreak && !d.leaves[i].nested &&
		(d.leaves[i-1].kind != leafHeading || d.leaves[i-1].line+1 < d.leaves[i].line)
}

func findBlock(doc *Document, src []byte, ref, id string, line int) (Section, error) {
	var found []Block
	for _, b := range doc.Blocks {
		if strings.EqualFold(b.ID, id) && (line == 0 || b.Line == line) {
			found = append(found, b)
		}
	}
	switch {
	case len(found) == 0:
		return Section{}, missing(doc, ref)
	case len(found) > 1:
		err := &SectionError{Ref: ref, Err: ErrAmbiguous}
		for _, b := range found[:min(len(found), maxCandidates)] {
			err.Candidates = append(err.Candidates, withLine("^"+b.ID, b.Line))
		}
		return Section{}, err
	}
	b := found[0]
	section := Section{
		BlockID: b.ID, Line: b.Line, Start: b.lineStart, ContentStart: b.Start, End: b.End,
		Item: b.item, After: b.itemEnd,
	}
	if !b.item {
		_, section.After = LineAt(src, b.End)
	}
	return section, nil
}

// SectionError reports that a reference names no section, or several. It wraps
// [ErrMissing] or [ErrAmbiguous].
type SectionError struct {
	Ref string
	Err error
	// Candidates lists references to the sections that match or, if none does, to those
	// of the note, with their lines ("Plan > Risks (line 12)", "^id (line 5)"); at most
	// 50.
	Candidates []string
}

func (e *SectionError) Unwrap() error { return e.Err }

func (e *SectionError) Error() string {
	text := fmt.Sprintf("section %q: %v", e.Ref, e.Err)
	if len(e.Candidates) == 0 {
		text += "; the note has no headings or block ids"
	}
	return text
}

// Reasons for a [SectionError]; test for them with [errors.Is].
var (
	// ErrMissing: the note has no such section, block or text.
	ErrMissing = errors.New("not in the note")
	// ErrAmbiguous: several sections match the reference.
	ErrAmbiguous = errors.New("more than one section matches")
)
