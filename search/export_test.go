package search

import (
	"math"

	"notesd/notes"
	"notesd/search/index"
	"notesd/search/terms"
)

// Off has, for each part of the ranking, a function that disables it and returns a function
// that enables it again.
var Off = map[string]func() (on func()){
	"words that stand together":      set(&tunedBonuses.pair, 0),
	"pairs in the other order":       set(&turned, 0),
	"words that meet":                set(&tunedBonuses.window, 0),
	"the word as it was asked for":   set(&tunedBonuses.exact, 0),
	"the head of a description":      set(&headTimes, 1),
	"what a note begins with":        set(&tunedBonuses.lead, 0),
	"the note that the query names":  set(&tunedBonuses.title, 0),
	"what another hit names":         set(&tunedBonuses.named, 0),
	"words count less and less":      set(&textPower, 1),
	"few words in another language":  set(&acrossPower, 1),
	"repeated words":                 set(&repeatWeight, 0),
	"quotes in running text":         set(&runningTextWords, math.MaxInt),
	"a quote that no note has":       set(&sentenceWords, math.MaxInt),
	"other languages":                set(&languageOf, func([]string) terms.Language { return terms.Language{} }),
	"the lead vector":                set(&firstShare, 0),
	"the floor":                      set(&floorMost, math.Inf(-1)),
	"the hits beside a clear one":    set(&clearBelow, 0),
	"scattered passages":             set(&scatterShare, 0),
	"words that no note has":         set(&unknownShare, 0),
	"a second passage":               set(&topicShare, math.Inf(1)),
	"suggestions":                    set(&maxUnknown, 0),
	"what a query can ask for":       set(&idealCap, math.Inf(1)),
	"the words of near notes":        set(&textOf, func(*index.Ranking, *notes.IDSet) map[int64]index.Ranked { return nil }),
	"nearness that words let expect": set(&likelyNear, 0),
	"missing passages":               set(&missingNear, 0),
}

func set[T any](part *T, off T) func() func() {
	return func() func() {
		on := *part
		*part = off
		return func() { *part = on }
	}
}
