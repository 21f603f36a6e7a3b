package search

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// Store reads the notes that the index found. *store.Store of notes/store implements it.
type Store interface {
	ByID(ctx context.Context, ids []int64) ([]*notes.Note, error)
	Metas(ctx context.Context, ids []int64) ([]notes.Meta, error)
	Resolve(ctx context.Context, f notes.Filter) (*notes.IDSet, error)
	ResolveSearch(ctx context.Context, f notes.Filter) (*notes.IDSet, error)
	List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error)
	WhyNothing(ctx context.Context, f notes.Filter) ([]string, error)
}

const (
	defaultLimit   = 10
	maxLimit       = 50
	defaultSnippet = 160 // bytes
	minSnippet     = 32  // characters, whatever the caller shows beside it
	longSnippet    = 200 // when there are few hits

	// poolSize is the number of notes that each side contributes to fusion, and the
	// number ranked ahead for later pages.
	poolSize = 100
	// maxResults bounds all pages of a query together; beyond it a narrower query
	// is more useful.
	maxResults = 1000
	// rescoredNotes is the number of best candidates whose texts are read. More of them
	// cost time and change the order little.
	rescoredNotes = 12
	// semanticTimeout bounds the wait for the semantic side.
	semanticTimeout = 250 * time.Millisecond
	// loadingTimeout bounds the wait of the first queries for vectors that are still
	// being loaded, which takes 0.2 s for 90 000 passages, and longer on a busy machine.
	loadingTimeout = time.Second
)

// EngineOptions configure an Engine. The zero value is ready to use.
type EngineOptions struct {
	Log   *slog.Logger
	Clock func() time.Time // for relative dates; nil: time.Now
	// SemanticTimeout bounds the wait for the semantic side; 0 means 250 ms.
	SemanticTimeout time.Duration
	// Progress reports whether the index is complete, and how many notes the vault
	// has. If nil, the index is complete.
	Progress func(ctx context.Context) (ready bool, total int)
}

// Engine answers queries. It is safe for concurrent use.
type Engine struct {
	store    Store
	index    *index.Index
	semantic Semantic // nil: off
	o        EngineOptions
	rankings rankings
}

// NewEngine returns an engine over an index and the store it was built from.
// semantic may be nil.
func NewEngine(store Store, index *index.Index, semantic Semantic, o EngineOptions) *Engine {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.SemanticTimeout = cmp.Or(o.SemanticTimeout, semanticTimeout)
	return &Engine{store: store, index: index, semantic: semantic, o: o}
}

// Result is the answer to a query.
type Result struct {
	Hits      []Hit
	Second    *Hit   // another passage of the best note, on the first page, if the query is its topic
	Total     int    // notes with a word of the query or one of the nearest passages
	Weak      bool   // there are hits, and all of them on all pages are weak; Notes says so
	Excluded  bool   // the filter excludes every note; Notes says why
	Truncated bool   // more hits follow
	Next      string // cursor of the next page; "" on the last
	Semantic  notes.Coverage
	Index     Progress
	Notes     []string // remarks for the reader, one sentence each
	Read      Reading  // how the query was interpreted
}

// Progress reports how much of the vault is indexed.
type Progress struct {
	Ready   bool `json:"ready"`   // the index is complete
	Indexed int  `json:"indexed"` // set only while not ready
	Notes   int  `json:"notes"`
}

