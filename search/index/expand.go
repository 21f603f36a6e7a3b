package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum/levenshtein"

	"notesd/search/terms"
)

const (
	maxExpansions  = 200 // terms that stand for the beginning of them
	maxSuggestions = 3   // terms that stand for a word that no note has
	// SuggestionWeight is what a word counts that may have been meant.
	SuggestionWeight = 0.5
)

// expandPrefixes finds the terms that the plan's prefixes begin, the most
// frequent first when there are too many, and the families of its words.
func (s *snapshot) expandPrefixes(p *Plan) error {
	for i := range p.Terms {
		t := &p.Terms[i]
		if t.Family && t.Others == nil {
			if err := s.addFamily(t); err != nil {
				return err
			}
		}
		if !t.Prefix {
			continue
		}
		found, err := s.termsIn(nil, t.Text)
		if err != nil {
			return err
		}
		delete(found, t.Text)
		t.Others = mostFrequent(found, maxExpansions)
	}
	return nil
}

// addFamily finds the forms of a word.
func (s *snapshot) addFamily(t *PlanTerm) error {
	family := map[string]uint64{}
	for _, stem := range terms.Stems(t.Text) {
		found, err := s.termsIn(nil, stem)
		if err != nil {
			return err
		}
		for term, notes := range found {
			if term != t.Text && terms.SameFamily(t.Text, term) {
				family[term] = notes
			}
		}
	}
	t.Others = mostFrequent(family, maxExpansions)
	return nil
}

// termsIn counts the notes with each term that begins with prefix and is
// accepted by the automaton (nil: all).
func (s *snapshot) termsIn(a segment.Automaton, prefix string) (map[string]uint64, error) {
	segments := s.Segments()
	parts := make([]map[string]uint64, len(segments))
	err := s.eachSegment(func(_, i int) error {
		parts[i] = map[string]uint64{}
		for _, field := range []string{FieldName, fieldBody} {
			dict, err := segments[i].Segment().Dictionary(field)
			if err != nil {
				return err
			}
			if err := countTerms(parts[i], dict, a, prefix, segments[i].Deleted()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := map[string]uint64{}
	for _, part := range parts {
		for term, n := range part {
			found[term] += n
		}
	}
	return found, nil
}

// countTerms counts the notes that are not deleted, and leaves out terms that only
// deleted ones have: a segment keeps these until it is merged.
func countTerms(found map[string]uint64, dict segment.TermDictionary, a segment.Automaton, prefix string, deleted *roaring.Bitmap) error {
	end := []byte(prefix)
	end[len(end)-1]++ // UTF-8 has no byte that this would overflow
	it := dict.AutomatonIterator(a, []byte(prefix), end)
	var list segment.PostingsList // used again and again
	for {
		e, err := it.Next()
		if err != nil || e == nil {
			return err
		}
		// e.Count is 1 for every term after one that one note has
		if list, err = dict.PostingsList([]byte(e.Term), deleted, list); err != nil {
			return err
		}
		if n := list.Count(); n > 0 {
			found[e.Term] += n
		}
	}
}

func mostFrequent(found map[string]uint64, limit int) []string {
	terms := make([]string, 0, len(found))
	for t := range found {
		terms = append(terms, t)
	}
	slices.SortFunc(terms, func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
	})
	return terms[:min(limit, len(terms))]
}

// Words of this many characters may have one wrong, and two.
const (
	oneTypo  = 4
	twoTypos = 8
)

// suggest sets the Others of each of these terms of the plan, which no note has, to
// the terms that may have been meant.
func (s *snapshot) suggest(ctx context.Context, p *Plan, unknown []int) error {
	for _, term := range unknown {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &p.Terms[term]
		var err error
		if t.Others, err = s.likeTerms(t.Text); err != nil {
			return err
		}
		t.Weight *= SuggestionWeight
		t.Guess = len(t.Others) > 0 && !strings.HasPrefix(t.Others[0], t.Text)
	}
	return nil
}

// likeTerms returns the terms most like one that no note has: those that it
// begins, else those an edit away (a letter wrong, missing, added, or two
// swapped), else two edits for a long word, else the two that it is made of.
// Of equals the most frequent come first.
func (s *snapshot) likeTerms(word string) ([]string, error) {
	letters := utf8.RuneCountInString(word)
	if letters < oneTypo {
		return nil, nil
	}
	_, first := utf8.DecodeRuneInString(word)
	found, err := s.termsIn(nil, word)
	if err != nil || len(found) > 0 {
		return mostFrequent(found, maxSuggestions), err
	}
	for edits := 1; edits <= 2 && (edits == 1 || letters >= twoTypos); edits++ {
		dfa, err := within(edits, word)
		if err != nil {
			return nil, err
		}
		if found, err = s.termsIn(dfa, word[:first]); err != nil || len(found) > 0 {
			return mostFrequent(found, maxSuggestions), err
		}
	}
	return s.partsOf(word)
}

// A builder of automata takes milliseconds to make, and is good for any word
// and any number of goroutines.
var (
	oneEdit = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
		return levenshtein.NewLevenshteinAutomatonBuilder(1, true)
	})
	twoEdits = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
		return levenshtein.NewLevenshteinAutomatonBuilder(2, true)
	})
)

// within returns the automaton of what is one or two edits away from a word.
func within(edits int, word string) (*levenshtein.DFA, error) {
	builder := oneEdit
	if edits == 2 {
		builder = twoEdits
	}
	b, err := builder()
	if err != nil {
		return nil, err
	}
	return b.BuildDfa(word, uint8(edits))
}

// leastPart is how many characters a part of a compound has.
const leastPart = 4

// partsOf splits a compound (Notizverknüpfung) into two terms that notes have;
// of several ways to do so it takes the one whose rarer part is most frequent.
func (s *snapshot) partsOf(word string) (parts []string, err error) {
	best := uint64(0)
	for i := range word {
		head, tail := word[:i], word[i:]
		if utf8.RuneCountInString(head) < leastPart || utf8.RuneCountInString(tail) < leastPart {
			continue
		}
		fewest := uint64(math.MaxUint64)
		for _, part := range []string{head, tail} {
			n, err := s.notesWith(terms.Stem(part))
			if err != nil {
				return nil, err
			}
			if fewest = min(fewest, n); fewest <= best {
				break
			}
		}
		if fewest > best {
			best, parts = fewest, []string{terms.Stem(head), terms.Stem(tail)}
		}
	}
	return parts, nil
}

// notesWith returns how many notes have a term in their name or body.
func (s *snapshot) notesWith(term string) (n uint64, err error) {
	for _, seg := range s.Segments() {
		for _, field := range []string{FieldName, fieldBody} {
			dict, err := seg.Segment().Dictionary(field)
			if err != nil {
				return 0, err
			}
			list, err := dict.PostingsList([]byte(term), seg.Deleted(), nil)
			if err != nil {
				return 0, err
			}
			n += list.Count()
		}
	}
	return n, nil
}
