package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/notes"
)

// maxTerms is how many terms of a query rank; the first ones of a long text.
const maxTerms = 64

// partWeight is what a part of a compound counts beside the whole.
const partWeight = 0.7

// request is a query made ready: what the index is asked, what the filter
// selects, and what is verified in the text.
type request struct {
	plan       plan
	words      []queryWord // of the plan's terms, in the order of the query
	parts      []queryWord // of compounds; what found a note that has no whole
	phrases    [][]string  // word for word in the note
	notPhrases [][]string
	filter     notes.Filter
	meaning    string // the query without filters, for the semantic side
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
	alone bool   // the only term of its word
}

// newRequest makes a request of a query's clauses and a filter.
func newRequest(nodes []node, filter notes.Filter) *request {
	r := &request{filter: filter}
	var meaning []string
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
			r.phrases = append(r.phrases, units(n.text))
			r.plan.require = append(r.plan.require, allOf(n.text, nil))
		case kindTitle:
			r.plan.require = append(r.plan.require, allOf(n.text, []string{fieldName}))
		}
	}
	b.language = languageOf(meaning)
	for _, text := range meaning {
		b.add(text)
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
		r.plan.exclude = append(r.plan.exclude, allOf(n.text, []string{fieldName}))
	case kindPhrase:
		if u := units(n.text); len(u) > 1 {
			r.notPhrases = append(r.notPhrases, u)
			return
		}
		fallthrough
	default:
		r.plan.exclude = append(r.plan.exclude, allOf(n.text, nil))
	}
}

// allOf is the clause of a note that has every word of a text, each as a whole.
func allOf(text string, fields []string) clause {
	c := clause{fields: fields}
	for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
		for _, t := range queryTerms(text, s) {
			if !t.part {
				c.terms = append(c.terms, lookupOf(t))
			}
		}
	}
	return c
}

// queryTerms returns the terms to look a span up by. Of a run that is cut into
// n-grams, these are the whole ones, or if it is shorter than n, itself as the
// beginning of others.
func queryTerms(text string, s span) []term {
	terms := expand(nil, text, s)
	if k := s.kind(); k != classDense && k != classRunOn {
		return terms
	}
	whole := terms[:0:0]
	for _, t := range terms {
		if !t.short {
			whole = append(whole, t)
		}
	}
	if len(whole) > 0 || len(terms) == 0 {
		return whole
	}
	return terms[:1]
}

func lookupOf(t term) lookup { return lookup{text: t.text, prefix: t.short} }

// planBuilder gathers the terms of a request's plan.
type planBuilder struct {
	*request
	language
	terms map[string]int // → index into the plan's terms
	stops []string       // texts of which only stop words were found
	gap   int            // words left out since the last
}

// add plans the words of a text, without stop words.
func (b *planBuilder) add(text string) {
	for s, ok := nextSpan(text, 0); ok; s, ok = nextSpan(text, s.end) {
		if b.isStop(string(fold(nil, text[s.start:s.end]))) {
			b.stops = append(b.stops, text[s.start:s.end])
			b.gap++
			continue
		}
		if rest := text[s.end:]; rest != "" && rest[0] == '*' && s.kind() == classWord && isPrefix(text[s.start:s.end]) {
			b.addPrefix(text, s)
			continue
		}
		b.addSpan(text, withoutExtension(text, s))
	}
}

func (b *planBuilder) isStop(word string) bool {
	return stopWords[word] || b.foreign && functionWords[word]
}

// withoutExtension cuts ".md" off a word: whoever pastes a path means the
// note, whose name is indexed without.
func withoutExtension(text string, s span) span {
	const extension = ".md"
	if name := text[s.start:s.end]; len(name) > len(extension) && strings.EqualFold(name[len(name)-len(extension):], extension) {
		s.end -= len(extension)
	}
	return s
}

// isPrefix reports whether word* is to find what begins with the word.
func isPrefix(word string) bool {
	const least = 2 // characters
	return utf8.RuneCountInString(word) >= least && !strings.ContainsFunc(word, func(r rune) bool { return classOf(r) == classConnector })
}

// addPrefix plans the terms that begin with a word.
func (b *planBuilder) addPrefix(text string, s span) {
	exact := string(fold(nil, text[s.start:s.end]))
	if exact == "" || len(b.plan.terms) == maxTerms {
		return
	}
	i, known := b.terms[exact]
	if !known {
		i = len(b.plan.terms)
		b.plan.terms = append(b.plan.terms, planTerm{})
		b.terms[exact] = i
	}
	t := &b.plan.terms[i]
	t.lookup, t.weight, t.times = lookup{text: exact, prefix: true}, 1, t.times+1
	b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[s.start : s.end+1], gap: b.gap, alone: true})
	b.gap = 0
}

func (b *planBuilder) addSpan(text string, s span) {
	terms := queryTerms(text, s)
	for _, t := range terms {
		exact := string(fold(nil, text[t.start:t.end]))
		weight := 1.0
		if t.part {
			if b.isStop(exact) {
				continue
			}
			weight = partWeight
		}
		i, known := b.terms[t.text]
		if !known {
			if len(b.plan.terms) == maxTerms {
				continue
			}
			i = len(b.plan.terms)
			b.plan.terms = append(b.plan.terms, planTerm{lookup: lookupOf(t), family: b.families && s.kind() == classWord && !t.part})
			b.terms[t.text] = i
		}
		pt := &b.plan.terms[i]
		pt.weight = max(pt.weight, weight)
		if s.kind() == classWord || !known { // n-grams overlap
			pt.times++
		}
		if t.part {
			b.parts = append(b.parts, queryWord{term: i, shown: text[t.start:t.end]})
		} else {
			b.words = append(b.words, queryWord{term: i, exact: exact, shown: text[t.start:t.end], gap: b.gap,
				gram: s.kind() != classWord, alone: len(terms) == 1})
			b.gap = 0
		}
	}
}

// finish falls back to stop words when there is nothing else.
func (b *planBuilder) finish() {
	if len(b.plan.terms) > 0 {
		return
	}
	for _, text := range b.stops {
		if s, ok := nextSpan(text, 0); ok {
			b.addSpan(text, s)
		}
	}
}

// maxUnknown is how many words of a query are looked for as others.
const maxUnknown = 4

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

// shown returns the words of the query that a set of terms stands for.
func (r *request) shown(terms uint64) []string {
	var out []string
	add := func(words []queryWord, known func(have, word string) bool) {
		for _, w := range words {
			if terms&(1<<min(w.term, 63)) == 0 || len(out) == maxShown {
				continue
			}
			word := strings.ToLower(clip(w.shown))
			if !slices.ContainsFunc(out, func(have string) bool { return known(have, word) }) {
				out = append(out, word)
			}
		}
	}
	add(r.words, func(have, word string) bool { return have == word })
	add(r.parts, strings.Contains)
	return out
}
