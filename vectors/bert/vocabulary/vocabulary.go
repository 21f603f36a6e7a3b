// Package vocabulary finds the tokens of a model by their text, and counts how much of a
// text they cover. A [Table] is immutable and safe for concurrent use.
package vocabulary

import (
	"encoding/binary"
	"math/bits"
	"unicode"
)

// Table is a vocabulary in ID order with a hash table of its tokens. The tokens are used in
// place, in the layout of model files.
//
// The hash table uses open addressing and is at most half full. It is not a map, so that one
// pass over a text gives the hashes of all its prefixes, and opening a model takes little time
// and memory. A slot has id + 1 in its low bits and the low bits of the hash above them, so that
// nearly all misses are decided within the table.
type Table struct {
	text   []byte // all tokens, one after another
	ends   []byte // little-endian uint32: where each token ends
	slots  []uint32
	shift  uint
	idBits uint
}

// New returns a table of a vocabulary, which must not change afterwards. It finds the tokens
// for which include returns true, of equal ones the first.
func New(text, ends []byte, include func(id int, token []byte) bool) *Table {
	t := &Table{text: text, ends: ends}
	n := bits.Len(uint(2*t.Len() - 1))
	t.slots, t.shift, t.idBits = make([]uint32, 1<<n), uint(64-n), uint(bits.Len(uint(t.Len())))
	for id := range t.Len() {
		token := t.Token(id)
		if !include(id, token) {
			continue
		}
		h := Start
		for _, c := range token {
			h = h.Add(c)
		}
		at, key := t.place(h)
		for t.slots[at] != 0 {
			at = t.next(at)
		}
		t.slots[at] = key | uint32(id+1)
	}
	return t
}

// Len returns the number of tokens.
func (t *Table) Len() int { return len(t.ends) / 4 }

// Token returns the text of a token.
func (t *Table) Token(id int) []byte {
	from := uint32(0)
	if id > 0 {
		from = binary.LittleEndian.Uint32(t.ends[4*id-4:])
	}
	return t.text[from:binary.LittleEndian.Uint32(t.ends[4*id:])]
}

// Hash is the FNV-1a hash of a text.
type Hash uint64

// Start is the hash of the empty text.
const Start Hash = 14695981039346656037

// Add returns the hash of the text followed by a byte.
func (h Hash) Add(c byte) Hash { return (h ^ Hash(c)) * 1099511628211 }

// Find returns the token with this text and hash.
func (t *Table) Find(h Hash, text string) (id int32, ok bool) {
	low := uint32(1)<<t.idBits - 1
	for at, key := t.place(h); t.slots[at] != 0; at = t.next(at) {
		if s := t.slots[at]; s&^low == key {
			if id := int(s&low) - 1; string(t.Token(id)) == text {
				return int32(id), true
			}
		}
	}
	return 0, false
}

// place returns the first slot for a hash, and the bits of the hash that a slot has.
func (t *Table) place(h Hash) (at uint64, key uint32) {
	mixed := (uint64(h) ^ uint64(h)>>29) * 0xBF58476D1CE4E5B9
	return mixed >> t.shift, uint32(mixed) << t.idBits
}

func (t *Table) next(at uint64) uint64 { return (at + 1) & uint64(len(t.slots)-1) }

// Coverage counts the letters of a text.
type Coverage struct {
	Letters int
	Known   int // covered by tokens
	Whole   int // in words that are a single token
}

// Shares returns the shares of the letters that are known and in whole words, 1 for a text
// without letters.
func (c Coverage) Shares() (known, whole float64) {
	if c.Letters == 0 {
		return 1, 1
	}
	return float64(c.Known) / float64(c.Letters), float64(c.Whole) / float64(c.Letters)
}

// Letters returns the number of letters in a text.
func Letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
