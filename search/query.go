package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// Mode chooses what ranks the notes.
type Mode string

// The modes of a search.
const (
	ModeHybrid   Mode = "hybrid"   // by words and semantically; by words alone while there is nothing else
	ModeText     Mode = "text"     // by words
	ModeSemantic Mode = "semantic" // by the nearness of passages
)

// Query is what a caller asks of an Engine.
type Query struct {
	// Text is what to look for: words, and whatever of this is well formed:
	//
	//	"exact phrase"  -word  -"phrase"  title:word  begin*
	//	tag:x  path:Projects/  folder:Work  has:todo  after:2026-01-31  before:yesterday
	//
	// each of which '-' before it turns around, but for has and begin*.
	// Anything else is words: no text is a syntax error. Phrases in running text,
	// of more than a dozen words that say something, are words.
	Text    string
	Mode    Mode         // "" is ModeHybrid
	Filter  notes.Filter // beside what Text says
	Limit   int          // hits, 1 to 50; 0 is 10
	Cursor  string       // Result.Next of the page before
	Explain bool         // fill in the scores of Hit.Why
	// Of is the path of the note that Text is from, "" if it is from none. That note
	// matches its own text, so it does not show that the vault has an answer.
	Of string
	// MaxBytes bounds the sum of the hits' snippets. Each has its part of Limit hits, and
	// of fewer up to 200 bytes; 0 stands for 160 each.
	MaxBytes int
	// Beside, if set, returns how many bytes of a hit's share of MaxBytes are taken by
	// what the caller shows of it beside the snippet. It may be called by several
	// goroutines at once.
	Beside func(path, title, heading string) int
}

// kind says what a clause of a query asks for.
type kind uint8

const (
	kindWord   kind = iota // ranks; negated: excludes
	kindPhrase             // must stand in the text word for word
	kindTitle              // must stand in title, alias or file name
	kindTag
	kindPath
	kindFolder
	kindHas
	kindAfter
	kindBefore
)

// node is one clause of a query.
type node struct {
	kind kind
	not  bool
	text string
	time time.Time // of kindAfter and kindBefore
}

// maxConditions bounds the clauses of a query that are no words: each is looked
// up in every part of the index, and phrases in the text.
const maxConditions = 100

// conditionsIn counts the clauses that are no words.
func conditionsIn(nodes []node) int {
	n := 0
	for _, node := range nodes {
		if node.kind != kindWord || node.not {
			n++
		}
	}
	return n
}

// runningText is how many words that say something make a query running text:
// what it quotes is not meant as a condition.
var runningText = 12

// sentence is how many words that say something make a query a sentence: what it quotes
// is a condition unless no note has it.
var sentence = 5

// withoutRepeats drops clauses that stand in the query before, but not words:
// who repeats one means it more. In running text phrases become words.
func withoutRepeats(nodes []node) []node {
	content := 0
	for _, n := range nodes {
		if n.kind == kindWord && !n.not {
			content += contentWords(n.text)
		}
	}
	seen := map[node]bool{}
	kept := nodes[:0]
	for _, n := range nodes {
		if n.kind == kindPhrase && !n.not && content > runningText {
			n.kind = kindWord
		}
		if n.kind != kindWord || n.not {
			if seen[n] {
				continue
			}
			seen[n] = true
		}
		kept = append(kept, n)
	}
	return kept
}

// contentWords counts the words of a text that are no stop words.
func contentWords(text string) int {
	n := 0
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		if !terms.StopWords[string(terms.Fold(nil, text[s.Start:s.End]))] {
			n++
		}
	}
	return n
}

// maxQuery is how much of a query's text is looked at. No person types as much;
// it is the length of a note that was given whole.
const maxQuery = 16 << 10

// parseQuery reads a query's text. It never fails.
func parseQuery(text string, now time.Time) []node {
	if len(text) > maxQuery {
		text = terms.ClipTo(text, maxQuery)
	}
	p := parser{text: text, now: now}
	for p.skipSpace(); p.pos < len(p.text); p.skipSpace() {
		p.clause()
	}
	return withoutRepeats(p.nodes)
}

