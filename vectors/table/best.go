package table

import (
	"math"
	"slices"
)

// scored is the position of a row with its score or an estimate of it.
type scored struct {
	row   int32
	score float32
}

// best selects the k highest scores of a stream. It collects scores at or above a
// bound. Whenever it has 4k of them, it reduces them to the k highest and raises
// the bound to the lowest of those, so most rows cost one comparison.
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

// compareScores orders by descending score and then by row, the oldest first.
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

func sorted(s []scored) []scored {
	slices.SortFunc(s, compareScores)
	return s
}

func least(s []scored) float32 {
	lowest := s[0].score
	for _, x := range s {
		lowest = min(lowest, x.score)
	}
	return lowest
}
