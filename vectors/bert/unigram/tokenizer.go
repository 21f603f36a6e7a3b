package unigram

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"notesd/vectors/bert/vocabulary"
)

// metaspace replaces a space, and marks the beginning of the text.
const metaspace = "\u2581"

// unknownPenalty is how far an unknown character scores below the worst piece.
const unknownPenalty = 10

// Tokenizer splits text into tokens of one vocabulary.
type Tokenizer struct {
	pieces       *vocabulary.Table
	scores       []byte // little-endian float32: log probability, 0 for control tokens
	longest      int    // length in runes of the longest piece
	unknown      int32
	unknownScore float64
}

// New returns a tokenizer for a vocabulary in the layout of model files, which must not
// change afterwards. Unknown is the id of text without a piece.
func New(text, ends, scores []byte, unknown int32) *Tokenizer {
	t := &Tokenizer{scores: scores, unknown: unknown}
	t.pieces = vocabulary.New(text, ends, func(id int, piece []byte) bool {
		score := t.score(id)
		t.unknownScore = min(t.unknownScore, score)
		t.longest = max(t.longest, utf8.RuneCount(piece))
		return score != 0 && len(piece) > 0
	})
	t.unknownScore -= unknownPenalty
	return t
}

func (t *Tokenizer) score(id int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.scores[4*id:])))
}

// Append appends the ids of text's tokens, without special tokens, until dst has
// length limit.
func (t *Tokenizer) Append(dst []int32, text string, limit int) []int32 {
	for w := range t.words(text) {
		if dst = append(dst, w.pieces...); len(dst) >= limit {
			break
		}
	}
	return dst[:min(len(dst), limit)]
}

// Knows returns the shares of text's letters that are covered by pieces, and that are in
// words of a single piece. Both are 1 for a text without letters.
func (t *Tokenizer) Knows(text string) (known, whole float64) {
	var c vocabulary.Coverage
	for w := range t.words(text) {
		letters := vocabulary.Letters(w.text)
		c.Letters += letters
		rest := w.text
		for i, id := range w.pieces {
			if id != t.unknown {
				c.Known += vocabulary.Letters(rest[:w.sizes[i]])
			}
			rest = rest[w.sizes[i]:]
		}
		if len(w.pieces) == 1 && w.pieces[0] != t.unknown {
			c.Whole += letters
		}
	}
	return c.Shares()
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
	text := w.text
	w.best = append(w.best[:0], make([]step, len(text)+1)...)
	for at := 0; at < len(text); {
		score := w.best[at].score
		_, width := utf8.DecodeRuneInString(text[at:])
		single := false
		h, end := vocabulary.Start, at
		for runes := 0; runes < t.longest && end < len(text); runes++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			for next := end + size; end < next; end++ {
				h = h.Add(text[end])
			}
			if id, ok := t.pieces.Find(h, text[at:end]); ok {
				single = single || runes == 0
				w.reach(at, end, score+t.score(int(id)), id)
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
