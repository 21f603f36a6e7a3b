package notestest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Clustered returns n unit vectors that are distributed like embeddings: clustered
// around topics that share a common direction, with a different variance in each
// dimension.
func Clustered(rng *rand.Rand, n, dim, topics int) [][]float32 {
	spread := make([]float64, dim)
	common := make([]float64, dim)
	for i := range spread {
		spread[i] = math.Exp(rng.NormFloat64() * 0.4)
		common[i] = rng.NormFloat64() * 0.3
	}
	centres := make([][]float64, topics)
	for t := range centres {
		centres[t] = make([]float64, dim)
		for i := range centres[t] {
			centres[t][i] = common[i] + rng.NormFloat64()*spread[i]
		}
	}
	out := make([][]float32, n)
	for j := range out {
		c := centres[rng.IntN(topics)]
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(c[i] + rng.NormFloat64()*spread[i]*0.9)
		}
		out[j] = unit(v)
	}
	return out
}

// EmbedWords replaces an embedding model in tests. It returns the normalised sum of one
// random direction for each word, so that texts with common words are close. Different
// ids give unrelated directions.
func EmbedWords(id, text string, dim int) []float32 {
	sum := make([]float32, dim)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(id + word)) // never fails
		rng := rand.New(rand.NewPCG(h.Sum64(), 0))
		for i := range sum {
			sum[i] += float32(rng.NormFloat64())
		}
	}
	return unit(sum)
}

// unit scales v to length one in place; a zero vector is unchanged.
func unit(v []float32) []float32 {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return v
	}
	inverse := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= inverse
	}
	return v
}
