package main

import (
	"encoding/binary"
	"math"
	"strings"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
)

// tokenizer splits text into ids.
type tokenizer interface {
	Append(dst []int32, text string, limit int) []int32
}

// ranges holds, for each layer and matrix, the largest absolute value observed in each
// input channel.
type ranges [][4][]float32

// calibrate runs texts through the network and records ranges.
func calibrate(net *network, c *modelfile.Config, t tokenizer, texts []string) ranges {
	seen := make(ranges, c.Layers)
	for i := range seen {
		for m := range seen[i] {
			seen[i][m] = make([]float32, net.layers[i].matrices[m].k)
		}
	}
	for _, text := range texts {
		if !strings.HasPrefix(text, c.QueryPrefix) || c.QueryPrefix == "" {
			text = c.PassagePrefix + text
		}
		ids := t.Append([]int32{int32(c.Tokenizer.Start)}, text, c.MaxTokens-1)
		ids = append(ids, int32(c.Tokenizer.End))
		net.run(ids, func(layer, matrix int, rows [][]float32) {
			for _, row := range rows {
				for k, v := range row {
					seen[layer][matrix][k] = max(seen[layer][matrix][k], abs(v))
				}
			}
		})
	}
	return seen
}

// quantise returns the sections of the model file except the vocabulary.
func quantise(net *network, seen ranges) (map[string][]byte, error) {
	sections := net.words.sections()
	sections[modelfile.Position] = encode(net.positions)
	sections[modelfile.EmbeddingNorm] = net.norm.encode()
	for i := range net.layers {
		l := &net.layers[i]
		sections[modelfile.LayerSection(i, modelfile.AttentionNorm)] = l.attentionNorm.encode()
		sections[modelfile.LayerSection(i, modelfile.OutputNorm)] = l.outputNorm.encode()
		for m := range l.matrices {
			parts, err := l.matrices[m].quantise(seen[i][m])
			if err != nil {
				return nil, err
			}
			for part, data := range parts {
				sections[modelfile.LayerSection(i, l.matrices[m].name+"."+part)] = data
			}
		}
	}
	return sections, nil
}

// quantise returns a matrix's parts, with weights divided by the factors that its inputs
// will be multiplied by.
func (l *linear) quantise(seen []float32) (map[string][]byte, error) {
	smooth := l.smooth(seen)
	divided := make([]float32, len(l.w))
	for i, w := range l.w {
		divided[i] = w / smooth[i%l.k]
	}
	weights, scales, sums := rows8(divided, l.k)
	packed, err := kernel.Pack(weights, l.n, l.k)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		modelfile.Weight: encode(packed),
		modelfile.Sum:    encode(sums),
		modelfile.Scale:  encode(scales),
		modelfile.Bias:   encode(l.b),
		modelfile.Smooth: encode(smooth),
	}, nil
}

// smooth returns √(largest weight / largest input) for each input channel, which makes
// both equal. Factors are rounded to five bits, at no loss of quality, so that the file
// does not depend on the last bits of sums or math.Exp, which differ between CPUs.
func (l *linear) smooth(seen []float32) []float32 {
	factors := make([]float32, l.k)
	for k := range factors {
		var largest float32
		for i := k; i < len(l.w); i += l.k {
			largest = max(largest, abs(l.w[i]))
		}
		factors[k] = 1
		if largest > 0 && seen[k] > 0 {
			mantissa, exponent := math.Frexp(math.Sqrt(float64(largest) / float64(seen[k])))
			factors[k] = float32(math.Ldexp(math.RoundToEven(mantissa*32)/32, exponent))
		}
	}
	return factors
}

// rows8 quantises each row of k values to int8 and sums the results.
func rows8(w []float32, k int) (q []int8, scales []float32, sums []int32) {
	q = make([]int8, len(w))
	for from := 0; from < len(w); from += k {
		row := w[from : from+k]
		var largest float32
		for _, v := range row {
			largest = max(largest, abs(v))
		}
		scale, sum := largest/127, int32(0)
		for i, v := range row {
			if scale > 0 {
				q[from+i] = int8(math.RoundToEven(float64(v) / float64(scale)))
				q[from+i] = max(q[from+i], -127)
			}
			sum += int32(q[from+i])
		}
		scales, sums = append(scales, scale), append(sums, sum)
	}
	return q, scales, sums
}

func (n *normal) encode() []byte { return append(encode(n.gamma), encode(n.beta)...) }

// encode returns values in the encoding of a model file.
func encode[T int8 | int32 | float32](values []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err) // cannot fail for these types
	}
	return b
}

func abs(v float32) float32 { return float32(math.Abs(float64(v))) }