type parser struct {
	text  string
	pos   int
	now   time.Time
	nodes []node
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && isSpace(p.text[p.pos]) {
		p.pos++
	}
}

// isSpace reports white space and control characters. Spaces outside ASCII
// stay within a word and part its terms there.
func isSpace(b byte) bool { return b <= ' ' || b == 0x7f }

// clause reads one clause and appends its node.
func (p *parser) clause() {
	not := p.text[p.pos] == '-' && p.pos+1 < len(p.text) && !isSpace(p.text[p.pos+1]) && p.text[p.pos+1] != '-'
	start := p.pos
	if not {
		p.pos++
	}
	if phrase, ok := p.quoted(); ok {
		p.add(node{kind: kindPhrase, not: not, text: phrase})
		return
	}
	if n, ok := p.field(not); ok {
		p.add(n)
		return
	}
	if p.text[p.pos] == '"' { // never closed: only a mark
		p.pos++
		return
	}
	word := p.word()
	if not && !hasTerms(word) {
		word, not = p.text[start:p.pos], false
	}
	p.add(node{kind: kindWord, not: not, text: word})
}

func (p *parser) add(n node) {
	if n.kind <= kindTitle && !hasTerms(n.text) {
		return
	}
	p.nodes = append(p.nodes, n)
}

// quoted reads "…" at the position.
func (p *parser) quoted() (string, bool) {
	if p.pos >= len(p.text) || p.text[p.pos] != '"' {
		return "", false
	}
	n := strings.IndexByte(p.text[p.pos+1:], '"')
	if n < 0 {
		return "", false
	}
	s := p.text[p.pos+1 : p.pos+1+n]
	p.pos += n + 2
	return s, true
}

// word reads up to white space or a quotation mark that begins a phrase.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) && !isSpace(p.text[p.pos]) && p.text[p.pos] != '"' {
		p.pos++
	}
	return p.text[start:p.pos]
}

// field reads name:value or name:"value"; when that is not one of the filters
// with a value that makes sense, nothing is read.
func (p *parser) field(not bool) (node, bool) {
	start := p.pos
	colon := strings.IndexByte(p.text[p.pos:], ':')
	if colon <= 0 || colon > len("before") {
		return node{}, false
	}
	read, ok := filters[strings.ToLower(p.text[p.pos:p.pos+colon])]
	if !ok {
		return node{}, false
	}
	p.pos += colon + 1
	value, quoted := p.quoted()
	if !quoted {
		value = p.word()
	}
	value = strings.TrimSpace(value)
	if value != "" {
		if n, ok := read(value, p.now); ok {
			if n, ok = n.negated(not); ok {
				return n, true
			}
		}
	}
	p.pos = start
	return node{}, false
}

// negated turns a filter around if not is set; ok is false where that means
// nothing.
func (n node) negated(not bool) (negated node, ok bool) {
	if !not {
		return n, true
	}
	switch n.kind {
	case kindHas:
		return n, false
	case kindAfter:
		n.kind = kindBefore
	case kindBefore:
		n.kind = kindAfter
	default:
		n.not = true
	}
	return n, true
}

// filters read the value of each filter.
var filters = map[string]func(value string, now time.Time) (node, bool){
	"tag": func(v string, _ time.Time) (node, bool) {
		v = strings.Trim(v, "#/")
		return node{kind: kindTag, text: v}, v != ""
	},
	"path":   func(v string, _ time.Time) (node, bool) { return pathNode(kindPath, strings.TrimPrefix(v, "/")) },
	"folder": func(v string, _ time.Time) (node, bool) { return pathNode(kindFolder, strings.Trim(v, "/")) },
	"title":  func(v string, _ time.Time) (node, bool) { return node{kind: kindTitle, text: v}, hasTerms(v) },
	"has": func(v string, _ time.Time) (node, bool) {
		switch strings.ToLower(v) {
		case "todo", "todos", "task", "tasks":
			return node{kind: kindHas, text: "todo"}, true
		}
		return node{}, false
	},
	"after": func(v string, now time.Time) (node, bool) {
		t, ok := parseDay(v, now)
		return node{kind: kindAfter, text: v, time: t}, ok
	},
	"before": func(v string, now time.Time) (node, bool) {
		t, ok := parseDay(v, now)
		return node{kind: kindBefore, text: v, time: t}, ok
	},
}

