package index

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"notesd/search/terms"
)

const (
	maxExpansions  = 200 // terms that a prefix expands to
	maxSuggestions = 3   // suggestions for a word that no note has
	// SuggestionWeight is the weight of a suggestion for a word that no note has.
	SuggestionWeight = 0.5
)

// expandTerms finds the families and dates of the plan's words and the terms with its prefixes, only
// the most frequent if there are too many.
func (s *snapshot) expandTerms(p *Plan) error {
	families := !p.Open || s.isForeign()
	for i := range p.Terms {
		t := &p.Terms[i]
		if t.Others == nil {
			if t.Family && families {
				if err := s.addFamily(t); err != nil {
					return err
				}
			}
			if t.Date != "" && (!t.ForeignDate || s.isForeign()) {
				found, err := s.count(func(c *termCounter) error {
					dotted := t.Date[6:] + "." + t.Date[4:6] + "." + t.Date[:4]
					return errors.Join(each(c.dict, sameNumber(t.Date), nil, nil, c.add), each(c.dict, sameNumber(dotted), nil, nil, c.add))
				})
				if err != nil {
					return err
				}
				t.Dated = len(found) > 0
				delete(found, t.Text)
				t.Others = append(t.Others, mostFrequent(found, maxExpansions)...)
			}
		}
		if !t.Prefix {
			continue
		}
		found, err := s.termsIn(t.Text)
		if err != nil {
			return err
		}
		delete(found, t.Text)
		t.Others = mostFrequent(found, maxExpansions)
		if stem := terms.Stem(t.Text); stem != t.Text { // library*: the word itself is indexed as librari
			t.Others = append(t.Others, stem)
		}
	}
	return nil
}

