package search

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"notesd/notes"
)

// Each bonus raises the note that it is meant for; without it, both score the same.
func TestRescorer_Bonuses(t *testing.T) {
	const filler = "of something that was said about it on a day in the long summer before last year, when all was quiet, "
	const lead = filler + filler + filler
	for _, c := range []struct {
		name, query, better, worse string
		off                        func(*bonuses)
	}{
		{"pair", "circuit breaker", lead + "The circuit breaker.", lead + "The breaker circuit.", func(b *bonuses) { b.pair = 0 }},
		{"window", "anchor chain", lead + "The anchor, with its heavy old iron chain.", lead + "The anchor. " + filler + filler + "The chain.", func(b *bonuses) { b.window = 0 }},
		{"exact", "booking", lead + "A booking.", lead + "They booked.", func(b *bonuses) { b.exact = 0 }},
		{"lead", "harbour", "The harbour. " + lead, lead + "The harbour.", func(b *bonuses) { b.lead = 0 }},
		{"section", "harbour dues", "# The harbour\n\n" + lead + "\n\n## Dues", "# The harbour\n\n" + lead + "\n\n## Rules\n\nDues.", func(b *bonuses) { b.pair, b.window, b.title = 0, 0, 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			score := func(text string, off func(*bonuses)) float64 {
				r := newRequest(parseQuery(c.query, time.Time{}), notes.Filter{})
				with := make([]int, len(r.plan.Terms))
				s := newRescorer(r, 100, with)
				off(&s.bonuses)
				found := candidate{terms: 1<<len(with) - 1}
				s.score(notes.Parse("Note.md", []byte(text), time.Time{}), &found)
				return found.bonus
			}
			on := func(*bonuses) {}
			assert.Greater(t, score(c.better, on), score(c.worse, on))
			assert.InDelta(t, score(c.worse, c.off), score(c.better, c.off), 1e-9, "without it they are equal")
		})
	}
}

// Searching for names only where one may begin finds the same as reading every word.
func TestNamesIn(t *testing.T) {
	for _, titles := range [][]string{{"Node", "Happy"}, {"O'Brien", "Straße", "ETE"}, {"U.S.A.", "Lying"}, {"x-ray"}, {"机器", "Happy"}} {
		s := &search{rescorer: newRescorer(newRequest(nil, notes.Filter{}), 1, nil), read: map[int64]*notes.Note{}}
		var best []candidate
		for i, title := range titles {
			best = append(best, candidate{note: int64(i)})
			s.read[int64(i)] = &notes.Note{Title: title}
		}
		quick := namesOf(best, s.read, s.rescorer.matcher)
		assert.Equal(t, titles[0] != "机器", quick.begin != nil)
		slow := names{by: quick.by}
		found := uint64(0)
		for _, text := range matchTexts {
			n := &notes.Note{Content: text, Chunks: []notes.Chunk{{End: len(text)}}}
			want := slow.in(n, &candidate{})
			found |= want
			assert.Equal(t, want, quick.in(n, &candidate{}), "%q in %q", titles, text)
		}
		assert.Equal(t, uint64(1)<<len(titles)-1, found, "%q", titles)
	}
}

// The head of a description is the phrase that names the thing described.
func TestHeadOf(t *testing.T) {
	for query, want := range map[string]string{
		"sacred river of the Hindus":           "sacred river",
		"the moon hiding the sun":              "moon hiding",
		"machine on which threads are crossed": "machine",
		"garden plan":                          "", // a list of words
		"what is the purpose of the build":     "", // a question
		"größter Fluss der Welt":               "", // another language
		"世界の川":                                 "",
		"":                                     "",
		"knots":                                "",
		`"second offer" for the roof`:          "second offer",
		"how do you reset the hasher":          "",
		"meeting with Anna tag:work -draft after:2026-01-31 -x": "meeting",
	} {
		var head []string
		for _, w := range headOf(newRequest(parseQuery(query, time.Time{}), notes.Filter{})) {
			head = append(head, w.shown)
		}
		assert.Equal(t, want, strings.Join(head, " "), query)
	}
}

// A pair has at most one word in between, and counts less in reverse order.
func TestTogether(t *testing.T) {
	r := newRequest(parseQuery("circuit breaker", time.Time{}), notes.Filter{})
	s := newRescorer(r, 100, make([]int, 2))
	for text, want := range map[string]float64{
		"a circuit breaker":                                 1,
		"a circuit with breaker":                            1,
		"a breaker, circuit":                                turned,
		"a breaker circuit; a circuit breaker":              1,
		"a circuit with a breaker":                          0,
		"circuit":                                           0,
		"circuit" + strings.Repeat(" ", 60) + "breaker":     0,
		"a breaker of the circuit, breaker; circuit breaks": 1,
	} {
		assert.InDelta(t, want, together(s.pairs[0], text, s.matcher.find(nil, text)), 1e-9, text)
	}
}
