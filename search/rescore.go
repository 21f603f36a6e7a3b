package search

import (
	"cmp"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// bonuses weigh what the text of a note adds to its BM25F score, each in units of the idf
// of the words concerned.
type bonuses struct {
	pair   float64 // two words adjacent in the query are adjacent in the text, see together
	window float64 // the words within windowSize bytes of each other
	exact  float64 // the word itself instead of another with its stem
	headed float64 // the word in a heading of or above a passage, for the choice of the passage
	lead   float64 // the words in the title or the beginning of the note
	title  float64 // the words of the title, or of the breadcrumb, if the query names it
	named  float64 // a passage of another hit names the note; in units of the ideal score
}

// tunedBonuses are the bonuses tuned on the judged sets; docs/retrieval.md has the table.
var tunedBonuses = bonuses{pair: .30, window: .30, exact: .05, headed: .20, lead: .10, title: .50, named: .07}

// turned is the weight of an adjacent pair in reverse order.
var turned = 0.7

// headTimes is the weight of the head of a description in the lead bonus.
var headTimes = 2.0

// idealCap bounds the ideal score of a query, in words that occur in one note: no note
// matches all of a long query.
var idealCap = 3.5

const (
	pairReach  = 2   // greatest distance within a pair, in words
	windowSize = 120 // bytes
)

// rescorer scores the texts of the best candidates.
type rescorer struct {
	request *request
	matcher *matcher
	bonuses
	weights []float64 // idf by term of the plan, then the weight of mark
	begins  []float64 // the same, in the beginning of a note
	mark    int       // the pseudo-term for tags and tasks of the filter; -1: none
	pairs   []pair
	ideal   float64 // score of a note that matches the whole query
	asked   float64 // the same without needless terms, and with guesses as the words that they replace
	unknown float64 // share of asked in terms that no note has; 0 if no note has any term
}

// pair is two adjacent words of the query.
type pair struct {
	first, second int // terms
	weight        float64
}

// newRescorer returns a rescorer, given the number of notes and of notes with each term.
func newRescorer(r *request, docs int, with []int) *rescorer {
	s := &rescorer{request: r, matcher: newMatcher(r), bonuses: tunedBonuses, weights: make([]float64, len(r.plan.Terms)), mark: -1}
	for i := range s.weights {
		s.weights[i] = float64(index.Idf(docs, with[i])) * r.plan.Terms[i].Weight
	}
	for i, t := range r.plan.Terms {
		weight := s.weights[i] * t.Times
		s.ideal += weight
		switch {
		case t.Guess:
			s.asked += weight / index.SuggestionWeight
		case with[i] > 0:
			s.asked += weight
		case !r.needless(i, with):
			s.asked += weight
			s.unknown += weight
		}
	}
	most := idealCap * float64(index.Idf(docs, 1))
	s.ideal, s.asked = max(1e-9, min(s.ideal, most)), max(1e-9, min(s.asked, most))
	if slices.ContainsFunc(with, func(n int) bool { return n > 0 }) {
		s.unknown /= s.asked
	} else {
		s.unknown = 0
	}
	if r.filter.HasTodo || len(r.filter.Tags) > 0 {
		s.mark = len(s.weights)
		s.weights = append(s.weights, max(1, s.total()/2))
	}
	s.begins = slices.Clone(s.weights)
	for _, w := range headOf(r) {
		s.begins[w.term] = headTimes * s.weights[w.term]
	}
	for i := 1; i < len(r.words); i++ {
		a, b := r.words[i-1], r.words[i]
		if a.gram || b.gram || b.gap > pairReach-1 || a.term == b.term {
			continue // overlapping n-grams of one run add nothing
		}
		s.pairs = append(s.pairs, pair{a.term, b.term, min(s.weights[a.term], s.weights[b.term])})
	}
	return s
}

// headOf returns the words before the first function word of a description, such as
// "sacred river" in "sacred river of the Hindus": a note about a thing begins with what
// it is. Questions and lists of words have no head. Tuned on English sets only.
func headOf(r *request) []queryWord {
	for i, w := range r.words {
		switch {
		case w.gram || r.foreign || i == 0 && w.gap > 1: // "what is the"
			return nil
		case i > 0 && w.gap > 0:
			return r.words[:i]
		}
	}
	return nil
}

// score sets the bonus of a candidate's text and the share of the query found close
// together in it (c.met), and returns the matches. c.terms are the terms that the index
// found in the note; those only in tags or names count as close to any text.
func (s *rescorer) score(n *notes.Note, c *candidate) (matches []match) {
	matches = s.find(n.Content, c.terms)
	titled := s.matcher.find(nil, n.Title)
	from, to, meeting := s.window(matches, func(first, last match) bool { return last.end-first.start <= windowSize })
	if c.chunk < 0 && from < len(matches) {
		c.togetherAt = matches[from].start
	}
	crumb, crumbed := s.breadcrumb(n, titled)
	c.bonus = s.pair*s.pairsIn(n.Content, matches, crumb, crumbed) +
		s.bonuses.window*max(meeting, distinct(s.weights, crumbed, nil)) +
		s.exact*distinct(s.weights, matches, asAsked) +
		s.lead*s.leadIn(n, titled, matches) +
		s.bonuses.title*max(s.titleIn(n.Title, titled), s.titleIn(crumb, crumbed), s.nameIn(n))
	elsewhere, inside := c.terms, uint64(0)
	for i, m := range matches {
		bit := uint64(1) << min(m.term, 63)
		elsewhere &^= bit
		if i >= from && i < to {
			inside |= bit
		}
	}
	c.togetherShare = s.share(elsewhere | s.request.withParts(inside))
	if named := termsIn(titled); named != 0 { // a title counts as close to all of its text
		rest := slices.DeleteFunc(slices.Clone(matches), func(m match) bool { return named&(1<<min(m.term, 63)) != 0 })
		if i, j, _ := s.window(rest, func(first, last match) bool { return last.end-first.start <= windowSize }); i < j {
			c.togetherShare = max(c.togetherShare, s.share(elsewhere|s.request.withParts(named|termsIn(rest[i:j]))))
		}
	}
	return matches
}

// Of a long note only some blocks of text are scanned, until each of its terms was seen.
const (
	firstBlock  = 16 << 10
	blockSize   = 4 << 10   // around the next term that was not seen yet
	blockBefore = 512       // of that, before the term
	maxScanned  = 256 << 10 // if a term is not found as the index has it
)

// find returns the matches of the query's terms in a text. Of a long text, it scans the beginning
// and then only blocks around those of the given terms that it has not seen yet.
func (s *rescorer) find(text string, terms uint64) (matches []match) {
	size, skip := firstBlock, true
	var missing *seeker // of the terms in sought
	var sought uint64
	for from, scanned := 0, 0; from < len(text); size = blockSize {
		to := len(text)
		if to-from > size*3/2 {
			to = lineEnd(text, from+size)
		}
		seen := len(matches)
		matches = s.matcher.find(matches, text[from:to])
		for i := seen; i < len(matches); i++ {
			m := &matches[i]
			m.start += from
			m.end += from
			terms &^= 1 << min(m.term, 63)
		}
		if scanned += to - from; terms == 0 || scanned > maxScanned {
			break
		}
		if from = to; skip {
			if sought != terms {
				missing, sought = s.matcher.seekerOf(terms), terms
			}
			at := missing.next(text, from)
			if skip = at < len(text); skip && at > from+blockBefore {
				from = at - blockBefore
				from += strings.IndexAny(text[from:at], " \n") + 1
			}
		}
	}
	return matches
}

// lineEnd returns the end of the line around at, or of the word if the line is long.
func lineEnd(text string, at int) int {
	for _, sep := range []byte{'\n', ' '} {
		if i := strings.IndexByte(text[at:min(len(text), at+blockSize)], sep); i >= 0 {
			return at + i + 1
		}
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// distinct sums the weights of the distinct terms of matches for which counts reports
// true (nil: all).
func distinct(weights []float64, matches []match, counts func(match) bool) float64 {
	sum := 0.0
	var seen uint64
	for _, m := range matches {
		if bit := uint64(1) << min(m.term, 63); seen&bit == 0 && (counts == nil || counts(m)) {
			seen |= bit
			sum += weights[m.term]
		}
	}
	return sum
}

// termsIn returns the set of terms of matches.
func termsIn(matches []match) (set uint64) {
	for _, m := range matches {
		set |= 1 << min(m.term, 63)
	}
	return set
}

func asAsked(m match) bool { return m.exact }

// breadcrumb returns the title of a note with the label or heading that has most of the query's
// weight beyond the title's, if one has, and the matches in both. Labels are the folders, the tags
// and the lines of the front matter. A query may name a note by title and label, as "atlas roadmap"
// does, or a section by title and heading, as "sourdough feeding" does.
func (s *rescorer) breadcrumb(n *notes.Note, titled []match) (string, []match) {
	parts := append(strings.Split(path.Dir(n.Path), "/"), n.Tags...)
	if n.FrontMatter != nil {
		head := n.Content
		if len(n.Chunks) > 0 {
			head = head[:n.Chunks[0].Start]
		}
		parts = append(parts, strings.Split(terms.ClipTo(head, firstBlock/4), "\n")...) // leaves room for headings
	}
	labels := len(parts)
	for _, h := range n.Headings {
		parts = append(parts, h.Text)
	}
	found := s.matcher.find(nil, terms.ClipTo(strings.Join(parts, "\n"), firstBlock))
	crumb, best, end := n.Title, distinct(s.weights, titled, nil), 0
	for i, part := range parts {
		end += len(part) + 1
		in := 0
		for in < len(found) && found[in].start < end {
			in++
		}
		if in == 0 {
			continue
		}
		counts := i >= labels || len(titled) > 0 // many notes share a label, which alone names none
		if w := distinct(s.weights, slices.Concat(titled, found[:in]), nil); counts && w > best+1e-9 {
			best, crumb = w, n.Title+" "+part
			if i < labels {
				crumb = part + " " + n.Title
			}
		}
		if found = found[in:]; len(found) == 0 {
			break
		}
	}
	if crumb == n.Title {
		return crumb, titled
	}
	return crumb, s.matcher.find(nil, crumb)
}

// pairsIn sums the weights of pairs that are adjacent in a text or a breadcrumb.
func (s *rescorer) pairsIn(text string, matches []match, crumb string, crumbed []match) float64 {
	sum := 0.0
	for _, p := range s.pairs {
		sum += p.weight * max(together(p, text, matches), together(p, crumb, crumbed))
	}
	return sum
}

// leadIn sums the weights of terms in the title or the beginning of a note.
func (s *rescorer) leadIn(n *notes.Note, titled, matches []match) float64 {
	_, end := n.Lead()
	from := 0
	if len(n.Chunks) > 0 {
		from = n.Chunks[0].Start
	}
	lead := slices.Clone(titled)
	for _, m := range matches {
		if m.start >= from && m.end <= end {
			lead = append(lead, m)
		}
	}
	return distinct(s.begins, lead, nil)
}

// titleIn returns the weight of the terms in a title or breadcrumb, times the square of the share
// of its words that are in the query: the query may name the note or the section. It needs two
// words, because in many vaults titles are single words.
func (s *rescorer) titleIn(title string, titled []match) float64 {
	words, have := 0, 0
	for span, ok := terms.NextSpan(title, 0); ok; span, ok = terms.NextSpan(title, span.End) {
		words++
		if slices.ContainsFunc(titled, func(m match) bool { return m.start >= span.Start && m.start < span.End }) {
			have++
		}
	}
	if have < 2 {
		return 0
	}
	share := float64(have) / float64(words)
	return share * share * distinct(s.weights, titled, nil)
}

// nameIn returns the weight of the whole query if the title or an alias consists of it.
func (s *rescorer) nameIn(n *notes.Note) float64 {
	query := units(s.request.semanticText)
	if slices.ContainsFunc(append([]string{n.Title}, n.Aliases...), func(name string) bool { return slices.Equal(units(name), query) }) {
		return s.total()
	}
	return 0
}

// nameWords is the greatest number of words in a title that is a name.
const nameWords = 3

// isName reports whether a title is a name, such as "Ganges" and "Ada Lovelace", unlike
// "Next steps".
func isName(title string) bool {
	words := strings.Fields(title)
	if len(title) < 3 || len(words) > nameWords || terms.StopWords[strings.ToLower(title)] {
		return false
	}
	return len(words) == 1 || !slices.ContainsFunc(words, func(w string) bool {
		r, _ := utf8.DecodeRuneInString(w)
		return unicode.IsLower(r)
	})
}

// names has the titles of candidates that are names without a word of the query.
type names struct {
	by    map[string][]namedCandidate // by their first unit
	begin *seeker                     // of these units; nil: every word is compared
}

// namedCandidate is a candidate with a title.
type namedCandidate struct {
	candidate int
	title     string
	name      []string // the units of the title
}

func namesOf(best []candidate, read map[int64]*notes.Note, m *matcher) names {
	out := names{by: map[string][]namedCandidate{}}
	for i, c := range best {
		if n := read[c.note]; n != nil && isName(n.Title) && len(m.find(nil, n.Title)) == 0 {
			if name := units(n.Title); len(name) > 0 {
				out.by[name[0]] = append(out.by[name[0]], namedCandidate{i, n.Title, name})
			}
		}
	}
	if needles := needlesOf(slices.Collect(maps.Keys(out.by))); needles != nil {
		out.begin = newSeeker(needles, true)
	}
	return out
}

// in returns the candidates named in the best passage of a note, one bit each. A query
// that describes a thing finds notes that mention the thing.
func (names names) in(n *notes.Note, c *candidate) (found uint64) {
	if len(names.by) == 0 || len(n.Chunks) == 0 {
		return 0
	}
	chunk := c.chunk
	if chunk < 0 || chunk >= len(n.Chunks) {
		chunk = max(0, slices.IndexFunc(n.Chunks, func(k notes.Chunk) bool { return c.togetherAt < k.End }))
	}
	passage := n.Content[n.Chunks[chunk].Start:n.Chunks[chunk].End]
	names.begin.eachUnit(passage, func(u []byte, start, _ int) continuation {
		for _, t := range names.by[string(u)] {
			if t.title != n.Title && (len(t.name) == 1 || hasUnits(passage[start:], t.name)) {
				found |= 1 << t.candidate
			}
		}
		return seekOn
	})
	return found
}

// hasUnits reports whether a text begins with the given units.
func hasUnits(text string, want []string) bool {
	i := 0
	eachUnit(text, func(u []byte, _, _ int) bool {
		if string(u) != want[i] {
			return false
		}
		i++
		return i < len(want)
	})
	return i == len(want)
}

// together returns 1 if the words of a pair are adjacent somewhere in a text, turned if
// only in reverse order, as in "class Hash" for "the Hash class", and 0 otherwise.
func together(p pair, text string, matches []match) (found float64) {
	last := match{term: -1}
	for _, m := range matches {
		if m.term != p.first && m.term != p.second {
			continue
		}
		if last.term >= 0 && last.term != m.term && near(text, last.end, m.start) {
			if m.term == p.second {
				return 1
			}
			found = turned
		}
		last = m
	}
	return found
}

// near reports whether fewer than pairReach words lie between two offsets.
func near(text string, from, to int) bool {
	const longest = 48 // bytes between the two
	if to < from || to-from > longest {
		return false
	}
	words := 0
	for s, ok := terms.NextSpan(text[:to], from); ok && words < pairReach; s, ok = terms.NextSpan(text[:to], s.End) {
		words++
	}
	return words < pairReach
}

// window returns the first run of matches, within the extent that fits allows, whose
// distinct terms have the greatest weight, and that weight. It takes linear time.
func (s *rescorer) window(matches []match, fits func(first, last match) bool) (from, to int, best float64) {
	count := make([]int, len(s.weights))
	sum, lo := 0.0, 0
	for hi, m := range matches {
		if count[m.term]++; count[m.term] == 1 {
			sum += s.weights[m.term]
		}
		for lo < hi && !fits(matches[lo], m) {
			if count[matches[lo].term]--; count[matches[lo].term] == 0 {
				sum -= s.weights[matches[lo].term]
			}
			lo++
		}
		if sum > best+1e-9 {
			from, to, best = lo, hi+1, sum
		}
	}
	return from, to, best
}

// best returns the candidates whose texts are read.
func (s *search) best(found []candidate) []candidate {
	return found[:min(len(found), max(rescoredNotes, s.q.Limit))]
}

// rescore adds the scores of their texts to the best candidates and sorts them.
func (s *search) rescore(ctx context.Context, found []candidate, m *semanticResult) error {
	best := s.best(found)
	sorted := best
	if i := slices.IndexFunc(found, func(c candidate) bool { return c.textRank == 1 && s.r.hasCode(c.terms) }); i >= len(best) {
		// To the model, a code such as "AN-25-0417" is close to any number. That its parts stand
		// together in a note, only the text shows.
		last := len(best) - 1
		c := found[i]
		copy(found[last+1:i+1], found[last:i])
		found[last] = c
		sorted = found // its text may not raise it above those between
	}
	if err := s.readNotes(ctx, best); err != nil {
		return err
	}
	matches, names, named := make([][]match, len(best)), namesOf(best, s.read, s.rescorer.matcher), make([]uint64, len(best))
	err := index.InParallel(len(best), func(_, i int) error {
		c := &best[i]
		if n := s.read[c.note]; n != nil {
			if c.terms != 0 {
				matches[i] = s.rescorer.score(n, c)
			}
			named[i] = names.in(n, c)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	all := uint64(0)
	for _, found := range named {
		all |= found
	}
	for i := range best {
		c := &best[i]
		if n := s.read[c.note]; n != nil && c.terms != 0 {
			s.matches[n.ID] = matches[i]
		}
		if c.named = all&(1<<i) != 0; c.named {
			c.bonus += s.rescorer.named * s.rescorer.ideal
		}
		s.score(c, m)
	}
	sortByScore(sorted)
	s.originalsFirst(best)
	return nil
}

// hasCode reports whether a set of terms has all that have digits, or all if none has.
func (r *request) hasCode(set uint64) bool {
	all, code := uint64(0), uint64(0)
	for i, t := range r.plan.Terms {
		bit := uint64(1) << min(i, 63)
		if all |= bit; hasDigit(t.Text) {
			code |= bit
		}
	}
	return set&cmp.Or(code, all) == cmp.Or(code, all)
}

func hasDigit(term string) bool { return strings.ContainsAny(term, "0123456789") }

// copies matches the paths of notes that are kept beside an original.
var copies = regexp.MustCompile(`(?i)archiv|backup|conflict|konflikt|copy|kopie|copie|trash`)

// copyTie is the greatest difference of the scores of a note and its copy. It is greater if the query
// names one of them.
const copyTie = .01

// originalsFirst exchanges a note that is a copy by its path with a later one that has the same
// text, about the same score, and is none.
func (s *search) originalsFirst(best []candidate) {
	for i := range best {
		for j := i + 1; j < len(best); j++ {
			a, b := s.read[best[i].note], s.read[best[j].note]
			if a != nil && b != nil && a.Hash == b.Hash && best[i].score-best[j].score < copyTie && copies.MatchString(a.Path) && !copies.MatchString(b.Path) {
				best[i], best[j] = best[j], best[i]
				best[i].score, best[j].score = best[j].score, best[i].score
			}
		}
	}
}

// withParts adds the parts of the compounds in a set of terms to it: a note that has "sm5" has
// all of "SM-5".
func (r *request) withParts(terms uint64) uint64 {
	for _, part := range r.parts {
		for _, w := range r.words {
			if terms&(1<<min(w.term, 63)) != 0 && w.start <= part.start && part.end <= w.end {
				terms |= 1 << min(part.term, 63)
			}
		}
	}
	return terms
}

// needless reports whether notes may contain, in another form, a term that no note has: a
// compound as parts that notes have, except in a query of days, or initials with spaces between them.
func (r *request) needless(term int, with []int) bool {
	return slices.ContainsFunc(r.words, func(w queryWord) bool {
		return w.term == term && (!r.onlyDays || r.plan.Terms[term].Date == "") && (slices.ContainsFunc(r.parts, func(part queryWord) bool {
			return w.start <= part.start && part.end <= w.end && with[part.term] > 0
		}) || !w.gram && !slices.ContainsFunc(strings.Split(w.shown, "."), func(part string) bool {
			return utf8.RuneCountInString(part) != 1
		}))
	})
}

// share returns the weight of a set of the request's terms, as a share of all.
func (s *rescorer) share(terms uint64) float64 {
	sum := 0.0
	for i, t := range s.request.plan.Terms {
		if terms&(1<<min(i, 63)) != 0 {
			sum += s.weights[i] * t.Times
		}
	}
	return sum / s.asked
}
