package search

import (
	"context"
	"regexp"
	"slices"
	"strings"

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
	newestWord = regexp.MustCompile(`^(?:latest|newest|last|zuletzt|letzte[mnrs]?|neueste[mnrs]?|aktuellste[mnrs]?|derni(?:er|ere)s?|ultim(?:[oa]s?|[ie])|laatste|nieuwste)$`).MatchString
	mostPart   = regexp.MustCompile(`^(?:most|plus|mas|piu|mais)$`).MatchString
	recentWord = regexp.MustCompile(`^recente?s?$|^reciente?s?$|^recenti$`).MatchString
	// timeWord matches what only completes such a word: the last time.
	timeWord = regexp.MustCompile(`^(?:time|mal|fois|vez|volta|keer)$`).MatchString
	// spanWord matches what makes a span of time of it: last week, the last three, l'année dernière.
	spanWord = regexp.MustCompile(`^(?:\d+|few|two|three|couple|paar|zwei|drei|day|week|month|quarter|year|night|tage?n?|wochen?|monate?n?|quartal|jahre?n?|jour|semaine|mois|(?:l')?annee|(?:l')?an|dia|semana|mes|ano|settiman[ae]|mes[ei]|giorn[oi]|(?:l')?ann[oi]|dag|dagen|weken|maand|maanden|jaar)s?$|day$`).MatchString
)

// wishOf returns the wish in a query, or nil.
func wishOf(nodes []node) *wish {
	words := make([]string, len(nodes)+1)
	content := 0
	for i, n := range nodes {
		if n.kind == kindWord && !n.not {
			words[i] = string(terms.Fold(nil, bare(n.text)))
			content += contentWords(n.text)
		}
	}
	if content > runningTextWords { // to rank twice takes twice the time
		return nil
	}
	for i, word := range words[:len(nodes)] {
		from, to, before := i, i+1, ""
		switch recent := recentWord(word) && i > 0 && mostPart(words[i-1]); {
		case recent:
			from--
		case !newestWord(word):
			continue
		}
		if from > 0 {
			before = words[from-1]
		}
		timed := timeWord(words[to])
		if timed {
			to++
		}
		w := &wish{topic: slices.Concat(nodes[:from], nodes[min(to, len(nodes)):])}
		if next := words[min(to, len(nodes))]; next != "" && !terms.StopWords[next] && !terms.FunctionWords[next] {
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

// maxSeries is the number of notes that are compared by date.
const maxSeries = 200

// ranked ranks notes. If the query asks for the newest note on a topic, and one of the best three on
// the topic has a date, the notes that match like it come in order of their dates.
func (s *search) ranked(ctx context.Context, need int) (*rankedList, error) {
	list, err := s.rank(ctx, need)
	w := wishOf(s.nodes)
	if err != nil || w == nil || s.q.Mode == ModeSemantic || w.isName(s, list) {
		return list, err
	}
	t := &search{Engine: s.Engine, q: s.q, nodes: w.topic, r: newRequest(w.topic, s.q.Filter), allowed: s.allowed, read: s.read, matches: map[int64][]match{}}
	newest, err := t.rank(ctx, max(need, maxSeries))
	if err != nil {
		return nil, err
	}
	if sorted, err := t.newestFirst(ctx, newest); err != nil || !sorted {
		return list, err
	}
	newest.request = t.r
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
	dated := func(c candidate) bool {
		n := s.read[c.note]
		return n != nil && !n.Date.Equal(n.Modified) && !n.Date.After(now)
	}
	lead := slices.IndexFunc(list.found[:min(len(list.found), 3)], dated)
	if lead < 0 {
		return false, nil
	}
	var series []candidate
	var places []int
	for i, c := range list.found[:min(len(list.found), maxSeries)] {
		if first := list.found[lead].terms; i >= lead && c.terms&first == first {
			series, places = append(series, c), append(places, i)
		}
	}
	if err := s.readNotes(ctx, series); err != nil {
		return false, err
	}
	named, together, pairs := uint64(0), 0.0, 0.0
	kept := 0
	for i, c := range series {
		n := s.read[c.note]
		if !dated(c) {
			continue
		}
		if places[i] >= len(s.best(list.found)) {
			s.matches[n.ID] = s.rescorer.score(n, &c)
		}
		in := termsIn(s.rescorer.matcher.find(nil, n.Path+"\n"+n.Title))
		adjacent := s.rescorer.pairsIn(n.Content, s.matches[n.ID], n.Title, s.rescorer.matcher.find(nil, n.Title))
		if i == 0 {
			named, together, pairs = in, c.togetherShare, adjacent
		}
		if in == named && c.togetherShare >= together && adjacent >= pairs {
			series[kept], places[kept] = c, places[i]
			kept++
		}
	}
	scores := make([]float64, kept)
	for i, c := range series[:kept] {
		scores[i] = c.score
	}
	slices.SortStableFunc(series[:kept], func(a, b candidate) int { return s.read[b.note].Date.Compare(s.read[a.note].Date) })
	for i, c := range series[:kept] {
		c.score = scores[i]
		list.found[places[i]] = c
	}
	return kept > 1, nil
}
