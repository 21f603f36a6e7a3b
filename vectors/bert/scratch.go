package bert

import "notesd/vectors/bert/kernel"

// reserve grows the buffers for the tokens in ids and fills in the parts that
// depend only on their number.
func (e *Encoder) reserve() {
	c := &e.model.config
	h := c.Hidden
	e.tokens = len(e.ids)
	e.padded = (e.tokens + kernel.Lanes - 1) / kernel.Lanes * kernel.Lanes
	e.keyStride = e.padded + keyPadding
	rows := min(block, e.tokens)

	grow(&e.hidden, e.tokens*h)
	grow(&e.queries, e.tokens*h)
	grow(&e.keys, h/2*e.keyStride)
	grow(&e.values, e.padded/2*h)
	for _, s := range []*[]float32{&e.queryScales, &e.keyScales, &e.valueScales, &e.mask} {
		grow(s, e.padded)
	}
	wide := max(3*h, c.Intermediate)
	grow(&e.activations, rows*wide*e.model.kernels.ActivationBytes)
	grow(&e.scales, rows)
	grow(&e.zeros, rows)
	grow(&e.sums, rows*wide)
	grow(&e.context, rows*h)
	grow(&e.row, wide)
	grow(&e.rows16, rows*h)
	grow(&e.scores, rows*e.padded)
	grow(&e.weights, rows*e.padded)

	// Keys and values in the padding may be left over from another text: the mask
	// removes the former's scores, and a scale of 0 the latter.
	for i := range e.padded {
		e.mask[i] = 0
		if i >= e.tokens {
			e.mask[i], e.keyScales[i], e.valueScales[i] = masked, 0, 0
		}
	}
}

// grow sets the length of a scratch array. Its contents are lost if it has to be
// reallocated.
func grow[T any](s *[]T, n int) {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
}
