package table

import (
	"math"
	"math/bits"
	"slices"

	"notesd/vectors/flat"
)

// prepared is a query q with the data derived from it. m is the mean of all rows.
type prepared struct {
	vector []float32 // normalised if the metric is cosine
	signs  []uint64  // signs of q-m
	table  []float32 // |q-m|·cos(angle), by Hamming distance
	length float32   // |q-m|
	common float32   // part of the scores that is the same for all rows; not in estimates
	planes
	error8 float32 // standard deviation of a score from bytes, for a scale of one
}

func (c *tableCopy) prepare(q []float32) prepared {
	p := prepared{vector: q}
	if c.info.Metric == Cosine {
		p.vector = flat.Normalised(slices.Clone(q))
	}
	f := c.factor()
	// The rounding error of a value is uniform over one scale: its variance is
	// 1/12 of the scale squared.
	p.error8 = f * float32(math.Sqrt(squares(p.vector)/12))
	if !c.estimates() {
		return p
	}
	centred := make([]float32, len(q))
	var along, mean float64
	for i, m := range c.mean {
		centred[i] = p.vector[i] - m
		along += float64(p.vector[i]) * float64(m)
		mean += float64(m) * float64(m)
	}
	p.length = float32(math.Sqrt(squares(centred)))
	p.signs = flat.Signs(nil, centred)
	p.planes = planesOf(centred)
	p.common = f * float32(along-mean)
	p.table = make([]float32, 64*c.words+1)
	for h := range p.table {
		angle := math.Pi * math.Min(1, float64(h)/float64(c.info.Dimension))
		p.table[h] = p.length * float32(math.Cos(angle))
	}
	return p
}

// score returns the score of a row from its bytes. For L2 it is |q|² minus the
// squared distance, which gives the same order.
func (c *tableCopy) score(p *prepared, row int32) float32 {
	record := c.file.At(int(row))
	return c.factor()*flat.Dot(p.vector, flat.VectorOf(record, c.info.Dimension)) + recordOffset(record)
}

// keeps reports whether a row is a possible result: it is not deleted and, if only
// is not nil, it is in only.
func (c *tableCopy) keeps(only bitset, row int) bool {
	return !c.gone.has(row) && (only == nil || only.has(row))
}

// scoreAll scores all possible results and returns the k highest.
func (c *tableCopy) scoreAll(p *prepared, only bitset, k int) []scored {
	return c.selectBy(k, func(b *best, from, to int) {
		for row := from; row < to; row++ {
			if !c.keeps(only, row) {
				continue
			}
			if s := c.score(p, int32(row)); s >= b.bound {
				b.add(scored{int32(row), s})
			}
		}
	})
}

// estimateAll returns the k possible results with the highest first estimates.
func (c *tableCopy) estimateAll(p *prepared, only bitset, k int) []scored {
	return c.selectBy(k, func(b *best, from, to int) {
		c.estimate(p, b, from, to, func(row int, s float32) {
			if c.keeps(only, row) {
				b.add(scored{int32(row), s})
			}
		})
	})
}

// estimateAbove returns the possible results whose first and second estimates are
// at least floor and second, with their second estimates.
func (c *tableCopy) estimateAbove(p *prepared, only bitset, floor, second float32) []scored {
	return c.selectBy(len(c.rows), func(b *best, from, to int) {
		b.bound = floor
		c.estimate(p, b, from, to, func(row int, _ float32) {
			if s := c.refined(p, row); s >= second && c.keeps(only, row) {
				b.add(scored{int32(row), s})
			}
		})
	})
}

// estimate calls take with each row whose first estimate is at least b's bound.
func (c *tableCopy) estimate(p *prepared, b *best, from, to int, take func(row int, s float32)) {
	if c.words == 6 { // 384 dimensions, the most frequent case, has an unrolled loop
		c.estimate384(p, b, from, to, take)
		return
	}
	for row := from; row < to; row++ {
		words := c.signs[row*c.words : (row+1)*c.words]
		distance := 0
		for i, q := range p.signs {
			distance += bits.OnesCount64(words[i] ^ q)
		}
		l := c.lines[row]
		if s := p.table[distance]*l.slope + l.level; s >= b.bound {
			take(row, s)
		}
	}
}

func (c *tableCopy) estimate384(p *prepared, b *best, from, to int, take func(row int, s float32)) {
	q0, q1, q2, q3, q4, q5 := p.signs[0], p.signs[1], p.signs[2], p.signs[3], p.signs[4], p.signs[5]
	rest, lines, table := c.signs[from*6:to*6], c.lines[from:to], (*[385]float32)(p.table)
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
func (c *tableCopy) selectBy(k int, do func(b *best, from, to int)) []scored {
	parts := make([]*best, len(c.rows)/parallelRows+1)
	n := inParallel(0, len(c.rows), func(worker, from, to int) {
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
