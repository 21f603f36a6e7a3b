package flat

import (
	"math"
	"slices"
)

// Scored is a row with its score or an estimate of it.
type Scored struct {
	Row   int32
	Score float32
}

// best selects the k highest scores of a stream. It collects scores at or above a bound.
// Each time it has 4k of them, it reduces them to the k highest and raises the bound to
// the lowest of those, so most rows cost one comparison.
type best struct {
	k     int
	bound float32
	found []Scored
}

func newBest(k int) *best {
	return &best{k: k, bound: float32(math.Inf(-1)), found: make([]Scored, 0, min(4*k, 1<<14))}
}

func (b *best) add(s Scored) {
	b.found = append(b.found, s)
	if len(b.found) >= 4*b.k {
		b.cut()
	}
}

// cut reduces found to the k highest scores and raises the bound.
func (b *best) cut() {
	if len(b.found) > b.k {
		highest(b.found, b.k)
		b.found = b.found[:b.k]
	}
	if len(b.found) == b.k {
		b.bound = least(b.found)
	}
}

// compareScores orders by descending score, then by ascending row.
func compareScores(a, b Scored) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return int(a.Row) - int(b.Row)
}

// highest moves the k highest of s to its front (Hoare's selection, with the
// median of three as pivot).
func highest(s []Scored, k int) {
	for lo, hi := 0, len(s); hi-lo > 1; {
		a, b, c := s[lo].Score, s[lo+(hi-lo)/2].Score, s[hi-1].Score
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi-1
		for i <= j {
			for s[i].Score > pivot {
				i++
			}
			for s[j].Score < pivot {
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

// sorted sorts by integer keys of the same order, which takes a third of the time.
func sorted(s []Scored) []Scored {
	keys := make([]uint64, len(s))
	for i, x := range s {
		bits := math.Float32bits(x.Score)
		if bits>>31 == 0 {
			bits = ^bits &^ (1 << 31)
		}
		keys[i] = uint64(bits)<<32 | uint64(x.Row)
	}
	slices.Sort(keys)
	for i, k := range keys {
		bits := uint32(k >> 32)
		if bits>>31 == 0 {
			bits = ^bits &^ (1 << 31)
		}
		s[i] = Scored{int32(uint32(k)), math.Float32frombits(bits)}
	}
	return s
}

func least(s []Scored) float32 {
	lowest := s[0].Score
	for _, x := range s {
		lowest = min(lowest, x.Score)
	}
	return lowest
}
