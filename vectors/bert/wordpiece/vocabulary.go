package wordpiece

import (
	"bytes"
	"math/bits"
)

// vocabulary finds a token by its text. It is an open-addressing hash table rather
// than a map, so that one pass over a word gives the hashes of all its prefixes, and
// so that loading a model takes under a millisecond.
type vocabulary struct {
	tokens [][]byte // by id, without the continuation prefix
	slots  []uint64 // fingerprint << 32 | id + 1, 0 where free
	shift  uint
	most   int // bytes of the longest token, at most maxToken
}

// maxToken is the length in bytes of the longest token that is matched. It bounds the
// work on adversarial words; the longest token of BERT's vocabularies has 18.
const maxToken = 64

// Hashes are FNV-1a, mixed further by spread. Tokens that start a word and those that
// continue one have different initial values, so they never match each other.
const (
	hashWord     = 14695981039346656037
	hashContinue = hashWord ^ 0x9E3779B97F4A7C15
	hashPrime    = 1099511628211
)

func hashByte(h uint64, c byte) uint64 { return (h ^ uint64(c)) * hashPrime }

func spread(h uint64) uint64 { return (h ^ h>>29) * 0xBF58476D1CE4E5B9 }

func newVocabulary(size int) *vocabulary {
	n := bits.Len(uint(2 * size))
	return &vocabulary{tokens: make([][]byte, 0, size), slots: make([]uint64, 1<<n), shift: uint(64 - n)}
}

// add assigns the next id to a token. A repeated token keeps its first id, which is
// the one lookups find.
func (v *vocabulary) add(token []byte, start uint64) {
	h := start
	for _, c := range token {
		h = hashByte(h, c)
	}
	v.tokens = append(v.tokens, token)
	v.most = min(max(v.most, len(token)), maxToken)
	h = spread(h)
	for i := h >> v.shift; ; i = (i + 1) & uint64(len(v.slots)-1) {
		if v.slots[i] == 0 {
			v.slots[i] = h<<32 | uint64(len(v.tokens))
			return
		}
	}
}

// find returns the id of the token with this text and hash.
func (v *vocabulary) find(h uint64, text []byte) (int32, bool) {
	h = spread(h)
	for i := h >> v.shift; ; i = (i + 1) & uint64(len(v.slots)-1) {
		s := v.slots[i]
		if s == 0 {
			return 0, false
		}
		if uint32(s>>32) == uint32(h) {
			if id := int32(uint32(s)) - 1; bytes.Equal(v.tokens[id], text) {
				return id, true
			}
		}
	}
}

// longest returns the longest token that is a prefix of text and its length, or 0 if
// there is none.
func (v *vocabulary) longest(text []byte, start uint64) (id int32, size int) {
	var hashes [maxToken]uint64
	text = text[:min(len(text), v.most)]
	h := start
	for i, c := range text {
		h = hashByte(h, c)
		hashes[i] = h
	}
	for n := len(text); n > 0; n-- {
		if id, ok := v.find(hashes[n-1], text[:n]); ok {
			return id, n
		}
	}
	return 0, 0
}
