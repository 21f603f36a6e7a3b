package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"notesd/vectors/flat"
	"os"
	"path/filepath"
	"slices"
)

// open opens the file at path and drops its records from the first on that is
// not sound.
func (c *tableCopy) open(path string) (*flat.File, error) {
	header := make([]byte, flat.HeaderSize)
	copy(header, tableMagic)
	binary.LittleEndian.PutUint32(header[20:], uint32(c.info.Dimension))
	binary.LittleEndian.PutUint64(header[24:], uint64(c.info.id))
	binary.LittleEndian.PutUint64(header[32:], uint64(c.info.created))
	file, err := flat.Open(path, header, flat.RecordSize(c.info.Dimension))
	if err != nil {
		return nil, fmt.Errorf("open a table's cache: %w", err)
	}
	last := int64(math.MinInt64)
	for i := range file.N {
		record := file.At(i)
		row := recordRow(record)
		if row <= last || binary.LittleEndian.Uint32(record[20:]) != flat.Checksum(record) {
			file.Truncate(i)
			break
		}
		last = row
	}
	return file, nil
}

// tableSource is where a copy's truth is.
type tableSource interface {
	// head returns how many rows a table has and the highest number of one.
	head(ctx context.Context, table int64) (n int, last int64, err error)
	rowNumbers(ctx context.Context, table int64) ([]int64, error)
	// vectors calls do with the vectors after a row, in the order of rows.
	vectors(ctx context.Context, table, after int64, do func(row int64, v []float32) error) error
}

// load brings the copy into memory, unless it is there.
func (c *tableCopy) load(ctx context.Context, src tableSource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil || c.retired {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	file, err := c.open(c.path)
	if err != nil {
		return err
	}
	c.file = file
	c.generation++
	if err := c.fill(ctx, src); err != nil {
		_ = c.drop() // the cause tells
		return err
	}
	return nil
}

// fill makes the open file agree with the table and derives the rest from it.
func (c *tableCopy) fill(ctx context.Context, src tableSource) error {
	n, last, err := src.head(ctx, c.info.id)
	if err != nil {
		return err
	}
	var live []int64
	// The file has every row up to its last that was not gone when it was
	// written: equal counts and ends mean equal rows.
	if same := c.file.N == n && (n == 0 || recordRow(c.file.At(n-1)) == last); !same {
		if live, err = src.rowNumbers(ctx, c.info.id); err != nil {
			return err
		}
		if err := c.compact(live); err != nil {
			return err
		}
	}
	c.rows = make([]int64, 0, max(n, c.file.N))
	for i := range c.file.N {
		c.rows = append(c.rows, recordRow(c.file.At(i)))
	}
	if live != nil || n == 0 {
		if err := c.reconcile(live); err != nil {
			return err
		}
	}
	if err := c.fetch(ctx, src, live); err != nil {
		return err
	}
	c.survey()
	return nil
}

// compact writes the file anew when most of its rows are gone.
func (c *tableCopy) compact(live []int64) error {
	if c.file.N < 2*len(live)+flat.RecordsPerSegment {
		return nil
	}
	temp := c.path + ".new"
	_ = os.Remove(temp) // what is left of an earlier attempt, if anything
	file, err := c.open(temp)
	if err != nil {
		return err
	}
	for i := range c.file.N {
		record := c.file.At(i)
		if _, ok := slices.BinarySearch(live, recordRow(record)); ok {
			if err := file.Append(record); err != nil {
				_ = file.Close() // the cause tells
				return err
			}
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := c.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, c.path); err != nil {
		return err
	}
	c.file, err = c.open(c.path)
	return err
}

// reconcile marks the file's rows that are not among the live ones. A live row
// that the file passed over, which cannot be, empties it.
func (c *tableCopy) reconcile(live []int64) error {
	found := 0
	for i, row := range c.rows {
		if _, ok := slices.BinarySearch(live, row); ok {
			found++
		} else {
			c.gone.set(i)
			c.dead++
		}
	}
	upTo := 0
	if n := len(c.rows); n > 0 {
		upTo, _ = slices.BinarySearch(live, c.rows[n-1]+1)
	}
	if found != upTo {
		c.file.Truncate(0)
		c.rows, c.gone, c.dead = c.rows[:0], nil, 0
	}
	return nil
}

// fetch appends the rows after the file's last.
func (c *tableCopy) fetch(ctx context.Context, src tableSource, live []int64) error {
	after := int64(math.MinInt64)
	if n := len(c.rows); n > 0 {
		after = c.rows[n-1]
	}
	if n := len(live); n == 0 || live[n-1] <= after {
		return nil
	}
	const batch = 256
	buffer := make([]byte, 0, batch*c.file.Size)
	err := src.vectors(ctx, c.info.id, after, func(row int64, v []float32) error {
		if len(v) != c.info.Dimension {
			return fmt.Errorf("row %d of a table has %d numbers, not %d", row, len(v), c.info.Dimension)
		}
		buffer = append(buffer, make([]byte, c.file.Size)...)
		c.record(buffer[len(buffer)-c.file.Size:], row, v)
		c.rows = append(c.rows, row)
		if len(buffer) < cap(buffer) {
			return nil
		}
		err := c.file.Append(buffer)
		buffer = buffer[:0]
		return err
	})
	if err != nil || len(buffer) == 0 {
		return err
	}
	return c.file.Append(buffer)
}