func pathNode(k kind, p string) (node, bool) {
	return node{kind: k, text: p}, p != "" && !strings.Contains(p, "\x00")
}

// hasTerms reports whether anything in s can be looked for.
func hasTerms(s string) bool {
	_, ok := terms.NextSpan(s, 0)
	return ok
}

// maxTerms is how many terms of a query rank; the first ones of a long text.
const maxTerms = 64

// partWeight is what a part of a compound counts beside the whole.
const partWeight = 0.7

// request is a query made ready: what the index is asked, what the filter
// selects, and what is verified in the text.
type request struct {
	plan       index.Plan
	words      []queryWord // of the plan's terms, in the order of the query
	parts      []queryWord // of compounds; what found a note that has no whole
	phrases    []phrase    // word for word in the note
	quoted     []string    // the phrases as written, if their words will do where no note has them
	titles     []index.Clause
	notPhrases []phrase
	filter     notes.Filter
	meaning    string // the query without filters, for the semantic side
	foreign    bool   // the query is in another language than English
}

// planTerms returns the terms of the plan that the words are.
func planTerms(words []queryWord) []int {
	terms := make([]int, len(words))
	for i, w := range words {
		terms[i] = w.term
	}
	return terms
}

// queryWord is a term of the plan as it was asked for.
type queryWord struct {
	term  int    // index into the plan's terms
	exact string // folded, not stemmed
	shown string // as written
	gap   int    // stop words between it and the word before
	gram  bool   // one of the n-grams of a run
	start int    // bytes of the query's words, from one end
	end   int    // to the other
	alone bool   // the only term of its word
}

// Parts of the ranking, which tests switch off.
var (
	languageOf = terms.LanguageOf
	repeated   = 1.0 // what a word counts that the query has again
)

// newRequest makes a request of a query's clauses and a filter.
func newRequest(nodes []node, filter notes.Filter) *request {
	r := &request{filter: filter}
	var meaning, quoted []string
	said := 0
	b := planBuilder{request: r, terms: map[string]int{}}
	for _, n := range nodes {
		switch {
		case n.kind > kindTitle:
			r.addFilter(n)
			continue
		case n.not:
			r.addExclusion(n)
			continue
		}
		meaning = append(meaning, n.text)
		switch n.kind {
		case kindPhrase:
			r.phrases = append(r.phrases, newPhrase(n.text))
			quoted = append(quoted, n.String())
			r.plan.Require = append(r.plan.Require, allOf(n.text, nil))
		case kindTitle:
			r.titles = append(r.titles, allOf(n.text, []string{index.FieldName}))
		case kindWord:
			said += contentWords(n.text)
		}
	}
	r.plan.Require = append(r.plan.Require, r.titles...)
	if said >= sentence {
		r.quoted = quoted
	}
	b.Language = languageOf(meaning)
	b.foreign = b.Foreign
	for _, text := range meaning {
		b.add(text)
		b.base += len(text) + 1
	}
	b.finish()
	r.meaning = strings.Join(meaning, " ")
	return r
}

// addFilter puts a clause of the query into the filter.
func (r *request) addFilter(n node) {
	f := &r.filter
	switch n.kind {
	case kindTag:
		if n.not {
			f.NotTags = append(f.NotTags[:len(f.NotTags):len(f.NotTags)], n.text)
		} else {
			f.Tags = append(f.Tags[:len(f.Tags):len(f.Tags)], n.text)
		}
	case kindPath, kindFolder:
		prefix := n.text
		if n.kind == kindFolder {
			prefix += "/"
		}
		switch {
		case n.not:
			f.NotPaths = append(f.NotPaths[:len(f.NotPaths):len(f.NotPaths)], prefix)
		case n.kind == kindFolder && f.Folder == "":
			f.Folder = n.text
		default:
			f.Paths = append(f.Paths[:len(f.Paths):len(f.Paths)], prefix)
		}
	case kindHas:
		f.HasTodo = true
	case kindAfter:
		if n.time.After(f.After) {
			f.After = n.time
		}
	case kindBefore:
		if f.Before.IsZero() || n.time.Before(f.Before) {
			f.Before = n.time
		}
	}
}

