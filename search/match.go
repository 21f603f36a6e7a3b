package search

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"notesd/search/index"
	"notesd/search/terms"
)

// match is an occurrence of a term of a request in a text.
type match struct {
	term       int // of the plan
	start, end int // bytes
	exact      bool
}

// matcher finds the terms of a request in texts. A search reads little but the texts of the
// candidates, so the matcher computes terms only for words that begin, or have a part that
// begins, like a term; see [seeker].
type matcher struct {
	terms    map[string]int // → index into the plan's terms
	numbers  bool           // one of them may be a number that the text has in groups
	prefixes []int          // terms that are prefixes
	plan     *index.Plan
	exact    []string   // by term: the folded word of the query
	first    [256]bool  // by [terms.Initial] of the terms
	letters  [1024]bool // by their first two letters
	seeker   *seeker    // nil: reading every word is cheaper
}

func newMatcher(r *request) *matcher {
	m := &matcher{terms: map[string]int{}, plan: &r.plan, exact: make([]string, len(r.plan.Terms))}
	for i, t := range r.plan.Terms {
		m.add(t.Text, i)
		for _, other := range t.Others {
			m.add(other, i)
		}
		if t.Prefix {
			m.prefixes = append(m.prefixes, i)
			m.numbers = m.numbers || hasDigit(t.Text)
		}
	}
	for _, w := range r.words {
		m.exact[w.term] = w.exact
	}
	if needles := needlesOf(slices.Collect(maps.Keys(m.terms))); needles != nil {
		m.seeker = newSeeker(needles, true)
	}
	return m
}

func (m *matcher) add(term string, i int) {
	m.numbers = m.numbers || len(term) > 3 && hasDigit(term)
	if _, known := m.terms[term]; !known {
		m.terms[term] = i
	}
	m.first[terms.Initial(term)] = true
	m.letters[firstLetters(term)] = true
	if len(term) == 1 { // it may be the stem of any word that begins with it
		for second := range 32 {
			m.letters[firstLetters(term)|second] = true
		}
	}
	if len(term) == len("die") && term[1:] == "ie" {
		m.letters[firstLetters(term[:1]+"y")] = true // dying, lying, tying: their stems differ in the second letter
	}
}

// firstLetters returns a key of the first two ASCII letters of a word or a part of one, without
// regard to case.
func firstLetters(s string) int {
	i := int(s[0]&31) << 5
	if len(s) > 1 && terms.ByteClass[s[1]]&terms.ClassWord != 0 {
		i |= int(s[1] & 31)
	}
	return i
}

// find appends the matches in text to dst, in order.
func (m *matcher) find(dst []match, text string) []match {
	if m.seeker != nil {
		var room [64]int
		most := 16 + len(text)/16 // with more, reading every word is cheaper
		if places := m.seeker.places(room[:0], text, 0, most); len(places) < most {
			return m.findAt(dst, text, places)
		}
	}
	for s, ok := terms.NextSpan(text, 0); ok; s, ok = terms.NextSpan(text, s.End) {
		dst = m.match(dst, text, s)
	}
	return dst
}

// match appends the matches in a span of text.
func (m *matcher) match(dst []match, text string, s terms.Span) []match {
	var room [8]terms.Term
	list := room[:0]
	switch kind := s.Kind(); {
	case kind == terms.ClassDense || kind == terms.ClassRunOn:
		list = terms.GramsFrom(list, text, s, &m.first)
	case kind == terms.ClassSymbol || m.mayMatch(text, s) &&
		(m.seeker == nil || s.Classes&(terms.HighBit|terms.ClassConnector) == 0 || m.seeker.within(text[s.Start:s.End])):
		list = terms.Expand(list, text, s)
	}
	if m.numbers {
		if n, ok := terms.Number(text, s); ok {
			list = append(list, n)
		}
	}
	for _, t := range list {
		if i, ok := m.lookUp(t.Text); ok {
			exact := m.exact[i] != "" && equalFold(text[t.Start:t.End], m.exact[i])
			dst = append(dst, match{term: i, start: t.Start, end: t.End, exact: exact})
		}
	}
	return dst
}

func (m *matcher) lookUp(text string) (int, bool) {
	if i, ok := m.terms[text]; ok {
		return i, true
	}
	for _, i := range m.prefixes {
		if strings.HasPrefix(text, m.plan.Terms[i].Text) {
			return i, true
		}
	}
	return 0, false
}

// mayMatch reports whether a word may have one of the terms, because the word or a part of it
// begins like one.
func (m *matcher) mayMatch(text string, s terms.Span) bool {
	if s.Classes&terms.HighBit != 0 {
		r, _ := utf8.DecodeRuneInString(text[s.Start:])
		folded := terms.FoldRune(r)
		return folded == "" || m.first[terms.Initial(folded)] || s.Classes&(terms.ClassUpper|terms.ClassConnector) != 0
	}
	word := text[s.Start:s.End]
	if m.letters[firstLetters(word)] {
		return true
	}
	if s.Classes&(terms.ClassUpper|terms.ClassConnector) == 0 {
		return false
	}
	if len(word) > 2 && terms.AsciiClass[word[1]] == terms.ClassConnector && m.letters[firstLetters(word[:1]+word[2:3])] {
		return true // x-ray: xray
	}
	for i := 1; i < len(word); i++ {
		if c := terms.AsciiClass[word[i]]; (c == terms.ClassUpper || terms.AsciiClass[word[i-1]] == terms.ClassConnector) && m.letters[firstLetters(word[i:])] {
			return true
		}
	}
	return false
}

// equalFold reports whether raw folds to folded.
func equalFold(raw, folded string) bool {
	if raw == folded {
		return true
	}
	var buf [terms.MaxTerm]byte
	return string(terms.Fold(buf[:0], raw)) == folded
}
