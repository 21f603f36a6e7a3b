package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"notesd/notes"
	"notesd/search/index"
)

// candidate is a note that may become a hit.
type candidate struct {
	note  int64
	score float64 // determines the rank
	// modified orders equal scores; see index.Ranked. 0: the note has none of the words
	modified      uint32
	text          float64
	bonus         float64 // added for its text, see bonuses
	togetherShare float64 // share of the query that occurs together in its text; 0: not read
	terms         uint64
	// textRank and vectorRank count from 1; 0: not found that way
	textRank, vectorRank int
	cosine               float64
	near, first, missing float64 // see notes.SemanticHit
	weak                 bool
	named                bool // a passage of another hit names it
	embedded             bool // the cosine is known
	across               bool // see notes.SemanticHit
	chunk                int  // semantically nearest; -1: none
	togetherAt           int  // if chunk is -1: the offset where the words occur together
}

// byText returns the notes found by words as candidates.
func byText(found []index.Ranked) []candidate {
	out := make([]candidate, len(found))
	for i, r := range found {
		out[i] = candidate{note: r.Note, score: r.Score, modified: r.Modified, text: r.Score, terms: r.Terms, textRank: i + 1, chunk: -1}
	}
	return out
}

// Weights of words and meaning in a hybrid search, chosen on judged sets; docs/retrieval.md has
// the table.
var (
	// firstShare is the share of a note's first passage in its nearness; the best passage has
	// the rest. One of many passages is near by chance, and the first states the note's topic.
	firstShare = 0.4
	// textPower is the exponent of the text score: half of the words count for more than half,
	// so nearness decides more among notes that have most of them. It is not applied if the
	// query is not in English, because such queries rely on words.
	textPower = 0.7
	// acrossPower is the exponent if the notes are in another language than the query: a few
	// words in common, such as names and numbers, say little.
	acrossPower = 2.0
	// likelyNear is the expected increase of nearness per unit of text score, for notes without
	// vectors.
	likelyNear = 0.5
	// missingNear is the average increase of nearness from having few of a note's vectors to
	// having all.
	missingNear = 0.05
	// gapWeight is added to the weight of meaning, in proportion to [semanticResult.languageGap] or
	// [search.answersAcross]: across languages, words can match only names and numbers.
	gapWeight = 0.3
)

// While notes are being embedded, the nearness of those without vectors is estimated from those
// with vectors whose words match equally well. The estimate is the mean over the notes of this
// query and usualNotes notes of nearness usualNear.
const (
	usualNear  = 0.1
	usualNotes = 5
)

// textOf returns the text scores of near notes; see [index.Ranking.TextOf].
var textOf = (*index.Ranking).TextOf

// fuse merges the notes found by words and semantically, by score rather than by rank: the text
// score relative to that of a note with all the words, so that meaning decides more for a query
// that no text matches well, and the weighted nearness. A note without vectors gets an expected
// nearness, see [search.expect].
func (s *search) fuse(text []candidate, r *index.Ranking, m *semanticResult) []candidate {
	out := slices.Clone(text)
	at := make(map[int64]int, len(text)+len(m.near))
	for i := range out {
		at[out[i].note] = i
	}
	others := &notes.IDSet{}
	set := func(h notes.SemanticHit, rank int) {
		i, ok := at[h.NoteID]
		if !ok {
			i = len(out)
			at[h.NoteID] = i
			out = append(out, candidate{note: h.NoteID})
			others.Add(h.NoteID)
		}
		c := &out[i]
		c.cosine, c.near, c.first, c.missing, c.chunk, c.embedded = h.Cosine, h.Near, h.First, h.Missing, h.Ordinal, true
		c.across = h.Across
		if rank > 0 {
			c.vectorRank = rank
		}
	}
	for _, h := range m.also {
		set(h, 0)
	}
	for i, h := range m.near {
		set(h, i+1)
	}
	for id, found := range textOf(r, others) {
		c := &out[at[id]]
		c.text, c.terms, c.modified, c.textRank = found.Score, found.Terms, found.Modified, len(text)+1
	}
	s.expect(out[:len(text)], m)
	for i := range out {
		s.score(&out[i], m)
	}
	sortByScore(out)
	return out
}

// expect estimates the nearness of notes without vectors from the notes with vectors among
// those found by words.
func (s *search) expect(found []candidate, m *semanticResult) {
	n, sum := 0, usualNotes*usualNear
	for _, c := range found {
		if c.embedded && !c.across {
			n++
			sum += c.nearness() - likelyNear*s.wordShare(&c, m)
		}
	}
	m.likely = sum / float64(n+usualNotes)
	m.known = 1
	if m.building && len(found) > 0 {
		m.known = float64(n) / float64(len(found))
	}
}