// addFamily finds the forms of a word.
func (s *snapshot) addFamily(t *PlanTerm) error {
	family := map[string]uint64{}
	for _, stem := range terms.Stems(t.Text) {
		found, err := s.termsIn(stem)
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

// termsIn returns the number of notes with each term that begins with prefix.
func (s *snapshot) termsIn(prefix string) (map[string]uint64, error) {
	return s.count(func(c *termCounter) error { return eachTerm(c.dict, prefix, c.add) })
}

// count calls list for each segment's dictionaries of names and bodies, and adds up its counts.
func (s *snapshot) count(list func(c *termCounter) error) (map[string]uint64, error) {
	segments := s.Segments()
	parts := make([]map[string]uint64, len(segments))
	err := s.eachSegment(func(_, i int) error {
		parts[i] = map[string]uint64{}
		for _, field := range []string{FieldName, fieldBody} {
			dict, err := segments[i].Segment().Dictionary(field)
			if err != nil {
				return err
			}
			if err := list(&termCounter{dict: dict, hidden: s.hidden[i], found: parts[i]}); err != nil {
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

// termCounter counts notes that are not hidden, and omits terms that only hidden notes have.
type termCounter struct {
	dict   segment.TermDictionary
	hidden *roaring.Bitmap
	found  map[string]uint64
	list   segment.PostingsList // reused
}

func (c *termCounter) add(term string) (err error) {
	if c.list, err = c.dict.PostingsList([]byte(term), c.hidden, c.list); err != nil {
		return err
	}
	if n := c.list.Count(); n > 0 {
		c.found[term] += n
	}
	return nil
}

// eachTerm calls do for each term of a dictionary that begins with prefix.
func eachTerm(dict segment.TermDictionary, prefix string, do func(term string) error) error {
	end := []byte(prefix)
	end[len(end)-1]++ // UTF-8 has no byte 0xff
	return each(dict, nil, []byte(prefix), end, do)
}

// each calls do for each term of a dictionary that an automaton (nil: any) accepts, from start
// to before end (nil: unbounded).
func each(dict segment.TermDictionary, accepts segment.Automaton, start, end []byte, do func(term string) error) error {
	// The iterator's counts are wrong: after a term that one note has, they are 1 for every
	// term.
	it := dict.(*zap.Dictionary).AutomatonIteratorOmitCount(accepts, start, end)
	for {
		e, err := it.Next()
		if err != nil || e == nil {
			return err
		}
		if err := do(e.Term); err != nil {
			return err
		}
	}
}

func mostFrequent(found map[string]uint64, limit int) []string {
	terms := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
	})
	return terms[:min(limit, len(terms))]
}

// The least lengths, in characters, of words that may have one typo and two.
const (
	oneTypo  = 4
	twoTypos = 8
)

// suggest sets the Others of these terms of the plan, which no note has, to the terms that may
// have been meant.
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
		if same := slices.DeleteFunc(slices.Clone(t.Others), func(other string) bool {
			return umlauts.Replace(other) != umlauts.Replace(t.Text)
		}); len(same) > 0 && len(t.Text) >= 6 { // shorter, such as "poet" and "pot", they are often other words
			t.Others = same
			continue
		}
		t.Weight *= SuggestionWeight
		t.Guess = len(t.Others) > 0 && !strings.HasPrefix(t.Others[0], t.Text)
	}
	return nil
}

// umlauts spells a folded word alike whether it was written with umlauts or without: "Mueller" is
// "Müller", which is no guess.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// likeTerms returns the terms most similar to a word that no note has: those that it is a
// prefix of, or else those at one edit (a letter wrong, missing or added, or two swapped), or
// else two edits for a long word, or else the two terms that it is composed of. The most
// frequent come first. Terms with other digits are different things, not misspellings, except a
// word without the number at its end (python3). A number is like the terms that begin with it or
// have its digits, or else one that ends like it, and is not composed of others.
func (s *snapshot) likeTerms(word string) ([]string, error) {
	if utf8.RuneCountInString(word) < oneTypo {
		return nil, nil
	}
	found, err := s.termsIn(word)
	if err != nil || len(found) > 0 {
		return mostFrequent(found, maxSuggestions), err
	}
	found, err = s.termsNear([]rune(word))
	if err != nil || len(found) > 0 || digitsOf(word) == word {
		return mostFrequent(found, maxSuggestions), err
	}
	return s.partsOf(word)
}

// termsNear returns the number of notes with each of the terms that begin with the word's first
// letter, have its digits, or all but those at its end, and are the fewest edits away from it,
// within the limit for its length; of a number, with any connectors between the digits.
func (s *snapshot) termsNear(word []rune) (found map[string]uint64, err error) {
	digits := digitsOf(string(word))
	if len(digits) == len(word) {
		found, err = s.count(func(c *termCounter) error { return each(c.dict, sameNumber(digits), nil, nil, c.add) })
		if err != nil || len(found) > 0 || len(digits) < leastEnding {
			return found, err
		}
		return s.numbersEnding(strings.TrimLeft(digits, "0"))
	}
	bare := terms.Stem(strings.TrimRight(string(word), "0123456789"))
	most := 1
	if len(word) >= twoTypos {
		most = 2
	}
	for edits := 1; edits <= most && len(found) == 0 && err == nil; edits++ {
		found, err = s.count(func(c *termCounter) error {
			return each(c.dict, newNearWord(word, edits), nil, nil, c.add)
		})
		maps.DeleteFunc(found, func(term string, _ uint64) bool { return digitsOf(term) != digits && term != bare })
	}
	return found, err
}

// leastEnding is the least number of digits that a telephone number has in common with one that
// is written with another prefix.
const leastEnding = 7

// numbersEnding returns the number of notes with each number that ends with the digits, or with
// which they end: 1234567 for 0049301234567, and the reverse.
func (s *snapshot) numbersEnding(digits string) (map[string]uint64, error) {
	return s.count(func(c *termCounter) error {
		return each(c.dict, nil, []byte("0"), []byte{'9' + 1}, func(term string) error {
			bare := strings.TrimLeft(term, "0") // 0171 for 0049 171
			if len(bare) < leastEnding || !strings.HasSuffix(term, digits) && !strings.HasSuffix(digits, bare) || digitsOf(term) != term {
				return nil
			}
			return c.add(term)
		})
	})
}

// digitsOf returns the ASCII digits of a word.
func digitsOf(word string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, word)
}

// leastPart is the least number of characters in a part of a compound.
const leastPart = 4

// partsOf splits a compound (Notizverknüpfung) into two terms that notes have. Of several
// splits it returns the one whose rarer part is most frequent.
func (s *snapshot) partsOf(word string) (parts []string, err error) {
	var splits [][]string
	for i := range word {
		head, tail := word[:i], word[i:]
		if utf8.RuneCountInString(head) >= leastPart && utf8.RuneCountInString(tail) >= leastPart {
			splits = append(splits, []string{terms.Stem(head), terms.Stem(tail)})
		}
	}
	all := slices.Concat(splits...)
	slices.Sort(all)
	all = slices.Compact(all)
	found, err := s.count(func(c *termCounter) error {
		for _, part := range all {
			if err := c.add(part); err != nil {
				return err
			}
		}
		return nil
	})
	best := uint64(0)
	for _, split := range splits {
		if fewest := min(found[split[0]], found[split[1]]); fewest > best {
			best, parts = fewest, split
		}
	}
	return parts, err
}
