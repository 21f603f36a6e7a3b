package unigram

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"
)

// Pieces is a vocabulary in ID order, in the layout of model files. It is used in
// place.
type Pieces struct {
	Text   []byte // all pieces, one after another
	Ends   []byte // little-endian uint32: where each piece ends
	Scores []byte // little-endian float32: log probability, 0 for control tokens
}

func (p *Pieces) size() int { return len(p.Ends) / 4 }

func (p *Pieces) text(id int) []byte {
	from := uint32(0)
	if id > 0 {
		from = binary.LittleEndian.Uint32(p.Ends[4*id-4:])
	}
	return p.Text[from:binary.LittleEndian.Uint32(p.Ends[4*id:])]
}

func (p *Pieces) score(id int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(p.Scores[4*id:])))
}

// vocabulary finds a piece by its text. It is an open-addressing hash table, at most
// half full, rather than a map, so that one pass over a text gives the hashes of all
// its prefixes. A slot has id + 1 in its low bits and the top of the hash above them,
// so that nearly all misses are decided within the table.
type vocabulary struct {
	Pieces
	slots  []uint32
	shift  uint
	idBits uint
	runes  int // length of the longest piece, at most maxPiece
}

// maxPiece is the length in runes of the longest piece that is matched. It bounds the
// work at each character of a text.
const maxPiece = 32

// FNV-1a, mixed further by spread.
const (
	hashStart = 14695981039346656037
	hashPrime = 1099511628211
)

func hashByte(h uint64, c byte) uint64 { return (h ^ uint64(c)) * hashPrime }

func spread(h uint64) uint64 { return (h ^ h>>29) * 0xBF58476D1CE4E5B9 }

func newVocabulary(p Pieces) *vocabulary {
	n := bits.Len(uint(2*p.size() - 1))
	v := &vocabulary{Pieces: p, slots: make([]uint32, 1<<n), shift: uint(64 - n), idBits: uint(bits.Len(uint(p.size())))}
	for id := range p.size() {
		text := p.text(id)
		runes := utf8.RuneCount(text)
		if p.score(id) == 0 || runes == 0 || runes > maxPiece {
			continue
		}
		h := uint64(hashStart)
		for _, c := range text {
			h = hashByte(h, c)
		}
		v.runes = max(v.runes, runes)
		h = spread(h)
		i := h >> v.shift
		for v.slots[i] != 0 {
			i = (i + 1) & uint64(len(v.slots)-1)
		}
		v.slots[i] = uint32(h)<<v.idBits | uint32(id+1)
	}
	return v
}

// find returns the id of the piece with this text and hash.
func (v *vocabulary) find(h uint64, text string) (int, bool) {
	h = spread(h)
	low := uint32(1)<<v.idBits - 1
	for i := h >> v.shift; ; i = (i + 1) & uint64(len(v.slots)-1) {
		s := v.slots[i]
		if s == 0 {
			return 0, false
		}
		if s&^low == uint32(h)<<v.idBits {
			if id := int(s&low) - 1; string(v.text(id)) == text {
				return id, true
			}
		}
	}
}
