package wordpiece

import (
	"bytes"
	"math/bits"
)

// vocabulary finds a token by its text. It is an open-addressing table of
// hashes rather than a map so that the hashes of all beginnings of a word come
// from one pass over it, and so that loading a model takes under a millisecond.
type vocabulary struct {
	tokens [][]byte // by id, without the mark of a continuation
	slots  []uint64 // fingerprint << 32 | id + 1, 0 where free
	shift  uint
	most   int // bytes of the longest token, at most maxToken
}

// maxToken is the length in bytes up to which a token can be found. It bounds
// the work on hostile words; the longest token of BERT's vocabularies has 18.
const maxToken = 64

// Hashes are FNV-1a, spread by a multiplication; pieces that begin a word and
// those that continue one start from different values, and so never meet.
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

// add gives the next id to a token. A token that occurs again keeps its first
// id, as a lookup would find it there.
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

// longest returns the longest token that text begins with and its length, 0 if
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
