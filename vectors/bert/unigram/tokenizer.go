package unigram

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// metaspace stands for a space, and for the beginning of the text.
const metaspace = "\u2581"

// unknownPenalty is how much worse an unknown character is than the worst piece.
const unknownPenalty = 10

// Tokenizer cuts text into tokens of one vocabulary.
type Tokenizer struct {
	vocabulary   *vocabulary
	unknown      int32
	unknownScore float64
}

// New returns a tokenizer for a vocabulary, which must stay as it is. Unknown is
// the id of what no piece has.
func New(p Pieces, unknown int32) *Tokenizer {
	t := &Tokenizer{vocabulary: newVocabulary(p), unknown: unknown}
	for id := range p.size() {
		t.unknownScore = min(t.unknownScore, p.score(id))
	}
	t.unknownScore -= unknownPenalty
	return t
}

// Append appends the ids of text's tokens, without special ones, and stops
// once dst has limit of them.
func (t *Tokenizer) Append(dst []int32, text string, limit int) []int32 {
	if len(dst) >= limit {
		return dst[:limit]
	}
	for w := range t.words(text) {
		if dst = append(dst, w.pieces...); len(dst) >= limit {
			return dst[:limit]
		}
	}
	return dst
}

// Count returns the number of text's tokens.
func (t *Tokenizer) Count(text string) int {
	count := 0
	for w := range t.words(text) {
		count += len(w.pieces)
	}
	return count
}

// Known returns the share of text's letters that the vocabulary has. Of a text
// without letters everything is known.
func (t *Tokenizer) Known(text string) float64 {
	return t.share(text, func(w *word) int {
		known, rest := 0, w.text
		for i, id := range w.pieces {
			piece := rest[:w.sizes[i]]
			rest = rest[len(piece):]
			if id != t.unknown {
				known += countLetters(piece)
			}
		}
		return known
	})
}

// Whole returns the share of text's letters in words that are one piece. Of a
// text without letters everything is whole.
func (t *Tokenizer) Whole(text string) float64 {
	return t.share(text, func(w *word) int {
		if len(w.pieces) == 1 && w.pieces[0] != t.unknown {
			return countLetters(w.text)
		}
		return 0
	})
}

// share adds up the letters that each word counts, as a part of all letters.
func (t *Tokenizer) share(text string, count func(w *word) int) float64 {
	letters, counted := 0, 0
	for w := range t.words(text) {
		letters += countLetters(w.text)
		counted += count(w)
	}
	if letters == 0 {
		return 1
	}
	return float64(counted) / float64(letters)
}

func countLetters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// word is a word of a normalised text and how it is cut.
type word struct {
	text   string // with the metaspace in front
	pieces []int32
	sizes  []int  // bytes of each piece
	best   []step // of the best way to each byte
}

// step is the last piece of the best way to a place in a word.
type step struct {
	score float64 // of the whole way; valid if size > 0
	size  int32   // bytes of the piece
	id    int32
}

// words cuts a text word by word. What it yields is valid until the next one.
func (t *Tokenizer) words(text string) func(yield func(*word) bool) {
	return func(yield func(*word) bool) {
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		text = spaced(normalise(text))
		var w word
		for len(text) > 0 {
			end := len(metaspace)
			if next := strings.Index(text[end:], metaspace); next >= 0 {
				end += next
			} else {
				end = len(text)
			}
			w.text, text = text[:end], text[end:]
			t.cut(&w)
			if !yield(&w) {
				return
			}
		}
	}
}

// spaced writes runs of white space as metaspaces and puts one in front, unless
// the text is empty.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/3 + len(metaspace))
	if r, _ := utf8.DecodeRuneInString(text); !unicode.IsSpace(r) && !strings.HasPrefix(text, metaspace) {
		b.WriteString(metaspace)
	}
	space, from := false, 0
	for i, r := range text {
		if !unicode.IsSpace(r) {
			if space {
				from, space = i, false
			}
			continue
		}
		if !space {
			b.WriteString(text[from:i])
			b.WriteString(metaspace)
			space = true
		}
	}
	if !space {
		b.WriteString(text[from:])
	}
	return b.String()
}

// cut finds the pieces of a word whose scores have the greatest sum (Viterbi).
func (t *Tokenizer) cut(w *word) {
	text, v := w.text, t.vocabulary
	w.best = append(w.best[:0], make([]step, len(text)+1)...)
	for at := 0; at < len(text); {
		score := w.best[at].score
		_, width := utf8.DecodeRuneInString(text[at:])
		single := false
		h, end := uint64(hashStart), at
		for runes := 0; runes < v.runes && end < len(text); runes++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			for next := end + size; end < next; end++ {
				h = hashByte(h, text[end])
			}
			if id, ok := v.find(h, text[at:end]); ok {
				single = single || runes == 0
				w.reach(at, end, score+v.score(id), int32(id))
			}
		}
		if !single {
			w.reach(at, at+width, score+t.unknownScore, t.unknown)
		}
		at += width
	}
	w.pieces, w.sizes = w.pieces[:0], w.sizes[:0]
	for at := len(text); at > 0; {
		s := w.best[at]
		at -= int(s.size)
		if last := len(w.pieces) - 1; s.id == t.unknown && last >= 0 && w.pieces[last] == t.unknown {
			w.sizes[last] += int(s.size)
			continue
		}
		w.pieces, w.sizes = append(w.pieces, s.id), append(w.sizes, int(s.size))
	}
	slices.Reverse(w.pieces)
	slices.Reverse(w.sizes)
}

// reach notes a way to a place in the word if it is better than those before.
func (w *word) reach(from, to int, score float64, id int32) {
	if s := &w.best[to]; s.size == 0 || score > s.score {
		*s = step{score, int32(to - from), id}
	}
}
