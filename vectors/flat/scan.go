package flat

import (
	"math"
	"math/bits"
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
func (r *Ranker) Score(p *Prepared, row int) float32 {
	v, offset := r.Row(row)
	return r.Factor*p.query.Dot(v) + offset
}

// All scores the rows for which keep returns true, or all if it is nil, and returns the
// k highest in no particular order.
func (r *Ranker) All(p *Prepared, keep func(row int) bool, k int) []Scored {
	return r.selectBy(k, func(b *best, from, to int) {
		for row := from; row < to; row++ {
			if keep != nil && !keep(row) {
				continue
			}
			if s := r.Score(p, row); s >= b.bound {
				b.add(Scored{int32(row), s})
			}
		}
	})
}

// estimateAll returns the k rows to keep with the highest first estimates.
func (r *Ranker) estimateAll(p *Prepared, keep func(row int) bool, k int) []Scored {
	return r.selectBy(k, func(b *best, from, to int) {
		r.estimate(p, b, from, to, func(row int, s float32) {
			if keep == nil || keep(row) {
				b.add(Scored{int32(row), s})
			}
		})
	})
}

// estimateAbove returns the rows to keep whose first and second estimates are
// at least floor and second, with their second estimates.
func (r *Ranker) estimateAbove(p *Prepared, keep func(row int) bool, floor, second float32) []Scored {
	return r.selectBy(r.n, func(b *best, from, to int) {
		b.bound = floor
		r.estimate(p, b, from, to, func(row int, _ float32) {
			if s := r.refined(p, row); s >= second && (keep == nil || keep(row)) {
				b.add(Scored{int32(row), s})
			}
		})
	})
}

// estimate calls take with each row whose first estimate is at least b's bound.
func (r *Ranker) estimate(p *Prepared, b *best, from, to int, take func(row int, s float32)) {
	if r.words == 6 { // 384 dimensions, the most frequent case, has an unrolled loop
		r.estimate384(p, b, from, to, take)
		return
	}
	for row := from; row < to; row++ {
		words := r.signs[row*r.words : (row+1)*r.words]
		distance := 0
		for i, q := range p.signs {
			distance += bits.OnesCount64(words[i] ^ q)
		}
		l := r.lines[row]
		if s := p.table[distance]*l.slope + l.level; s >= b.bound {
			take(row, s)
		}
	}
}

func (r *Ranker) estimate384(p *Prepared, b *best, from, to int, take func(row int, s float32)) {
	q0, q1, q2, q3, q4, q5 := p.signs[0], p.signs[1], p.signs[2], p.signs[3], p.signs[4], p.signs[5]
	rest, lines, table := r.signs[from*6:to*6], r.lines[from:to], (*[385]float32)(p.table)
	for i, l := range lines {
		w := (*[6]uint64)(rest)
		rest = rest[6:]
		d := bits.OnesCount64(w[0]^q0) + bits.OnesCount64(w[1]^q1) + bits.OnesCount64(w[2]^q2) +
			bits.OnesCount64(w[3]^q3) + bits.OnesCount64(w[4]^q4) + bits.OnesCount64(w[5]^q5)
		if s := table[d]*l.slope + l.level; s >= b.bound {
			take(from+i, s)
		}
	}
}

// selectBy distributes the rows over the processors and returns the k highest of
// the scores that do collects.
func (r *Ranker) selectBy(k int, do func(b *best, from, to int)) []Scored {
	parts := make([]*best, r.n/parallelRows+1)
	n := inParallel(0, r.n, func(worker, from, to int) {
		parts[worker] = newBest(k)
		do(parts[worker], from, to)
	})
	all := parts[0]
	for _, b := range parts[1:n] {
		all.found = append(all.found, b.found...)
	}
	all.cut()
	return all.found
}
