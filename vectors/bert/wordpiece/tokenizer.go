package wordpiece

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Config is what a vocabulary does not say of itself.
type Config struct {
	Fold         bool   // lower-case text and strip its accents
	Continuation string // begins every token that continues a word
	MaxWordRunes int    // a word of more runes is unknown
	Unknown      int32  // id of the token that stands for an unknown word
}

// Tokenizer cuts text into tokens of one vocabulary.
type Tokenizer struct {
	config     Config
	runes      runes
	vocabulary *vocabulary
}

// New returns a tokenizer for a vocabulary in the order of its ids. The tokens
// are kept, not copied.
func New(c Config, vocabulary [][]byte) *Tokenizer {
	t := &Tokenizer{config: c, vocabulary: newVocabulary(len(vocabulary))}
	t.runes.fold = c.Fold
	for _, token := range vocabulary {
		if rest, ok := bytes.CutPrefix(token, []byte(c.Continuation)); ok && c.Continuation != "" && len(rest) > 0 {
			t.vocabulary.add(rest, hashContinue)
		} else {
			t.vocabulary.add(token, hashWord)
		}
	}
	return t
}

// tokenBuffer is room for the tokens of a usual word, so that counting
// allocates none.
const tokenBuffer = 128

// Append appends the ids of text's tokens, without special ones, and stops
// once dst has limit of them.
func (t *Tokenizer) Append(dst []int32, text string, limit int) []int32 {
	in := t.words(text)
	for len(dst) < limit {
		w, ok := in.next()
		if !ok {
			return dst
		}
		dst = t.pieces(dst, w)
	}
	return dst[:limit]
}

// words returns a reader of text's words.
func (t *Tokenizer) words(text string) words {
	return words{runes: &t.runes, limit: t.config.MaxWordRunes, text: text, buf: make([]byte, 0, wordBuffer)}
}

// Count returns the number of text's tokens.
func (t *Tokenizer) Count(text string) int {
	var ids [tokenBuffer]int32
	in := t.words(text)
	count := 0
	for {
		w, ok := in.next()
		if !ok {
			return count
		}
		count += len(t.pieces(ids[:0], w))
	}
}

// Known returns the share of text's letters that the vocabulary has more than
// letters for: those in a piece of at least two, or in a word of one letter
// that is not an ideograph. Of a text without letters everything is known.
func (t *Tokenizer) Known(text string) float64 {
	c := t.cut(text)
	if c.letters == 0 {
		return 1
	}
	return float64(c.known) / float64(c.letters)
}

// Whole returns the share of text's letters in words that the vocabulary has
// whole. It has its own language's words, and cuts another's into pieces. Of a
// text without letters everything is whole.
func (t *Tokenizer) Whole(text string) float64 {
	c := t.cut(text)
	if c.letters == 0 {
		return 1
	}
	return float64(c.whole) / float64(c.letters)
}

// A cutting says how words with letters are cut.
type cutting struct {
	letters, known, whole int // all letters, those that count as known, those in words of one piece
}

func (t *Tokenizer) cut(text string) cutting {
	var ids [tokenBuffer]int32
	var c cutting
	in := t.words(text)
	for {
		w, ok := in.next()
		if !ok {
			return c
		}
		n := countLetters(w.text)
		if n == 0 {
			continue
		}
		pieces := t.pieces(ids[:0], w)
		c.letters += n
		if len(pieces) == 1 && pieces[0] != t.config.Unknown {
			c.whole += n
		}
		switch {
		case w.isolated || pieces[0] == t.config.Unknown:
		case w.runes == 1:
			c.known++
		default:
			c.known += t.lettersInLongPieces(pieces)
		}
	}
}

func (t *Tokenizer) lettersInLongPieces(pieces []int32) int {
	n := 0
	for _, id := range pieces {
		if token := t.vocabulary.tokens[id]; utf8.RuneCount(token) > 1 {
			n += countLetters(token)
		}
	}
	return n
}

func countLetters(text []byte) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.IsLetter(r) {
			n++
		}
		text = text[size:]
	}
	return n
}

// pieces appends the tokens of one word: one or more.
func (t *Tokenizer) pieces(dst []int32, w word) []int32 {
	if w.runes > t.config.MaxWordRunes {
		return append(dst, t.config.Unknown)
	}
	first := len(dst)
	start := uint64(hashWord)
	for rest := w.text; len(rest) > 0; start = hashContinue {
		id, size := t.vocabulary.longest(rest, start)
		if size == 0 {
			return append(dst[:first], t.config.Unknown)
		}
		dst = append(dst, id)
		rest = rest[size:]
	}
	return dst
}
