package table

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/flat"
)

// memorySource is a tableSource without a database.
type memorySource struct {
	dim  int
	rows []int64
	read int   // number of vectors read
	fail error // returned by vectors after the first row
}

func (s *memorySource) count(_ context.Context, _, upTo int64) (n int, sum int64, _ error) {
	for _, row := range s.rows {
		if row <= upTo {
			n++
			sum += row
		}
	}
	return n, sum, nil
}

// vectorOf returns the vector of a row, which is derived from its number.
func (s *memorySource) vectorOf(row int64) []float32 {
	rng := rand.New(rand.NewPCG(uint64(row), 5))
	v := make([]float32, s.dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func (s *memorySource) vectors(_ context.Context, _, after int64, do func(int64, []float32) error) error {
	for _, row := range s.rows {
		if row <= after {
			continue
		}
		if err := do(row, s.vectorOf(row)); err != nil {
			return err
		}
		if s.read++; s.fail != nil {
			return s.fail
		}
	}
	return nil
}

func (s *memorySource) copyIn(dir string) *tableCopy {
	return newTableCopy(tableRow{id: 1, created: 7, Info: Info{Item: Item{Dimension: s.dim, Metric: L2}}}, filepath.Join(dir, "cache", "copy"))
}

// requireLoaded loads a copy, and checks that it ranks the rows of the source as a comparison
// of all of them does, and no others. It returns the number of vectors read from the source.
func (s *memorySource) requireLoaded(t *testing.T, dir string) int {
	t.Helper()
	s.read = 0
	c := s.copyIn(dir)
	require.NoError(t, c.load(t.Context(), s))
	for seed := range int64(5) {
		q := s.vectorOf(-1 - seed)
		r, ok := c.rank(q, nil, 3, true)
		require.True(t, ok)
		want := slices.Clone(s.rows)
		slices.SortFunc(want, func(a, b int64) int {
			if plainScore(L2, q, s.vectorOf(a)) > plainScore(L2, q, s.vectorOf(b)) {
				return -1
			}
			return 1
		})
		near := r.near(3, len(q))
		require.GreaterOrEqual(t, len(near), min(3, len(want)))
		for _, row := range want[:min(3, len(want))] {
			require.Contains(t, near, row)
		}
	}
	require.NoError(t, c.unload())
	return s.read
}

func rowsUpTo(n int) (rows []int64) {
	for i := range n {
		rows = append(rows, int64(10*(i+1)))
	}
	return rows
}

func TestLoad_ReadsWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	s := &memorySource{dim: 8}
	assert.Zero(t, s.requireLoaded(t, dir), "an empty table")
	s.rows = rowsUpTo(500)
	assert.Equal(t, 500, s.requireLoaded(t, dir))
	assert.Zero(t, s.requireLoaded(t, dir), "nothing has changed")
	s.rows = append(s.rows, 6000, 6001)
	assert.Equal(t, 2, s.requireLoaded(t, dir))
	s.rows = append(slices.Delete(s.rows, 100, 300), 6002)
	assert.Equal(t, 303, s.requireLoaded(t, dir), "rows were deleted, so all are read")
	s.rows[40], s.rows[41] = s.rows[40]+1, s.rows[41]+1
	assert.Equal(t, 303, s.requireLoaded(t, dir), "another history.db, with as many rows")
	s.rows = s.rows[:50]
	assert.Equal(t, 50, s.requireLoaded(t, dir))
	assert.Zero(t, s.requireLoaded(t, dir))
	s.rows = nil
	assert.Zero(t, s.requireLoaded(t, dir))
}

func TestLoad_ReplacesFileOfDeletedRows(t *testing.T) {
	const rows = flat.RecordsPerSegment + 5000
	dir := t.TempDir()
	s := &memorySource{dim: 2, rows: rowsUpTo(rows)}
	require.Equal(t, rows, s.requireLoaded(t, dir))
	path := s.copyIn(dir).path
	size := func() int64 {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Size()
	}
	before := size()
	s.rows = append(slices.Clone(s.rows[1000:1400]), s.rows[rows-1], int64(10*rows)+1)
	assert.Equal(t, len(s.rows), s.requireLoaded(t, dir))
	assert.Less(t, size(), before/10)
	assert.Zero(t, s.requireLoaded(t, dir))
}

// A copy unloads itself when most of its rows are deleted, so that the next load
// replaces its file.
func TestChange_UnloadsWhenMostRowsAreDeleted(t *testing.T) {
	const rows = 3 * flat.RecordsPerSegment
	dir := t.TempDir()
	s := &memorySource{dim: 2, rows: rowsUpTo(rows)}
	c := s.copyIn(dir)
	require.NoError(t, c.load(t.Context(), s))
	require.NoError(t, c.change(s.rows[:rows/2], nil))
	require.NotNil(t, c.file)
	require.NoError(t, c.change(s.rows[rows/2:rows/2+flat.RecordsPerSegment+1], []newRow{{row: int64(10*rows) + 1, vector: []float32{1, 2}}}))
	require.Nil(t, c.file)
	require.Zero(t, c.memory.Load())
	require.NoError(t, c.change(s.rows[:1], nil), "there is nothing to change")
	_, ok := c.rank([]float32{1, 2}, nil, 1, true)
	require.False(t, ok)
}

// With any damage to the file, the copy agrees with the source afterwards.
func TestLoad_DamagedFile(t *testing.T) {
	s := &memorySource{dim: 8, rows: rowsUpTo(400)}
	size := flat.RecordSize(s.dim)
	record := func(data []byte, i int) []byte { return data[flat.HeaderSize+i*size:][:size] }
	for name, c := range map[string]struct {
		damage func(data []byte) []byte
		read   int
	}{
		"cut inside a record": {func(data []byte) []byte { return data[:flat.HeaderSize+300*size+5] }, 100},
		"a flipped bit":       {func(data []byte) []byte { record(data, 250)[30] ^= 4; return data }, 150},
		"zeros at the end":    {func(data []byte) []byte { clear(data[flat.HeaderSize+390*size:]); return data }, 10},
		"of another table":    {func(data []byte) []byte { binary.LittleEndian.PutUint64(data[24:], 2); return data }, 400},
		"created before":      {func(data []byte) []byte { binary.LittleEndian.PutUint64(data[32:], 6); return data }, 400},
		"a row is missing": {func(data []byte) []byte {
			return slices.Delete(data, flat.HeaderSize+100*size, flat.HeaderSize+101*size)
		}, 400},
		"rows in another order": {func(data []byte) []byte {
			first := slices.Clone(record(data, 200))
			copy(record(data, 200), record(data, 201))
			copy(record(data, 201), first)
			return data
		}, 400},
		"empty": {func([]byte) []byte { return nil }, 400},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.Equal(t, 400, s.requireLoaded(t, dir))
			path := s.copyIn(dir).path
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, c.damage(data), 0o600))
			assert.Equal(t, c.read, s.requireLoaded(t, dir))
			assert.Zero(t, s.requireLoaded(t, dir))
		})
	}
}

