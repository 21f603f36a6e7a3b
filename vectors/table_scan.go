package vectors

import (
	"math"
	"math/bits"
	"slices"
)

// scored is a position and its score, estimated or not.
type scored struct {
	row   int32
	score float32
}

// best selects the k highest scores of a stream: it keeps what is above a
// bound, which it raises whenever it has four times what is wanted. Most rows
// cost a comparison and nothing else.
type best struct {
	k     int
	bound float32
	found []scored
}

func newBest(k int) *best {
	return &best{k: k, bound: float32(math.Inf(-1)), found: make([]scored, 0, min(4*k, 1<<14))}
}

func (b *best) add(s scored) {
	b.found = append(b.found, s)
	if len(b.found) >= 4*b.k {
		b.cut()
	}
}

// cut leaves the k highest.
func (b *best) cut() {
	if len(b.found) > b.k {
		highest(b.found, b.k)
		b.found = b.found[:b.k]
	}
	if len(b.found) == b.k {
		b.bound = slices.MinFunc(b.found, func(x, y scored) int { return compareScores(y, x) }).score
	}
}

// compareScores puts the higher first, and of equals the older row.
func compareScores(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return int(a.row) - int(b.row)
}

// highest moves the k highest of s to its front (Hoare's selection, with the
// median of three as pivot).
func highest(s []scored, k int) {
	for lo, hi := 0, len(s); hi-lo > 1; {
		a, b, c := s[lo].score, s[lo+(hi-lo)/2].score, s[hi-1].score
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi-1
		for i <= j {
			for s[i].score > pivot {
				i++
			}
			for s[j].score < pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j + 1
		case k > i:
			lo = i
		default:
			return
		}
	}
}

// prepared is a query as the copy is asked it.
type prepared struct {
	vector []float32 // at length one where angles are compared
	signs  []uint64
	table  []float32 // |q-m|·cos(angle), by Hamming distance
	away   float32   // |q-m|
	common float32   // what an estimate leaves out: the same for all rows
	error8 float32   // standard deviation of a score from bytes, for a scale of one
}

