package flat

import (
	"math"
	"math/bits"
	"slices"
)

// planeBits is the number of bits per number of the query in the second estimate.
// 32 steps add little to the error that the signs of a row cause.
const planeBits = 5

// planes is a query in bit planes. Each number x of the query is rounded to a step
// n, with x = low + n*step, and bit b of all n is in plane b. The sum of n over the
// positive signs of a row is then a sum of population counts.
type planes struct {
	planes    [][planeBits]uint64 // by word of a row's signs
	low, step float32
	sum       float32 // sum of all numbers
}

func planesOf(q []float32) planes {
	words := SignWords(len(q))
	p := planes{planes: make([][planeBits]uint64, words), low: slices.Min(q)}
	const steps = 1<<planeBits - 1
	p.step = (slices.Max(q) - p.low) / steps
	for i, x := range q {
		p.sum += x
		if p.step == 0 {
			continue
		}
		n := min(steps, int(math.RoundToEven(float64((x-p.low)/p.step))))
		for b := range planeBits {
			p.planes[i/64][b] |= uint64(n>>b&1) << (i % 64)
		}
	}
	return p
}

// refined returns the second estimate of a row's score, without the part that is
// common to all rows. It uses the signs of the row and the numbers of the query,
// where the first estimate uses the signs of both. It takes several times as long
// and has half the error. As in RaBitQ (Gao and Long, 2024), the inner product with
// the row is estimated as the inner product with its signs, times a weight that
// corrects for the part of the row's length that the signs represent.
func (r *Ranker) refined(p *Prepared, row int) float32 {
	signs := r.signs[row*r.words : (row+1)*r.words]
	set, steps := 0, 0
	all := p.planes.planes[:len(signs)]
	for i, w := range signs {
		planes := &all[i]
		set += bits.OnesCount64(w)
		steps += bits.OnesCount64(w&planes[0]) + bits.OnesCount64(w&planes[1])<<1 + bits.OnesCount64(w&planes[2])<<2 +
			bits.OnesCount64(w&planes[3])<<3 + bits.OnesCount64(w&planes[4])<<4
	}
	inner := 2*(p.low*float32(set)+p.step*float32(steps)) - p.sum // inner product of q-m with the signs as ±1
	return inner*r.weights[row] + r.lines[row].level
}

const (
	// likelyRows is about the number of rows whose second estimates are made at once.
	likelyRows = 4096
	// firstScored is the least number of those rows that are scored, to find a
	// lower bound of the k-th highest score.
	firstScored = 128
	// sureness is the number of standard deviations by which an estimate may be
	// below the score of a row that must not be missed. For skewed numbers the
	// estimates of near rows are also about one standard deviation too low.
	sureness = 3
	// dependence is the factor by which the variance of estimates exceeds the
	// theoretical one, because the numbers of embeddings are not independent.
	dependence = 1.5
)

// Candidates returns rows with their scores, the highest first. With very high
// probability the k highest-scoring rows are among them; others are those with the
// highest estimates, at least so many rows together if there are. If keep is not nil, only rows
// for which it returns true are considered; it must be safe for concurrent use.
//
// The search has four steps. All rows are estimated. The second estimate orders the
// some likelyRows highest, and the best of them are scored; the k-th highest score is a
// lower bound of the final k-th score. From it, floors derives the least estimates that
// a row of the result can have. Finally all rows with both estimates above their floors
// are scored.
//
// If the estimates separate the vectors poorly, more rows are above the floors: the
// search then takes longer, and the recall stays the same. If more than an eighth
// of the rows would be scored, scoring all of them in order is faster.
func (r *Ranker) Candidates(p *Prepared, keep func(row int) bool, k, atLeast int) []Scored {
	atLeast = max(4*k, firstScored, atLeast)
	if !r.Estimates() {
		return sorted(r.All(p, keep, atLeast))
	}
	pooled := r.estimates(p)
	defer estimatePool.Put(pooled)
	estimates, infinite := *pooled, float32(math.Inf(1))
	bound := r.bound(estimates, keep, max(likelyRows, 4*atLeast))
	likely := r.refinedBetween(p, estimates, keep, bound, infinite, -infinite)
	if len(likely) < atLeast { // the sample misled
		bound = -infinite
		likely = r.refinedBetween(p, estimates, keep, bound, infinite, -infinite)
	}
	first := min(len(likely), atLeast)
	highest(likely, first)
	found := likely[:first:first]
	r.Scores(p.query, found)
	if len(found) < max(k, atLeast) { // these are all rows
		return sorted(found)
	}
	highest(found, k)
	floor, second := r.floors(p, slices.MaxFunc(found[:k], compareScores))
	rest := slices.DeleteFunc(likely[first:], func(s Scored) bool { return s.Score < second })
	if floor < bound {
		rest = append(rest, r.refinedBetween(p, estimates, keep, floor, bound, second)...)
	}
	if len(rest) > r.n/8 { // sequential access makes scoring all rows cheaper
		return sorted(r.All(p, keep, atLeast))
	}
	r.Scores(p.query, rest)
	return sorted(append(found, rest...))
}

// floors returns the least first and second estimates that are expected of a row
// whose score is at least the given k-th score: that score less sureness standard
// deviations of the estimate.
//
// With an angle θ between row and query, each of dim signs differs with probability
// θ/π, so the number of differing signs has the variance dim·(θ/π)·(1-θ/π) of a
// binomial distribution. The first estimate is the cosine of the angle that this
// number gives, so its standard deviation is that of the angle times the
// derivative of the cosine, sin θ. The error of the second estimate is the inner
// product of the part of the query orthogonal to the row, of relative length
// sin θ, with the part of the row that its signs do not represent.
func (r *Ranker) floors(p *Prepared, kth Scored) (first, second float32) {
	l, w := r.lines[kth.Row], r.weights[kth.Row]
	dim := float64(r.Dim)
	score := kth.Score - p.common
	reach := float64(p.length) * float64(l.slope)
	if reach == 0 {
		return score, score
	}
	cos := math.Max(-1, math.Min(1, float64(score-l.level)/reach))
	sin := math.Sqrt(1 - cos*cos)
	share := math.Acos(cos) / math.Pi
	kept := math.Min(1, float64(l.slope/w)/math.Sqrt(dim)) // cosine of the angle between the row and its signs
	one := math.Pi * sin * math.Sqrt(share*(1-share)/dim)
	two := sin * math.Sqrt((1-kept*kept)/dim) / kept
	scale := sureness * math.Sqrt(dependence) * reach
	return score - float32(scale*one), score - float32(scale*two)
}

// Scores sets the scores of rows.
func (r *Ranker) Scores(q Query, rows []Scored) {
	inParallel(0, len(rows), func(_, from, to int) {
		for i, s := range rows[from:to] {
			rows[from+i].Score = r.score(q, int(s.Row))
		}
	})
}
