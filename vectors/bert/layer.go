package bert

// layer runs all tokens through one layer of the transformer, block by block. All
// queries, keys and values are computed first, because every token attends to all
// others.
func (e *Encoder) layer(l *layer) {
	for from := 0; from < e.tokens; from += block {
		e.project(l, from, min(block, e.tokens-from))
	}
	h := e.model.config.Hidden
	for from := 0; from < e.tokens; from += block {
		rows := min(block, e.tokens-from)
		hidden := e.hidden[from*h:][:rows*h]
		e.attend(from, rows)
		e.multiply(&l.output, e.context, rows)
		e.addAndNormalise(hidden, &l.output, &l.attentionNorm, rows)
		e.multiply(&l.up, hidden, rows)
		e.activate(&l.up, &l.down, rows)
		e.product(&l.down, rows)
		e.addAndNormalise(hidden, &l.down, &l.outputNorm, rows)
	}
}

// multiply quantises rows of x and multiplies them by a matrix, into sums.
func (e *Encoder) multiply(m *matrix, x []float32, rows int) {
	width := m.k * e.model.kernels.ActivationBytes
	for r := range rows {
		e.scales[r], e.zeros[r] = e.model.kernels.Quantise(e.activations[r*width:][:width], x[r*m.k:][:m.k], m.smooth)
	}
	e.product(m, rows)
}

// product multiplies the rows of activations by a matrix, into sums.
func (e *Encoder) product(m *matrix, rows int) {
	if e.Yield != nil {
		e.Yield()
	}
	e.model.kernels.MatMul8(e.sums, e.activations, m.weights, rows, m.k, m.columns)
}

// addAndNormalise adds a matrix's results, taken from sums, to rows of hidden and
// normalises them.
func (e *Encoder) addAndNormalise(hidden []float32, m *matrix, n *norm, rows int) {
	k := e.model.kernels
	for r := range rows {
		row := hidden[r*m.columns:][:m.columns]
		k.DequantiseAdd(row, e.sums[r*m.columns:][:m.columns], &m.cols, e.scales[r], e.zeros[r])
		k.Normalise(row, n.gamma, n.beta, e.model.config.Epsilon)
	}
}

// activate turns the results of one matrix into activations for the next, with
// GELU between them.
func (e *Encoder) activate(m, next *matrix, rows int) {
	k := e.model.kernels
	width := next.k * k.ActivationBytes
	row := e.row[:m.columns]
	for r := range rows {
		k.DequantiseGELU(row, e.sums[r*m.columns:][:m.columns], &m.cols, e.scales[r], e.zeros[r])
		e.scales[r], e.zeros[r] = k.Quantise(e.activations[r*width:][:width], row, next.smooth)
	}
}
