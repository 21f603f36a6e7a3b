package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"notesd/internal/phrase"
	"notesd/notes"
)

// A rendering is the state of rendering one prompt.
type rendering struct {
	*Catalogue
	scope    notes.Scope
	args     map[string]string
	left     int // remaining bytes of the budget
	messages []Message
	embedded map[string]string // hashes of the notes embedded in whole or in part, by path
	whole    map[string]bool   // paths of those that are embedded from the start, as far as they fit
}

func (r *rendering) say(format string, args ...any) {
	r.messages = append(r.messages, Message{Text: strings.TrimSpace(fmt.Sprintf(format, args...))})
}

// embed adds the note, unless it was added before, and reports whether it fits in the
// budget.
func (r *rendering) embed(n *notes.Note) bool {
	if r.whole[n.Path] {
		return true
	}
	text := legible(n)
	if len(text) > r.left {
		return false
	}
	r.add(n, 1, lineCount(n.Content), text)
	r.whole[n.Path] = true
	return true
}

// maxNotes is the number of embedded notes at which lists and searches add no more. Each takes a
// message with some 200 bytes besides its text, so thousands of notes of a few words would not be
// within the budget.
const maxNotes = 300

// full reports whether lists and searches add no more notes.
func (r *rendering) full() bool { return len(r.whole) >= maxNotes }

// embedPart adds a part of the note, or as much of its start as fits.
func (r *rendering) embedPart(n *notes.Note, part notes.Anchor) (selection, error) {
	if part == (notes.Anchor{}) {
		sel := selection{total: 1, first: n}
		if r.embed(n) {
			sel.embedded = 1
		}
		return r.orStart(sel), nil
	}
	first, last, total := part.First, part.Last, lineCount(n.Content)
	if part.Heading != "" {
		var err error
		if first, last, err = n.Section(part.Heading); err != nil {
			return selection{}, err
		}
	}
	if last = min(last, total); first > last {
		return selection{}, &notes.Error{Op: "read", Path: n.Path, Err: notes.ErrInvalid, Detail: fmt.Sprintf("the note has %d lines, and not the lines %d-%d", total, part.First, part.Last)}
	}
	if r.left == 0 {
		return selection{total: 1}, nil
	}
	sel := selection{total: 1, embedded: 1}
	whole := strings.Join(strings.SplitAfter(n.Content, "\n")[first-1:last], "")
	text := phrase.Cut(whole, r.left)
	r.add(n, first, first+lineCount(text)-1, text)
	if text != whole {
		sel.cut, r.left = n.Path, 0
	}
	return sel, nil
}

// legible returns the note's text without Excalidraw drawings and other data.
func legible(n *notes.Note) string { return notes.Legible(n.Prose(), n.Content) }

