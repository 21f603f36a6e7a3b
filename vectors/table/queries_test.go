package table

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/notestest"
	"notesd/notes"
)

// addModelled adds n random rows to a table and returns its expected content.
func addModelled(t *testing.T, tables *Tables, name string, metric Metric, n, dim int) *tableModel {
	t.Helper()
	m := &tableModel{metric: metric, rows: map[string]modelledRow{}}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	for start := 0; start < n; start += MaxRowsPerCall {
		var rows []NewRow
		for i := start; i < min(n, start+MaxRowsPerCall); i++ {
			row, modelled := randomRow(rng, dim, i)
			rows = append(rows, row)
			m.rows[row.ID] = modelled
		}
		_, err := tables.Add(t.Context(), AddRequest{Table: name, Rows: rows})
		require.NoError(t, err)
	}
	return m
}

// A filter that matches few rows reads all metadata and, when repeated, uses the cache. A
// change of the table empties the cache.
func TestSearch_SelectiveFilter(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 8, Cosine)
	m := addModelled(t, tables, "t", Cosine, 6*filterDepth, 8)
	where := map[string]any{"n": map[string]any{"lt": 2.0}}
	q := []float32{1, -1, 0.5, 2, 0, 1, 1, -3}
	for range 2 {
		m.requireSame(t, tables, "t", q, where, 10)
	}
	cached := func() bool {
		c := tables.copies.loaded(1)
		require.NotNil(t, c)
		f, err := newTableFilter(where, tables.opt.Now())
		require.NoError(t, err)
		_, ok := c.filters[f.key]
		return ok
	}
	assert.True(t, cached())
	for i := range 2 * keptFilters {
		m.requireSame(t, tables, "t", q, map[string]any{"n": map[string]any{"lt": float64(i)}}, 10)
		assert.LessOrEqual(t, len(tables.copies.loaded(1).filters), keptFilters)
	}
	m.requireSame(t, tables, "t", q, where, 10)
	for key := range tables.copies.loaded(1).filters {
		tables.copies.loaded(1).filters[key] = []int64{}
	}
	hits, err := tables.Search(t.Context(), Query{Table: "t", Vector: q, Where: where})
	require.NoError(t, err)
	assert.Empty(t, hits, "a repeated filter reads no metadata")

	metadata := json.RawMessage(`{"n":1}`)
	_, err = tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{ID: "nearest", Vector: q, Metadata: metadata}}})
	require.NoError(t, err)
	m.rows["nearest"] = modelledRow{q, map[string]any{"n": 1.0}}
	assert.False(t, cached())
	m.requireSame(t, tables, "t", q, where, 10)
	m.requireSame(t, tables, "t", q, map[string]any{"group": "none"}, 10)
}

// Matching rows that are not among the very nearest are found as reliably as without a filter. The
// vectors form clusters, in which estimates rank the rows beyond the first ones unreliably.
func TestSearch_FilteredRecall(t *testing.T) {
	const dim, n, clusters = 384, 12000, 12 // enough numbers for estimates
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", dim, Cosine)
	rng := rand.New(rand.NewPCG(5, 6))
	vectors := notestest.Clustered(rng, n, dim, clusters)
	m := &tableModel{metric: Cosine, rows: map[string]modelledRow{}}
	where := map[string]any{"rare": true}
	for batch := range slices.Chunk(vectors, MaxRowsPerCall) {
		var rows []NewRow
		for _, v := range batch {
			rare := len(m.rows)%150 == 0
			row := NewRow{ID: fmt.Sprint(len(m.rows)), Vector: v, Metadata: json.RawMessage(fmt.Sprintf(`{"rare":%t}`, rare))}
			rows, m.rows[row.ID] = append(rows, row), modelledRow{v, map[string]any{"rare": rare}}
		}
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: rows})
		require.NoError(t, err)
	}
	found, wanted := 0, 0
	for i := range 20 {
		q := vectors[i*n/20]
		hits, err := tables.Search(t.Context(), Query{Table: "t", Vector: q, Where: where})
		require.NoError(t, err)
		for _, want := range m.search(q, where)[:10] {
			wanted++
			if slices.ContainsFunc(hits, func(h Hit) bool { return h.ID == want.ID }) {
				found++
			}
		}
	}
	require.True(t, tables.copies.loaded(1).ranker.Estimates())
	assert.GreaterOrEqual(t, float64(found)/float64(wanted), .99)
}

