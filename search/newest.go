package search

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"notesd/search/index"
	"notesd/search/terms"
)

// wish is a query for the newest note on a topic, such as "last meeting with Ana".
type wish struct {
	topic []node // the query without the words of the wish
	about string // the word after "last"; "": none follows
	name  phrase // both words, which may as well be a name: "last supper"
}

var (
	// newestWord matches a folded word that asks for the newest, mostPart and recentWord two.
	newestWord = regexp.MustCompile(`^(?:(?:d?all|dell|nell|sull|l)['’])?(?:latest|newest|last|zuletzt|letzte[mnrs]?|neueste[mnrs]?|aktuellste[mnrs]?|derni(?:er|ere)s?|ultim(?:[oa]s?|[ie])|laatste|nieuwste)$`).MatchString
	mostPart   = regexp.MustCompile(`^(?:most|plus|mas|piu|mais)$`).MatchString
	recentWord = regexp.MustCompile(`^recente?s?$|^reciente?s?$|^recenti$`).MatchString
	// timeWord matches what only completes such a word: the last time.
	timeWord = regexp.MustCompile(`^(?:time|mal|fois|vez|volta|keer)$`).MatchString
	// spanWord matches what makes a span of time of it: last week, the last three, l'année dernière.
	spanWord = regexp.MustCompile(`^(?:\d+|few|two|three|couple|paar|zwei|drei|day|week|weekend|month|quarter|year|decade|spring|summer|autumn|winter|christmas|night|tage?n?|wochen?|monate?n?|quartal|jahre?n?|jour|semaine|mois|(?:l')?annee|(?:l')?an|dia|semana|mes|ano|settiman[ae]|mes[ei]|giorn[oi]|(?:l')?ann[oi]|dag|dagen|weken|maand|maanden|jaar)s?$|day$`).MatchString
)

// wishOf returns the wish in a query, or nil.
func wishOf(nodes []node) *wish {
	words := make([]string, len(nodes)+1)
	content := 0
	for i, n := range nodes {
		if n.kind == kindWord && !n.not {
			words[i] = strings.TrimSuffix(strings.ReplaceAll(string(terms.Fold(nil, bare(n.text))), "’", "'"), "'s")
			content += contentWords(n.text)
		}
	}
	if content > runningTextWords { // to rank twice takes more than twice the time
		return nil
	}
	for i, word := range words[:len(nodes)] {
		from, to, before := i, i+1, ""
		if i > 0 && recentWord(word) && mostPart(words[i-1]) {
			from--
		} else if !newestWord(word) {
			continue
		}
		if from > 0 {
			before = words[from-1]
		}
		timed := timeWord(words[to])
		if timed {
			to++
		}
		w := &wish{topic: slices.Concat(nodes[:from], nodes[to:])}
		if next := words[to]; next != "" && !terms.StopWords[next] && !terms.FunctionWords[next] {
			w.about, w.name = next, newPhrase(word+" "+next)
		} else if word == "last" && !timed { // at last, the last of them
			continue
		}
		if spanWord(w.about) || spanWord(before) || !slices.ContainsFunc(w.topic, func(n node) bool { return n.kind == kindWord && !n.not && contentWords(n.text) > 0 }) {
			continue
		}
		return w
	}
	return nil
}

// alikeNear is the least nearness of a note without the words, as a share of the first's.
const alikeNear = .75

// maxCompared is the number of the newest notes whose texts are compared with the first's.
const maxCompared = 24

// maxSeries is the number of notes that are compared by date.
const maxSeries = 200

// ranked ranks notes. If the query asks for the newest note on a topic, and one of the best three on
// the topic has a date, the notes that match like it come in order of their dates.
func (s *search) ranked(ctx context.Context, need int) (*rankedList, error) {
	list, err := s.rank(ctx, need)
	w := wishOf(s.nodes)
	if err != nil || w == nil || s.q.Mode == ModeSemantic || w.isName(s, list) || list.semantic.State == StateLate || list.semantic.State == StateLoading {
		return list, err // vectors that are not ready are not waited for again
	}
	t := &search{Engine: s.Engine, q: s.q, nodes: w.topic, r: newRequest(w.topic, s.q.Filter), allowed: s.allowed, read: s.read, matches: map[int64][]match{}}
	newest, err := t.rank(ctx, max(need, maxSeries))
	if err != nil {
		return nil, err
	}
	if sorted, err := t.newestFirst(ctx, newest); err != nil || !sorted {
		return list, err
	}
	newest.topic = w.topic
	newest.remarks = append(newest.remarks, "the query asks for the newest: notes that match alike are in order of their dates")
	*s = *t
	return newest, nil
}

