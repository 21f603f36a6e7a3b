package unigram

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// metaspace replaces a space, and marks the beginning of the text.
const metaspace = "\u2581"

// unknownPenalty is how far an unknown character scores below the worst piece.
const unknownPenalty = 10

// Tokenizer splits text into tokens of one vocabulary.
type Tokenizer struct {
	vocabulary   *vocabulary
	unknown      int32
	unknownScore float64
}

// New returns a tokenizer for a vocabulary, which must not change afterwards. Unknown
// is the id of text without a piece.
func New(p Pieces, unknown int32) *Tokenizer {
	t := &Tokenizer{vocabulary: newVocabulary(p), unknown: unknown}
	for id := range p.size() {
		t.unknownScore = min(t.unknownScore, p.score(id))
	}
	t.unknownScore -= unknownPenalty
	return t
}

// Append appends the ids of text's tokens, without special tokens, until dst has
// length limit.
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

// Count returns the number of tokens in text.
func (t *Tokenizer) Count(text string) int {
	count := 0
	for w := range t.words(text) {
		count += len(w.pieces)
	}
	return count
}

// Known returns the share of text's letters that are covered by pieces, or 1 for a
// text without letters.
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

// Whole returns the share of text's letters in words that are a single piece, or 1
// for a text without letters.
func (t *Tokenizer) Whole(text string) float64 {
	return t.share(text, func(w *word) int {
		if len(w.pieces) == 1 && w.pieces[0] != t.unknown {
			return countLetters(w.text)
		}
		return 0
	})
}

// share returns the sum of count over all words as a share of all letters.
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

// word is a word of a normalised text and its pieces.
type word struct {
	text   string // including the leading metaspace
	pieces []int32
	sizes  []int  // bytes of each piece
	best   []step // best[i] is the last step of the best split of text[:i]
}

// step is the last piece of the best split of a prefix of a word.
type step struct {
	score float64 // of the whole split; valid if size > 0
	size  int32   // bytes of the piece
	id    int32
}

// words yields the words of a text. Each is valid until the next one.
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

// spaced replaces runs of white space by metaspaces and prepends one, unless the text
// is empty.
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

// cut finds the pieces of a word with the greatest sum of scores (Viterbi).
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

// reach records a step from one place in the word to another, unless a better one to the
// same place is known.
func (w *word) reach(from, to int, score float64, id int32) {
	if s := &w.best[to]; s.size == 0 || score > s.score {
		*s = step{score, int32(to - from), id}
	}
}