// TestSearch_CloseVectors checks tables of few dimensions, whose rows are closer to each other
// than the approximate scores are exact.
func TestSearch_CloseVectors(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	rng := rand.New(rand.NewPCG(7, 8))
	add := func(name string, metric Metric, n int, vector func() []float32) *tableModel {
		createTable(t, tables, name, len(vector()), metric)
		m := &tableModel{metric: metric, rows: map[string]modelledRow{}}
		for len(m.rows) < n {
			var rows []NewRow
			for range min(n-len(m.rows), MaxRowsPerCall) {
				row := NewRow{ID: fmt.Sprint(len(m.rows)), Vector: vector(), Metadata: json.RawMessage(`{}`)}
				rows, m.rows[row.ID] = append(rows, row), modelledRow{row.Vector, map[string]any{}}
			}
			_, err := tables.Add(t.Context(), AddRequest{Table: name, Rows: rows})
			require.NoError(t, err)
		}
		return m
	}
	place := func() []float32 { return []float32{47.37 + rng.Float32()/5, 8.54 + rng.Float32()/5} }
	direction := func() []float32 { return []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64())} }
	places, directions := add("places", L2, 3000, place), add("directions", Cosine, 10_000, direction)
	for range 6 {
		places.requireSame(t, tables, "places", place(), nil, 5)
		directions.requireSame(t, tables, "directions", direction(), nil, 5)
	}
}

// A search of rows that are all equally near reads the metadata of the hits only.
func TestSearch_MetadataOfHits(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 2, L2)
	metadata := json.RawMessage(`{"text":"` + strings.Repeat("x", 16<<10) + `"}`)
	const n = 1000
	var rows []NewRow
	for i := range n {
		rows = append(rows, NewRow{ID: fmt.Sprintf("%04d", i), Vector: []float32{1, 2}, Metadata: metadata})
	}
	for some := range slices.Chunk(rows, 100) {
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: some})
		require.NoError(t, err)
	}
	var before, after runtime.MemStats
	for range 2 { // the first loads the table
		runtime.ReadMemStats(&before)
		hits, err := tables.Search(t.Context(), Query{Table: "t", Vector: []float32{1, 2}, Limit: 5})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Len(t, hits, 5)
		for i, hit := range hits {
			assert.Equal(t, rows[i].ID, hit.ID)
			assert.JSONEq(t, string(metadata), string(hit.Metadata))
		}
	}
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*len(metadata)/4))
}

// The first search with a filter ranks no more rows than those that it compares with the filter,
// also if many are equally near.
func TestRank_DepthOfFilter(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 2, L2)
	const n = 10_000
	var rows []NewRow
	for i := range n {
		rows = append(rows, NewRow{ID: fmt.Sprint(i), Vector: []float32{1, 2}})
	}
	for some := range slices.Chunk(rows, MaxRowsPerCall) {
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: some})
		require.NoError(t, err)
	}
	_, err := tables.Search(t.Context(), Query{Table: "t", Vector: []float32{1, 2}})
	require.NoError(t, err)
	for sure, want := range map[bool]int{false: 4 * filterDepth, true: n} {
		r, ok := tables.copies.loaded(1).rank([]float32{1, 2}, nil, filterDepth, sure)
		require.True(t, ok)
		assert.Equal(t, want, len(r.rows), "sure: %t", sure) //nolint:testifylint // Len prints the rows
	}
}

func TestBitset(t *testing.T) {
	var b bitset
	assert.False(t, b.has(0))
	for _, i := range []int{0, 63, 64, 1000} {
		b.set(i)
	}
	for i := range 1100 {
		assert.Equal(t, i == 0 || i == 63 || i == 64 || i == 1000, b.has(i), i)
	}
}