func (c *tableCopy) prepare(q []float32) prepared {
	p := prepared{vector: q}
	if c.info.Metric == Cosine {
		p.vector = normalised(slices.Clone(q))
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
	p.signs = signs(nil, centred)
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
	record := c.file.at(int(row))
	return c.factor()*dot(p.vector, storedVector(record, c.info.Dimension)) + recordOffset(record)
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

// estimateAll estimates every row that counts and returns the k highest that
// are at least floor.
func (c *tableCopy) estimateAll(p *prepared, only bitset, k int, floor float32) []scored {
	return c.selectBy(k, func(b *best, from, to int) {
		b.bound = floor
		if c.words == 6 { // 384 dimensions, the usual: the loop unrolled
			c.estimate384(p, only, b, from, to)
		} else {
			c.estimateAny(p, only, b, from, to)
		}
	})
}

func (c *tableCopy) estimateAny(p *prepared, only bitset, b *best, from, to int) {
	for row := from; row < to; row++ {
		words := c.signs[row*c.words : (row+1)*c.words]
		distance := 0
		for i, q := range p.signs {
			distance += bits.OnesCount64(words[i] ^ q)
		}
		l := c.lines[row]
		if s := p.table[distance]*l.slope + l.level; s >= b.bound && c.keeps(only, row) {
			b.add(scored{int32(row), s})
		}
	}
}

func (c *tableCopy) estimate384(p *prepared, only bitset, b *best, from, to int) {
	q0, q1, q2, q3, q4, q5 := p.signs[0], p.signs[1], p.signs[2], p.signs[3], p.signs[4], p.signs[5]
	rest, lines, table := c.signs[from*6:to*6], c.lines[from:to], (*[385]float32)(p.table)
	for i, l := range lines {
		w := (*[6]uint64)(rest)
		rest = rest[6:]
		d := bits.OnesCount64(w[0]^q0) + bits.OnesCount64(w[1]^q1) + bits.OnesCount64(w[2]^q2) +
			bits.OnesCount64(w[3]^q3) + bits.OnesCount64(w[4]^q4) + bits.OnesCount64(w[5]^q5)
		if s := table[d]*l.slope + l.level; s >= b.bound && c.keeps(only, from+i) {
			b.add(scored{int32(from + i), s})
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

const (
	// firstScored is how many rows with the highest estimates are scored at
	// first; they give an idea of what the k-th score is.
	firstScored = 512
	// estimated is how many are kept of a scan, from which more can be taken.
	estimated = 1 << 14
	// sureness is how many standard deviations its estimate may lie below a
	// row's score without the row being missed: 1 in 100 would be.
	sureness = 2.3
)

// candidates returns rows with their scores, the highest first: the k highest
// of those that count, all but surely, and some of what follows.
//
// Estimates choose what is scored. How many are scored depends on how well
// estimates tell these vectors apart: all whose estimate is at most a few
// standard deviations below the k-th score.
func (c *tableCopy) candidates(p *prepared, only bitset, k int) []scored {
	if !c.estimates() {
		found := c.scoreAll(p, only, max(4*k, firstScored))
		slices.SortFunc(found, compareScores)
		return found
	}
	first := max(firstScored, 4*k)
	likely := c.estimateAll(p, only, max(estimated, first), float32(math.Inf(-1)))
	highest(likely, min(first, len(likely)))
	done := min(first, len(likely))
	found := c.scoreThese(p, likely[:done])
	if done == len(likely) || len(found) < k {
		return found
	}
	floor := c.floor(p, found[k-1])
	rest := likely[done:]
	if lowest := slices.MinFunc(likely, func(a, b scored) int { return compareScores(b, a) }); lowest.score > floor {
		rest = c.unscored(p, only, floor, found)
	}
	rest = slices.DeleteFunc(rest, func(s scored) bool { return s.score < floor })
	found = append(found, c.scoreThese(p, rest)...)
	slices.SortFunc(found, compareScores)
	return found
}

// unscored returns all rows above the floor that were not scored yet.
func (c *tableCopy) unscored(p *prepared, only bitset, floor float32, found []scored) []scored {
	seen := make(map[int32]bool, len(found))
	for _, s := range found {
		seen[s.row] = true
	}
	all := c.estimateAll(p, only, len(c.rows), floor)
	return slices.DeleteFunc(all, func(s scored) bool { return seen[s.row] })
}

// floor is the least estimate that a row with a score of the k-th or above is
// expected to have.
//
// Signs differ as coins that fall with the angle's share of π: the estimate's
// standard deviation is that of their number, times the cosine's slope.
// Numbers of a vector are not independent, so effective dimensions are fewer.
func (c *tableCopy) floor(p *prepared, kth scored) float32 {
	const dependence = 2 // variance of estimates over that of independent signs, of embeddings
	l := c.lines[kth.row]
	reach := float64(p.away) * float64(l.slope)
	if reach == 0 {
		return kth.score - p.common
	}
	cos := (float64(kth.score-p.common) - float64(l.level)) / reach
	angle := math.Acos(math.Max(-1, math.Min(1, cos)))
	share := angle / math.Pi
	deviation := math.Pi * math.Sin(angle) * math.Sqrt(dependence*share*(1-share)/float64(c.info.Dimension))
	return kth.score - p.common - float32(sureness*deviation*reach)
}

// scoreThese scores rows and returns them, the highest first.
func (c *tableCopy) scoreThese(p *prepared, rows []scored) []scored {
	out := make([]scored, len(rows))
	inParallel(0, len(rows), func(_, from, to int) {
		for i, s := range rows[from:to] {
			out[from+i] = scored{s.row, c.score(p, s.row)}
		}
	})
	slices.SortFunc(out, compareScores)
	return out
}
