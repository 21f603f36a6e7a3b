package table

import (
	"encoding/binary"
	"errors"
	"math"
	"notesd/vectors/flat"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// tableCopy is a table as it is searched. Rows have positions, in the order of
// their numbers; a row that is gone keeps its position, marked, until the file
// is written anew.
//
// The file's records are those of [slots] with another key:
//
//	row int64 | offset float32 | 0 | scale float32 | crc32 of the rest | values
//
// A row's score for a query is factor·dot(query, scale·values) + offset; see
// [tableCopy.prepare].
type tableCopy struct {
	info tableRow
	path string
	used time.Time // guarded by Tables.mu

	memory atomic.Int64 // bytes

	mu      sync.RWMutex // readers search, load and changes write
	retired bool         // was unloaded: Tables has or makes another
	file    *flat.File   // nil: not loaded
	rows    []int64      // ascending
	gone    bitset
	dead    int // how many are gone
	version int // changes with any change
	// generation changes with each load; positions are good for one.
	generation int
	filters    filterCache
	shape
}

const tableMagic = "notesd table v1"

func newTableCopy(info tableRow, path string) *tableCopy {
	return &tableCopy{info: info, path: path}
}

// factor is what the inner product counts for in a score: in a squared
// distance, |q|² - 2·q·v + |v|², it counts twice.
func (c *tableCopy) factor() float32 {
	if c.info.Metric == L2 {
		return 2
	}
	return 1
}

// record writes a row as the file has it. Vectors that are compared by their
// angle are kept at length one.
func (c *tableCopy) record(dst []byte, row int64, v []float32) {
	binary.LittleEndian.PutUint64(dst, uint64(row))
	switch c.info.Metric {
	case Cosine:
		v = flat.Normalised(slices.Clone(v))
	case L2:
		binary.LittleEndian.PutUint32(dst[8:], math.Float32bits(float32(-squares(v))))
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

// change tells the copy of rows that are gone and rows that are new, in order.
// A copy that cannot follow unloads itself: it is made again from the table.
func (c *tableCopy) change(removed []int64, added []newRow) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	c.version++
	c.filters.clear()
	for _, row := range removed {
		if i, ok := slices.BinarySearch(c.rows, row); ok && !c.gone.has(i) {
			c.gone.set(i)
			c.dead++
		}
	}
	if err := c.add(added); err != nil {
		return errors.Join(err, c.drop())
	}
	if c.dead > len(c.rows)/2+flat.RecordsPerSegment {
		return c.drop() // the next load compacts
	}
	return nil
}

func (c *tableCopy) add(added []newRow) error {
	if n := len(c.rows); n > 0 { // a load may have seen them already
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
	if len(c.rows) > 2*c.surveyed+minSurvey {
		c.survey() // the mean may have moved
	} else {
		c.extend(len(c.rows) - len(added))
	}
	return nil
}

// unload frees everything for good.
func (c *tableCopy) unload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	return c.drop()
}

// drop closes the file; the caller holds mu.
func (c *tableCopy) drop() error {
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file, c.rows, c.gone, c.dead, c.shape = nil, nil, nil, 0, shape{}
	c.filters.clear()
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
