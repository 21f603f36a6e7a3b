package search

import (
	"strings"
	"unicode/utf8"
)

// match is an occurrence of a term of a request in a text.
type match struct {
	term       int // of the plan
	start, end int // bytes
	word       int // counts the spans of the text
	exact      bool
}

// matcher finds the terms of a request in texts. It makes the terms only of
// words that begin with a letter that some term begins with: the texts of the
// hits are most of what a search reads. One goroutine uses it.
type matcher struct {
	terms    map[string]int // → index into the plan's terms
	prefixes []int          // terms that stand for what they begin
	plan     *plan
	exact    []string // by term, as asked for
	first    [256]bool
	spare    []term
}

func newMatcher(r *request) *matcher {
	m := &matcher{terms: map[string]int{}, plan: &r.plan, exact: make([]string, len(r.plan.terms))}
	for i, t := range r.plan.terms {
		m.add(t.text, i)
		for _, other := range t.others {
			m.add(other, i)
		}
		if t.prefix {
			m.prefixes = append(m.prefixes, i)
		}
	}
	for _, w := range r.words {
		m.exact[w.term] = w.exact
	}
	return m
}

func (m *matcher) add(term string, i int) {
	if _, known := m.terms[term]; !known {
		m.terms[term] = i
	}
	m.first[initial(term)] = true
}

// initial tells first characters apart, roughly: the last byte of the first.
func initial(s string) byte {
	if s == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[size-1]
}

// find appends the matches in text[from:to] to dst.
func (m *matcher) find(dst []match, text string, from, to int) []match {
	text = text[:to]
	word := 0
	for s, ok := nextSpan(text, from); ok; s, ok = nextSpan(text, s.end) {
		word++
		if !m.mayMatch(text, s) {
			continue
		}
		m.spare = expand(m.spare[:0], text, s)
		for _, t := range m.spare {
			i, ok := m.lookUp(t.text)
			if !ok {
				continue
			}
			exact := m.exact[i] != "" && equalFold(text[t.start:t.end], m.exact[i])
			dst = append(dst, match{term: i, start: t.start, end: t.end, word: word, exact: exact})
		}
	}
	return dst
}

func (m *matcher) lookUp(text string) (int, bool) {
	if i, ok := m.terms[text]; ok {
		return i, true
	}
	for _, i := range m.prefixes {
		if strings.HasPrefix(text, m.plan.terms[i].text) {
			return i, true
		}
	}
	return 0, false
}

// mayMatch reports whether a span may have one of the terms.
func (m *matcher) mayMatch(text string, s span) bool {
	if s.kind() != classWord || s.classes&classConnector != 0 {
		return true
	}
	if b := text[s.start]; b < utf8.RuneSelf {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		return m.first[b] || s.classes&classUpper != 0 && s.classes&classLower != 0 && hasHump(text[s.start+1:s.end])
	}
	r, _ := utf8.DecodeRuneInString(text[s.start:])
	folded := foldRune(r)
	return folded == "" || m.first[initial(folded)] || s.classes&classUpper != 0
}

// hasHump reports whether a word has a capital after its first letter.
func hasHump(rest string) bool {
	for i := 0; i < len(rest); i++ {
		if b := rest[i]; 'A' <= b && b <= 'Z' || b >= utf8.RuneSelf {
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
	var buf [maxTerm]byte
	return string(fold(buf[:0], raw)) == folded
}
