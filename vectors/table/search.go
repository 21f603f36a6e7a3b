package table

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"notesd/vectors/flat"
)

// Query asks for the rows of a table that are nearest to a vector or to a text.
// Either Vector or Text must be set. Text is embedded by the model of the table; see
// [Info].
type Query struct {
	Table  string
	Vector []float32
	Text   string
	Limit  int            // up to MaxTableHits; 0: 10
	Where  map[string]any // conditions on metadata, with the syntax of those on front matter
}

// Hit is a row with its score; see [Metric]. Metadata is a JSON object.
type Hit struct {
	ID       string          `json:"id"`
	Score    float64         `json:"score"`
	Metadata json.RawMessage `json:"metadata"`
}

const opSearch = "search table"

// Search returns the nearest rows that match the conditions, the nearest first.
func (t *Tables) Search(ctx context.Context, q Query) ([]Hit, error) {
	info, err := t.find(ctx, opSearch, q.Table)
	if err != nil {
		return nil, err
	}
	filter, err := newTableFilter(q.Where, t.opt.Now())
	if err != nil {
		return nil, err
	}
	vector, err := t.queryVector(ctx, info, q)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit = min(q.Limit, MaxTableHits)
	replaced := t.replaced(info.id)
	before := replaced.Load()
	hits, err := t.hits(ctx, info, vector, filter, q.Limit)
	if err == nil && (before%2 == 1 || replaced.Load() != before) { // hits may lack the rows that were replaced
		t.write.Lock()
		defer t.write.Unlock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hits, err = t.hits(ctx, info, vector, filter, q.Limit)
	}
	return hits, err
}

// hits returns the nearest rows that match the filter, except those that are replaced meanwhile.
func (t *Tables) hits(ctx context.Context, info tableRow, vector []float32, f *tableFilter, k int) ([]Hit, error) {
	rows, err := t.nearest(ctx, info, vector, f, k)
	if err != nil {
		return nil, err
	}
	return t.exact(ctx, info.Metric, vector, rows, k)
}

func (t *Tables) queryVector(ctx context.Context, row tableRow, q Query) ([]float32, error) {
	info := row.Info
	switch {
	case len(q.Vector) > 0 && q.Text != "":
		return nil, invalid(opSearch, info.Name, "Pass one of the two.", "both a query vector and a query text are given")
	case len(q.Vector) > 0:
		return q.Vector, checkVector(opSearch, info, "the query vector", q.Vector)
	case q.Text == "":
		return nil, invalid(opSearch, info.Name, "Pass query_vector, or query_text where the dimension is that of the built-in model.", "there is no query")
	}
	m, err := t.modelFor(opSearch, row)
	if err != nil {
		return nil, err
	}
	return m.embed(ctx, opSearch, info, q.Text)
}

// ranking holds row numbers with their approximate scores, highest first. After the rows that
// rank promises, rows may be missing.
type ranking struct {
	rows   []int64
	scores []float32
	margin float32 // the scores of two rows may be in the wrong order if they differ by less
	whole  bool    // the ranking holds all rows
}

// nearest returns the rows that may be among the k nearest, for exact scoring.
func (t *Tables) nearest(ctx context.Context, info tableRow, q []float32, f *tableFilter, k int) ([]int64, error) {
	for {
		c, err := t.copies.of(info)
		if err != nil {
			return nil, err
		}
		var rows []int64
		var ok bool
		if err = c.load(ctx, t.rows); err == nil {
			t.copies.trim(c)
			if fault := flat.Guard(func() { rows, ok, err = t.searchCopy(ctx, c, q, f, k) }); fault != nil {
				err = fault
			}
		}
		if errors.Is(err, flat.ErrUnreadable) {
			t.opt.Log.Warn("a vector table's cache cannot be read and is written again", "table", info.id, "err", err)
			ok, err = false, c.dropDamaged()
		}
		if ok || err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil { // otherwise the copy was unloaded, so try again
			return nil, err
		}
	}
}

// filterDepth is the number of nearest rows whose metadata is compared with a
// filter before the metadata of all rows is read, which takes several seconds per million rows.
// Ranking more rows takes longer: with k = 2048, four times as long as with 1024.
const filterDepth = 1024

