package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"notesd/vectors/flat"
)

// open opens the file at path and truncates it at the first damaged record.
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

// tableSource reads the rows of a table to build its copy. [rowReader] implements it.
type tableSource interface {
	head(ctx context.Context, table int64) (n int, last int64, err error)
	numbers(ctx context.Context, table int64) ([]int64, error)
	vectors(ctx context.Context, table, after int64, do func(row int64, v []float32) error) error
}

// load brings the copy into memory unless it is loaded or retired.
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
		_ = c.drop() // err is the cause
		return err
	}
	return nil
}

// fill updates the open file from the table and derives the data in memory.
func (c *tableCopy) fill(ctx context.Context, src tableSource) error {
	n, last, err := src.head(ctx, c.info.id)
	if err != nil {
		return err
	}
	var live []int64
	// The file has every row up to its last one that existed when it was
	// written, so equal counts and equal last rows imply equal rows.
	if same := c.file.N == n && (n == 0 || recordRow(c.file.At(n-1)) == last); !same {
		if live, err = src.numbers(ctx, c.info.id); err != nil {
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
	c.grow()
	return nil
}

// compact rewrites the file if most of its rows were deleted.
func (c *tableCopy) compact(live []int64) error {
	if c.file.N < 2*len(live)+flat.RecordsPerSegment {
		return nil
	}
	temp := c.path + ".new"
	_ = os.Remove(temp) // an interrupted attempt may have left it
	file, err := c.open(temp)
	if err != nil {
		return err
	}
	for i := range c.file.N {
		record := c.file.At(i)
		if _, ok := slices.BinarySearch(live, recordRow(record)); ok {
			if err := file.Append(record); err != nil {
				_ = file.Close() // err is the cause
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

// reconcile marks the rows of the file that were deleted from the table. If the
// file lacks a row before its last one, which indicates a bug or a foreign file, it
// empties the file.
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

// fetch appends the rows of the table after the last one of the file.
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