// Search answers a query. An empty query, more than 100 conditions, an unknown mode and
// a bad cursor are errors that wrap [notes.ErrInvalid]. If the semantic side is late or
// fails, the words alone answer.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	if err := q.check(); err != nil {
		return Result{}, err
	}
	if e.semantic != nil {
		defer e.semantic.Yield()()
	}
	nodes := parseQuery(q.Text, e.o.Clock())
	if n := conditionsIn(nodes); n > maxConditions {
		return Result{}, invalid(fmt.Sprintf("the query has %d filters, phrases and exclusions", n),
			fmt.Sprintf("Use at most %d, or split the query.", maxConditions))
	}
	r := newRequest(nodes, q.Filter)
	if len(nodes) == 0 && r.filter.IsZero() {
		if strings.TrimSpace(q.Text) == "" {
			return Result{}, invalid("the query is empty", "Pass words to look for, or a filter such as tag:x.")
		}
		return Result{Hits: []Hit{}, Semantic: notes.Coverage{State: StateOff}, Index: Progress{Ready: true},
			Notes: []string{"the query has no letter, digit or emoji to look for"}}, nil
	}
	result, err := (&search{Engine: e, q: q, nodes: nodes, r: r}).run(ctx)
	if err != nil {
		return Result{}, err
	}
	result.Read = reading(nodes)
	result.Notes = append(unread(nodes), result.Notes...)
	e.progress(ctx, &result)
	return result, nil
}

func (e *Engine) progress(ctx context.Context, r *Result) {
	r.Index.Ready = true
	if e.o.Progress == nil {
		return
	}
	ready, total := e.o.Progress(ctx)
	if ready {
		return
	}
	stats, err := e.index.Stats()
	if err != nil {
		return
	}
	r.Index = Progress{Indexed: stats.Notes, Notes: max(total, stats.Notes)}
	r.Notes = append(r.Notes, fmt.Sprintf("the index is still being built: %d of %d notes", r.Index.Indexed, r.Index.Notes))
}

// check fills in defaults and rejects invalid values.
func (q *Query) check() error {
	switch q.Mode {
	case "":
		q.Mode = ModeHybrid
	case ModeHybrid, ModeText, ModeSemantic:
	default:
		return invalid(fmt.Sprintf("mode %.40q is unknown", string(q.Mode)), "Use hybrid, text or semantic.")
	}
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	if q.Limit < 1 || q.Limit > maxLimit {
		return invalid(fmt.Sprintf("limit %d is out of range", q.Limit), fmt.Sprintf("Use 1 to %d.", maxLimit))
	}
	return nil
}

func invalid(detail, hint string) error {
	return &notes.Error{Op: "search", Err: notes.ErrInvalid, Detail: detail, Hint: hint}
}

// search is the state of one query.
type search struct {
	*Engine
	q     Query
	nodes []node // the clauses of the query
	r     *request

	allowed  *notes.IDSet // notes that match the filter
	admitted *notes.IDSet // of these, notes that satisfy the query's clauses
	readable *notes.IDSet // notes that the caller may read; nil: all. Only their words count
	certain  *notes.IDSet // notes that the query's phrases admit, without reading them
	rescorer *rescorer
	read     map[int64]*notes.Note // nil: deleted meanwhile
	matches  map[int64][]match     // by rescored note
	instead  []queryWord           // words that no note has, replaced by similar ones
}

// rankedList is the ranking of a query. Later pages are cut from it, so they stay
// consistent while notes change.
type rankedList struct {
	found           []candidate
	total           int            // notes found, of which found has the best
	weak            bool           // all notes found are weak hits
	floor           float64        // the least nearness of a hit without any of the words, see floor
	clearBound      bound          // of a clear hit, see floor
	clearRaise      float64        // of that bound, for words that no note has, see search.unknownRaise
	poorlySupported bool           // the model reads words of the query in pieces
	semantic        notes.Coverage // what the semantic search contributed
	remarks         []string
	topic           []node // of a query for the newest notes on it; nil: the query's clauses

	// The statistics of the query's terms, for choosing passages.
	terms []index.PlanTerm
	docs  int   // notes that the caller may read
	with  []int // number of these that have the term, by term
}

