package modelfile

import "fmt"

// Names of the sections that every model has, with their element type and
// shape. V is the vocabulary, H Hidden, P Positions.
const (
	VocabularyText = "vocabulary.text"    // bytes: all tokens, one after another
	VocabularyEnds = "vocabulary.ends"    // uint32 [V]: where each token ends
	WordWeight     = "embedding.word"     // int8 [V][H]; with 4 bits see [WordBlock]
	WordScale      = "embedding.scale"    // float32 [V]; with 4 bits float16 [V][H/WordBlock]
	Position       = "embedding.position" // float32 [P][H], with the first type's row added
	EmbeddingNorm  = "embedding.norm"     // float32 [2][H]: gamma, beta
)

// VocabularyScores is a section of Unigram models: float32 [V], the logarithm of each
// token's probability, 0 for control tokens.
const VocabularyScores = "vocabulary.scores"

// WordBlock is the number of values of a 4-bit word embedding that share a scale.
// They occupy WordBlock/2 bytes: byte j holds value j in its low four bits and value
// j + WordBlock/2 in its high four, in units of the scale and offset by 8.
const WordBlock = 32

// Matrices of a layer, each with five sections: see [Matrix]. The first maps the
// layer's input to queries, keys and values side by side.
const (
	QueryKeyValue   = "qkv"
	AttentionOutput = "out"
	Up              = "up"
	Down            = "down"
)

// Normalisations of a layer: float32 [2][H], gamma and beta.
const (
	AttentionNorm = "attention.norm"
	OutputNorm    = "output.norm"
)

// Parts of a matrix with n columns of k values.
const (
	Weight = "weight" // int8 [n][k], packed by kernel.Pack
	Sum    = "sum"    // int32 [n]: sum of each column's weights
	Scale  = "scale"  // float32 [n]
	Bias   = "bias"   // float32 [n]
	Smooth = "smooth" // float32 [k]: factors applied to the inputs first
)

// LayerSection names a part of a layer.
func LayerSection(layer int, part string) string {
	return fmt.Sprintf("layer.%d.%s", layer, part)
}

// Matrix describes one of a layer's matrices: Columns outputs of K inputs.
type Matrix struct {
	Name       string
	Columns, K int
}

// Matrices returns the matrices that each layer has.
func (c *Config) Matrices() []Matrix {
	return []Matrix{
		{QueryKeyValue, 3 * c.Hidden, c.Hidden},
		{AttentionOutput, c.Hidden, c.Hidden},
		{Up, c.Intermediate, c.Hidden},
		{Down, c.Hidden, c.Intermediate},
	}
}

// sizes returns the length in bytes of every section except the vocabulary's text,
// whose length is not fixed.
func (c *Config) sizes() map[string]int64 {
	h, v := int64(c.Hidden), int64(c.Tokenizer.Size)
	sizes := map[string]int64{
		VocabularyEnds: 4 * v,
		WordWeight:     v * h,
		WordScale:      4 * v,
		Position:       4 * int64(c.Positions) * h,
		EmbeddingNorm:  8 * h,
	}
	if c.WordBits == 4 {
		sizes[WordWeight], sizes[WordScale] = v*h/2, 2*v*h/WordBlock
	}
	if c.Tokenizer.Kind == Unigram {
		sizes[VocabularyScores] = 4 * v
	}
	for i := range c.Layers {
		sizes[LayerSection(i, AttentionNorm)] = 8 * h
		sizes[LayerSection(i, OutputNorm)] = 8 * h
		for _, m := range c.Matrices() {
			n, k := int64(m.Columns), int64(m.K)
			sizes[LayerSection(i, m.Name+"."+Weight)] = n * k
			sizes[LayerSection(i, m.Name+"."+Sum)] = 4 * n
			sizes[LayerSection(i, m.Name+"."+Scale)] = 4 * n
			sizes[LayerSection(i, m.Name+"."+Bias)] = 4 * n
			sizes[LayerSection(i, m.Name+"."+Smooth)] = 4 * k
		}
	}
	return sizes
}