func (r *request) addExclusion(n node) {
	switch n.kind {
	case kindTitle:
		r.plan.Exclude = append(r.plan.Exclude, allOf(n.text, []string{index.FieldName}))
	case kindPhrase:
		if p := newPhrase(n.text); len(p.units) > 1 {
			r.notPhrases = append(r.notPhrases, p)
			return
		}
		fallthrough
	default:
		r.plan.Exclude = append(r.plan.Exclude, allOf(n.text, nil))
	}
}

// allOf is the clause of a note that has every word of a text, each as a whole.
func allOf(text string, fields []string) index.Clause {
	c := index.Clause{Fields: fields}
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		for _, t := range queryTerms(text, s) {
			if !t.Part {
				c.Terms = append(c.Terms, lookupOf(t))
			}
		}
	}
	return c
}

// queryTerms returns the terms to look a span up by. Of a run that is cut into
// n-grams, these are the whole ones, or if it is shorter than n, itself as the
// beginning of others.
func queryTerms(text string, s terms.Span) []terms.Term {
	list := terms.Expand(nil, text, s)
	if k := s.Kind(); k != terms.ClassDense && k != terms.ClassRunOn {
		return list
	}
	whole := list[:0:0]
	for _, t := range list {
		if !t.Short {
			whole = append(whole, t)
		}
	}
	if len(whole) > 0 || len(list) == 0 {
		return whole
	}
	return list[:1]
}

func lookupOf(t terms.Term) index.Lookup { return index.Lookup{Text: t.Text, Prefix: t.Short} }

// planBuilder gathers the terms of a request's plan.
type planBuilder struct {
	*request
	terms.Language
	terms map[string]int // → index into the plan's terms
	stops []string       // texts of which only stop words were found
	gap   int            // words left out since the last
	base  int            // where the text that is being added begins
}

// add plans the words of a text, without stop words.
func (b *planBuilder) add(text string) {
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		if b.isStop(string(terms.Fold(nil, text[s.Start:s.End]))) {
			b.stops = append(b.stops, text[s.Start:s.End])
			b.gap++
			continue
		}
		if rest := text[s.End:]; rest != "" && rest[0] == '*' && s.Kind() == terms.ClassWord && isPrefix(text[s.Start:s.End]) {
			b.addPrefix(text, s)
			continue
		}
		b.addSpan(text, withoutExtension(text, s))
	}
}

func (b *planBuilder) isStop(word string) bool {
	return terms.StopWords[word] || b.Foreign && terms.FunctionWords[word]
}

// withoutExtension cuts ".md" off a word: a pasted path means the
// note, whose name is indexed without.
func withoutExtension(text string, s terms.Span) terms.Span {
	const extension = ".md"
	if name := text[s.Start:s.End]; len(name) > len(extension) && strings.EqualFold(name[len(name)-len(extension):], extension) {
		s.End -= len(extension)
	}
	return s
}

// isPrefix reports whether word* is to find what begins with the word.
func isPrefix(word string) bool {
	const least = 2 // characters
	return utf8.RuneCountInString(word) >= least && !strings.ContainsFunc(word, func(r rune) bool { return terms.ClassOf(r) == terms.ClassConnector })
}

