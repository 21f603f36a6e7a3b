package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/search"
)

var relatedNotes = define(Tool{
	Name:        "related_notes",
	Title:       "Related notes",
	Description: "Notes close to a note or a text, in meaning or by links, with the reason. Use it to find what belongs together, or where a note should link.",
	Panel:       true,
	output:      outputOf[RelatedResult](),
}, runRelatedNotes)

type relatedArgs struct {
	Note  string `json:"note" doc:"or text"`
	Text  string `json:"text"`
	Limit int    `json:"limit" min:"1" max:"49" doc:"default 10"`
}

// A RelatedResult is the result of related_notes.
type RelatedResult struct {
	Related  []relatedNote `json:"related"`
	Semantic Semantic      `json:"semantic"`
	Notes    []string      `json:"notes,omitempty"`
}

type relatedNote struct {
	Path    string   `json:"path"`
	URI     string   `json:"uri"`
	Title   string   `json:"title,omitempty"`
	Score   float64  `json:"score"`
	Reasons []string `json:"reasons"`
}

// leastShare is the fraction of the best score below which a hit without a shared word is
// dropped: a multilingual model finds any two texts somewhat similar.
const leastShare = 0.1

// linkWorth is what a link adds to the score, in which the closest hit counts 1: a link
// that the writer made counts half as much.
const linkWorth = 0.5

// runRelatedNotes adds up two kinds of evidence for each note: links in either direction,
// and the score in a search for the note's gist. Scores of a search have no fixed scale, so
// they are divided by that of the best other note, which then counts 1; each direction in
// which notes are linked adds linkWorth, however many links there are. It searches for one
// result more than it shows, since the note itself is usually the best hit.
func runRelatedNotes(ctx context.Context, in *invocation, a relatedArgs) (Outcome, error) {
	limit := cmp.Or(a.Limit, 10)
	var self string
	near := neighbours{}
	text := a.Text
	switch {
	case a.Note != "":
		if text != "" {
			in.remarked = append(in.remarked, "ignored text, as a note is given: pass one of them")
		}
		note, err := in.Vault.Read(ctx, a.Note, in.Scope)
		if err != nil {
			return Outcome{}, err
		}
		self, text = note.Path, gist(note)
		if err := near.addLinks(ctx, in, note.Path); err != nil {
			return Outcome{}, err
		}
	case strings.TrimSpace(text) == "":
		return Outcome{}, usagef("pass a note, or a text to find notes for")
	}
	res, err := in.Search.Search(ctx, search.Query{
		Text: PlainWords(text), Mode: in.Mode, Filter: notes.Filter{Scope: in.Scope.Read}, Limit: limit + 1, FromPath: self,
	})
	if err != nil {
		return Outcome{}, err
	}
	// A hit that shares only function words or dates is not related, nor is a weak hit if the
	// vectors of all notes were compared.
	res.Hits = slices.DeleteFunc(res.Hits, func(h search.Hit) bool {
		return h.Path == self || h.Why.VectorRank == 0 && !slices.ContainsFunc(h.Why.Terms, in.isTopic) || h.Weak && res.Semantic.State == search.StateReady
	})
	near.addHits(res.Hits)
	related, remarks := near.best(self, limit), in.stale(res.Notes)
	return fit(in.Limits.ResultBytes, len(related), func(n int) Outcome {
		out := RelatedResult{Related: related[:n], Semantic: semanticOf(res), Notes: in.remarks(remarks...)}
		if left := len(related) - n; left > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%d more do not fit; ask for fewer", left))
		}
		return Outcome{Structured: out, Text: relatedText(out)}
	}), nil
}

// gist returns the parts of a note that show its subject: title, tags, headings and
// beginning.
func gist(n *notes.Note) string {
	const beginning = 400
	parts := append([]string{n.Title}, n.Tags...)
	for _, h := range n.Headings {
		parts = append(parts, h.Text)
	}
	if len(n.Chunks) > 0 {
		c := n.Chunks[0]
		parts = append(parts, wholeWords(n.SearchText()[c.Start:c.End], beginning))
	}
	return wholeWords(strings.Join(parts, " "), 3*beginning)
}

