package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/phrase"
	"notesd/notes"
	"notesd/search"
)

// The index and the store describe the current notes. Results about the past come from
// history: the notes at a time are read one by one, and filtered, sorted and searched in
// memory. Such a search therefore finds words only, and a page is a range of all results.

// listAt returns a function that lists the notes as of a time, and remarks on its results.
func (in *invocation) listAt(ctx context.Context, at time.Time, f notes.Filter, order string, fields []string) (list func(context.Context, notes.ListQuery) (notes.ListPage, error), remarks []string, err error) {
	found, created := []notes.Meta{}, map[string]time.Time{}
	remarks, err = in.eachAt(ctx, at, f, func(n *notes.Note) error {
		m := notes.Meta{Path: n.Path, Title: n.Title, Size: n.Size, Modified: n.Modified, Date: n.Date, Tags: n.Tags}
		if len(fields) > 0 {
			m.Fields = n.Fields(fields)
		}
		found, created[n.Path] = append(found, m), n.Created
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(found, func(a, b notes.Meta) int {
		switch order {
		case "title":
			return strings.Compare(notes.Key(a.Title), notes.Key(b.Title))
		case "path":
			return strings.Compare(notes.Key(a.Path), notes.Key(b.Path))
		case "created":
			return created[b.Path].Compare(created[a.Path])
		case "size":
			return cmp.Compare(b.Size, a.Size)
		case "modified":
			return b.Modified.Compare(a.Modified)
		}
		return b.Date.Compare(a.Date)
	})
	return func(_ context.Context, q notes.ListQuery) (page notes.ListPage, err error) {
		from, err := offset(q.Cursor)
		if err != nil {
			return page, err
		}
		page.Total = len(found)
		page.Notes, page.Next = pastPage(found, from, q.Limit)
		return page, nil
	}, remarks, nil
}

// searchAt searches the notes as of a time by their words.
func (in *invocation) searchAt(ctx context.Context, a searchArgs, at time.Time, filter notes.Filter, limit int) (Outcome, error) {
	if a.Mode == string(search.ModeSemantic) {
		return Outcome{}, usagef("the past is searched by its words only: leave out mode, or as_of")
	}
	from, err := offset(a.Cursor)
	if err != nil {
		return Outcome{}, err
	}
	q := parsePastQuery(a.Query, in.Now(), &filter)
	var hits []SearchHit
	searched := 0
	remarks, err := in.eachAt(ctx, at, filter, func(n *notes.Note) error {
		if hit, ok := q.match(n); ok {
			hits = append(hits, hit)
		}
		searched++
		return nil
	})
	if err != nil {
		return Outcome{}, err
	}
	slices.SortStableFunc(hits, func(a, b SearchHit) int { return cmp.Compare(b.Score, a.Score) })
	remarks = append(remarks, fmt.Sprintf("every word of the query, in the text of %s; without semantic search", phrase.Count(searched, "note")))
	return fit(in.Limits.ResultBytes, min(limit, max(0, len(hits)-from)), func(n int) Outcome {
		page, next := pastPage(hits, from, n)
		out := SearchResult{Results: append([]SearchHit{}, page...), Total: len(hits), Truncated: next != "", Next: next, Semantic: Semantic{State: search.StateOff}, Notes: in.remarks(remarks...)}
		for i := range out.Results { // the order is that of the words alone
			out.Results[i].Why.TextRank = from + i + 1
		}
		return Outcome{Structured: out, Text: searchText(a, out)}
	}), nil
}

// pastQuery is a query about the past: the words and phrases that a note must contain, and
// those that it must not.
type pastQuery struct{ want, avoid []string }

// parsePastQuery parses a query as a search of the present does, and adds its other
// clauses to the filter.
func parsePastQuery(text string, now time.Time, f *notes.Filter) (q pastQuery) {
	q.want, q.avoid, *f = search.Parse(text, now, *f)
	for _, terms := range [][]string{q.want, q.avoid} {
		for i, term := range terms {
			terms[i] = notes.Key(term)
		}
	}
	return q
}

// match returns the note as a result, and whether it is one: its title and text contain
// every term and no term to avoid. There is no index of the past, so terms are found in the
// folded text as beginnings of words: "plan" also finds "planning", as stemming would.
//
// The score imitates BM25 without statistics of the vault: each term adds the logarithm of its
// number of occurrences, so that repeating one word is worth less than having another, and the
// sum is divided by the logarithm of the length, so that long notes, which contain every word,
// do not come first. The passage shown is the first with the most different terms.
func (q pastQuery) match(n *notes.Note) (SearchHit, bool) {
	folded := notes.Key(n.Title + "\n" + n.Content)
	for _, term := range q.avoid {
		if search.CountWords(folded, term) > 0 {
			return SearchHit{}, false
		}
	}
	score := 0.0
	for _, term := range q.want {
		found := search.CountWords(folded, term)
		if found == 0 {
			return SearchHit{}, false
		}
		score += math.Log1p(float64(found))
	}
	hit := SearchHit{Path: n.Path, URI: notes.URI(n.Path), Title: n.Title, LineStart: 1, LineEnd: 1, Why: search.Why{Terms: q.want}}
	hit.Score = round(score / math.Log(10+float64(len(n.Content))/100))
	best := -1
	for _, c := range n.Chunks {
		text := n.Content[c.Start:c.End]
		folded, found := notes.Key(text), 0
		for _, term := range q.want {
			found += min(1, search.CountWords(folded, term))
		}
		if found > best {
			best = found
			hit.Heading, hit.LineStart, hit.LineEnd, hit.Snippet = c.Heading(), c.LineStart, c.LineEnd, strings.Clone(q.snippet(text)) // does not keep the note in memory
			if hit.Heading == n.Title {
				hit.Heading = ""
			}
		}
	}
	hit.Anchor = notes.PassageRef(n.Path, n.Hash, hit.LineStart, hit.LineEnd)
	return hit, true
}

// snippet returns the first line of a passage that contains a term, clipped.
func (q pastQuery) snippet(text string) string {
	for line := range strings.Lines(text) {
		folded := notes.Key(line)
		if slices.ContainsFunc(q.want, func(term string) bool { return search.CountWords(folded, term) > 0 }) {
			return phrase.Clip(strings.TrimSpace(line), 160)
		}
	}
	return phrase.Clip(strings.TrimSpace(text), 160)
}

// eachAt calls each with the notes as of a time that match the filter, and returns remarks on
// the result. each must not keep the notes: together they may be large.
func (in *invocation) eachAt(ctx context.Context, at time.Time, f notes.Filter, each func(*notes.Note) error) (remarks []string, err error) {
	complete, err := in.History.At(ctx, at, f, each)
	remarks = []string{asItWas(at)}
	if err == nil && !complete {
		remarks = append(remarks, "the notes of that moment are too large to be read at once: those that come last by path are left out; name a folder")
	}
	return remarks, err
}

// asItWas returns the remark on a result about the past.
func asItWas(at time.Time) string {
	return "as it was at " + at.Format("2006-01-02 15:04") + ", not as it is now"
}

// offset parses a cursor that is an offset into a list.
func offset(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: "the cursor was not returned by this list", Hint: "Omit the cursor to start from the beginning."}
	}
	return n, nil
}

// pastPage returns a page of all items, and the cursor of the next page.
func pastPage[T any](all []T, from, limit int) (page []T, next string) {
	from = min(from, len(all))
	end := min(from+limit, len(all))
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return all[from:end], next
}
