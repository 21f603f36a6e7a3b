package table

import (
	"math"
	"math/bits"
	"notesd/vectors/flat"
	"slices"
)

// planeBits is how finely a number of the query is told for the second
// estimate: 32 steps add little to the error that the signs of a row leave.
const planeBits = 5

// planes is a query in bits: bit b of each of its numbers, as steps above the
// lowest, lies in plane b.
type planes struct {
	planes    []uint64 // planeBits times the words of a row
	low, step float32
	sum       float32 // of all numbers
}

func planesOf(q []float32) planes {
	words := flat.SignWords(len(q))
	p := planes{planes: make([]uint64, planeBits*words), low: slices.Min(q)}
	const steps = 1<<planeBits - 1
	p.step = (slices.Max(q) - p.low) / steps
	for i, x := range q {
		p.sum += x
		if p.step == 0 {
			continue
		}
		n := min(steps, int(math.RoundToEven(float64((x-p.low)/p.step))))
		for b := range planeBits {
			p.planes[b*words+i/64] |= uint64(n>>b&1) << (i % 64)
		}
	}
	return p
}

// refined estimates a row's score, less what is common to all, from the signs
// of the row and the numbers of the query: the first estimate has the signs of
// both. It takes several times as long and errs half as much (Gao and Long,
// "RaBitQ", 2024: the inner product with a row is that with its signs, scaled
// by what the signs keep of the row).
func (c *tableCopy) refined(p *prepared, row int) float32 {
	signs := c.signs[row*c.words : (row+1)*c.words]
	set, steps := 0, 0
	for _, w := range signs {
		set += bits.OnesCount64(w)
	}
	for b := range planeBits {
		plane := p.planes.planes[b*c.words : (b+1)*c.words]
		n := 0
		for i, w := range signs {
			n += bits.OnesCount64(w & plane[i])
		}
		steps += n << b
	}
	inner := 2*(p.low*float32(set)+p.step*float32(steps)) - p.sum // of q-m with the signs as ±1
	return inner*c.weights[row] + c.lines[row].level
}

const (
	// likelyRows is how many rows the first scan yields. The best of them, by
	// the second estimate, are scored to learn what the k-th score may be.
	likelyRows = 4096
	// firstScored is how many those are, at least.
	firstScored = 128
	// sureness is how many standard deviations its estimate may lie below a
	// row's score without the row being missed. Where numbers are skewed,
	// estimates of near rows are also too low by one or so.
	sureness = 3
	// dependence is by how much numbers of embeddings, which are not
	// independent, make the variance of estimates larger than theory has it.
	dependence = 1.5
)

// candidates returns rows with their scores, the highest first: the k highest
// of those that count, all but surely, and some of what follows.
//
// Estimates choose what is scored. How many are scored depends on how well
// estimates tell these vectors apart: all whose estimates are at most a few
// standard deviations below the k-th score. So it is the time that depends on
// the vectors, and not the recall.
func (c *tableCopy) candidates(p *prepared, only bitset, k int) []scored {
	if !c.estimates() {
		return sorted(c.scoreAll(p, only, max(4*k, firstScored)))
	}
	likely := c.estimateAll(p, only, max(likelyRows, 8*k))
	first := min(len(likely), max(firstScored, 4*k))
	again := c.refineThese(p, likely)
	highest(again, first)
	found := sorted(c.scoreThese(p, again[:first]))
	if first == len(likely) || len(found) < k {
		return found
	}
	floor, second := c.floors(p, found[k-1])
	rest := again[first:]
	if least(likely) > floor { // more than these may be above it
		seen := make(map[int32]bool, len(found))
		for _, s := range found {
			seen[s.row] = true
		}
		rest = slices.DeleteFunc(c.estimateAbove(p, only, floor, second), func(s scored) bool { return seen[s.row] })
	}
	rest = slices.DeleteFunc(rest, func(s scored) bool { return s.score < second })
	if len(rest) > len(c.rows)/8 { // in the order of rows they cost less
		return sorted(c.scoreAll(p, only, max(4*k, firstScored)))
	}
	return sorted(append(found, c.scoreThese(p, rest)...))
}

// floors returns the least first and second estimates that a row with the k-th
// score or a higher one is expected to have.
//
// Signs differ as coins that fall with the angle's share of π: the standard
// deviation of the first is that of their number, times the cosine's slope.
// That of the second is what the signs do not keep of the row, times what of
// the query lies across the row.
func (c *tableCopy) floors(p *prepared, kth scored) (first, second float32) {
	l, w := c.lines[kth.row], c.weights[kth.row]
	dim := float64(c.info.Dimension)
	score := kth.score - p.common
	reach := float64(p.away) * float64(l.slope)
	if reach == 0 {
		return score, score
	}
	cos := math.Max(-1, math.Min(1, float64(score-l.level)/reach))
	across := math.Sqrt(1 - cos*cos)
	share := math.Acos(cos) / math.Pi
	kept := math.Min(1, float64(l.slope/w)/math.Sqrt(dim)) // cosine of a row and its signs
	one := math.Pi * across * math.Sqrt(share*(1-share)/dim)
	two := across * math.Sqrt((1-kept*kept)/dim) / kept
	scale := sureness * math.Sqrt(dependence) * reach
	return score - float32(scale*one), score - float32(scale*two)
}

// refineThese returns rows with their second estimates.
func (c *tableCopy) refineThese(p *prepared, rows []scored) []scored {
	return eachScored(rows, func(row int32) float32 { return c.refined(p, int(row)) })
}

// scoreThese returns rows with their scores.
func (c *tableCopy) scoreThese(p *prepared, rows []scored) []scored {
	return eachScored(rows, func(row int32) float32 { return c.score(p, row) })
}

func eachScored(rows []scored, score func(row int32) float32) []scored {
	out := make([]scored, len(rows))
	inParallel(0, len(rows), func(_, from, to int) {
		for i, s := range rows[from:to] {
			out[from+i] = scored{s.row, score(s.row)}
		}
	})
	return out
}