func (s *search) run(ctx context.Context) (Result, error) {
	s.read, s.matches = map[int64]*notes.Note{}, map[int64][]match{}
	start, list, err := s.rankings.find(s.q)
	if err != nil {
		return Result{}, err
	}
	if s.allowed, err = s.store.ResolveSearch(ctx, s.r.filter); err != nil {
		return Result{}, err
	}
	if need := start.offset + s.q.Limit; list == nil || need > len(list.found) && list.canGrow() {
		longer, err := s.ranked(ctx, need)
		if err != nil {
			return Result{}, err
		}
		list = list.extended(longer)
		list.found = list.found[:min(len(list.found), maxResults)]
		s.rankings.keep(&start, list)
	} else {
		list.resume(s)
	}
	return s.page(ctx, start, list)
}

// canGrow reports whether a deeper ranking would find more notes.
func (l *rankedList) canGrow() bool { return len(l.found) < min(l.total, maxResults) }

// extended returns l followed by the notes that only the longer list has.
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

// resume prepares a search for a later page of the list.
func (l *rankedList) resume(s *search) {
	if l.topic != nil {
		s.r = newRequest(l.topic, s.q.Filter)
	}
	s.r.plan.Terms = l.terms
	s.rescorer = newRescorer(s.r, l.docs, l.with)
}

// rank finds and orders notes, at least need of them if there are so many.
func (s *search) rank(ctx context.Context, need int) (*rankedList, error) {
	s.admitted = s.allowed
	var err error
	if s.readable, err = s.resolveScope(ctx); err != nil {
		return nil, err
	}
	if len(s.r.plan.Require)+len(s.r.plan.Exclude) > 0 {
		if s.admitted, err = s.index.Matching(ctx, s.r.plan, s.allowed); err != nil {
			return nil, err
		}
	}
	if s.certain, err = s.r.certain(ctx, s.index); err != nil {
		return nil, err
	}
	if len(s.r.plan.Terms) == 0 {
		return s.newest(ctx)
	}
	depth := poolSize
	if need > poolSize || s.r.hasPhrases() {
		depth = maxResults
	}
	ask := s.askSemantic(ctx)
	defer ask.stop()
	list := &rankedList{semantic: notes.Coverage{State: StateOff}}
	r, err := s.byWords(ctx, list, depth)
	defer r.Release()
	if err != nil {
		return nil, err
	}
	if s.byDigits() { // notes have the day
		ask.drop()
	}
	unread := list.remarks
	text := byText(r.Best)
	head := text[:min(len(text), poolSize)]
	if ask.hits != nil { // while the vectors are searched, read the notes most likely to be shown
		if err := s.readNotes(ctx, text[:min(len(text), rescoredNotes/2)]); err != nil {
			return nil, err
		}
	}
	m, err := ask.answer(ctx, list, head)
	if err != nil {
		return nil, err
	}
	if err := s.blend(ctx, list, text, &r, &m); err != nil {
		return nil, err
	}
	if len(list.found) == 0 && len(s.r.quoted) > 0 {
		return s.withoutPhrases(ctx, need, unread)
	}
	list.remarks = slices.Concat(s.suggested(list), list.remarks)
	s.markWeak(list)
	return list, nil
}

// resolveScope returns the notes that the caller may read, nil for all. If the filter is
// no more than that, they are what it selects: to resolve it again would take a
// millisecond.
func (s *search) resolveScope(ctx context.Context) (*notes.IDSet, error) {
	rest := s.r.filter
	if rest.Scope == nil {
		return nil, nil
	}
	if rest.Scope = nil; rest.IsZero() {
		return s.allowed, nil
	}
	return s.store.Resolve(ctx, notes.Filter{Scope: s.r.filter.Scope})
}