// lineCount returns the number of lines in text, at least 1.
func lineCount(text string) int { return 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n") }

// add embeds a text with the anchor of its lines.
func (r *rendering) add(n *notes.Note, first, last int, text string) {
	r.embedded[n.Path] = n.Hash
	r.left -= len(text)
	r.messages = append(r.messages, Message{Resource: &Resource{URI: notes.PassageURI(n.Path, n.Hash, first, last), Text: text}})
}

// bounded restricts a filter to the notes that the caller may read. It excludes the
// prompts folder unless the filter names it, because templates are instructions rather
// than material for a prompt.
func (r *rendering) bounded(f notes.Filter) notes.Filter {
	f.Scope = r.scope.Read
	if folder := strings.Trim(f.Folder, "/"); r.folder != "" && !strings.EqualFold(folder, r.folder) {
		f.NotPaths = append(f.NotPaths, r.folder+"/")
	}
	return f
}

// selection is the result of embedding a list of notes.
type selection struct {
	total    int // notes selected
	embedded int
	unread   int         // selected, but their files cannot be read
	first    *notes.Note // the first that exists; nil: none
	cut      string      // path of the note that is embedded in part, or ""
}

// embedListed embeds the notes that match the filter as embedWhole does, or else the start of the
// newest.
func (r *rendering) embedListed(ctx context.Context, f notes.Filter) (selection, error) {
	sel, err := r.embedWhole(ctx, f)
	if err != nil || r.full() {
		return sel, err
	}
	return r.orStart(sel), nil
}

// embedWhole embeds the notes that match the filter, newest first, as far as they fit.
// It skips notes that do not fit and continues with the next. Empty notes do not count.
func (r *rendering) embedWhole(ctx context.Context, f notes.Filter) (selection, error) {
	const page = 100
	f = r.bounded(f)
	f.NotEmpty = true
	var sel selection
	for q := (notes.ListQuery{Filter: f, Sort: "date", Limit: page}); ; {
		list, err := r.notes.List(ctx, q)
		if err != nil {
			return sel, err
		}
		sel.total = list.Total
		before := sel.embedded
		for _, m := range list.Notes {
			if sel.first != nil && m.Size > int64(r.left) && !r.whole[m.Path] {
				continue
			}
			if _, err := r.embedIn(ctx, &sel, m.Path); err != nil {
				return sel, err
			}
		}
		if q.Cursor = list.Next; q.Cursor == "" || sel.embedded == before || r.full() {
			break
		}
	}
	return sel, nil
}

// embedFound embeds the notes found by a search, best first.
func (r *rendering) embedFound(ctx context.Context, query Query, f notes.Filter, most int) (selection, error) {
	paths, err := r.search.Find(ctx, query, r.bounded(f), most)
	if err != nil {
		return selection{}, err
	}
	sel := selection{total: len(paths)}
	for _, p := range paths {
		exists, err := r.embedIn(ctx, &sel, p)
		if err != nil {
			return sel, err
		}
		if !exists {
			sel.total--
		}
	}
	if r.full() {
		return sel, nil
	}
	return r.orStart(sel), nil
}

// embedIn embeds a note of the selection if it fits, and reports whether it exists.
func (r *rendering) embedIn(ctx context.Context, sel *selection, path string) (exists bool, err error) {
	note, err := r.read(ctx, path)
	if errors.Is(err, notes.ErrUnavailable) { // its disk is not mounted, or iCloud has evicted it
		sel.unread++
		return true, nil
	}
	if err != nil || note == nil {
		return false, err
	}
	sel.first = cmp.Or(sel.first, note)
	if (!r.full() || r.whole[note.Path]) && r.embed(note) {
		sel.embedded++
	}
	return true, nil
}

// orStart embeds as much of the start of the first note as fits if no whole note fitted, and
// uses up the budget.
func (r *rendering) orStart(sel selection) selection {
	n := sel.first
	if sel.embedded > 0 || n == nil || r.left <= 0 {
		return sel
	}
	text, last := phrase.Cut(legible(n), r.left), lineCount(n.Content)
	if strings.HasPrefix(n.Content, text) {
		last = lineCount(text)
	}
	r.add(n, 1, last, text)
	r.whole[n.Path], r.left = true, 0
	sel.embedded, sel.cut = 1, n.Path
	return sel
}

// read returns the note at path, or nil if it was deleted.
func (r *rendering) read(ctx context.Context, path string) (*notes.Note, error) {
	note, err := r.notes.Read(ctx, notes.URI(path), r.scope)
	if errors.Is(err, notes.ErrNotFound) {
		return nil, nil
	}
	return note, err
}

// named returns the note that a reference names, and the part of it. The part is the zero
// anchor for lines of an older version, which may be others now.
func (r *rendering) named(ctx context.Context, ref string) (*notes.Note, notes.Anchor, error) {
	note, err := r.notes.Read(ctx, ref, r.scope)
	if err != nil {
		return nil, notes.Anchor{}, err
	}
	if rev := notes.RevisionOf(ref); note.Part.First > 0 && rev != "" && !strings.HasPrefix(note.Hash, rev) {
		return note, notes.Anchor{}, nil
	}
	return note, note.Part, nil
}

// theNote returns the note in the argument "note" as named does, or the newest note if the
// argument is missing. It returns nil if there are no notes with text.
func (r *rendering) theNote(ctx context.Context) (note *notes.Note, part notes.Anchor, err error) {
	if ref := r.args["note"]; ref != "" {
		return r.named(ctx, ref)
	}
	tomorrow, _ := r.notes.Period("tomorrow", r.now()) // notes dated in the future are not the newest
	f := r.bounded(notes.Filter{Before: tomorrow.Start, NotEmpty: true})
	list, err := r.notes.List(ctx, notes.ListQuery{Filter: f, Sort: "date", Limit: 1})
	if err != nil || len(list.Notes) == 0 {
		return nil, part, err
	}
	note, err = r.read(ctx, list.Notes[0].Path)
	return note, part, err
}

// subject returns how a prompt refers to the part of the note.
func subject(n *notes.Note, part notes.Anchor) string {
	switch {
	case part.Heading != "":
		return fmt.Sprintf("the section %s of the note %s", phrase.Quote(part.Heading), phrase.Quote(n.Path))
	case part.First > 0:
		return fmt.Sprintf("lines %d-%d of the note %s", part.First, part.Last, phrase.Quote(n.Path))
	}
	return "the note " + phrase.Quote(n.Path)
}

// leftOut returns a sentence about the notes that were not embedded, or "". which describes
// those that were, or is "".
func (s selection) leftOut(which string) string {
	var parts []string
	switch n := s.total - s.embedded - s.unread; {
	case n > 0 && s.embedded == 0:
		parts = append(parts, "no room was left for "+phrase.Count(n, "note"))
	case n > 0:
		parts = append(parts, fmt.Sprintf("%d of %d notes are here%s; the rest did not fit", s.embedded, s.total-s.unread, strings.TrimSuffix(", "+which, ", ")))
	}
	if s.unread > 0 {
		parts = append(parts, fmt.Sprintf("%d more cannot be read at the moment", s.unread))
	}
	if s.cut != "" {
		parts = append(parts, "only the beginning of "+phrase.Quote(s.cut)+" is here, which is too long to embed")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Note that " + strings.Join(parts, "; ") + "."
}
