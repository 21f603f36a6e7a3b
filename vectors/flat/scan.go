package flat

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Prepared is a query q with the data derived from it. m is the mean of all rows.
type Prepared struct {
	query  Query
	signs  []uint64  // signs of q-m
	table  []float32 // |q-m|·cos(angle), by Hamming distance
	length float32   // |q-m|
	common float32   // part of the scores that is the same for all rows; not in estimates
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
	for i, m := range r.mean {
		centred[i] = q[i] - m
		along += float64(q[i]) * float64(m)
		mean += float64(m) * float64(m)
	}
	p.length = float32(math.Sqrt(Squares(centred)))
	p.signs = Signs(nil, centred)
	p.planes = planesOf(centred)
	p.common = r.Factor * float32(along-mean)
	p.table = make([]float32, 64*r.words+1)
	for h := range p.table {
		angle := math.Pi * math.Min(1, float64(h)/float64(r.Dim))
		p.table[h] = p.length * float32(math.Cos(angle))
	}
	return p
}

// Score returns the score of a row.
func (r *Ranker) Score(p *Prepared, row int) float32 { return r.score(p.query, row) }

func (r *Ranker) score(q Query, row int) float32 {
	v, offset := r.Row(row)
	return r.Factor*q.Dot(v) + offset
}

// All scores the rows for which keep returns true, or all if it is nil, and returns the
// k highest in no particular order.
func (r *Ranker) All(p *Prepared, keep func(row int) bool, k int) []Scored {
	all := newBest(k)
	all.found = r.collect(func(from, to int) []Scored {
		b := newBest(k)
		for row := from; row < to; row++ {
			if keep != nil && !keep(row) {
				continue
			}
			if s := r.Score(p, row); s >= b.bound {
				b.add(Scored{int32(row), s})
			}
		}
		return b.found
	})
	all.cut()
	return all.found
}

// estimates returns the first estimates of all rows.
func (r *Ranker) estimates(p *Prepared) *[]float32 {
	out := estimatePool.Get().(*[]float32)
	*out = grown(*out, r.n)
	inParallel(0, r.n, func(_, from, to int) {
		if r.words == 6 { // 384 dimensions, the most frequent case, has an unrolled loop
			r.estimate384(p, (*out)[from:to], from)
			return
		}
		for row := from; row < to; row++ {
			words := r.signs[row*r.words : (row+1)*r.words]
			distance := 0
			for i, q := range p.signs {
				distance += bits.OnesCount64(words[i] ^ q)
			}
			(*out)[row] = p.table[distance]*r.lines[row].slope + r.lines[row].level
		}
	})
	return out
}

var estimatePool = sync.Pool{New: func() any { return new([]float32) }}

func (r *Ranker) estimate384(p *Prepared, out []float32, from int) {
	q0, q1, q2, q3, q4, q5 := p.signs[0], p.signs[1], p.signs[2], p.signs[3], p.signs[4], p.signs[5]
	rest, lines, table := r.signs[from*6:], r.lines[from:], (*[385]float32)(p.table)
	for i := range out {
		w := (*[6]uint64)(rest[6*i:])
		d := bits.OnesCount64(w[0]^q0) + bits.OnesCount64(w[1]^q1) + bits.OnesCount64(w[2]^q2) +
			bits.OnesCount64(w[3]^q3) + bits.OnesCount64(w[4]^q4) + bits.OnesCount64(w[5]^q5)
		out[i] = table[d]*lines[i].slope + lines[i].level
	}
}

const sampleRows = 1 << 12

// bound returns a first estimate that about so many of the rows to keep reach, chosen
// from a sample of them, or -∞ if there are no more.
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

// refinedBetween returns the rows to keep whose first estimates are at least from and
// below to, and whose second estimates are at least second, with these.
func (r *Ranker) refinedBetween(p *Prepared, estimates []float32, keep func(row int) bool, from, to, second float32) []Scored {
	return r.collect(func(start, end int) (found []Scored) {
		for i, e := range estimates[start:end] {
			if e < from || e >= to {
				continue
			}
			row := start + i
			if keep != nil && !keep(row) {
				continue
			}
			if s := r.refined(p, row); s >= second {
				found = append(found, Scored{int32(row), s})
			}
		}
		return found
	})
}

// collect distributes the rows over the processors and returns all that do found.
func (r *Ranker) collect(do func(from, to int) []Scored) []Scored {
	parts := make([][]Scored, r.n/parallelRows+1)
	n := inParallel(0, r.n, func(worker, from, to int) { parts[worker] = do(from, to) })
	return slices.Concat(parts[:n]...)
}
