package vectors

import (
	"math"

	"notesd/notes"
	"notesd/vectors/flat"
)

// scale turns cosines into [notes.SemanticHit.Near].
type scale struct{ zero, unit float64 }

func (s scale) of(cosine float64) float64 { return (cosine - s.zero) / s.unit }

const (
	// backgroundRows is the number of passages sampled for the cosines of unrelated
	// texts. Indexes with fewer passages are not scaled, because hits would be a
	// large part of the sample.
	backgroundRows = 256
	// leastRows is the least number of passages that are sampled for the floor of hits.
	leastRows = 32
	// sampleShare is the part of the deviation of such a sample that unrelated
	// passages cause; the rest are passages about the subject. At 1, German
	// questions over English paragraphs lose 8 % of their right answers.
	sampleShare = 0.6
	// unrelatedDeviation is the standard deviation of [notes.SemanticHit.Near] of unrelated
	// passages of MiniLM; their mean is 0.
	unrelatedDeviation = 0.095
	// nearDeviation is the standard deviation of the sample on the scale of
	// [notes.SemanticHit.Near]: about that of unrelated passages of MiniLM, whose scale is
	// measured.
	nearDeviation = 0.1
)

// scale returns the scale of the cosines of a query. The caller must lock.
func (s *space) scale(query []float32) scale {
	if c, ok := calibration(s.embedder); ok {
		return scale{c.Zero, c.Unit}
	}
	if s.entries.len() < backgroundRows {
		return scale{unit: 1}
	}
	mean, deviation := s.entries.background(query)
	if deviation < 1e-6 {
		return scale{unit: 1}
	}
	return scale{zero: mean, unit: deviation / nearDeviation}
}

// unrelated returns the distribution of [notes.SemanticHit.Near] for passages unrelated to a
// query: by the model's calibration, and in this vault. Cosines of a question and passages in
// another language are lower than in the calibration, and those of Chinese ones are higher, so
// the second has the mean of a sample of the passages. The caller must lock.
func (s *space) unrelated(query []float32) (usual, here notes.Spread) {
	c, ok := calibration(s.embedder)
	if !ok {
		usual = notes.Spread{Deviation: unrelatedDeviation}
		return usual, usual
	}
	usual = notes.Spread{Mean: (c.Mean - c.Zero) / c.Unit, Deviation: c.Deviation / c.Unit}
	if c.Mean > 0 && s.entries.len() >= leastRows {
		mean, deviation := s.entries.background(query)
		if mean < c.Mean {
			c.Deviation = sampleShare * min(c.Deviation, deviation)
		}
		c.Mean = mean
	}
	return usual, notes.Spread{Mean: (c.Mean - c.Zero) / c.Unit, Deviation: c.Deviation / c.Unit}
}

func calibration(e Embedder) (Calibration, bool) {
	if c, ok := e.(Calibrated); ok {
		return c.Calibration()
	}
	return Calibration{}, false
}

// background returns the mean and the standard deviation of the cosines of a query
// with passages that are evenly spread over the rows.
func (e *entries) background(query []float32) (mean, deviation float64) {
	q := flat.NewQuery(query)
	var sum, squares float64
	for i := range backgroundRows {
		cosine := float64(q.Dot(e.vector(e.slot[e.len()*i/backgroundRows])))
		sum += cosine
		squares += cosine * cosine
	}
	mean = sum / backgroundRows
	return mean, math.Sqrt(max(0, squares/backgroundRows-mean*mean))
}
