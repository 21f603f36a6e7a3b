package bert

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
)

// tinyConfig returns a model small enough to be created for every test.
func tinyConfig() modelfile.Config {
	return modelfile.Config{
		Name: "tiny", Layers: 2, Hidden: 64, Heads: 2, Intermediate: 96, Positions: 80,
		Activation: modelfile.GELU, Epsilon: 1e-12, Pooling: modelfile.PoolingMean, MaxTokens: 70,
		Tokenizer: modelfile.Tokenizer{
			Kind: modelfile.WordPiece, Size: len(tinyVocabulary), Lowercase: true, Continuation: "##",
			MaxWordRunes: 100, Start: 1, End: 2, Unknown: 0,
		},
	}
}

var tinyVocabulary = []string{"[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "##a", "##b", "##c", "##d", "."}

// tiny is a model with random weights and, beside it, the same weights in float64.
type tiny struct {
	config                 modelfile.Config
	words, positions, norm []float64
	layers                 []tinyLayer
	file                   []byte
}

type tinyLayer struct {
	matrices                  [4]tinyMatrix
	attentionNorm, outputNorm []float64
}

// tinyMatrix computes w × (x × smooth) + bias.
type tinyMatrix struct {
	n, k            int
	w, bias, smooth []float64
}

func newTiny(tb testing.TB, c modelfile.Config) *tiny {
	rng := rand.New(rand.NewPCG(uint64(c.Hidden), uint64(c.Layers)))
	m := &tiny{config: c}
	s := map[string][]byte{}
	var text []byte
	for _, token := range tinyVocabulary {
		text = append(text, token...)
		s[modelfile.VocabularyEnds] = binary.LittleEndian.AppendUint32(s[modelfile.VocabularyEnds], uint32(len(text)))
	}
	s[modelfile.VocabularyText] = text
	h := c.Hidden
	m.words = m.quantised(rng, s, modelfile.WordWeight, modelfile.WordScale, len(tinyVocabulary), h)
	m.positions = floats(rng, s, modelfile.Position, c.Positions*h, 0, 0.02)
	m.norm = normFloats(rng, s, modelfile.EmbeddingNorm, h)
	for i := range c.Layers {
		var l tinyLayer
		for j, shape := range c.Matrices() {
			l.matrices[j] = newTinyMatrix(tb, rng, s, i, shape)
		}
		l.attentionNorm = normFloats(rng, s, modelfile.LayerSection(i, modelfile.AttentionNorm), h)
		l.outputNorm = normFloats(rng, s, modelfile.LayerSection(i, modelfile.OutputNorm), h)
		m.layers = append(m.layers, l)
	}
	var err error
	m.file, err = modelfile.Encode(c, s)
	require.NoError(tb, err)
	return m
}

// quantised fills an int8 section and its scales, and returns the products.
func (m *tiny) quantised(rng *rand.Rand, s map[string][]byte, weight, scale string, n, k int) []float64 {
	scales := floats(rng, s, scale, n, 0.01, 0.001)
	values := make([]float64, n*k)
	s[weight] = make([]byte, n*k)
	for i := range values {
		q := int8(rng.IntN(255) - 127)
		s[weight][i] = byte(q)
		values[i] = float64(q) * scales[i/k]
	}
	return values
}

// floats fills a section with random numbers and returns them.
func floats(rng *rand.Rand, s map[string][]byte, name string, n int, mean, spread float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		v := float32(mean + rng.NormFloat64()*spread)
		values[i] = float64(v)
		s[name] = binary.LittleEndian.AppendUint32(s[name], math.Float32bits(v))
	}
	return values
}

func normFloats(rng *rand.Rand, s map[string][]byte, name string, n int) []float64 {
	gamma := floats(rng, s, name, n, 1, 0.1)
	return append(gamma, floats(rng, s, name, n, 0, 0.1)...)
}

func newTinyMatrix(tb testing.TB, rng *rand.Rand, s map[string][]byte, layer int, shape modelfile.Matrix) tinyMatrix {
	section := func(part string) string { return modelfile.LayerSection(layer, shape.Name+"."+part) }
	n, k := shape.Columns, shape.K
	m := tinyMatrix{n: n, k: k}
	scales := floats(rng, s, section(modelfile.Scale), n, 0.002, 0.0002)
	m.bias = floats(rng, s, section(modelfile.Bias), n, 0, 0.1)
	m.smooth = floats(rng, s, section(modelfile.Smooth), k, 1, 0.1)
	q := make([]int8, n*k)
	for i := range q {
		q[i] = int8(rng.IntN(255) - 127)
		m.w = append(m.w, float64(q[i])*scales[i/k])
	}
	for c := range n {
		sum := int32(0)
		for _, v := range q[c*k : (c+1)*k] {
			sum += int32(v)
		}
		s[section(modelfile.Sum)] = binary.LittleEndian.AppendUint32(s[section(modelfile.Sum)], uint32(sum))
	}
	packed, err := kernel.Pack(q, n, k)
	require.NoError(tb, err)
	for _, v := range packed {
		s[section(modelfile.Weight)] = append(s[section(modelfile.Weight)], byte(v))
	}
	return m
}

// embed is the textbook network in float64.
func (m *tiny) embed(ids []int32) []float64 {
	h := m.config.Hidden
	x := make([][]float64, len(ids))
	for i, id := range ids {
		x[i] = make([]float64, h)
		for j := range x[i] {
			x[i][j] = m.words[int(id)*h+j] + m.positions[i*h+j]
		}
		layerNorm(x[i], m.norm)
	}
	for _, l := range m.layers {
		m.attend(&l, x)
		for i := range x {
			wide := l.matrices[2].apply(x[i])
			for j, v := range wide {
				wide[j] = v / 2 * math.Erfc(-v/math.Sqrt2)
			}
			addTo(x[i], l.matrices[3].apply(wide))
			layerNorm(x[i], l.outputNorm)
		}
	}
	out := x[0]
	if m.config.Pooling == modelfile.PoolingMean {
		for _, row := range x[1:] {
			addTo(out, row)
		}
	}
	return out
}

func (m *tiny) attend(l *tinyLayer, x [][]float64) {
	h, width := m.config.Hidden, m.config.Hidden/m.config.Heads
	qkv := make([][]float64, len(x))
	for i := range x {
		qkv[i] = l.matrices[0].apply(x[i])
	}
	for i := range x {
		context := make([]float64, h)
		for at := 0; at < h; at += width {
			weights, total := make([]float64, len(x)), 0.0
			for j := range x {
				var dot float64
				for d := at; d < at+width; d++ {
					dot += qkv[i][d] * qkv[j][h+d]
				}
				weights[j] = math.Exp(dot / math.Sqrt(float64(width)))
				total += weights[j]
			}
			for j := range x {
				for d := at; d < at+width; d++ {
					context[d] += weights[j] / total * qkv[j][2*h+d]
				}
			}
		}
		addTo(x[i], l.matrices[1].apply(context))
	}
	for i := range x {
		layerNorm(x[i], l.attentionNorm)
	}
}

func (m *tinyMatrix) apply(x []float64) []float64 {
	out := make([]float64, m.n)
	for c := range out {
		out[c] = m.bias[c]
		for i, v := range x {
			out[c] += m.w[c*m.k+i] * v * m.smooth[i]
		}
	}
	return out
}

func layerNorm(x, norm []float64) {
	var mean, variance float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i, v := range x {
		x[i] = (v-mean)/math.Sqrt(variance)*norm[i] + norm[len(x)+i]
	}
}

func addTo(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
}
