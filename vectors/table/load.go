package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"notesd/vectors/flat"
)

// open opens the file and truncates it at the first damaged record.
func (c *tableCopy) open() (err error) {
	header := make([]byte, flat.HeaderSize)
	copy(header, tableMagic)
	binary.LittleEndian.PutUint32(header[20:], uint32(c.info.Dimension))
	binary.LittleEndian.PutUint64(header[24:], uint64(c.info.id))
	binary.LittleEndian.PutUint64(header[32:], uint64(c.info.created))
	if c.file, err = flat.Open(c.path, header, flat.RecordSize(c.info.Dimension)); err != nil {
		return fmt.Errorf("open a table's cache: %w", err)
	}
	last := int64(math.MinInt64)
	for i := range c.file.N {
		record := c.file.At(i)
		row := recordRow(record)
		if row <= last || binary.LittleEndian.Uint32(record[20:]) != flat.Checksum(record) {
			c.file.Truncate(i)
			break
		}
		last = row
	}
	return nil
}

// tableSource reads the rows of a table to build its copy. [rowReader] implements it.
type tableSource interface {
	count(ctx context.Context, table, upTo int64) (n int, sum int64, err error)
	vectors(ctx context.Context, table, after int64, do func(row int64, v []float32) error) error
}

// load brings the copy into memory unless it is loaded or retired. It returns
// [flat.ErrUnreadable] if another program truncates the file meanwhile.
func (c *tableCopy) load(ctx context.Context, src tableSource) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil || c.retired {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	var err error
	fault := flat.Guard(func() {
		if err = c.open(); err == nil {
			err = c.fill(ctx, src)
		}
	})
	if fault != nil || err != nil {
		_ = c.drop() // the other error is the cause
	}
	return errors.Join(fault, err)
}

// fill appends the rows that the open file lacks, and derives the data in memory. It
// replaces a file with other rows, because some were deleted since or another history.db was
// put in place: that may have as many rows, but with other numbers.
func (c *tableCopy) fill(ctx context.Context, src tableSource) error {
	last := int64(math.MinInt64)
	if n := c.file.N; n > 0 {
		last = recordRow(c.file.At(n - 1))
	}
	c.rows = make([]int64, 0, c.file.N)
	has := int64(0)
	for i := range c.file.N {
		row := recordRow(c.file.At(i))
		c.rows, has = append(c.rows, row), has+row&0xFFFFFFFF
	}
	n, sum, err := src.count(ctx, c.info.id, last)
	if err != nil {
		return err
	}
	if n != c.file.N || sum != has {
		if err := errors.Join(c.file.Close(), os.Remove(c.path)); err != nil {
			return err
		}
		if err := c.open(); err != nil {
			return err
		}
		last, c.rows = math.MinInt64, c.rows[:0]
	}
	if err := c.fetch(ctx, src, last); err != nil {
		return err
	}
	c.ranker.Grow(len(c.rows))
	c.measure()
	return nil
}

// fetch appends the rows of the table after a row.
func (c *tableCopy) fetch(ctx context.Context, src tableSource, after int64) error {
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