// Rows that match a filter are deleted in several transactions, and the number of rows stays
// correct.
func TestDeleteRows_Filter(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 4, L2)
	m := addModelled(t, tables, "t", L2, 2500, 4)
	q := []float32{0, 1, 2, 3}
	m.requireSame(t, tables, "t", q, nil, 20) // loads the copy, which the deletion must update
	where := map[string]any{"n": map[string]any{"lt": 700.0}}
	want := 0
	for id, r := range m.rows {
		if notes.Periods(nil).WhereMatches(where, r.metadata) {
			want++
			delete(m.rows, id)
		}
	}
	require.Greater(t, want, 1000)
	n, err := tables.DeleteRows(t.Context(), DeleteRowsRequest{Table: "t", Where: where})
	require.NoError(t, err)
	assert.Equal(t, want, n)
	infos, err := tables.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, len(m.rows), infos[0].Rows)
	m.requireSame(t, tables, "t", q, nil, 20)
	m.requireSame(t, tables, "t", q, where, 20)
	n, err = tables.DeleteRows(t.Context(), DeleteRowsRequest{Table: "t", Where: where})
	require.NoError(t, err)
	assert.Zero(t, n)
	_, err = tables.DeleteRows(t.Context(), DeleteRowsRequest{Table: "t", Where: map[string]any{"n": map[string]any{}}})
	require.ErrorIs(t, err, notes.ErrInvalid)
	m.requireSame(t, tables, "t", q, nil, 20)
}

// Dates are compared with words for a day, and not as text, as which each date is less.
func TestDeleteRows_Dates(t *testing.T) {
	now := time.Date(2031, 5, 15, 12, 0, 0, 0, time.UTC)
	tables := newTables(t, t.TempDir(), Options{Now: func() time.Time { return now }})
	createTable(t, tables, "t", 1, L2)
	for _, day := range []string{"2031-05-14", "2031-05-15", "2031-05-20"} {
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{ID: day, Vector: []float32{1}, Metadata: json.RawMessage(`{"due":"` + day + `"}`)}}})
		require.NoError(t, err)
	}
	found := func() (ids []string) {
		hits, err := tables.Search(t.Context(), Query{Table: "t", Vector: []float32{1}, Where: map[string]any{"due": map[string]any{"gte": "today"}}})
		require.NoError(t, err)
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
		slices.Sort(ids)
		return ids
	}
	assert.Equal(t, []string{"2031-05-15", "2031-05-20"}, found())
	now = now.AddDate(0, 0, 1)
	assert.Equal(t, []string{"2031-05-20"}, found(), "the next day")
	n, err := tables.DeleteRows(t.Context(), DeleteRowsRequest{Table: "t", Where: map[string]any{"due": map[string]any{"lt": "today"}}})
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, []string{"2031-05-20"}, found())
}

func TestDeleteRows_Arguments(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 4, Cosine)
	for name, r := range map[string]DeleteRowsRequest{
		"neither":     {Table: "t"},
		"both":        {Table: "t", IDs: []string{"a"}, Where: map[string]any{"a": 1.0}},
		"too many":    {Table: "t", IDs: make([]string, MaxRowsPerCall+1)},
		"bad filter":  {Table: "t", Where: map[string]any{"a": map[string]any{"near": 1.0}}},
		"other table": {Table: "u", IDs: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tables.DeleteRows(t.Context(), r)
			var e *notes.Error
			require.ErrorAs(t, err, &e)
			assert.NotEmpty(t, e.Error())
		})
	}
}

