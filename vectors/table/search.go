package table

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"notesd/notes"
	"notesd/vectors/flat"
)

// TableQuery asks for the rows of a table that are nearest to a vector, or to
// a text, which is embedded if the dimensions are the same.
type Query struct {
	Table  string
	Vector []float32
	Text   string
	Limit  int            // up to MaxTableHits; 0: ten
	Where  map[string]any // conditions on metadata, as on front matter
}

// TableHit is a row and how near it is: see [Metric]. Metadata is a JSON
// object.
type Hit struct {
	ID       string
	Score    float64
	Metadata json.RawMessage
}

const opSearch = "search table"

// Search returns the nearest rows that meet the conditions, the nearest first.
func (t *Tables) Search(ctx context.Context, q Query) ([]Hit, error) {
	info, err := t.find(ctx, opSearch, q.Table)
	if err != nil {
		return nil, err
	}
	filter, err := newTableFilter(q.Where)
	if err != nil {
		return nil, err
	}
	vector, err := t.queryVector(ctx, info.Info, q)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit = min(q.Limit, MaxTableHits)
	rows, err := t.nearest(ctx, info, vector, filter, q.Limit)
	if err != nil {
		return nil, err
	}
	hits, err := t.exact(ctx, info.Metric, vector, rows)
	if err != nil {
		return nil, err
	}
	return hits[:min(q.Limit, len(hits))], nil
}

func (t *Tables) queryVector(ctx context.Context, info Info, q Query) ([]float32, error) {
	switch {
	case len(q.Vector) > 0 && q.Text != "":
		return nil, invalid(opSearch, info.Name, "Pass one of the two.", "there are both a query vector and a query text")
	case len(q.Vector) > 0:
		return q.Vector, checkVector(opSearch, info, "the query vector", q.Vector)
	case q.Text == "":
		return nil, invalid(opSearch, info.Name, "Pass query_vector, or query_text where the dimension is that of the built-in model.", "there is no query")
	}
	return t.embed(ctx, opSearch, info, q.Text)
}

// embed returns the vector of a text as the table takes it.
func (t *Tables) embed(ctx context.Context, op string, info Info, text string) ([]float32, error) {
	if t.embedder == nil {
		return nil, invalid(op, info.Name, "Pass a vector.", "text cannot be embedded, because semantic search is off")
	}
	if dim := t.embedder.Dim(); dim != 0 && dim != info.Dimension {
		return nil, misfit(op, info, dim)
	}
	v, err := t.embedder.EmbedQuery(ctx, text)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &notes.Error{Op: op, Path: info.Name, Err: notes.ErrUnavailable, Detail: "the text cannot be embedded: " + err.Error(),
			Hint: "Pass a vector, or try again later."}
	case len(v) != info.Dimension: // it was not known before
		return nil, misfit(op, info, len(v))
	}
	return v, nil
}

// misfit is a text whose vectors do not fit the table.
func misfit(op string, info Info, dim int) error {
	return invalid(op, info.Name, fmt.Sprintf("Pass a vector, or use a table of dimension %d.", dim),
		"text gives vectors of %d numbers, and the table takes %d", dim, info.Dimension)
}

// ranking is rows by number with the scores of the scan, the highest first.
type ranking struct {
	rows   []int64
	scores []float32
	margin float32 // what a score may be off by, twice
	whole  bool    // no row was left out
}

// nearest returns the rows that may be among the k nearest, for exact scoring.
func (t *Tables) nearest(ctx context.Context, info tableRow, q []float32, f *tableFilter, k int) ([]int64, error) {
	for {
		c, err := t.copyOf(info)
		if err != nil {
			return nil, err
		}
		if err := c.load(ctx, t); err != nil {
			return nil, err
		}
		t.makeRoom(c)
		rows, ok, err := t.ask(ctx, c, q, f, k)
		if ok || err != nil {
			return rows, err
		}
		if err := ctx.Err(); err != nil { // the copy was unloaded under our hands: again
			return nil, err
		}
	}
}

// filterDepth is how many of the nearest rows are tried against a filter one
// by one before the metadata of all rows is read.
const filterDepth = 512

// ask returns ok false when the copy is no longer what was loaded.
func (t *Tables) ask(ctx context.Context, c *tableCopy, q []float32, f *tableFilter, k int) ([]int64, bool, error) {
	if f == nil {
		r, ok := c.rank(q, nil, -1, k)
		return r.near(k), ok, nil
	}
	r, ok := c.rank(q, nil, -1, filterDepth)
	if !ok {
		return nil, false, nil
	}
	rows, enough, err := t.filtered(ctx, r, f, k)
	if enough || err != nil {
		return rows, true, err
	}
	set, generation, err := t.passing(ctx, c, f)
	if err != nil {
		return nil, false, err
	}
	r, ok = c.rank(q, set, generation, k)
	return r.near(k), ok, nil
}

// rank returns the nearest k rows of a set (nil: of all), all but surely, and
// some that follow. ok is false when the copy is not loaded, or not of the
// generation (unless that is negative).
func (c *tableCopy) rank(q []float32, only bitset, generation, k int) (r ranking, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.file == nil || generation >= 0 && generation != c.generation {
		return r, false
	}
	p := c.prepare(q)
	found := c.candidates(&p, only, k)
	scale := float32(0)
	for _, s := range found {
		r.rows = append(r.rows, c.rows[s.row])
		r.scores = append(r.scores, s.score)
		scale = max(scale, flat.VectorOf(c.file.At(int(s.row)), c.info.Dimension).Scale)
	}
	const deviations = 6
	r.margin = deviations * p.error8 * scale
	r.whole = len(found) == len(c.rows)-c.dead
	return r, true
}

// near returns the k highest and what may in truth be as high.
func (r ranking) near(k int) []int64 {
	const most = 1000 // vectors are read for each
	n := min(k, len(r.rows))
	for n > 0 && n < min(len(r.rows), k+most) && r.scores[n] >= r.scores[k-1]-r.margin {
		n++
	}
	return r.rows[:n]
}

// exact scores rows by their vectors and returns them, the nearest first.
func (t *Tables) exact(ctx context.Context, metric Metric, q []float32, rows []int64) ([]Hit, error) {
	hits := make([]Hit, 0, len(rows))
	list, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	found, err := t.db.Reader().QueryContext(ctx, `SELECT r.id, r.metadata, v.vector FROM json_each(?) j
		CROSS JOIN vector_rows r ON r.row = j.value CROSS JOIN vector_values v ON v.row = j.value`, string(list))
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err below tells
	length := math.Sqrt(squares(q))
	for found.Next() {
		var hit Hit
		var metadata string
		var vector []byte
		if err := found.Scan(&hit.ID, &metadata, &vector); err != nil {
			return nil, err
		}
		hit.Metadata = json.RawMessage(metadata)
		hit.Score = exactScore(metric, q, length, unpackFloats(vector))
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits, found.Err()
}

// exactScore scores in double precision; length is that of q.
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
		return 0 - math.Sqrt(apart) // not -0
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