// nearness returns the nearness of a note with vectors.
func (c *candidate) nearness() float64 {
	return (1-firstShare)*(c.near+missingNear*c.missing) + firstShare*c.first
}

// languageGap estimates whether the notes are in another language than the query, from 0 to 1:
// by how many deviations beyond the first a sample of the passages is farther from the query
// than unrelated passages usually are.
func (m *semanticResult) languageGap() float64 {
	if m.usual.Deviation == 0 { // not known
		return 0
	}
	return min(1, max(0, (m.usual.Mean-m.here.Mean)/m.usual.Deviation-1))
}

// answersAcross estimates, from 0 to 1, whether the answers are in another language than the query
// in a vault of several: by how many of the nearest notes are, unless a note found by words has all
// of the query.
func (s *search) answersAcross(text []candidate, m *semanticResult) float64 {
	n, found := 0, 0.0
	for _, h := range m.near {
		if h.Across {
			n++
		}
	}
	if len(text) > 0 {
		found = min(1, text[0].text/s.rescorer.ideal)
	}
	return (1 - found) * float64(n) / float64(len(m.near))
}

// wordShare returns a candidate's text score, without its bonus, relative to that of a note
// with all the words.
func (s *search) wordShare(c *candidate, m *semanticResult) float64 {
	power := textPower
	switch {
	case m.languageGap() > 0:
		power = acrossPower
	case s.r.foreign:
		power = 1
	}
	return math.Pow(c.text/s.rescorer.ideal, power)
}

// score combines what is known about a candidate into its score. The fewer notes have vectors,
// the less nearness counts: of many notes with vectors some are near by chance, and would
// displace better notes without.
func (s *search) score(c *candidate, m *semanticResult) {
	text := s.wordShare(c, m)
	if s.q.Mode == ModeSemantic && m.weight > 0 {
		c.score = c.near
		return
	}
	near := m.likely + likelyNear*text
	if c.embedded {
		near += m.known * m.known * (c.nearness() - near)
	}
	if c.across { // a note with the same meaning would have some of the words in the query's language
		text = max(text, c.nearness()-m.likely)
	}
	c.score = (1-m.weight)*(text+c.bonus/s.rescorer.ideal) + m.weight*near
}

func sortByScore(found []candidate) {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.modified, a.modified), cmp.Compare(b.note, a.note))
	})
}

// blend orders the list as the mode asks.
func (s *search) blend(ctx context.Context, list *rankedList, text []candidate, r *index.Ranking, m *semanticResult) error {
	grams := slices.ContainsFunc(s.r.words, func(w queryWord) bool { return w.gram })
	foreign := s.r.foreign || grams
	unknown := s.rescorer.unknown
	if len(text) == 0 {
		unknown = 1
	}
	list.floor, list.clearBound = floor(*m, s.q.Mode, foreign, unknown)
	list.clearRaise = s.unknownRaise(m, foreign)
	list.poorlySupported = m.weight > 0 && m.weight < fluent
	if len(m.near) == 0 || s.q.Mode == ModeText {
		m = &semanticResult{}
		for i := range text {
			s.score(&text[i], m)
		}
		list.found = text
		return s.rescore(ctx, list.found, m)
	}
	across := s.answersAcross(text, m)
	m.weight += gapWeight * max(m.languageGap(), across)
	if !foreign { // otherwise the bound is low already
		list.clearBound.across = gapBelow * across
	}
	head := text[:min(len(text), poolSize)]
	list.found = slices.DeleteFunc(s.fuse(head, r, m), func(c candidate) bool {
		return c.near < list.floor && c.terms == 0
	})
	if s.q.Mode == ModeSemantic {
		list.found = slices.DeleteFunc(list.found, func(c candidate) bool { return c.vectorRank == 0 })
		list.total = len(list.found)
		s.instead = nil // the query was embedded with its own words
		return nil
	}
	if err := s.rescore(ctx, list.found, m); err != nil {
		return err
	}
	have := make(map[int64]bool, len(list.found))
	for _, c := range list.found {
		have[c.note] = true
		if c.textRank == 0 {
			list.total++
		}
	}
	for _, c := range text[len(head):] {
		if !have[c.note] {
			c.score = 0 // beyond the fused ones only the order counts
			list.found = append(list.found, c)
		}
	}
	return nil
}
