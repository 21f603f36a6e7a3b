package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"notesd/notes"
	"notesd/search/index"
)

// An Explanation reports why a query finds a note at its rank, or does not find it.
type Explanation struct {
	Read  Reading `json:"read"`
	Found bool    `json:"found"`
	Rank  int     `json:"rank,omitempty"` // from 1, of the first thousand
	Total int     `json:"total"`          // hits of the query

	Score      float64      `json:"score,omitempty"`
	TextScore  float64      `json:"text_score,omitempty"`
	TextRank   int          `json:"text_rank,omitempty"`
	Cosine     float64      `json:"cosine,omitempty"` // of the nearest passage and the query
	VectorRank int          `json:"vector_rank,omitempty"`
	Terms      []TermWeight `json:"terms"`

	// Reasons are sentences, the decisive one first.
	Reasons []string `json:"reasons"`
}

// A TermWeight is the weight of a term of the query.
type TermWeight struct {
	Term   string  `json:"term"`   // as written in the note, or else in the query
	Weight float64 `json:"weight"` // its idf, times the weight of the word
	Notes  int     `json:"notes"`  // number of readable notes that have it
	Has    bool    `json:"has"`    // the note has it
}

// Why explains how a query ranks a note. It ignores the query's limit and cursor.
func (e *Engine) Why(ctx context.Context, q Query, note notes.Meta) (Explanation, error) {
	if err := q.check(); err != nil {
		return Explanation{}, err
	}
	nodes := parseQuery(q.Text, e.o.Clock())
	x := Explanation{Read: reading(nodes), Terms: []TermWeight{}, Reasons: []string{}}
	if len(nodes) == 0 {
		return x, invalid("the query is empty", "Pass the words that the note was looked for with.")
	}
	s := &search{Engine: e, q: q, nodes: nodes, r: newRequest(nodes, q.Filter), read: map[int64]*notes.Note{}, matches: map[int64][]match{}}
	var err error
	if s.allowed, err = e.store.ResolveSearch(ctx, s.r.filter); err != nil {
		return x, err
	}
	list, err := s.ranked(ctx, maxResults)
	if err != nil {
		return x, err
	}
	x.Total = list.total
	for i, c := range list.found {
		if c.note == note.ID {
			x.Found, x.Rank = true, i+1
			x.Score, x.TextScore, x.TextRank, x.Cosine, x.VectorRank = c.score, c.text+c.bonus, c.textRank, c.cosine, c.vectorRank
			if c.named {
				x.Reasons = append(x.Reasons, "the passage of another of the best hits mentions it")
			}
		}
	}
	if err := s.refusals(ctx, nodes, note, &x); err != nil {
		return x, err
	}
	has, err := s.termsOf(ctx, list, note, &x)
	if err != nil {
		return x, err
	}
	if !x.Found && len(x.Reasons) == 0 {
		err = s.missed(ctx, list, note, has, &x)
	}
	if x.Found {
		x.Reasons = append(x.foundBy(), x.Reasons...)
	}
	return x, err
}

// refusals adds the clauses that exclude the note to the reasons.
func (s *search) refusals(ctx context.Context, nodes []node, note notes.Meta, x *Explanation) error {
	for _, n := range nodes {
		reason := "this note does not have %s"
		switch {
		case n.kind > kindTitle:
			reason = "the filter %s does not select this note"
		case n.not:
			reason = "%s excludes this note: it has the word or phrase"
		case n.kind == kindWord:
			continue // it only ranks
		}
		admitted, err := s.admits(ctx, n, note.ID)
		if err != nil {
			return err
		}
		if !admitted {
			x.Reasons = append(x.Reasons, fmt.Sprintf(reason, n))
		}
	}
	if len(x.Reasons) == 0 && !s.allowed.Has(note.ID) {
		x.Reasons = append(x.Reasons, "the search leaves this note out: it is a template, or Obsidian's settings exclude it")
	}
	return nil
}

