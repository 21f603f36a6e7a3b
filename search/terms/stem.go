package terms

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Stem returns the English stem (Porter 2) of a folded word. Words with
// anything but ASCII letters are returned as they are: identifiers, versions
// and other scripts have no English endings.
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

// StopWords are the words of English that say nothing about what a note is
// about. They are indexed, and dropped only from queries that have others.
var StopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range []string{
		"a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
		"did", "do", "does", "doing", "for", "from", "had", "has", "have", "having", "he", "her", "here",
		"him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "my", "no", "nor",
		"not", "of", "on", "or", "our", "out", "own", "she", "should", "so", "some", "such", "than", "that",
		"the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us",
		"very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why",
		"will", "with", "would", "you", "your", "dont", "doesnt", "didnt", "cant", "isnt", "arent", "wasnt",
	} {
		set[w] = true
	}
	return set
}()
