package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"notesd/notes"
)

// search is one query on its way to a result.
type search struct {
	*Engine
	q Query
	r *request

	allowed  *notes.IDSet // what the filter selects now
	admitted *notes.IDSet // of these, what the query's clauses admit
	rescorer *rescorer
	read     map[int64]*notes.Note // nil: it does not exist any more
	matches  map[int64][]match     // in the notes that were rescored
}

// rankedList is the order of the notes that answer a query. Pages after the
// first are cut from it, whatever becomes of the notes meanwhile.
type rankedList struct {
	found    []candidate
	total    int
	weak     bool // every one is
	floor    float64
	semantic Coverage
	remarks  []string

	// What the words of the query are worth, to choose passages by.
	terms []planTerm
	docs  int
	with  []int
}

func (s *search) run(ctx context.Context) (Result, error) {
	s.read, s.matches = map[int64]*notes.Note{}, map[int64][]match{}
	place, list, err := s.rankings.find(s.q)
	if err != nil {
		return Result{}, err
	}
	if s.allowed, err = s.store.Resolve(ctx, s.r.filter); err != nil {
		return Result{}, err
	}
	if need := place.offset + s.q.Limit; list == nil || need > len(list.found) && list.canGrow() {
		longer, err := s.rank(ctx, need)
		if err != nil {
			return Result{}, err
		}
		list = list.extended(longer)
		s.rankings.keep(&place, list)
	} else {
		s.resume(list)
	}
	return s.page(ctx, place, list)
}

// canGrow reports whether ranking deeper would find more.
func (l *rankedList) canGrow() bool { return len(l.found) < min(l.total, maxResults) }

// extended returns the list continued by what only the longer one has.
func (l *rankedList) extended(longer *rankedList) *rankedList {
	if l == nil {
		return longer
	}
	have := make(map[int64]bool, len(l.found))
	for _, c := range l.found {
		have[c.note] = true
	}
	found := slices.Clone(l.found)
	for _, c := range longer.found {
		if !have[c.note] {
			found = append(found, c)
		}
	}
	longer.found = found
	return longer
}

// resume prepares to show notes of a list that was made before.
func (s *search) resume(list *rankedList) {
	s.r.plan.terms = list.terms
	s.rescorer = newRescorer(s.r, list.docs, list.with)
}

// rank finds and orders the notes, at least `need` of them.
func (s *search) rank(ctx context.Context, need int) (*rankedList, error) {
	s.admitted = s.allowed
	if len(s.r.plan.require)+len(s.r.plan.exclude) > 0 {
		var err error
		if s.admitted, err = s.index.matching(ctx, s.r.plan, s.allowed); err != nil {
			return nil, err
		}
	}
	if len(s.r.plan.terms) == 0 {
		return s.newest(ctx)
	}
	depth := pool
	if need > pool || s.r.hasPhrases() {
		depth = maxResults
	}
	ask := s.askMeaning(ctx)
	defer ask.stop()
	list := &rankedList{semantic: Coverage{State: StateOff}}
	text, err := s.byWords(ctx, list, depth)
	if err != nil {
		return nil, err
	}
	m, err := ask.answer(ctx, list, text[:min(len(text), pool)])
	if err != nil {
		return nil, err
	}
	s.blend(list, text, m)
	s.judge(list)
	return list, nil
}

// byWords ranks by words, verifies phrases and looks at the best texts.
func (s *search) byWords(ctx context.Context, list *rankedList, depth int) ([]candidate, error) {
	r, err := s.rankWords(ctx, list, depth)
	if err != nil {
		return nil, err
	}
	list.total, list.terms, list.docs, list.with = r.total, s.r.plan.terms, r.docs, r.with
	s.rescorer = newRescorer(s.r, r.docs, r.with)
	if s.r.hasPhrases() {
		if r.best, err = s.verified(ctx, list, r.best); err != nil {
			return nil, err
		}
	}
	text := byText(r.best)
	return text, s.rescore(ctx, text)
}

// rankWords asks the index. Words that no note has are looked for as what they
// may have meant, and the list says so.
func (s *search) rankWords(ctx context.Context, list *rankedList, depth int) (ranking, error) {
	r, err := s.index.rank(ctx, &s.r.plan, s.admitted, depth)
	if err != nil {
		return r, err
	}
	unknown := s.r.unknown(r.with)
	if len(unknown) == 0 {
		return r, nil
	}
	if err := s.index.suggest(ctx, &s.r.plan, unknown); err != nil {
		return r, err
	}
	again := false
	for _, w := range unknown {
		if others := s.r.plan.terms[w.term].others; len(others) > 0 {
			again = true
			list.remarks = append(list.remarks, fmt.Sprintf("no note has %q; looked for %s instead", clipTo(w.shown, maxTerm), strings.Join(others, ", ")))
		}
	}
	if !again {
		return r, nil
	}
	return s.index.rank(ctx, &s.r.plan, s.admitted, depth)
}

// rescore adds to the best candidates what their texts say, and sorts them.
func (s *search) rescore(ctx context.Context, text []candidate) error {
	best := text[:min(len(text), max(rescored, s.q.Limit))]
	if err := s.readNotes(ctx, best); err != nil {
		return err
	}
	for i := range best {
		n := s.read[best[i].note]
		if n == nil {
			continue
		}
		bonus, matches := s.rescorer.score(n, best[i].terms)
		s.matches[n.ID] = matches
		best[i].text += bonus
		best[i].score = best[i].text
	}
	slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.text, a.text) })
	for i := range best {
		best[i].textRank = i + 1
	}
	return nil
}

// readNotes fetches the notes of candidates that were not read yet.
func (s *search) readNotes(ctx context.Context, of []candidate) error {
	var ids []int64
	for _, c := range of {
		if _, ok := s.read[c.note]; !ok {
			ids = append(ids, c.note)
			s.read[c.note] = nil
		}
	}
	missing, changes := s.index.cache.get(ids, s.read)
	if len(missing) == 0 {
		return nil
	}
	found, err := s.store.ByID(ctx, missing)
	if err != nil {
		return err
	}
	for _, n := range found {
		s.read[n.ID] = n
	}
	s.index.cache.put(found, changes)
	return nil
}

// blend orders the list as the mode asks.
func (s *search) blend(list *rankedList, text []candidate, m meaning) {
	head := text[:min(len(text), pool)]
	list.floor = floor(m.passages, m.weight)
	switch {
	case len(m.near) == 0 || s.q.Mode == ModeText:
		list.found = text
		return
	case s.q.Mode == ModeSemantic:
		m.weight = 1
		list.found = slices.DeleteFunc(fuse(head, m), func(c candidate) bool { return c.vectorRank == 0 || c.near < list.floor })
		list.total = len(list.found)
		return
	}
	list.found = slices.DeleteFunc(fuse(head, m), func(c candidate) bool { return c.textRank == 0 && c.near < list.floor })
	have := make(map[int64]bool, len(list.found))
	for _, c := range list.found {
		have[c.note] = true
	}
	list.total += len(list.found) - len(head)
	for _, c := range text[len(head):] {
		if have[c.note] {
			list.total-- // counted as found by words, too
			continue
		}
		c.score = 0 // beyond what is fused; only the order counts
		list.found = append(list.found, c)
	}
	// A note that words rank too low to be in text may be near, and counts twice.
	list.total = min(list.total, s.eligible(list.docs))
}

// eligible is the number of notes that a search may find, of those in the index.
func (s *search) eligible(docs int) int {
	if s.admitted == nil {
		return docs
	}
	return min(docs, s.admitted.Len())
}
