package wordpiece

import (
	"unicode/utf8"

	"notesd/vectors/bert/vocabulary"
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
	config Config
	runes  runes
	tokens *vocabulary.Table
	most   int // bytes of the longest token, at most maxToken
}

// maxToken is the length in bytes of the longest token that is matched. It bounds the
// work on adversarial words; the longest token of BERT's vocabularies has 18.
const maxToken = 64

// New returns a tokenizer for a vocabulary in the layout of model files, which must not
// change afterwards.
func New(c Config, text, ends []byte) *Tokenizer {
	t := &Tokenizer{config: c, runes: runes{fold: c.Fold}}
	t.tokens = vocabulary.New(text, ends, func(_ int, token []byte) bool {
		t.most = min(max(t.most, len(token)), maxToken)
		return true
	})
	return t
}

// Append appends the ids of text's tokens, without special tokens, until dst has
// length limit.
func (t *Tokenizer) Append(dst []int32, text string, limit int) []int32 {
	for w := range t.words(text) {
		if dst = t.pieces(dst, w); len(dst) >= limit {
			break
		}
	}
	return dst[:min(len(dst), limit)]
}

// Knows returns the share of text's letters that are covered by tokens of at least two
// letters, or are words of one letter that is not an ideograph, and the share in words
// that are a single token: high in the vocabulary's own language, low in others. Both are
// 1 for a text without letters.
func (t *Tokenizer) Knows(text string) (known, whole float64) {
	var c vocabulary.Coverage
	var ids []int32
	for w := range t.words(text) {
		letters := vocabulary.Letters(w.text)
		c.Letters += letters
		if ids = t.pieces(ids[:0], w); ids[0] == t.config.Unknown {
			continue
		}
		if len(ids) == 1 {
			c.Whole += letters
		}
		switch {
		case w.isolated:
		case w.runes == 1:
			c.Known += letters
		default:
			for i, id := range ids {
				token := t.tokens.Token(int(id))
				if i > 0 {
					token = token[len(t.config.Continuation):]
				}
				if utf8.RuneCount(token) > 1 {
					c.Known += vocabulary.Letters(string(token))
				}
			}
		}
	}
	return c.Shares()
}

// pieces appends the tokens of one word, at least one.
func (t *Tokenizer) pieces(dst []int32, w word) []int32 {
	if w.runes > t.config.MaxWordRunes {
		return append(dst, t.config.Unknown)
	}
	first := len(dst)
	for rest, prefix := w.text, ""; rest != prefix; {
		id, size := t.longest(rest, len(prefix))
		if size == 0 {
			return append(dst[:first], t.config.Unknown)
		}
		dst = append(dst, id)
		prefix = t.config.Continuation
		rest = prefix + rest[size:]
	}
	return dst
}

// longest returns the longest token that is a prefix of text and longer than least, and
// its length, or 0 if there is none.
func (t *Tokenizer) longest(text string, least int) (id int32, size int) {
	var hashes [maxToken]vocabulary.Hash
	text = text[:min(len(text), t.most)]
	h := vocabulary.Start
	for i := range len(text) {
		h = h.Add(text[i])
		hashes[i] = h
	}
	for n := len(text); n > least; n-- {
		if id, ok := t.tokens.Find(hashes[n-1], text[:n]); ok {
			return id, n
		}
	}
	return 0, 0
}
