package main

import (
	"fmt"
	"math"

	"notesd/vectors/bert/modelfile"
)

// network is the original network: float32 weights, computed without optimisation. It is
// used only to find ranges, so speed does not matter.
type network struct {
	config    *modelfile.Config
	words     words
	positions []float32 // [positions][hidden], the first type's row added
	norm      normal
	layers    []block
}

// words is the table of word embeddings.
type words interface {
	row(id int) []float32
	sections() map[string][]byte // of a model file
}

// weights are published weights, under BertModel's names.
type weights interface {
	get(name string) []float32
	embeddings() words
}

// linear is y = W x + b, where W is [n][k].
type linear struct {
	name string
	n, k int
	w, b []float32
}

type normal struct{ gamma, beta []float32 }

// block is one layer; its matrices are in the order of modelfile's Matrices.
type block struct {
	matrices                  [4]linear
	attentionNorm, outputNorm normal
}

func newNetwork(c *modelfile.Config, w weights) *network {
	h := c.Hidden
	net := &network{
		config:    c,
		words:     w.embeddings(),
		positions: w.get("embeddings.position_embeddings.weight"),
		norm:      normalOf(w, "embeddings.LayerNorm"),
	}
	types := w.get("embeddings.token_type_embeddings.weight")
	for i := range net.positions {
		net.positions[i] += types[i%h]
	}
	for i := range c.Layers {
		net.layers = append(net.layers, blockOf(w, fmt.Sprintf("encoder.layer.%d.", i), c))
	}
	return net
}

func normalOf(w weights, name string) normal {
	return normal{w.get(name + ".weight"), w.get(name + ".bias")}
}

func linearOf(w weights, name string, n, k int) linear {
	return linear{n: n, k: k, w: w.get(name + ".weight"), b: w.get(name + ".bias")}
}

func blockOf(w weights, prefix string, c *modelfile.Config) block {
	h, wide := c.Hidden, c.Intermediate
	joined := linear{n: 3 * h, k: h}
	for _, part := range []string{"query", "key", "value"} {
		one := linearOf(w, prefix+"attention.self."+part, h, h)
		joined.w, joined.b = append(joined.w, one.w...), append(joined.b, one.b...)
	}
	b := block{
		matrices: [4]linear{
			joined,
			linearOf(w, prefix+"attention.output.dense", h, h),
			linearOf(w, prefix+"intermediate.dense", wide, h),
			linearOf(w, prefix+"output.dense", h, wide),
		},
		attentionNorm: normalOf(w, prefix+"attention.output.LayerNorm"),
		outputNorm:    normalOf(w, prefix+"output.LayerNorm"),
	}
	for i, m := range c.Matrices() {
		b.matrices[i].name = m.Name
	}
	return b
}

// run returns the last layer's rows for ids. It calls see with the input rows of each
// matrix.
func (net *network) run(ids []int32, see func(layer, matrix int, rows [][]float32)) [][]float32 {
	h := net.config.Hidden
	x := make([][]float32, len(ids))
	for i, id := range ids {
		x[i] = net.words.row(int(id))
		for j := range x[i] {
			x[i][j] += net.positions[i*h+j]
		}
	}
	net.norm.apply(x, net.config.Epsilon)
	for i := range net.layers {
		l := &net.layers[i]
		apply := func(m int, rows [][]float32) [][]float32 {
			see(i, m, rows)
			return l.matrices[m].apply(rows)
		}
		attended := attention(apply(0, x), h, net.config.Heads)
		add(x, apply(1, attended))
		l.attentionNorm.apply(x, net.config.Epsilon)
		wide := apply(2, x)
		for _, row := range wide {
			for j, v := range row {
				row[j] = float32(float64(v) / 2 * math.Erfc(-float64(v)/math.Sqrt2))
			}
		}
		add(x, apply(3, wide))
		l.outputNorm.apply(x, net.config.Epsilon)
	}
	return x
}

func (l *linear) apply(rows [][]float32) [][]float32 {
	out := make([][]float32, len(rows))
	for i, x := range rows {
		out[i] = make([]float32, l.n)
		for j := range out[i] {
			w := l.w[j*l.k:][:len(x)]
			var s [4]float64 // four sums, so that additions can overlap
			for k := 0; k+4 <= len(x); k += 4 {
				s[0] += float64(float64(x[k]) * float64(w[k]))
				s[1] += float64(float64(x[k+1]) * float64(w[k+1]))
				s[2] += float64(float64(x[k+2]) * float64(w[k+2]))
				s[3] += float64(float64(x[k+3]) * float64(w[k+3]))
			}
			out[i][j] = float32(s[0]+s[1]+s[2]+s[3]) + l.b[j]
		}
	}
	return out
}

func (n *normal) apply(rows [][]float32, epsilon float32) {
	for _, x := range rows {
		var sum, square float64
		for _, v := range x {
			sum += float64(v)
		}
		mean := sum / float64(len(x))
		for _, v := range x {
			square += (float64(v) - mean) * (float64(v) - mean)
		}
		deviation := math.Sqrt(square/float64(len(x)) + float64(epsilon))
		for j, v := range x {
			x[j] = float32((float64(v)-mean)/deviation)*n.gamma[j] + n.beta[j]
		}
	}
}

// attention computes attention on rows of queries, keys and values side by side.
func attention(qkv [][]float32, h, heads int) [][]float32 {
	width := h / heads
	out := make([][]float32, len(qkv))
	weights := make([]float64, len(qkv))
	for i, row := range qkv {
		out[i] = make([]float32, h)
		for at := 0; at < h; at += width {
			var sum float64
			for j, other := range qkv {
				var s float64
				for d := at; d < at+width; d++ {
					s += float64(row[d]) * float64(other[h+d])
				}
				weights[j] = math.Exp(s / math.Sqrt(float64(width)))
				sum += weights[j]
			}
			for j, other := range qkv {
				for d := at; d < at+width; d++ {
					out[i][d] += float32(weights[j]/sum) * other[2*h+d]
				}
			}
		}
	}
	return out
}

func add(x, y [][]float32) {
	for i, row := range x {
		for j := range row {
			row[j] += y[i][j]
		}
	}
}