// The least recently searched copies are unloaded when the total memory exceeds the limit, and
// the next search of their table loads them again.
func TestSearch_MemoryBound(t *testing.T) {
	dir := t.TempDir()
	tables := newTables(t, dir, Options{memory: 1})
	q := []float32{1, 2, 3, 4}
	models := map[string]*tableModel{}
	for _, name := range []string{"a", "b", "c"} {
		createTable(t, tables, name, 4, Dot)
		models[name] = addModelled(t, tables, name, Dot, 300, 4)
	}
	for range 2 {
		for id, name := range []string{"a", "b", "c"} {
			models[name].requireSame(t, tables, name, q, nil, 5)
			for other := range 3 {
				assert.Equal(t, other == id, tables.copies.loaded(int64(other+1)) != nil, "table %d after a search of %s", other+1, name)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "cache", "table-*.vectors"))
	require.NoError(t, err)
	assert.Len(t, files, 3, "unloading keeps the files")
}

// No more copies are unloaded than the limit requires.
func TestSearch_MemoryBoundUnloadsFew(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	q := []float32{1, 2, 3, 4}
	for i, name := range []string{"a", "b", "c"} {
		createTable(t, tables, name, 4, Dot)
		addModelled(t, tables, name, Dot, 300, 4)
		_, err := tables.Search(t.Context(), Query{Table: name, Vector: q})
		require.NoError(t, err)
		if i == 0 {
			tables.copies.opt.memory = 2 * tables.copies.loaded(1).memory.Load()
		}
	}
	assert.Nil(t, tables.copies.loaded(1), "the least recently searched")
	assert.NotNil(t, tables.copies.loaded(2))
	assert.NotNil(t, tables.copies.loaded(3))
}

func TestDescribe(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 2, Cosine)
	for i := range 5 {
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: []NewRow{{ID: fmt.Sprint(i), Vector: []float32{1, float32(i)}}}})
		require.NoError(t, err)
	}
	info, ids, err := tables.Describe(t.Context(), " t ", 3)
	require.NoError(t, err)
	assert.Equal(t, 5, info.Rows)
	assert.Equal(t, []string{"4", "3", "2"}, ids, "the newest first")
	_, _, err = tables.Describe(t.Context(), "u", 3)
	var e *notes.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, notes.ErrNotFound)
	assert.Equal(t, []string{"t"}, e.Candidates)
}

func TestSearch_Limits(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 4, Cosine)
	addModelled(t, tables, "t", Cosine, 2*MaxTableHits, 4)
	for limit, want := range map[int]int{0: 10, -1: 10, 1: 1, MaxTableHits: MaxTableHits, MaxTableHits + 50: MaxTableHits} {
		hits, err := tables.Search(t.Context(), Query{Table: "t", Vector: []float32{1, 0, 0, 0}, Limit: limit})
		require.NoError(t, err)
		assert.Len(t, hits, want, "limit %d", limit)
	}
}

func TestClose_SearchAfterwards(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 1, Cosine)
	require.NoError(t, tables.Close())
	_, err := tables.Search(t.Context(), Query{Table: "t", Vector: []float32{1}})
	require.ErrorIs(t, err, notes.ErrUnavailable)
	require.NoError(t, tables.Close())
}

// The rows that match a filter count as memory as long as the copy holds them.
func TestSearch_MemoryOfFilters(t *testing.T) {
	tables := newTables(t, t.TempDir(), Options{})
	createTable(t, tables, "t", 4, Dot)
	m := addModelled(t, tables, "t", Dot, 6*filterDepth, 4)
	q := []float32{1, 2, 3, 4}
	m.requireSame(t, tables, "t", q, nil, 5)
	c := tables.copies.loaded(1)
	before := c.memory.Load()
	m.requireSame(t, tables, "t", q, map[string]any{"rare": true}, 100)
	held := 0
	for _, rows := range c.filters {
		held += 8 * len(rows)
	}
	require.Positive(t, held)
	assert.GreaterOrEqual(t, c.memory.Load(), before+int64(held))

	_, err := tables.DeleteRows(t.Context(), DeleteRowsRequest{Table: "t", IDs: []string{"row 0"}})
	require.NoError(t, err)
	require.Empty(t, c.filters)
	assert.Less(t, c.memory.Load(), before+int64(held))
}