// withoutPhrases ranks again with the words of phrases that no note has. unread is a remark if
// not all notes that have the words were read.
func (s *search) withoutPhrases(ctx context.Context, need int, unread []string) (*rankedList, error) {
	r := *s.r
	r.phrases, r.quoted, r.plan.Require = nil, nil, r.titles
	read := ""
	if len(unread) > 0 {
		read = "that was read "
	}
	remark := fmt.Sprintf("%s%shas %s; searched for the words instead", s.noNote(false), read, strings.Join(s.r.quoted, " and "))
	s.r = &r // the plan's terms have the Others of the words in s.instead, so these are not unknown again
	list, err := s.rank(ctx, need)
	if err == nil {
		list.remarks = slices.Concat([]string{remark}, unread, list.remarks)
	}
	return list, err
}

// byWords ranks by words and verifies phrases. Words that no note has are replaced by similar
// words of the vault, which suggested reports. The caller must release the ranking.
func (s *search) byWords(ctx context.Context, list *rankedList, depth int) (index.Ranking, error) {
	var unknown []queryWord
	s.r.plan.Unknown = func(with []int) []int {
		unknown = s.r.unknown(with)
		return planTerms(unknown)
	}
	r, err := s.index.Rank(ctx, &s.r.plan, s.readable, s.admitted, depth)
	if err != nil {
		return r, err
	}
	for _, w := range unknown {
		if len(s.r.plan.Terms[w.term].Others) > 0 {
			s.instead = append(s.instead, w)
		}
	}
	list.total, list.terms, list.docs, list.with = r.Total, s.r.plan.Terms, r.Docs, r.With
	s.rescorer = newRescorer(s.r, r.Docs, r.With)
	if s.r.hasPhrases() {
		r.Best, err = s.verified(ctx, list, r.Best)
	}
	return r, err
}

// suggested reports which words replaced those that no note has, as they are written in
// the notes, since the index has only stems.
func (s *search) suggested(list *rankedList) (remarks []string) {
	for _, w := range s.instead {
		var words []string
		for _, stem := range s.r.plan.Terms[w.term].Others {
			words = append(words, cmp.Or(s.wordOf(stem, w.term, list), stem))
		}
		remarks = append(remarks, fmt.Sprintf("no note has %q; searched for %s instead", terms.Clip(w.shown), strings.Join(words, ", ")))
	}
	return remarks
}

// wordOf returns a word with the given stem as one of the best notes has it, or "".
func (s *search) wordOf(stem string, term int, list *rankedList) string {
	for _, c := range s.best(list.found) {
		for _, m := range s.matches[c.note] {
			if m.term != term {
				continue
			}
			word := strings.ToLower(s.read[c.note].Content[m.start:m.end])
			if terms.Stem(string(terms.Fold(nil, word))) == stem {
				return word
			}
		}
	}
	return ""
}

// readNotes reads the notes of candidates that are not yet in s.read.
func (s *search) readNotes(ctx context.Context, of []candidate) error {
	var ids []int64
	for _, c := range of {
		if _, ok := s.read[c.note]; !ok {
			ids = append(ids, c.note)
			s.read[c.note] = nil
		}
	}
	missing, changes := s.index.Cache.Get(ids, s.read)
	parts := slices.Collect(slices.Chunk(missing, max(readTogether, (len(missing)+1)/2)))
	found := make([][]*notes.Note, len(parts))
	err := index.InParallel(len(parts), func(_, i int) error {
		var err error
		found[i], err = s.store.ByID(ctx, parts[i])
		for _, n := range found[i] {
			n.Content = n.SearchText()
		}
		return err
	})
	if err != nil {
		return err
	}
	read := slices.Concat(found...)
	for _, n := range read {
		s.read[n.ID] = n
	}
	s.index.Cache.Put(read, changes)
	return nil
}

// readTogether is the least number of notes that one goroutine reads: a query of the
// store costs as much as reading two notes.
const readTogether = 3

