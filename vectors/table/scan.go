package table

import (
	"math"
	"math/bits"
	"notesd/vectors/flat"
	"slices"
)

// prepared is a query as the copy is asked it.
type prepared struct {
	vector []float32 // at length one where angles are compared
	signs  []uint64
	table  []float32 // |q-m|·cos(angle), by Hamming distance
	away   float32   // |q-m|
	common float32   // what an estimate leaves out: the same for all rows
	planes
	error8 float32 // standard deviation of a score from bytes, for a scale of one
}

func (c *tableCopy) prepare(q []float32) prepared {
	p := prepared{vector: q}
	if c.info.Metric == Cosine {
		p.vector = flat.Normalised(slices.Clone(q))
	}
	f := c.factor()
	// A value is rounded by up to half a scale, evenly: a variance of 1/12.
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
	p.away = float32(math.Sqrt(squares(centred)))
	p.signs = flat.Signs(nil, centred)
	p.planes = planesOf(centred)
	p.common = f * float32(along-mean)
	p.table = make([]float32, 64*c.words+1)
	for h := range p.table {
		angle := math.Pi * math.Min(1, float64(h)/float64(c.info.Dimension))
		p.table[h] = p.away * float32(math.Cos(angle))
	}
	return p
}

// score is a row's score from its bytes. For l2 it is |q|² minus the squared
// distance, which orders rows as the distance does.
func (c *tableCopy) score(p *prepared, row int32) float32 {
	record := c.file.At(int(row))
	return c.factor()*flat.Dot(p.vector, flat.VectorOf(record, c.info.Dimension)) + recordOffset(record)
}

// keeps says which rows count: those that are not gone and, if only is not
// nil, are in it.
func (c *tableCopy) keeps(only bitset, row int) bool {
	return !c.gone.has(row) && (only == nil || only.has(row))
}

// scoreAll scores every row that counts and returns the k highest.
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

// estimateAll estimates every row that counts and returns the k highest.
func (c *tableCopy) estimateAll(p *prepared, only bitset, k int) []scored {
	return c.selectBy(k, func(b *best, from, to int) {
		c.estimate(p, b, from, to, func(row int, s float32) {
			if c.keeps(only, row) {
				b.add(scored{int32(row), s})
			}
		})
	})
}

// estimateAbove returns every row that counts with a first and a second
// estimate above these floors, with the second.
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

// estimate calls take with the rows whose first estimate is not below b's
// bound.
func (c *tableCopy) estimate(p *prepared, b *best, from, to int, take func(row int, s float32)) {
	if c.words == 6 { // 384 dimensions, the usual: the loop unrolled
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

// selectBy gives each processor a part of the rows and returns the k highest of
// all that they found.
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
