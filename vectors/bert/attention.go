package bert

import "math"

const (
	// valueLimit is the largest quantised value: 15 bits. The probabilities of a
	// row add up to at most 32767 and half a unit per token, so sums stay under
	// 2³¹.
	valueLimit = 32767
	// leastMaximum is a lower bound for a row's largest value, so that a row of
	// zeros has a scale.
	leastMaximum = 1e-6
	// masked is added to the scores of padding. It is finite so that subtracting it
	// never gives NaN.
	masked = -1e30
	// keyPadding keeps the stride of transposed keys from being a power of two,
	// which would map all rows to the same few cache lines.
	keyPadding = 16
)

// queryLimit returns the largest quantised query or key for which the products,
// summed over a head, fit an int32: 13 bits for heads of 32.
func queryLimit(head int) float32 {
	return float32(math.Floor(math.Sqrt(math.MaxInt32 / float64(head))))
}

// project computes queries, keys and values of a block of tokens and stores them
// quantised, in the layout that attend reads.
func (e *Encoder) project(l *layer, from, rows int) {
	m := &l.queryKeyValue
	h := m.k
	k := e.model.kernels
	limit := queryLimit(h / e.model.config.Heads)
	e.multiply(m, e.hidden[from*h:], rows)
	row := e.row[:m.columns]
	for r := range rows {
		k.Dequantise(row, e.sums[r*m.columns:][:m.columns], &m.cols, e.scales[r], e.zeros[r])
		t := from + r
		query, key, value := row[:h], row[h:2*h], row[2*h:]

		largest := max(k.MaxAbs(query), leastMaximum)
		e.queryScales[t] = largest / limit
		k.Round16(e.queries[t*h:][:h], query, limit/largest)

		row16 := e.rows16[r*h:][:h]
		largest = max(k.MaxAbs(value), leastMaximum)
		e.valueScales[t] = largest / valueLimit
		k.Round16(row16, value, valueLimit/largest)
		interleave(e.values[t/2*h:][:h], row16, t%2 == 1)

		largest = max(k.MaxAbs(key), leastMaximum)
		e.keyScales[t] = largest / limit
		k.Round16(row16, key, limit/largest)
	}
	e.transposeKeys(from, rows)
}

// interleave writes values to the low (odd false) or high halves of pairs.
func interleave(pairs []uint32, values []int16, odd bool) {
	pairs = pairs[:len(values)]
	for i, v := range values {
		if odd {
			pairs[i] |= uint32(uint16(v)) << 16
		} else {
			pairs[i] = uint32(uint16(v))
		}
	}
}

// transposeKeys stores rows16 as columns of keys, starting at token from.
func (e *Encoder) transposeKeys(from, rows int) {
	h := e.model.config.Hidden
	for i := 0; i+1 < h; i += 2 {
		at, column := i, e.keys[i/2*e.keyStride+from:][:rows]
		for r := range column {
			pair := e.rows16[at : at+2 : at+2]
			column[r] = uint32(uint16(pair[0])) | uint32(uint16(pair[1]))<<16
			at += h
		}
	}
}

// attend computes the attention of a block of tokens to all tokens, into context.
func (e *Encoder) attend(from, rows int) {
	k := e.model.kernels
	h := e.model.config.Hidden
	width := h / e.model.config.Heads
	// Scores are divided by √width; multiplying by log₂e makes them exponents of
	// two.
	factor := float32(math.Log2E / math.Sqrt(float64(width)))
	for head := range e.model.config.Heads {
		at := head * width
		keys := e.keys[at/2*e.keyStride:]
		k.MatMul16(e.scores, e.padded, e.queries[from*h+at:], h, keys, e.keyStride, rows, width/2, e.padded)
		// Scoring the next row here lets the CPU overlap it with this row's
		// softmax.
		largest := k.Score(e.scores[:e.padded], e.keyScales, e.mask)
		for r := range rows {
			this, row := largest, e.scores[r*e.padded:]
			if r+1 < rows {
				largest = k.Score(row[e.padded:][:e.padded], e.keyScales, e.mask)
			}
			e.scales[r] = k.Softmax(e.weights[r*e.padded:][:e.padded], row[:e.padded], e.valueScales, this, e.queryScales[from+r]*factor)
		}
		k.MatMul16(e.sums, width, e.weights, e.padded, e.values[at:], h, rows, e.padded/2, width)
		for r := range rows {
			k.Dequantise(e.context[r*h+at:][:width], e.sums[r*width:][:width], &e.model.head, e.scales[r], 0)
		}
	}
}