// newest returns the notes that match the filter and the exclusions, the most recently modified
// first: the result of a query without words.
func (s *search) newest(ctx context.Context) (*rankedList, error) {
	list := &rankedList{semantic: notes.Coverage{State: StateOff}}
	q := notes.ListQuery{Filter: s.r.filter, Sort: "modified", Limit: maxResults}
	var found []index.Ranked
	for len(found) < maxResults {
		page, err := s.store.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, n := range page.Notes {
			if s.admitted.Has(n.ID) {
				found = append(found, index.Ranked{Note: n.ID})
			}
		}
		list.total = page.Total
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if s.admitted != nil {
		list.total = s.admitted.Len()
	}
	found = found[:min(len(found), maxResults)]
	if s.r.hasPhrases() {
		var err error
		if found, err = s.verified(ctx, list, found); err != nil {
			return nil, err
		}
	}
	list.found = byText(found)
	for i := range list.found {
		list.found[i].textRank = 0 // no words were searched
	}
	list.resume(s)
	return list, nil
}

// page builds the result from the requested part of the list. It skips notes that have been
// deleted or no longer match the filter.
func (s *search) page(ctx context.Context, at pageStart, list *rankedList) (Result, error) {
	res := Result{Hits: []Hit{}, Total: list.total, Weak: list.weak, Semantic: list.semantic, Notes: slices.Clone(list.remarks)}
	next := min(at.offset, len(list.found))
	share := min(s.q.Limit, len(list.found)-next)
	for next < len(list.found) && len(res.Hits) < s.q.Limit {
		part := list.found[next:min(len(list.found), next+s.q.Limit-len(res.Hits))]
		if err := s.readNotes(ctx, part); err != nil {
			return Result{}, err
		}
		next += len(part)
		part = slices.DeleteFunc(slices.Clone(part), func(c candidate) bool { return s.read[c.note] == nil || !s.allowed.Has(c.note) })
		hits := make([]Hit, len(part))
		first := at.offset == 0 && len(res.Hits) == 0
		err := index.InParallel(len(part), func(_, i int) error {
			var second *Hit
			if hits[i], second = s.hit(part[i], len(res.Hits)+i, share, first && i == 0); second != nil {
				res.Second = second
			}
			return nil
		})
		if err != nil {
			return Result{}, err
		}
		res.Hits = append(res.Hits, hits...)
	}
	if s.allowed != nil && s.allowed.Len() == 0 {
		why, err := s.store.WhyNothing(ctx, s.r.filter)
		if err != nil {
			return Result{}, err
		}
		if len(why) == 0 {
			why = []string{"the filter matches no note"}
		}
		res.Excluded, res.Notes = true, why // rather than remarks on the words
	}
	res.Truncated = next < len(list.found) || list.canGrow()
	if res.Truncated {
		res.Next = at.after(next)
	}
	return res, nil
}

// hit returns a candidate as a hit, with a snippet for its rank among hits. If two is set and
// the note is the topic of the query, second is another passage of it.
func (s *search) hit(c candidate, rank, hits int, two bool) (h Hit, second *Hit) {
	n, r := s.read[c.note], s.rescorer
	matches, ok := s.matches[c.note]
	if !ok {
		matches = r.find(n.Content, c.terms)
	}
	matches = r.marked(n.Content, matches)
	show := func(chunk int) Hit {
		heading, passage := "", n.Content
		if chunk >= 0 {
			c := n.Chunks[chunk]
			heading, passage = c.Heading(), n.Content[c.Start:c.End]
		}
		h := r.show(n, matches, chunk, s.q.snippetSize(n, heading, passage, rank, hits))
		h.Score, h.Weak = c.score, c.weak
		h.Why = Why{TextRank: c.textRank, VectorRank: c.vectorRank, TextScore: c.text + c.bonus, VectorScore: c.cosine, Terms: r.shown(c.terms)}
		h.Why.Forms = r.forms(h.Snippet, h.Why.Terms)
		return h
	}
	chunk := r.bestChunk(n, matches, c.chunk)
	if two && !c.weak {
		if i := r.secondChunk(n, matches, chunk); i >= 0 {
			other := show(i)
			second = &other
		}
	}
	return show(chunk), second
}
