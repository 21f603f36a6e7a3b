package unigram

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"
)

// Pieces is a vocabulary in the order of its ids, as model files have it. It is
// read where it lies.
type Pieces struct {
	Text   []byte // all pieces, one after another
	Ends   []byte // little-endian uint32: where each piece ends
	Scores []byte // little-endian float32: its logarithmic probability; 0 of a control token
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

// vocabulary finds a piece by its text. It is an open-addressing table of
// hashes, at most half full, because the hashes of all beginnings of a text come
// from one pass over it. A slot has an id + 1 in its low bits and the rest of
// the hash above them, so that nearly all failures end in the table.
type vocabulary struct {
	Pieces
	slots  []uint32
	shift  uint
	idBits uint
	runes  int // of the longest piece, at most maxPiece
}

// maxPiece is the length in runes up to which a piece can be found. It bounds
// the work at each character of a text.
const maxPiece = 32

// FNV-1a, spread by a multiplication.
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
