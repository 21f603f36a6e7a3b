package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"notesd/internal/phrase"
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
		found, err := s.termsIn(t.Text)
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

// termsIn counts the notes with each term that begins with prefix.
func (s *snapshot) termsIn(prefix string) (map[string]uint64, error) {
	return s.count(func(c *termCounter) error { return eachTerm(c.dict, prefix, c.add) })
}

// count merges what list counts in each segment's dictionaries of names and bodies.
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
			if err := list(&termCounter{data: s.data[i], field: field, dict: dict, hidden: s.hidden[i], found: parts[i]}); err != nil {
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

// termCounter counts the notes that are not hidden, and leaves out terms that only
// hidden ones have.
type termCounter struct {
	data   *segmentData
	field  string
	dict   segment.TermDictionary // of the field
	hidden *roaring.Bitmap
	found  map[string]uint64
	list   segment.PostingsList // used again and again
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
	end[len(end)-1]++ // UTF-8 has no byte that this would overflow
	// The counts of the iterator are 1 for every term after one that one note has.
	it := dict.(*zap.Dictionary).AutomatonIteratorOmitCount(nil, []byte(prefix), end)
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
	if utf8.RuneCountInString(word) < oneTypo {
		return nil, nil
	}
	found, err := s.termsIn(word)
	if err != nil || len(found) > 0 {
		return mostFrequent(found, maxSuggestions), err
	}
	found, err = s.termsNear([]rune(word))
	if err != nil || len(found) > 0 {
		return mostFrequent(found, maxSuggestions), err
	}
	return s.partsOf(word)
}

// termsNear counts the notes with each term that begins with the word's first letter and
// is the fewest edits away from it, at most as many as a word of its length may have.
func (s *snapshot) termsNear(word []rune) (map[string]uint64, error) {
	edits := 1
	if len(word) >= twoTypos {
		edits = 2
	}
	letters := lettersOf(string(word))
	distance := func(term string) int {
		n := utf8.RuneCountInString(term)
		if max(n-len(word), len(word)-n) > edits || bits.OnesCount64(lettersOf(term)^letters) > 2*edits {
			return edits + 1 // as nearly all
		}
		return phrase.Distance(word, []rune(term))
	}
	found, err := s.count(func(c *termCounter) error {
		list, err := c.data.termsOf(c.dict, c.field, word[0])
		if err != nil {
			return err
		}
		for term := range strings.Lines(list) {
			term = term[:len(term)-1]
			if distance(term) <= edits {
				if err := c.add(term); err != nil {
					return err
				}
			}
		}
		return nil
	})
	fewest := edits
	for term := range found {
		fewest = min(fewest, distance(term))
	}
	maps.DeleteFunc(found, func(term string, _ uint64) bool { return distance(term) > fewest })
	return found, err
}

// lettersOf returns a set of the letters of a term, in which some share a bit: an edit
// takes at most one away and adds one.
func lettersOf(term string) (set uint64) {
	for _, r := range term {
		set |= 1 << (r & 63)
	}
	return set
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
	for i, seg := range s.Segments() {
		for _, field := range []string{FieldName, fieldBody} {
			dict, err := seg.Segment().Dictionary(field)
			if err != nil {
				return 0, err
			}
			list, err := dict.PostingsList([]byte(term), s.hidden[i], nil)
			if err != nil {
				return 0, err
			}
			n += list.Count()
		}
	}
	return n, nil
}
