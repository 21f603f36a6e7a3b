package vectors

import (
	"math"

	"notesd/vectors/flat"
)

// scale turns cosines into [Hit.Near].
type scale struct{ zero, unit float64 }

func (s scale) of(cosine float64) float64 { return (cosine - s.zero) / s.unit }

const (
	// backgroundRows is how many passages are compared with a query to see what
	// cosines mean nothing, and how many there must be: the hits are among them.
	backgroundRows = 256
	// nearDeviation is a standard deviation of the background on the scale of
	// [Hit.Near]; the best of .05 to .2 on the judged sets.
	nearDeviation = 0.1
)

// scale returns what the cosines of a query mean. The caller locks.
func (s *space) scale(query []float32, vector func(slot uint32) flat.Vector) scale {
	if c, ok := s.embedder.(Calibrated); ok && c.Calibrated() || s.entries.len() < backgroundRows {
		return scale{unit: 1}
	}
	mean, deviation := s.entries.background(query, vector)
	if deviation < 1e-6 {
		return scale{unit: 1}
	}
	return scale{zero: mean, unit: deviation / nearDeviation}
}

// background returns the mean and the deviation of the cosines of some
// passages, all over the table.
func (e *entries) background(query []float32, vector func(slot uint32) flat.Vector) (mean, deviation float64) {
	q := flat.NewQuery(query)
	var sum, squares float64
	for i := range backgroundRows {
		cosine := float64(q.Dot(vector(e.slot[e.len()*i/backgroundRows])))
		sum += cosine
		squares += cosine * cosine
	}
	mean = sum / backgroundRows
	return mean, math.Sqrt(max(0, squares/backgroundRows-mean*mean))
}
