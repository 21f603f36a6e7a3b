package table

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"notesd/vectors/flat"
)

// tableCopy is the searchable copy of a table. Rows have positions, in the order of
// their numbers. A deleted row keeps its position and is marked until the file is
// replaced.
//
// A record of the file holds, in the format of package flat:
//
//	row int64 | offset float32 | 0 | scale float32 | crc32 of the rest | values
//
// A row's score for a query is factor·dot(query, scale·values) + offset; see
// [flat.Ranker].
type tableCopy struct {
	info tableRow
	path string
	used time.Time // guarded by copies.mu

	memory atomic.Int64 // bytes

	mu      sync.RWMutex // readers search, load and changes write
	retired bool         // unloaded for good; copies creates a new copy
	file    *flat.File   // nil: not loaded
	rows    []int64      // ascending
	gone    bitset       // positions of deleted rows
	dead    int          // number of deleted rows
	// filters holds the rows that match the last few filters, by the filters' keys, because
	// agents often send many queries with the same filter. A change replaces the map.
	filters map[string][]int64
	ranker  flat.Ranker
}

const tableMagic = "notesd table v1"

func newTableCopy(info tableRow, path string) *tableCopy {
	c := &tableCopy{info: info, path: path}
	c.reset()
	return c
}

// reset empties the ranker and the filters. For L2 a score is |q|² minus the squared distance, which is
// 2·q·v - |v|² and has the same order.
func (c *tableCopy) reset() {
	c.filters = map[string][]int64{}
	c.ranker = flat.Ranker{Dim: c.info.Dimension, Factor: 1, Row: c.row}
	if c.info.Metric == L2 {
		c.ranker.Factor = 2
	}
}

// row returns the vector and the offset of the row at a position.
func (c *tableCopy) row(i int) (flat.Vector, float32) {
	record := c.file.At(i)
	return flat.VectorOf(record, c.info.Dimension), recordOffset(record)
}

// measure sets memory after a change of the copy, which must be loaded.
func (c *tableCopy) measure() {
	size := c.ranker.Memory() + c.file.Memory() + int64(8*cap(c.rows)+8*cap(c.gone))
	for _, rows := range c.filters {
		size += int64(8 * cap(rows))
	}
	c.memory.Store(size)
}

// keeps returns a function that reports whether the row at a position is not deleted
// and, if only is not nil, in only, which must be ascending.
func (c *tableCopy) keeps(only []int64) func(row int) bool {
	all := only == nil
	if all && c.dead == 0 {
		return nil
	}
	var among bitset // positions of only
	for i, row := range c.rows {
		for len(only) > 0 && only[0] < row {
			only = only[1:]
		}
		if len(only) > 0 && only[0] == row {
			among.set(i)
		}
	}
	return func(row int) bool { return !c.gone.has(row) && (all || among.has(row)) }
}

// record writes the record of a row to dst. Vectors of the metric cosine are
// normalised.
func (c *tableCopy) record(dst []byte, row int64, v []float32) {
	binary.LittleEndian.PutUint64(dst, uint64(row))
	switch c.info.Metric {
	case Cosine:
		v = flat.Normalised(slices.Clone(v))
	case L2:
		binary.LittleEndian.PutUint32(dst[8:], math.Float32bits(float32(-flat.Squares(v))))
	}
	flat.PutVector(dst, v)
}

func recordRow(record []byte) int64 { return int64(binary.LittleEndian.Uint64(record)) }

func recordOffset(record []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(record[8:]))
}

// newRow is a row that has been added to a table.
type newRow struct {
	row    int64
	vector []float32
}

// change applies deleted and added rows, which must be in ascending order. If it
// fails, the copy unloads itself, and the next search loads it from the table.
func (c *tableCopy) change(removed []int64, added []newRow) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	c.filters = map[string][]int64{}
	for _, row := range removed {
		if i, ok := slices.BinarySearch(c.rows, row); ok && !c.gone.has(i) {
			c.gone.set(i)
			c.dead++
		}
	}
	var err error
	if fault := flat.Guard(func() { err = c.add(added) }); fault != nil || err != nil {
		return errors.Join(fault, err, c.drop())
	}
	if c.dead > len(c.rows)/2+flat.RecordsPerSegment {
		return c.drop() // the next load replaces the file
	}
	c.measure()
	return nil
}

func (c *tableCopy) add(added []newRow) error {
	if n := len(c.rows); n > 0 { // a load may have included them already
		last := c.rows[n-1]
		added = slices.DeleteFunc(added, func(r newRow) bool { return r.row <= last })
	}
	if len(added) == 0 {
		return nil
	}
	data := make([]byte, len(added)*c.file.Size)
	for i, r := range added {
		c.record(data[i*c.file.Size:], r.row, r.vector)
	}
	if err := c.file.Append(data); err != nil {
		return err
	}
	for _, r := range added {
		c.rows = append(c.rows, r.row)
	}
	c.ranker.Grow(len(c.rows))
	return nil
}

// unload frees the copy for good; it cannot be loaded again.
func (c *tableCopy) unload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.retire()
}

// retire is unload for a caller that holds mu.
func (c *tableCopy) retire() error {
	c.retired = true
	return c.drop()
}

// dropDamaged frees the copy; the next search loads it again, with what the file lacks.
func (c *tableCopy) dropDamaged() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drop()
}

// drop closes the file. The caller must hold mu.
func (c *tableCopy) drop() error {
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file, c.rows, c.gone, c.dead = nil, nil, nil, 0
	c.reset()
	c.memory.Store(0)
	return err
}

// bitset is a set of positions.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

func (b *bitset) set(i int) {
	for len(*b) <= i>>6 {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}
