package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/phrase"
	"notesd/internal/quote"
	"notesd/notes"
)

var checkQuotes = define(Tool{
	Name:        "check_quotes",
	Title:       "Check quotes",
	Description: "Check whether quotes are in the notes: exact, moved to other lines, changed since, or absent. Use it on the quotes of an answer before giving it.",
	output:      outputOf[QuotesResult](),
}, runCheckQuotes)

type quotesArgs struct {
	Quotes []quotation `json:"quotes" required:"true"`
}

type quotation struct {
	Anchor string `json:"anchor" required:"true" doc:"as results have it, or Plan.md:5-14"`
	Quote  string `json:"quote" required:"true"`
}

// A QuotesResult is the result of check_quotes, in the order of the quotes.
type QuotesResult struct {
	Results []CheckedQuote `json:"results" doc:"verdict: exact, moved, changed, absent, unchecked"`
	Notes   []string       `json:"notes,omitempty"`
}

// A CheckedQuote is the verdict on a quote.
type CheckedQuote struct {
	Verdict string `json:"verdict"`
	Anchor  string `json:"anchor,omitempty"`
	Diff    string `json:"diff,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// The verdicts of check_quotes.
const (
	quoteExact   = "exact"   // in the note, in the lines of the anchor
	quoteMoved   = "moved"   // in the note, in other lines or under another path
	quoteChanged = "changed" // in the version of the anchor, or the note contains something similar
	quoteAbsent  = "absent"
	quoteFailed  = "unchecked" // the anchor names no single note that can be read
)

// maxQuotes is the maximum number of quotes in one call.
const maxQuotes = 100

func runCheckQuotes(ctx context.Context, in *invocation, a quotesArgs) (Outcome, error) {
	switch {
	case len(a.Quotes) == 0:
		return Outcome{}, usagef("quotes is empty: pass the quotes to check, each with its anchor")
	case len(a.Quotes) > maxQuotes:
		return Outcome{}, usagef("%d quotes are too many for one call: pass %d at most", len(a.Quotes), maxQuotes)
	}
	out := QuotesResult{Results: []CheckedQuote{}, Notes: in.remarks()}
	checker := quoteChecker{invocation: in, texts: map[string]*quote.Text{}}
	for i, q := range a.Quotes {
		if strings.TrimSpace(q.Quote) == "" {
			return Outcome{}, usagef("quote %d of %d is empty: pass the words to look for", i+1, len(a.Quotes))
		}
		checked, err := checker.check(ctx, q)
		switch {
		case err != nil && (len(a.Quotes) == 1 || ctx.Err() != nil):
			return Outcome{}, err
		case err != nil:
			message, hint := in.Describe(ctx, err)
			checked = CheckedQuote{Verdict: quoteFailed, Detail: phrase.Clip(phrase.OneLine(message+". "+hint), 300)}
		}
		out.Results = append(out.Results, checked)
	}
	result := Outcome{Structured: out, Text: quotesText(out)}
	if room := in.Limits.ResultBytes; len(result.Text) > room || jsonSize(out) > room {
		for i := range out.Results {
			out.Results[i].Diff = ""
		}
		out.Notes = append(out.Notes, "the diffs are omitted to save space: check fewer quotes at a time")
		result = Outcome{Structured: out, Text: quotesText(out)}
	}
	return result, nil
}

// A quoteChecker caches the texts that several quotes of one call are from.
type quoteChecker struct {
	*invocation
	texts map[string]*quote.Text // by hash, or by path and revision
}

func (c *quoteChecker) text(key, source string) *quote.Text {
	if c.texts[key] == nil {
		c.texts[key] = quote.NewText(source)
	}
	return c.texts[key]
}

// check decides in this order:
//
//  1. The quote is in the note now: exact if it is in the same lines as before, else moved.
//     The lines before are those of the quote in the version of the anchor, or those of the
//     anchor if history does not have that version.
//  2. The version of the anchor contained the quote: changed, with the passage of that
//     version compared with what is nearest to it now.
//  3. The note contains something similar: changed. Otherwise absent: the quote was never
//     in the note, as far as history shows.
func (c *quoteChecker) check(ctx context.Context, q quotation) (CheckedQuote, error) {
	note, moved, err := c.present(ctx, q.Anchor)
	if err != nil {
		return CheckedQuote{}, err
	}
	base, anchor := notes.SplitAnchor(q.Anchor)
	lines := quote.Lines{First: anchor.First, Last: anchor.Last}
	var now *quote.Text
	var found []quote.Lines
	if note != nil {
		now = c.text(note.Hash, note.Content)
		if anchor.Heading != "" {
			if lines.First, lines.Last, err = note.Section(anchor.Heading); err != nil {
				lines = quote.Lines{} // the heading may have been renamed
			}
		}
		found = now.Find(q.Quote)
	}
	rev := notes.RevisionOf(q.Anchor)
	var was *quote.Text
	if note != nil && rev != "" && strings.HasPrefix(note.Hash, rev) {
		was = now
	} else if was, err = c.version(ctx, base, note, rev); err != nil {
		return CheckedQuote{}, err
	}
	if len(found) > 0 {
		at := lines // where it was
		if was != nil && was != now && lines.First > 0 {
			if before := was.Find(q.Quote); len(before) > 0 {
				at = nearest(before, lines)
			}
		}
		return placed(note, nearest(found, at), at, moved), nil
	}
	if was != nil && was != now {
		if found := was.Find(q.Quote); len(found) > 0 {
			passage := was.Passage(nearest(found, lines))
			if note == nil {
				return CheckedQuote{Verdict: quoteChanged, Diff: lineDiff(passage, ""), Detail: "the note was deleted"}, nil
			}
			checked := differing(note, now, passage, lines, "")
			checked.Verdict = quoteChanged
			if checked.Diff == "" {
				checked.Diff, checked.Detail = lineDiff(passage, ""), "the passage was removed"
			}
			return checked, nil
		}
	}
	detail := ""
	if rev != "" && was == nil {
		detail = "history does not have the version of the anchor: compared with the note as it is now"
	}
	if note == nil {
		return CheckedQuote{Verdict: quoteAbsent, Detail: "there is no such note"}, nil
	}
	return differing(note, now, q.Quote, lines, detail), nil
}

// present returns the note that the anchor refers to, nil if there is none, and whether it
// has been moved.
func (c *quoteChecker) present(ctx context.Context, anchor string) (note *notes.Note, moved bool, err error) {
	note, err = c.Vault.Read(ctx, anchor, c.Scope)
	var domain *notes.Error
	if errors.As(err, &domain) && domain.MovedTo != "" {
		note, err = c.Vault.Read(ctx, notes.URI(domain.MovedTo), c.Scope)
		moved = true
	}
	if errors.Is(err, notes.ErrNotFound) {
		base, _ := notes.SplitAnchor(anchor)
		note, _, _ = c.instead(ctx, base, err) // a canvas or base
		return note, false, nil
	}
	return note, moved, err
}

// version returns the text of a version, nil if history does not have it.
func (c *quoteChecker) version(ctx context.Context, base string, note *notes.Note, rev string) (*quote.Text, error) {
	if note != nil {
		base = notes.URI(note.Path)
	}
	key := base + "?" + rev
	if c.texts[key] != nil {
		return c.texts[key], nil
	}
	source, err := c.History.Version(ctx, base, rev, c.Scope)
	if err != nil || source == nil {
		return nil, err
	}
	return c.text(key, string(source)), nil
}

// nearest returns a match within the lines or, if there is none, the one that begins
// nearest to them.
func nearest(found []quote.Lines, lines quote.Lines) quote.Lines {
	away := func(f quote.Lines) int {
		if within(f, lines) {
			return -1
		}
		return max(lines.First-f.First, f.First-lines.First)
	}
	return slices.MinFunc(found, func(a, b quote.Lines) int { return away(a) - away(b) })
}

func within(f, lines quote.Lines) bool {
	return lines.First == 0 || lines.First <= f.First && f.Last <= lines.Last
}

// placed returns the verdict on a quote found in the note.
func placed(note *notes.Note, found, lines quote.Lines, moved bool) CheckedQuote {
	checked := CheckedQuote{Verdict: quoteExact, Anchor: notes.PassageRef(note.Path, note.Hash, found.First, found.Last)}
	switch {
	case moved:
		checked.Verdict, checked.Detail = quoteMoved, "the note was moved"
	case !within(found, lines):
		checked.Verdict = quoteMoved
	}
	return checked
}

// differing returns the verdict on a text that is not in the note, which may contain
// something similar.
func differing(note *notes.Note, now *quote.Text, text string, lines quote.Lines, detail string) CheckedQuote {
	at, ok := now.Nearest(text, lines)
	if !ok {
		return CheckedQuote{Verdict: quoteAbsent, Detail: detail}
	}
	return CheckedQuote{
		Verdict: quoteChanged, Anchor: notes.PassageRef(note.Path, note.Hash, at.First, at.Last),
		Diff: lineDiff(text, now.Passage(at)), Detail: detail,
	}
}

// lineDiff shows the lines of two short texts as removed and added.
func lineDiff(was, now string) string {
	const most = 1000
	var b strings.Builder
	write := func(prefix, text string) {
		if text = phrase.Clip(strings.TrimRight(text, "\r\n"), most); text == "" {
			return
		}
		for line := range strings.Lines(text) {
			b.WriteString(prefix + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	write("-", was)
	write("+", now)
	return b.String()
}

func quotesText(out QuotesResult) string {
	var b strings.Builder
	for i, r := range out.Results {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d. %s", i+1, r.Verdict)
		if r.Anchor != "" {
			b.WriteString(" " + r.Anchor)
		}
		if r.Detail != "" {
			b.WriteString(" (" + r.Detail + ")")
		}
		b.WriteString(phrase.FenceBelow("diff", r.Anchor, r.Diff))
	}
	return b.String() + remarkLines(out.Notes)
}