func TestLoad_Errors(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("disk error")
	s := &memorySource{dim: 8, rows: rowsUpTo(10), fail: broken}
	c := s.copyIn(dir)
	require.ErrorIs(t, c.load(t.Context(), s), broken)
	_, ok := c.rank(make([]float32, 8), nil, 1, true)
	assert.False(t, ok, "a copy that is not whole answers nothing")
	s.fail = nil
	require.NoError(t, c.load(t.Context(), s))
	require.NoError(t, c.unload())
	require.NoError(t, c.load(t.Context(), s), "it is unloaded for good")
	assert.Nil(t, c.file)

	other := &memorySource{dim: 9, rows: s.rows}
	c = s.copyIn(t.TempDir())
	require.ErrorContains(t, c.load(t.Context(), other), "row 10 of a table has 9 numbers, not 8")

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	c = newTableCopy(tableRow{Info: Info{Item: Item{Dimension: 8}}}, filepath.Join(file, "cache"))
	assert.Error(t, c.load(t.Context(), s))
}

// queryContext calls do when a query begins.
type queryContext struct {
	context.Context
	do func()
}

func (c queryContext) Done() <-chan struct{} {
	c.do()
	return c.Context.Done()
}

// A file that another program truncates while it is being loaded is written again.
func TestSearch_FileTruncatedWhileLoaded(t *testing.T) {
	dir := t.TempDir()
	tables := newTables(t, dir, Options{})
	createTable(t, tables, "t", 64, Cosine)
	model := addModelled(t, tables, "t", Cosine, 600, 64) // several pages
	query := make([]float32, 64)
	query[0] = 1
	model.requireSame(t, tables, "t", query, nil, 5)
	require.NoError(t, tables.Close())

	tables = newTables(t, dir, Options{})
	info, err := tables.find(t.Context(), opSearch, "t")
	require.NoError(t, err)
	truncate := sync.OnceFunc(func() { assert.NoError(t, os.Truncate(tables.copies.path(1), flat.HeaderSize)) })
	// The first query counts the rows, to compare them with those of the mapped file.
	rows, err := tables.nearest(queryContext{t.Context(), truncate}, info, query, nil, 5)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(rows), 5)
	model.requireSame(t, tables, "t", query, nil, 5)
}

func TestSearch_FileTruncatedWhileMapped(t *testing.T) {
	dir := t.TempDir()
	tables := newTables(t, dir, Options{})
	createTable(t, tables, "t", 64, Cosine)
	model := &tableModel{metric: Cosine, rows: map[string]modelledRow{}}
	rng := rand.New(rand.NewPCG(1, 2))
	add := func(n int) {
		rows := make([]NewRow, n) // several pages, and enough for two goroutines
		for i := range rows {
			var known modelledRow
			rows[i], known = randomRow(rng, 64, len(model.rows))
			model.rows[rows[i].ID] = known
		}
		_, err := tables.Add(t.Context(), AddRequest{Table: "t", Rows: rows})
		require.NoError(t, err)
	}
	row, _ := randomRow(rng, 64, 0)
	query := row.Vector
	add(600)
	for _, change := range []func(){func() {}, func() { add(1) }} {
		model.requireSame(t, tables, "t", query, nil, 5)
		require.NoError(t, os.Truncate(tables.copies.path(1), flat.HeaderSize))
		change()
		model.requireSame(t, tables, "t", query, nil, 5)
		model.requireSame(t, tables, "t", query, map[string]any{"group": "g1"}, 5)
	}
}
