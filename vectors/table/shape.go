package table

import (
	"math"
	"runtime"
	"sync"

	"notesd/vectors/flat"
)

// shape is the data of a copy that a scan reads: for each row v the signs of v-m,
// where m is the mean of all rows, and the coefficients that turn the Hamming
// distance from the signs of a query into an estimate of the score.
//
// The inner product is q·v = (q-m)·(v-m) + m·v + m·q - m·m, and the share of signs
// in which q-m and v-m differ estimates the angle between them. Subtracting the mean
// makes the signs informative for all-positive vectors, too, such as histograms.
type shape struct {
	words    int
	mean     []float32
	surveyed int // number of rows when the mean was computed
	signs    []uint64
	lines    []line
	weights  []float32 // coefficients of the second estimate; see refined
}

// line holds the coefficients of the first estimate, slope·|q-m|·cos(angle) + level.
// The part of the score that is the same for all rows of a query is left out.
type line struct{ slope, level float32 }

const (
	// minSurvey is the least number of added rows after which the mean is computed
	// again. Small tables have no estimates, so they need no mean.
	minSurvey = 4096
	// surveySample is the number of rows sampled for the mean.
	surveySample = 1 << 16
	// estimateFrom is the least size of a table, in numbers, for which estimates
	// are used. A smaller table is scored in full within a few milliseconds.
	estimateFrom = 4 << 20
	// estimateDimension is the least dimension for which signs are informative.
	estimateDimension = 64
)

// estimates reports whether searches use estimates.
func (c *tableCopy) estimates() bool {
	return c.info.Dimension >= estimateDimension && len(c.rows)*c.info.Dimension >= estimateFrom
}

// survey computes the mean and derives the shape of all rows.
func (c *tableCopy) survey() {
	dim := c.info.Dimension
	c.surveyed = len(c.rows)
	step := max(1, len(c.rows)/surveySample)
	sum, n := make([]float64, dim), 0
	for i := 0; i < len(c.rows); i += step {
		v := flat.VectorOf(c.file.At(i), dim)
		for j, x := range v.Values {
			sum[j] += float64(v.Scale) * float64(x)
		}
		n++
	}
	c.mean = make([]float32, dim)
	for j := range sum {
		c.mean[j] = float32(sum[j] / math.Max(1, float64(n)))
	}
	c.words = flat.SignWords(dim)
	c.signs, c.lines, c.weights = nil, nil, nil
	c.extend(0)
}

// extend derives the shape of the rows from position from on.
func (c *tableCopy) extend(from int) {
	if c.estimates() {
		from = min(from, len(c.lines)) // all rows if the table has just become large enough
		c.signs = grown(c.signs, len(c.rows)*c.words)
		c.lines = grown(c.lines, len(c.rows))
		c.weights = grown(c.weights, len(c.rows))
		inParallel(from, len(c.rows), func(_, from, to int) {
			for i := from; i < to; i++ {
				c.derive(i)
			}
		})
	}
	c.memory.Store(int64(8*cap(c.signs) + 8*cap(c.lines) + 4*cap(c.weights) + 8*cap(c.rows) + 8*cap(c.gone)))
}

// derive computes the signs and the line of a row.
func (c *tableCopy) derive(i int) {
	record := c.file.At(i)
	v := flat.VectorOf(record, c.info.Dimension)
	signs := c.signs[i*c.words : (i+1)*c.words]
	var along, length, sum float64 // m·v, |v-m|², and the sum of the absolute values of v-m
	for w := range signs {
		start := w * 64
		mean := c.mean[start:min(start+64, len(c.mean))]
		values := v.Values[start : start+len(mean)]
		var word uint64
		var a, l, s float32
		for j, x := range values {
			value := float32(x) * v.Scale
			d := value - mean[j]
			word |= uint64(math.Float32bits(-d)>>31) << j
			a += value * mean[j]
			l += d * d
			s += math.Float32frombits(math.Float32bits(d) &^ (1 << 31))
		}
		signs[w] = word
		along += float64(a)
		length += float64(l)
		sum += float64(s)
	}
	f := c.factor()
	c.lines[i] = line{slope: f * float32(math.Sqrt(length)), level: f*float32(along) + recordOffset(record)}
	c.weights[i] = 0
	if sum > 0 {
		c.weights[i] = f * float32(length/sum)
	}
}

// grown returns s with length n. Its new elements are unspecified.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	bigger := make([]T, n, n+n/8)
	copy(bigger, s)
	return bigger
}

// parallelRows is the number of rows per goroutine from which another one pays
// off.
const parallelRows = 256

// inParallel distributes a range over the processors and returns how many it used.
func inParallel(from, to int, do func(worker, from, to int)) (workers int) {
	workers = max(1, min(runtime.GOMAXPROCS(0), (to-from)/parallelRows))
	var wait sync.WaitGroup
	for w := range workers - 1 {
		wait.Go(func() { do(w, from+(to-from)*w/workers, from+(to-from)*(w+1)/workers) })
	}
	do(workers-1, from+(to-from)*(workers-1)/workers, to)
	wait.Wait()
	return workers
}

// squares returns |v|².
func squares[T float32 | float64](v []T) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}
