package terms

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem returns the English stem (Porter2) of a folded word. It returns words with anything but
// ASCII letters unchanged: identifiers, versions and other scripts have no English endings.
func Stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := 0; i < len(word); i++ {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// StopWords are English words that carry no topic. They are indexed, and dropped only from
// queries that contain other words.
var StopWords = wordSet(`a about an and any are as at be been but by can could did do does doing for from had has have having he her
	here him his how i if in into is it its just me my no nor not of on or our out own she should so some such
	than that the their them then there these they this those to too us very was we were what when where which
	while who whom whose why will with would you your dont doesnt didnt cant isnt arent wasnt`)

// Telling reports whether a folded word carries a topic, which function words do not. Function
// words that are not [StopWords] still affect the ranking, because dropping them from queries
// loses on the judged sets.
func Telling(word string) bool {
	return !StopWords[word] && !functionWords[word] && !FunctionWords[word]
}

var functionWords = wordSet(`after again all along also although always am among another around because before being between both during
	each either else even ever every few further get got hers itself less let like made make many may might more
	most much must near neither never now off often once one only onto other others over per perhaps quite rather
	really same several shall since somehow still themselves though through thus together under unless until up
	upon used using via well whether within without yet yourself`)

// wordSet returns the set of the folded words in lists.
func wordSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for w := range strings.FieldsSeq(list) {
			set[string(Fold(nil, w))] = true
		}
	}
	return set
}