// addPrefix plans the terms that begin with a word.
func (b *planBuilder) addPrefix(text string, s terms.Span) {
	exact := string(terms.Fold(nil, text[s.Start:s.End]))
	if exact == "" || len(b.plan.Terms) == maxTerms {
		return
	}
	i, known := b.terms[exact]
	if !known {
		i = len(b.plan.Terms)
		b.plan.Terms = append(b.plan.Terms, index.PlanTerm{})
		b.terms[exact] = i
	}
	t := &b.plan.Terms[i]
	t.Lookup, t.Weight, t.Times = index.Lookup{Text: exact, Prefix: true}, 1, t.Times+1
	b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[s.Start : s.End+1], gap: b.gap, alone: true})
	b.gap = 0
}

func (b *planBuilder) addSpan(text string, s terms.Span) {
	list := queryTerms(text, s)
	for _, t := range list {
		exact := string(terms.Fold(nil, text[t.Start:t.End]))
		weight := 1.0
		if t.Part {
			if b.isStop(exact) {
				continue
			}
			weight = partWeight
		}
		i, known := b.terms[t.Text]
		if !known {
			if len(b.plan.Terms) == maxTerms {
				continue
			}
			i = len(b.plan.Terms)
			b.plan.Terms = append(b.plan.Terms, index.PlanTerm{Lookup: lookupOf(t), Family: b.Families && s.Kind() == terms.ClassWord && !t.Part})
			b.terms[t.Text] = i
		}
		pt := &b.plan.Terms[i]
		pt.Weight = max(pt.Weight, weight)
		if !known {
			pt.Times = 1
		} else if s.Kind() == terms.ClassWord { // n-grams overlap
			pt.Times += repeated
		}
		if t.Part {
			b.parts = append(b.parts, queryWord{term: i, exact: exact, shown: text[t.Start:t.End], start: b.base + t.Start, end: b.base + t.End})
		} else {
			b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[t.Start:t.End], gap: b.gap,
				gram: s.Kind() != terms.ClassWord, start: b.base + t.Start, end: b.base + t.End, alone: len(list) == 1})
			b.gap = 0
		}
	}
}

// finish falls back to stop words when there is nothing else.
func (b *planBuilder) finish() {
	if len(b.plan.Terms) > 0 {
		return
	}
	for _, text := range b.stops {
		if s, ok := terms.NextSpan(text, 0); ok {
			b.addSpan(text, s)
		}
	}
}

// maxUnknown is how many words of a query are looked for as others.
var maxUnknown = 4

// unknown returns the words that no note has, of the notes with each term.
func (r *request) unknown(with []int) []queryWord {
	var out []queryWord
	for _, w := range r.words {
		if w.alone && !w.gram && with[w.term] == 0 && len(out) < maxUnknown &&
			!slices.ContainsFunc(out, func(o queryWord) bool { return o.term == w.term }) {
			out = append(out, w)
		}
	}
	return out
}

// maxShown is how many words a hit names that it was found by.
const maxShown = 10

// shown returns the words of the query that a set of terms stands for, the ones
// that say most first. Function words are left out if the query has others. The n-grams
// of a run that overlap are one word.
func (s *rescorer) shown(list uint64) []string {
	telling := func(w queryWord) bool { return terms.Telling(w.exact) }
	any := !slices.ContainsFunc(s.request.words, telling)
	var found []queryWord
	add := func(words []queryWord, known func(have, word string) bool) {
		for _, w := range words {
			if list&(1<<min(w.term, 63)) == 0 || !any && !telling(w) {
				continue
			}
			if last := len(found) - 1; w.gram && last >= 0 && found[last].start < w.start && w.start < found[last].end {
				found[last].shown += w.shown[found[last].end-w.start:]
				found[last].end = w.end
				continue
			}
			w.shown = strings.ToLower(w.shown)
			if !slices.ContainsFunc(found, func(have queryWord) bool { return known(have.shown, w.shown) }) {
				found = append(found, w)
			}
		}
	}
	add(s.request.words, func(have, word string) bool { return have == word })
	add(s.request.parts, strings.Contains)
	slices.SortStableFunc(found, func(a, b queryWord) int { return cmp.Compare(s.weights[b.term], s.weights[a.term]) })
	out := make([]string, 0, min(len(found), maxShown))
	for _, w := range found {
		if word := terms.Clip(w.shown); len(out) < maxShown && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}
