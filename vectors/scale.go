package vectors

import (
	"math"

	"notesd/vectors/flat"
)

// scale turns cosines into [Hit.Near].
type scale struct{ zero, unit float64 }

func (s scale) of(cosine float64) float64 { return (cosine - s.zero) / s.unit }

const (
	// backgroundRows is the number of passages sampled for the cosines of unrelated
	// texts. Indexes with fewer passages are not scaled, because hits would be a
	// large part of the sample.
	backgroundRows = 256
	// nearDeviation is the standard deviation of the sample on the scale of
	// [Hit.Near]. It is the best value from .05 to .2 on the judged sets.
	nearDeviation = 0.1
)

// scale returns the scale of the cosines of a query. The caller must lock.
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

// background returns the mean and the standard deviation of the cosines of a query
// with passages that are evenly spread over the rows.
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