// isName reports whether the notes have the words of a wish as a name: in the title of one of the
// best, or in the text of the best, unless that is named by the topic.
func (w *wish) isName(s *search, list *rankedList) bool {
	for i, c := range list.found[:min(3, len(list.found))] {
		n := s.read[c.note]
		if n == nil || w.about == "" {
			continue
		}
		names := strings.Join(append([]string{n.Title, n.Path}, n.Aliases...), "\n")
		if w.name.in(names) || i == 0 && w.name.in(n.Content) && !newPhrase(w.about).in(names) {
			return true
		}
	}
	return false
}

// newestFirst puts the notes that match like the first one with a date in order of their dates, at the
// places that they have together, and reports whether there are any.
func (s *search) newestFirst(ctx context.Context, list *rankedList) (bool, error) {
	now := s.o.Clock()
	dated := func(date, modified time.Time) bool { return !date.Equal(modified) && !date.After(now) }
	lead := slices.IndexFunc(list.found[:min(len(list.found), 3)], func(c candidate) bool {
		n := s.read[c.note]
		return n != nil && dated(n.Date, n.Modified)
	})
	if lead < 0 {
		return false, nil
	}
	first := list.found[lead]
	var series []candidate
	var ids []int64
	places := map[int64]int{}
	for i, c := range list.found[lead:min(len(list.found), maxSeries)] {
		alike := c.terms&first.terms == first.terms && c.terms != 0 || first.terms == 0 && c.nearness() >= alikeNear*first.nearness()
		if alike && c.weak == first.weak {
			series, ids, places[c.note] = append(series, c), append(ids, c.note), lead+i
		}
	}
	metas, err := s.store.Metas(ctx, ids)
	if err != nil {
		return false, err
	}
	inName := func(p, title string) uint64 { return termsIn(s.rescorer.matcher.find(nil, p+"\n"+title)) }
	named := inName(s.read[first.note].Path, s.read[first.note].Title)
	dates := map[int64]time.Time{} // of the notes that have their names alike, too
	for _, m := range metas {
		if dated(m.Date, m.Modified) && inName(m.Path, m.Title) == named {
			dates[m.ID] = m.Date
		}
	}
	series = slices.DeleteFunc(series, func(c candidate) bool { _, ok := dates[c.note]; return !ok })
	newest := slices.Clone(series)
	slices.SortStableFunc(newest, func(a, b candidate) int { return dates[b.note].Compare(dates[a.note]) })
	scored := len(s.best(list.found))
	newest, err = s.closeLike(ctx, first, newest[:min(len(newest), maxCompared)], func(c candidate) bool { return places[c.note] >= scored })
	if err != nil || len(newest) == 0 {
		return false, err
	}
	others := slices.DeleteFunc(slices.Clone(series), func(c candidate) bool {
		return slices.ContainsFunc(newest, func(n candidate) bool { return n.note == c.note })
	})
	for i, c := range slices.Concat(newest, others) {
		place := &list.found[places[series[i].note]]
		c.score = place.score
		*place = c
	}
	return len(series) > 1, nil
}

// closeLike returns those of the notes in which the words of the query are as close together, and as
// often next to each other, as in the first one.
func (s *search) closeLike(ctx context.Context, first candidate, all []candidate, unscored func(candidate) bool) (like []candidate, err error) {
	pairs := func(c candidate, matches []match) float64 {
		n := s.read[c.note]
		return s.rescorer.pairsIn(n.Content, matches, n.Title, s.rescorer.matcher.find(nil, n.Title))
	}
	if err := s.readNotes(ctx, all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return s.read[c.note] == nil }) // deleted since
	adjacent, matches := make([]float64, len(all)), make([][]match, len(all))
	err = index.InParallel(len(all), func(_, i int) error {
		c := &all[i]
		matches[i] = s.matches[c.note]
		if unscored(*c) {
			matches[i] = s.rescorer.score(s.read[c.note], c)
		}
		adjacent[i] = pairs(*c, matches[i])
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	least := pairs(first, s.matches[first.note])
	for i, c := range all {
		s.matches[c.note] = matches[i]
		if c.togetherShare >= first.togetherShare && adjacent[i] >= least {
			like = append(like, c)
		}
	}
	return like, nil
}