// wholeWords is [phrase.Clip] without a partial word at the end, which would match no note.
// Text written without spaces is cut anywhere.
func wholeWords(s string, size int) string {
	const longest = 40 // bytes
	clipped := phrase.Clip(s, size)
	if i := strings.LastIndexAny(clipped, " \n"); clipped != s && i > len(clipped)-longest {
		return clipped[:i]
	}
	return clipped
}

// PlainWords removes from a text the characters that a query would parse as syntax.
func PlainWords(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n\"'`:-#[](){}*_|<>!", r)
	}), " ")
}

// neighbours collects notes by path.
type neighbours map[string]*relatedNote

func (near neighbours) at(path, title string) *relatedNote {
	if near[path] == nil {
		near[path] = &relatedNote{Path: path, URI: notes.URI(path)}
	}
	near[path].Title = cmp.Or(near[path].Title, title)
	return near[path]
}

func (near neighbours) addLinks(ctx context.Context, in *invocation, path string) error {
	report, err := in.Vault.Links(ctx, notes.URI(path), notes.LinkQuery{Bare: true, Scope: in.Scope})
	if err != nil {
		return err
	}
	add := func(path, title, reason string) {
		if n := near.at(path, title); !slices.Contains(n.Reasons, reason) {
			n.Score += linkWorth
			n.Reasons = append(n.Reasons, reason)
		}
	}
	for _, l := range report.Outgoing {
		if !l.Attachment {
			add(l.To, l.ToTitle, "it is linked to")
		}
	}
	for _, l := range report.Backlinks {
		add(l.From, l.FromTitle, "it links here")
	}
	return nil
}

func (near neighbours) addHits(hits []search.Hit) {
	best := 0.0
	for _, h := range hits {
		best = max(best, h.Score)
	}
	for _, h := range hits {
		if best == 0 || len(h.Why.Terms) == 0 && h.Score < leastShare*best { // scores are divided by best
			continue
		}
		n := near.at(h.Path, h.Title)
		n.Score += h.Score / best
		n.Reasons = append(n.Reasons, hitReason(h.Why))
	}
}

// isTopic reports whether a word is more than a part of a date: a short number, a month or a day of
// the week.
func (in *invocation) isTopic(word string) bool {
	_, isMonth := notes.ParseDate("1 " + word + " 2000")
	_, isDay := new(notes.Periodic).ParsePast(word, in.Now())
	return !isMonth && !isDay && (len(word) > len("2026") || strings.ContainsFunc(word, unicode.IsLetter))
}

func hitReason(w search.Why) string {
	const most = 5
	terms := slices.DeleteFunc(slices.Clone(w.Terms), func(term string) bool {
		return len(term) < 3 || strings.IndexFunc(term, unicode.IsLetter) < 0 // an English "g", an emoji and a year are not informative
	})
	if len(terms) == 0 && w.VectorRank == 0 {
		terms = w.Terms // there is no other reason
	}
	var reasons []string
	if w.VectorRank > 0 {
		reasons = append(reasons, "close in meaning")
	}
	if len(terms) > 0 {
		words := "the words "
		if len(terms) == 1 {
			words = "the word "
		}
		reasons = append(reasons, "shares "+words+strings.Join(terms[:min(most, len(terms))], ", "))
	}
	return strings.Join(reasons, ", ")
}

func (near neighbours) best(self string, limit int) []relatedNote {
	related := []relatedNote{}
	for _, path := range slices.Sorted(maps.Keys(near)) {
		if path != self {
			n := *near[path]
			n.Score = round(n.Score)
			related = append(related, n)
		}
	}
	slices.SortStableFunc(related, func(a, b relatedNote) int { return cmp.Compare(b.Score, a.Score) })
	return related[:min(limit, len(related))]
}

func relatedText(out RelatedResult) string {
	if len(out.Related) == 0 {
		return "No note is clearly related to it." + remarkLines(slices.Concat(unembedded(out.Semantic), out.Notes))
	}
	lines := make([]string, len(out.Related))
	for i, n := range out.Related {
		lines[i] = fmt.Sprintf("%s%s (%v): %s", phrase.OneLine(n.Path), titleBeside(n.Path, n.Title), n.Score, phrase.OneLine(strings.Join(n.Reasons, "; ")))
	}
	return phrase.Count(len(lines), "related note") + phrase.FenceBelow("related", "paths and words from the vault", strings.Join(lines, "\n")) + remarkLines(out.Notes)
}