// searchCopy returns the rows that may be among the k nearest. ok is false if the
// copy was unloaded since it was loaded.
func (t *Tables) searchCopy(ctx context.Context, c *tableCopy, q []float32, f *tableFilter, k int) ([]int64, bool, error) {
	if f == nil {
		r, ok := c.rank(q, nil, k, true)
		return r.near(k, len(q)), ok, nil
	}
	passing, known := c.known(f)
	if !known {
		r, ok := c.rank(q, nil, filterDepth, false)
		if !ok {
			return nil, false, nil
		}
		rows, enough, err := t.filtered(ctx, r, f, k)
		if enough || err != nil {
			return rows, true, err
		}
		if passing, err = t.passing(ctx, c, f); err != nil {
			return nil, false, err
		}
	}
	r, ok := c.rank(q, passing, k, true)
	return r.near(k, len(q)), ok, nil
}

// rank returns the k nearest of some rows (nil: all), and some more; with sure, also all whose
// scores may be as high, up to mostExact. ok is false if the copy is not loaded.
func (c *tableCopy) rank(q []float32, only []int64, k int, sure bool) (r ranking, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.file == nil {
		return r, false
	}
	if c.info.Metric == Cosine {
		q = flat.Normalised(slices.Clone(q))
	}
	p, keeps := c.ranker.Prepare(q), c.keeps(only)
	for asked := 0; ; {
		found, scale := c.ranker.Candidates(p, keeps, k, asked), float32(0)
		for _, s := range found {
			scale = max(scale, flat.VectorOf(c.file.At(int(s.Row)), c.info.Dimension).Scale)
		}
		const deviations = 6
		r.margin = deviations * p.Error * scale
		if n := len(found); !sure || n < max(k, asked) || n >= k+mostExact(c.info.Dimension) || found[n-1].Score < found[k-1].Score-r.margin {
			for _, s := range found {
				r.rows = append(r.rows, c.rows[s.Row])
				r.scores = append(r.scores, s.Score)
			}
			r.whole = n == len(c.rows)-c.dead
			return r, true
		}
		asked = 4 * len(found)
	}
}

// mostExact bounds the rows beyond those asked for that are scored exactly, because the vector of
// each is read from the database. Vectors of few numbers are small, and often so close to each
// other, such as places on a map, that their approximate scores are all alike.
func mostExact(dimension int) int { return max(1000, min(1<<16, 1<<22/dimension)) }

// near returns the k highest rows, and further rows whose exact scores may be as high.
func (r ranking) near(k, dimension int) []int64 {
	n := min(k, len(r.rows))
	for n > 0 && n < min(len(r.rows), k+mostExact(dimension)) && r.scores[n] >= r.scores[k-1]-r.margin {
		n++
	}
	return r.rows[:n]
}

// exact scores rows with their vectors in the database and returns the k nearest, the nearest
// first. It omits rows that have been deleted since they were ranked.
func (t *Tables) exact(ctx context.Context, metric Metric, q []float32, rows []int64, k int) ([]Hit, error) {
	type scored struct {
		Hit
		row int64
	}
	nearest := make([]scored, 0, len(rows))
	length := math.Sqrt(flat.Squares(q))
	if err := t.rows.vectorsOf(ctx, rows, func(row int64, id string, vector []float32) {
		nearest = append(nearest, scored{Hit{ID: id, Score: exactScore(metric, q, length, vector)}, row})
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(nearest, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	nearest = nearest[:min(k, len(nearest))]
	rows = nil
	for _, s := range nearest {
		rows = append(rows, s.row)
	}
	metadata := map[int64]string{}
	err := t.rows.metadataOf(ctx, rows, func(row int64, text string) error {
		metadata[row] = text
		return nil
	})
	hits := make([]Hit, 0, len(nearest))
	for _, s := range nearest {
		if text, ok := metadata[s.row]; ok {
			s.Metadata = json.RawMessage(text)
			hits = append(hits, s.Hit)
		}
	}
	return hits, err
}

// exactScore computes a score in double precision. length is |q|.
func exactScore(metric Metric, q []float32, length float64, v []float32) float64 {
	var dot, apart, square float64
	for i, x := range v {
		a, b := float64(q[i]), float64(x)
		dot += a * b
		apart += (a - b) * (a - b)
		square += b * b
	}
	switch metric {
	case L2:
		return 0 - math.Sqrt(apart) // 0 and not -0 for equal vectors
	case Dot:
		return dot
	}
	return math.Max(-1, math.Min(1, dot/(length*math.Sqrt(square))))
}

func packFloats(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func unpackFloats(data []byte) []float32 {
	v := make([]float32, len(data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return v
}
