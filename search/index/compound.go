package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	segment "github.com/blevesearch/scorch_segment_api/v2"

	"notesd/search/terms"
)

const (
	compoundWeight = 0.5 // of an occurrence of a compound instead of the word
	maxCompounds   = 12  // that a query's words expand to; with more, reading notes takes longer
	leastTail      = 5   // characters in the word
	leastHead      = 3   // characters before it
)

// addCompounds finds up to limit compounds, the most frequent, that end with a word, as
// Datenbankmigration ends with Migration, and begin with another word of the vault: Reise is no
// part of Kaufpreise.
func (s *snapshot) addCompounds(t *PlanTerm, limit int) error {
	if utf8.RuneCountInString(t.Word) < leastTail || !s.isCompounding() {
		return nil
	}
	tails := tailsOf(t.Word)
	found, err := s.count(func(c *termCounter) error { return c.addEnding(tails) })
	if err != nil {
		return err
	}
	for _, term := range mostFrequent(found, 2*limit) {
		isCompound, err := s.isCompound(term, tails)
		if err != nil {
			return err
		}
		if isCompound && len(t.Compounds) < limit && !slices.Contains(t.Others, term) {
			t.Compounds = append(t.Compounds, term)
		}
	}
	return nil
}

// links are letters between the words of a compound, and endings of the last.
var links = []string{"", "s", "n", "en", "e", "es", "er"}

// tailsOf returns the ends of the terms of compounds that end with a form of a word.
func tailsOf(word string) (tails []string) {
	const head = "abab" // the stem of a word depends on what is before it: migrat, datenbankmigr
	for _, link := range links {
		for _, form := range []string{word + link, strings.TrimSuffix(word, link)} {
			tail := strings.TrimPrefix(terms.Stem(head+form), head)
			if utf8.RuneCountInString(form) >= leastTail && !slices.Contains(tails, tail) {
				tails = append(tails, tail)
			}
		}
	}
	return tails
}

// isCompound reports whether what is before one of the tails of a term is a word of the vault,
// with or without a link.
func (s *snapshot) isCompound(term string, tails []string) (bool, error) {
	for _, tail := range tails {
		head, ends := strings.CutSuffix(term, tail)
		for _, link := range links {
			word, linked := strings.CutSuffix(head, link)
			if !ends || !linked || utf8.RuneCountInString(word) < leastHead || terms.FunctionWords[word] {
				continue
			}
			if known, err := s.inBodies(terms.Stem(word)); known || err != nil {
				return known, err
			}
		}
	}
	return false, nil
}

// inBodies reports whether the body of a note that is not hidden has a term.
func (s *snapshot) inBodies(term string) (bool, error) {
	for i, seg := range s.Segments() {
		dict, err := seg.Segment().Dictionary(fieldBody)
		if err != nil {
			return false, err
		}
		c := &termCounter{dict: dict, hidden: s.hidden[i], found: map[string]uint64{}}
		if err := c.add(term); err != nil || len(c.found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// endings are the terms of a dictionary that may be compounds, by their last letters. They are
// loaded when first needed.
type endings struct {
	once  sync.Once
	terms []string // sorted by compareEnds
	err   error
}

func (e *endings) load(dict segment.TermDictionary) {
	e.err = each(dict, nil, []byte{'9' + 1}, nil, func(term string) error {
		if len(term) >= leastHead+leastTail {
			e.terms = append(e.terms, term)
		}
		return nil
	})
	slices.SortFunc(e.terms, compareEnds)
}

// addEnding adds the terms that end with one of the tails.
func (c *termCounter) addEnding(tails []string) error {
	c.endings.once.Do(func() { c.endings.load(c.dict) })
	for _, tail := range tails {
		from, _ := slices.BinarySearchFunc(c.endings.terms, tail, compareEnds)
		for _, term := range c.endings.terms[from:] {
			if !strings.HasSuffix(term, tail) {
				break
			}
			if err := c.add(term); err != nil {
				return err
			}
		}
	}
	return c.endings.err
}

// compareEnds compares two words letter by letter from their ends.
func compareEnds(a, b string) int {
	for i := 1; i <= min(len(a), len(b)); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}
