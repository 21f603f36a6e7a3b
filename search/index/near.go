package index

import (
	"strings"
	"unicode/utf8"

	segment "github.com/blevesearch/scorch_segment_api/v2"

	"notesd/search/terms"
)

// nearWord is an automaton that accepts the terms that begin with a word's first letter and are
// within a number of edits of the word: letters wrong, missing or added, or two neighbours
// swapped (optimal string alignment). A dictionary is a transducer whose paths are its terms; the
// automaton leaves a path as soon as every continuation is further away, so that a fraction of
// the terms is read.
//
// The states are positions on the path, and the row of the edit distance matrix of each letter
// is kept. This is sufficient because the iterator of a dictionary walks it depth first: the
// letters before the one that it reads are those of its path. Each iterator needs a nearWord of
// its own.
type nearWord struct {
	word  []rune
	edits int
	path  []letter
}

// letter is a letter of a path.
type letter struct {
	bytes [utf8.UTFMax]byte
	rune  rune
	// before has the distance of the path before this letter from each prefix of the word. Only
	// distances within the number of edits are exact; the others exceed it.
	before []int
}

// newNearWord returns the automaton of a word with more letters than edits.
func newNearWord(word []rune, edits int) *nearWord {
	a := &nearWord{word: word, edits: edits, path: make([]letter, len(word)+edits+2)}
	cells := make([]int, len(a.path)*(len(word)+1))
	for i := range cells {
		cells[i] = edits + 1
	}
	for i := range a.path {
		a.path[i].before, cells = cells[:len(word)+1], cells[len(word)+1:]
	}
	for i := range edits + 1 {
		a.path[0].before[i] = i
	}
	return a
}

// A state is four times the number of letters on the path, plus the number of bytes that have
// been read of the next letter.
const noMatch = -1

var _ segment.Automaton = (*nearWord)(nil)

func (a *nearWord) Start() int { return 0 }

func (a *nearWord) CanMatch(state int) bool { return state != noMatch }

func (a *nearWord) WillAlwaysMatch(int) bool { return false }

func (a *nearWord) IsMatch(state int) bool {
	return state != noMatch && state%utf8.UTFMax == 0 && a.path[state/utf8.UTFMax].before[len(a.word)] <= a.edits
}

func (a *nearWord) Accept(state int, b byte) int {
	if state == noMatch {
		return noMatch
	}
	read, size := state/utf8.UTFMax, state%utf8.UTFMax
	at := &a.path[read]
	at.bytes[size] = b
	char := at.bytes[:size+1]
	if !utf8.FullRune(char) {
		return state + 1
	}
	at.rune, _ = utf8.DecodeRune(char)
	if read == 0 && at.rune != a.word[0] || !a.extend(read) {
		return noMatch
	}
	return (read + 1) * utf8.UTFMax
}

// extend computes the distances of the path up to a letter, and reports whether one of them is
// within the number of edits. Only those of prefixes of about the path's length can be.
func (a *nearWord) extend(read int) (within bool) {
	at, next := &a.path[read], &a.path[read+1]
	for i := max(0, read+1-a.edits); i <= min(len(a.word), read+1+a.edits); i++ {
		distance := at.before[i] + 1 // a letter added
		if i > 0 {
			wrong := at.before[i-1]
			if a.word[i-1] != at.rune {
				wrong++
			}
			distance = min(distance, wrong, next.before[i-1]+1) // the last: a letter missing
		}
		if i > 1 && read > 0 && a.word[i-2] == at.rune && a.word[i-1] == a.path[read-1].rune {
			distance = min(distance, a.path[read-1].before[i-2]+1)
		}
		next.before[i] = distance
		within = within || distance <= a.edits
	}
	return within
}

// sameNumber is an automaton that accepts the terms with the same digits and any connectors
// between them: 978-0-374-27563-1 for 9780374275631. '?' is any digit, or at the end also none; '.'
// is only itself. A state is the number of digits read.
type sameNumber string

var _ segment.Automaton = sameNumber("")

func (a sameNumber) Start() int { return 0 }

func (a sameNumber) CanMatch(state int) bool { return state != noMatch }

func (a sameNumber) WillAlwaysMatch(int) bool { return false }

func (a sameNumber) IsMatch(state int) bool {
	return state >= len(strings.TrimRight(string(a), "?"))
}

func (a sameNumber) Accept(state int, b byte) int {
	switch {
	case state == noMatch:
		return noMatch
	case state < len(a) && (b == a[state] || a[state] == '?' && '0' <= b && b <= '9'):
		return state + 1
	case 0 < state && state < len(a) && terms.ByteClass[b]&terms.ClassConnector != 0:
		return state
	}
	return noMatch
}
