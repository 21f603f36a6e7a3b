package flat

import "slices"

// Scored is a row with its score or an estimate of it.
type Scored struct {
	Row   int32
	Score float32
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

func sorted(s []Scored) []Scored {
	slices.SortFunc(s, compareScores)
	return s
}

func least(s []Scored) float32 {
	lowest := s[0].Score
	for _, x := range s {
		lowest = min(lowest, x.Score)
	}
	return lowest
}