// admits reports whether a clause of the query admits a note.
func (s *search) admits(ctx context.Context, n node, id int64) (bool, error) {
	r := newRequest([]node{n}, notes.Filter{})
	var set *notes.IDSet
	var err error
	if n.kind > kindTitle {
		set, err = s.store.ResolveSearch(ctx, r.filter)
	} else {
		only := &notes.IDSet{}
		only.Add(id)
		set, err = s.index.Matching(ctx, r.plan, only)
	}
	if err != nil || !set.Has(id) || !r.hasPhrases() {
		return err == nil && set.Has(id), err
	}
	if err := s.readNotes(ctx, []candidate{{note: id}}); err != nil {
		return false, err
	}
	text := s.read[id]
	return text != nil && r.verify(text), nil
}

// termsOf adds the query's terms with their weights to x, and returns how many of them the note
// has.
func (s *search) termsOf(ctx context.Context, list *rankedList, note notes.Meta, x *Explanation) (has int, err error) {
	s.r.plan.Terms = list.terms
	only := &notes.IDSet{}
	only.Add(note.ID)
	plan := index.Plan{Terms: list.terms, Open: s.r.plan.Open}
	r, err := s.index.Rank(ctx, &plan, s.readable, only, 1)
	defer r.Release()
	if err != nil || len(list.terms) == 0 {
		return 0, err
	}
	var terms uint64
	if len(r.Best) > 0 {
		terms = r.Best[0].Terms
		x.TextScore = max(x.TextScore, r.Best[0].Score)
	}
	words := make([]string, len(list.terms))
	for _, w := range slices.Concat(s.r.parts, s.r.words) {
		words[w.term] = w.shown
	}
	if err := s.readNotes(ctx, []candidate{{note: note.ID}}); err != nil {
		return 0, err
	}
	if n := s.read[note.ID]; n != nil {
		text := n.Title + "\n" + n.Content
		for _, m := range slices.Backward(s.rescorer.matcher.find(nil, text)) {
			words[m.term] = text[m.start:m.end]
		}
	}
	for i, t := range list.terms {
		w := TermWeight{Term: cmp.Or(strings.ToLower(words[i]), t.Text), Weight: s.rescorer.weights[i], Notes: list.with[i], Has: terms&(1<<min(i, 63)) != 0}
		if w.Has {
			has++
		}
		x.Terms = append(x.Terms, w)
	}
	return has, nil
}

// missed adds the reason why a note that no clause excludes is not a hit.
func (s *search) missed(ctx context.Context, list *rankedList, note notes.Meta, has int, x *Explanation) error {
	if has > 0 && s.q.Mode != ModeSemantic {
		x.Reasons = append(x.Reasons, fmt.Sprintf("the note has %d of the %d words, but its rank is below the first %d", has, len(x.Terms), maxResults))
		return nil
	}
	if has == 0 {
		x.Reasons = append(x.Reasons, "the note has none of the query's words")
	}
	if s.q.Mode == ModeText || s.semantic == nil || list.semantic.State == StateOff || s.byDigits() {
		x.Reasons = append(x.Reasons, "semantic search was not used")
		return nil
	}
	if _, err := s.semantic.Nearest(ctx, s.r.semanticText, nil, 1); err != nil { // Cosines must follow it
		return err
	}
	hits, err := s.semantic.Cosines(ctx, s.r.semanticText, []int64{note.ID})
	switch {
	case err != nil:
		return err
	case len(hits) == 0:
		x.Reasons = append(x.Reasons, "the note is not embedded yet")
	case hits[0].Near < list.floor:
		x.Cosine = hits[0].Cosine
		x.Reasons = append(x.Reasons, fmt.Sprintf("its nearest passage has cosine %.2f with the query, which is below the threshold", hits[0].Cosine))
	default:
		x.Cosine = hits[0].Cosine
		x.Reasons = append(x.Reasons, fmt.Sprintf("its nearest passage has cosine %.2f with the query, but %d notes are nearer", hits[0].Cosine, poolSize))
	}
	return nil
}

// foundBy returns how a hit was found.
func (x *Explanation) foundBy() []string {
	var by []string
	if x.TextRank > 0 {
		by = append(by, fmt.Sprintf("it ranks number %d by words", x.TextRank))
	}
	if x.VectorRank > 0 {
		by = append(by, fmt.Sprintf("it ranks number %d semantically, with cosine %.2f", x.VectorRank, x.Cosine))
	}
	return by
}
