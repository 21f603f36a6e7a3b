package bert

import (
	"context"
	"fmt"
	"math"

	"notesd/vectors/bert/modelfile"
)

// block is the number of tokens that go through a layer together. It is large
// enough that a cached panel of weights serves many rows, and small enough that a
// block's intermediate rows stay in the second-level cache.
const block = 48

// Encoder embeds texts one at a time. It keeps the memory of its longest text so
// far, about 3 MB for 256 tokens of MiniLM. It is not safe for concurrent use:
// create one for each goroutine.
type Encoder struct {
	// Yield, if not nil, is called before each product of a block of tokens with a
	// matrix, some ten times a millisecond. It may block, to leave the CPU to
	// others.
	Yield func()

	model *Model
	ids   []int32

	// One row for each token of the text.
	hidden  []float32 // [tokens][hidden], passed from layer to layer
	queries []int16   // [tokens][hidden], 13 bits
	keys    []uint32  // [hidden/2][keyStride] pairs: transposed
	values  []uint32  // [tokens/2][hidden] pairs of two tokens' values
	// Scales of the above, one for each token; mask is 0 for a token and very low
	// for the padding after the last one.
	queryScales, keyScales, valueScales, mask []float32
	tokens, padded, keyStride                 int

	// Buffers for one block.
	activations []byte
	scales      []float32 // of activations
	zeros       []int32
	sums        []int32   // results of a matrix product
	context     []float32 // [block][hidden], attention's result
	row         []float32 // one row, between sums and activations
	scores      []int32   // [block][padded] of one head
	weights     []int16   // [block][padded]: probabilities
	rows16      []int16   // [block][hidden]: keys to be transposed
}

// NewEncoder returns an encoder. Its memory is allocated as texts need it.
func (m *Model) NewEncoder() *Encoder {
	return &Encoder{model: m}
}

// Embed writes the vector of text, of length one, to dst, whose length must be Dim.
// Every string has a vector; text beyond the tokens that the model takes is ignored. Embed runs on the
// calling goroutine and checks ctx between layers, about every millisecond. It
// returns ctx's error, or one that matches [modelfile.ErrFormat] if damaged weights
// produce no vector.
func (e *Encoder) Embed(ctx context.Context, text string, dst []float32) error {
	if len(dst) != e.model.Dim() {
		return fmt.Errorf("bert: a vector of %d elements does not fit in %d", e.model.Dim(), len(dst))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e.ids = e.model.appendIDs(e.ids[:0], text)
	e.reserve()
	e.lookUp()
	for i := range e.model.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.layer(&e.model.layers[i])
	}
	return e.pool(dst)
}

// lookUp fills hidden with the embeddings of the tokens and their positions.
func (e *Encoder) lookUp() {
	m := e.model
	h := m.config.Hidden
	for i, id := range e.ids {
		row := e.hidden[i*h:][:h]
		m.word(row, int(id))
		position := m.positions[4*i*h:][:4*h]
		for j := range row {
			row[j] += modelfile.Float(position, j)
		}
		m.kernels.Normalise(row, m.embeddingNorm.gamma, m.embeddingNorm.beta, m.config.Epsilon)
	}
}

// word writes the embedding of a token.
func (m *Model) word(row []float32, id int) {
	h := len(row)
	if m.config.WordBits == 4 {
		modelfile.WordRow(row, m.words, m.wordScales, id)
		return
	}
	scale := modelfile.Float(m.wordScales, id)
	for j, w := range int8s(m.words)[id*h:][:h] {
		row[j] = float32(w) * scale
	}
}

// pool reduces the tokens' rows to one vector of length one. It fails if they are
// not finite, which only damaged weights can cause.
func (e *Encoder) pool(dst []float32) error {
	sums := e.row[:len(dst)]
	copy(sums, e.hidden)
	for i := 1; i < e.tokens; i++ {
		for j, v := range e.hidden[i*len(dst):][:len(dst)] {
			sums[j] += v
		}
	}
	// The mean's divisor drops out of the normalisation.
	var square float64
	for _, v := range sums {
		square += float64(float64(v) * float64(v))
	}
	if !(square > 0) || math.IsInf(square, 0) {
		return fmt.Errorf("bert: %w: its weights give no vector", modelfile.ErrFormat)
	}
	inverse := 1 / math.Sqrt(square)
	for i, v := range sums {
		dst[i] = float32(float64(v) * inverse)
	}
	return nil
}
