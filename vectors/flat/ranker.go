package flat

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Ranker finds the rows with the highest scores. The score of a row v for a query q is
// Factor·(q·v) plus the offset of the row.
//
// It keeps in memory, for each row v of a large table, the signs of v-m, where m is the
// mean of all rows, and coefficients that turn the signs into an estimate of the score.
// The inner product is q·v = (q-m)·(v-m) + m·v + m·q - m·m, and the signs represent the
// direction of v-m. Subtracting the mean makes the signs informative for vectors that lie
// in one direction, such as histograms and the embeddings of some models.
//
// Changes need exclusive access; searches may run concurrently.
type Ranker struct {
	Dim    int
	Factor float32
	// Row returns the vector and the offset of a row.
	Row func(row int) (v Vector, offset float32)

	n        int // number of rows
	words    int
	mean     []float32
	surveyed int // number of rows when the mean was computed
	signs    []uint64
	lines    []line
}

// line holds the coefficients of a row's estimate: weight times the inner product of q-m
// and the signs, plus level. The part of the score that is the same for all rows of a
// query is omitted.
type line struct{ weight, level float32 }

const (
	// minSurvey is the minimum number of added rows after which the mean is computed
	// again. Small tables have no estimates, so they need no mean.
	minSurvey = 4096
	// surveySample is the number of rows sampled for the mean.
	surveySample = 1 << 16
	// estimateFrom is the minimum size of a table, in numbers, for which estimates are
	// used. A smaller table is scored in full within a few milliseconds.
	estimateFrom = 4 << 20
	// estimateDimension is the minimum dimension for which signs are informative.
	estimateDimension = 64
)

// Estimates reports whether searches use estimates.
func (r *Ranker) Estimates() bool {
	return r.Dim >= estimateDimension && r.n*r.Dim >= estimateFrom
}

// Memory returns the size of the data in memory in bytes.
func (r *Ranker) Memory() int64 { return int64(8*cap(r.signs) + 8*cap(r.lines)) }

// Grow sets the number of rows to n. Row must already return the new ones.
func (r *Ranker) Grow(n int) {
	from := r.n
	r.n = n
	if r.mean == nil || n > 2*r.surveyed+minSurvey { // the mean may have moved
		r.survey()
		from = 0
	}
	r.extend(from)
}

// Replace replaces a row by the last one and removes the last one. Row must already
// return the moved row.
func (r *Ranker) Replace(row int) {
	r.n--
	if last := r.n; row < len(r.lines) && row != last {
		if last < len(r.lines) {
			copy(r.signs[row*r.words:(row+1)*r.words], r.signs[last*r.words:])
			r.lines[row] = r.lines[last]
		} else {
			r.derive(row)
		}
	}
	if r.n < len(r.lines) {
		r.signs, r.lines = r.signs[:r.n*r.words], r.lines[:r.n]
	}
}

// survey computes the mean.
func (r *Ranker) survey() {
	r.surveyed = r.n
	step := max(1, r.n/surveySample)
	sum, n := make([]float64, r.Dim), 0
	for i := 0; i < r.n; i += step {
		v, _ := r.Row(i)
		for j, x := range v.Values {
			sum[j] += float64(v.Scale) * float64(x)
		}
		n++
	}
	r.mean = make([]float32, r.Dim)
	for j := range sum {
		r.mean[j] = float32(sum[j] / math.Max(1, float64(n)))
	}
	r.words = SignWords(r.Dim)
	r.signs, r.lines = r.signs[:0], r.lines[:0]
}

// extend derives the data of the rows starting at from.
func (r *Ranker) extend(from int) {
	if !r.Estimates() {
		return
	}
	from = min(from, len(r.lines)) // all rows if the table has just become large enough
	r.signs = slices.Grow(r.signs, r.n*r.words-len(r.signs))[:r.n*r.words]
	r.lines = slices.Grow(r.lines, r.n-len(r.lines))[:r.n]
	inParallel(from, r.n, func(_, from, to int) {
		for i := from; i < to; i++ {
			r.derive(i)
		}
	})
}

// derive computes the signs and the coefficients of a row.
func (r *Ranker) derive(i int) {
	v, offset := r.Row(i)
	signs := r.signs[i*r.words : (i+1)*r.words]
	var along, length, sum float64 // m·v, |v-m|², and the sum of the absolute values of v-m
	for w := range signs {
		start := w * 64
		mean := r.mean[start:min(start+64, len(r.mean))]
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
	r.lines[i] = line{level: r.Factor*float32(along) + offset}
	if sum > 0 {
		r.lines[i].weight = r.Factor * float32(length/sum)
	}
}

// parallelRows is the number of rows per goroutine above which another goroutine pays
// off.
const parallelRows = 256

// inParallel distributes a range over the CPUs and returns how many it used. It panics with
// ErrUnreadable if a part cannot read a record.
func inParallel(from, to int, do func(worker, from, to int)) (workers int) {
	workers = max(1, min(runtime.GOMAXPROCS(0), runtime.NumCPU(), (to-from)/parallelRows)) // embedding raises GOMAXPROCS
	if workers == 1 {
		do(0, from, to)
		return workers
	}
	errs := make([]error, workers)
	var wait sync.WaitGroup
	// wait.Wait runs the last goroutine on this thread at once. If this goroutine
	// processed its part inline, the scheduler would take some 60 µs to start the last
	// one elsewhere.
	for w := range workers {
		wait.Go(func() {
			errs[w] = Guard(func() { do(w, from+(to-from)*w/workers, from+(to-from)*(w+1)/workers) })
		})
	}
	wait.Wait()
	if err := cmp.Or(errs...); err != nil {
		panic(err) // on the caller's goroutine
	}
	return workers
}

// Squares returns |v|².
func Squares[T float32 | float64](v []T) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum
}
