package flat

import (
	"math"
	"slices"
	"sync"
)

// Prepared is a query q with the data derived from it. m is the mean of all rows.
type Prepared struct {
	query  Query
	length float32 // |q-m|
	common float32 // part of the scores that is the same for all rows; not in estimates
	planes
	// Error is the standard deviation of a score, for a row with a scale of one.
	Error float32
}

// Prepare derives the data of a query.
func (r *Ranker) Prepare(q []float32) *Prepared {
	// The rounding error of a value is uniform over one scale: its variance is
	// 1/12 of the scale squared.
	p := &Prepared{query: NewQuery(q), Error: r.Factor * float32(math.Sqrt(Squares(q)/12))}
	if !r.Estimates() {
		return p
	}
	centred := make([]float32, len(q))
	var along, mean float64
	for i, x := range q {
		m := r.mean[i]
		centred[i] = x - m
		along += float64(x) * float64(m)
		mean += float64(m) * float64(m)
	}
	p.length = float32(math.Sqrt(Squares(centred)))
	p.planes = planesOf(centred)
	p.common = r.Factor * float32(along-mean)
	return p
}

// score returns the score of a row.
func (r *Ranker) score(q Query, row int) float32 {
	v, offset := r.Row(row)
	return r.Factor*q.Dot(v) + offset
}

// All scores the rows for which keep returns true, or all if it is nil, and returns the
// k highest, highest first. Once it has found 4k rows, it reduces them to the k highest, so
// that most of the rows that follow cost one comparison.
func (r *Ranker) All(p *Prepared, keep func(row int) bool, k int) []Scored {
	all := r.collect(func(from, to int) (found []Scored) {
		bound := float32(math.Inf(-1))
		for row := from; row < to; row++ {
			if keep != nil && !keep(row) {
				continue
			}
			if s := r.score(p.query, row); s >= bound {
				found = append(found, Scored{int32(row), s})
			}
			if len(found) == 4*k {
				highest(found, k)
				found = found[:k]
				bound = least(found)
			}
		}
		return found
	})
	k = min(k, len(all))
	highest(all, k)
	return sorted(all[:k])
}

// estimates returns the estimates of all rows.
func (r *Ranker) estimates(p *Prepared) *[]float32 {
	out := estimatePool.Get().(*[]float32)
	*out = slices.Grow((*out)[:0], r.n)[:r.n]
	inParallel(0, r.n, func(_, from, to int) {
		steps := make([]int32, 1<<10)
		for ; from < to; from += len(steps) {
			r.estimate(p, (*out)[from:min(to, from+len(steps))], steps, from)
		}
	})
	return out
}

var estimatePool = sync.Pool{New: func() any { return new([]float32) }}

const sampleRows = 1 << 12

// bound returns, from a sample, an estimate that about the given number of rows to keep
// reach, or -∞ if there are no more than that.
func (r *Ranker) bound(estimates []float32, keep func(row int) bool, rows int) float32 {
	step := max(1, r.n/sampleRows)
	sample := make([]Scored, 0, 2*sampleRows)
	for row := 0; row < r.n; row += step {
		if keep == nil || keep(row) {
			sample = append(sample, Scored{int32(row), estimates[row]})
		}
	}
	if rows /= step; rows >= len(sample) {
		return float32(math.Inf(-1))
	}
	highest(sample, max(1, rows))
	return least(sample[:max(1, rows)])
}

// between returns the rows to keep whose estimates e satisfy from <= e < to, with the
// estimates.
func (r *Ranker) between(estimates []float32, keep func(row int) bool, from, to float32) []Scored {
	return r.collect(func(start, end int) (found []Scored) {
		for i, e := range estimates[start:end] {
			if e >= from && e < to && (keep == nil || keep(start+i)) {
				found = append(found, Scored{int32(start + i), e})
			}
		}
		return found
	})
}

// collect distributes the rows over the CPUs and returns everything that do returns.
func (r *Ranker) collect(do func(from, to int) []Scored) []Scored {
	parts := make([][]Scored, r.n/parallelRows+1)
	n := inParallel(0, r.n, func(worker, from, to int) { parts[worker] = do(from, to) })
	return slices.Concat(parts[:n]...)
}
