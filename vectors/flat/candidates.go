package flat

import (
	"math"
	"slices"

	"notesd/vectors/bert/kernel"
)

// planes is a query as bit planes. Each number is rounded to a multiple of step, which
// adds little to the error caused by using only the signs of a row.
type planes struct {
	planes []kernel.SignPlanes // each covers kernel.SignWords words of a row's signs
	step   float32
	sum    float32 // sum of all numbers
}

func planesOf(q []float32) planes {
	p := planes{planes: make([]kernel.SignPlanes, (SignWords(len(q))+kernel.SignWords-1)/kernel.SignWords)}
	largest := float32(0)
	for _, x := range q {
		p.sum += x
		largest = max(largest, float32(math.Abs(float64(x))))
	}
	if largest == 0 {
		return p
	}
	const steps = 15
	p.step = largest / steps
	for i, x := range q {
		n := int(math.RoundToEven(float64(x / p.step)))
		all := &p.planes[i/64/kernel.SignWords]
		for b := range all {
			all[b][i/64%kernel.SignWords] |= uint64(n>>b&1) << (i % 64)
		}
	}
	return p
}

// estimate writes estimates of the scores of the rows starting at from, without the part
// that is common to all rows, from the signs of the rows and the numbers of the query. As
// in RaBitQ (Gao and Long, 2024), the inner product with a row is estimated as the inner
// product with its signs, times a weight that corrects for the part of the row's length
// that the signs represent. It overwrites steps, which must be at least as long as out.
func (r *Ranker) estimate(p *Prepared, out []float32, steps []int32, from int) {
	steps, lines := steps[:len(out)], r.lines[from:][:len(out)]
	clear(steps)
	for i := range p.planes.planes {
		first := i * kernel.SignWords
		kernels().SignSums(steps, r.signs[from*r.words+first:], &p.planes.planes[i], min(r.words-first, kernel.SignWords), r.words)
	}
	step, sum := 2*p.planes.step, p.planes.sum
	for i, l := range lines {
		inner := float32(step*float32(steps[i])) - sum // inner product of q-m with the signs as ±1
		out[i] = float32(inner*l.weight) + l.level
	}
}

const (
	// likelyRows is about the number of rows among which the first rows to score are
	// chosen: enough for the bound from a sample to be accurate.
	likelyRows = 4096
	// firstScored is the minimum number of rows that are scored first, to find a lower
	// bound of the k-th highest score.
	firstScored = 128
	// sureness is the number of standard deviations by which an estimate may be below the
	// score of a row that must not be missed. For skewed distributions, estimates of near
	// rows are also about one standard deviation too low.
	sureness = 3
	// dependence is the factor by which the variance of estimates exceeds the theoretical
	// one, because the components of embeddings are not independent.
	dependence = 1.5
)

// Candidates returns rows with their scores, highest first. With very high probability
// they include the k highest-scoring rows; the rest are rows with the highest estimates,
// so that at least atLeast rows are returned if there are as many. If keep is not nil,
// only rows for which it returns true are considered; it must be safe for concurrent use.
//
// All rows are estimated, and those with the highest estimates are scored. Their k-th
// highest score is a lower bound of the final k-th score; floor derives from it the
// lowest estimate that a row of the result can have. Then the other rows above that floor
// are scored.
//
// If the estimates separate the vectors poorly, more rows are above the floor: the search
// takes longer, but recall stays the same. If more than an eighth of the rows would be
// scored, scoring all of them in order is faster.
func (r *Ranker) Candidates(p *Prepared, keep func(row int) bool, k, atLeast int) []Scored {
	atLeast = max(4*k, firstScored, atLeast)
	if !r.Estimates() {
		return r.All(p, keep, atLeast)
	}
	pooled := r.estimates(p)
	defer estimatePool.Put(pooled)
	estimates, infinite := *pooled, float32(math.Inf(1))
	bound := r.bound(estimates, keep, max(likelyRows, 2*atLeast))
	likely := r.between(estimates, keep, bound, infinite)
	if len(likely) < atLeast { // the sample was not representative
		bound = -infinite
		likely = r.between(estimates, keep, bound, infinite)
	}
	first := min(len(likely), atLeast)
	highest(likely, first)
	found := likely[:first:first]
	r.Scores(p.query, found)
	if len(found) < max(k, atLeast) { // these are all rows
		return sorted(found)
	}
	highest(found, k)
	floor := r.floor(p, slices.MaxFunc(found[:k], compareScores))
	rest := slices.DeleteFunc(likely[first:], func(s Scored) bool { return s.Score < floor })
	if floor < bound {
		rest = append(rest, r.between(estimates, keep, floor, bound)...)
	}
	if len(rest) > r.n/8 { // sequential access makes scoring all rows cheaper
		return r.All(p, keep, atLeast)
	}
	r.Scores(p.query, rest)
	found = append(found, rest...)
	highest(found, atLeast)
	return sorted(found[:atLeast])
}

// floor returns the lowest estimate expected of a row whose score is at least kth: that
// score minus sureness standard deviations of the estimate.
//
// With an angle θ between row and query, the error of the estimate is the inner product
// of the part of the query orthogonal to the row, of relative length sin θ, with the part
// of the row that its signs do not represent.
func (r *Ranker) floor(p *Prepared, kth Scored) float32 {
	l, score := r.lines[kth.Row], kth.Score-p.common
	length := float64(r.Factor) * r.length(int(kth.Row))
	reach := float64(p.length) * length
	if reach == 0 {
		return score
	}
	dim := float64(r.Dim)
	cos := math.Max(-1, math.Min(1, float64(score-l.level)/reach))
	kept := math.Min(1, length/float64(l.weight)/math.Sqrt(dim)) // cosine of the angle between the row and its signs
	deviation := math.Sqrt((1-cos*cos)*(1-kept*kept)/dim) / kept
	return score - float32(sureness*math.Sqrt(dependence)*reach*deviation)
}

// length returns |v-m| of a row.
func (r *Ranker) length(row int) float64 {
	v, _ := r.Row(row)
	squares := 0.0
	for i, m := range r.mean {
		d := float64(v.Scale*float32(v.Values[i]) - m)
		squares += d * d
	}
	return math.Sqrt(squares)
}

// Scores sets the scores of rows.
func (r *Ranker) Scores(q Query, rows []Scored) {
	inParallel(0, len(rows), func(_, from, to int) {
		for i, s := range rows[from:to] {
			rows[from+i].Score = r.score(q, int(s.Row))
		}
	})
}
