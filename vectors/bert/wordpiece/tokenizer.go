package wordpiece

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Config has the settings that a vocabulary does not include.
type Config struct {
	Fold         bool   // lower-case text and strip its accents
	Continuation string // prefix of every token that continues a word
	MaxWordRunes int    // longer words are unknown
	Unknown      int32  // id of the unknown token
}

// Tokenizer splits text into tokens of one vocabulary.
type Tokenizer struct {
	config     Config
	runes      runes
	vocabulary *vocabulary
}

// New returns a tokenizer for a vocabulary in ID order. The tokens are kept, not
// copied.
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

// tokenBuffer holds the tokens of a typical word, so that counting does not allocate.
const tokenBuffer = 128

// Append appends the ids of text's tokens, without special tokens, until dst has
// length limit.
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

// words returns an iterator over text's words.
func (t *Tokenizer) words(text string) words {
	return words{runes: &t.runes, limit: t.config.MaxWordRunes, text: text, buf: make([]byte, 0, wordBuffer)}
}

// Count returns the number of tokens in text.
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

// Known returns the share of text's letters covered by tokens of at least two
// letters, or by words of one letter that is not an ideograph. It is 1 for a text
// without letters.
func (t *Tokenizer) Known(text string) float64 {
	c := t.cut(text)
	if c.letters == 0 {
		return 1
	}
	return float64(c.known) / float64(c.letters)
}

// Whole returns the share of text's letters in words that are a single token: high in
// the vocabulary's own language, low in others. It is 1 for a text without letters.
func (t *Tokenizer) Whole(text string) float64 {
	c := t.cut(text)
	if c.letters == 0 {
		return 1
	}
	return float64(c.whole) / float64(c.letters)
}

// cutting counts the letters of a text by how their words are split.
type cutting struct {
	letters, known, whole int // all letters, known ones, those in words of one token
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

// pieces appends the tokens of one word, at least one.
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
