package flat

import (
	"errors"
	"io"
	"os"
)

const (
	// HeaderSize is the size of the header of a file in bytes.
	HeaderSize = 64
	// RecordsPerSegment is the number of records in one mapping. The file is mapped
	// in segments because a mapping must not move while its records are read.
	RecordsPerSegment = 1 << 14
)

// File is a mapped file of a header and records of equal size. It never shrinks.
// At may be called concurrently; all other methods need exclusive access.
type File struct {
	Size int // size of a record in bytes
	N    int // number of records
	file *os.File
	maps []segment
}

// Open opens or creates a file with records of the given size. A file with a different
// header is emptied, and one that the disk cannot read is replaced, because it is a cache of
// other data.
func Open(path string, header []byte, size int) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, file); err != nil {
		if err := errors.Join(file.Close(), os.Remove(path)); err != nil {
			return nil, err
		}
		return Open(path, header, size)
	}
	r := &File{Size: size, file: file}
	if err := r.load(header); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *File) load(header []byte) error {
	want, have := make([]byte, HeaderSize), make([]byte, HeaderSize)
	copy(want, header)
	if _, err := r.file.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(have) != string(want) {
		if err := r.file.Truncate(0); err != nil {
			return err
		}
		_, err := r.file.WriteAt(want, 0)
		return err
	}
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	n := int((info.Size() - HeaderSize) / int64(r.Size))
	if err := r.extend(n); err != nil {
		return err
	}
	r.N = n
	return nil
}

// extend maps segments until n records can be read.
func (r *File) extend(n int) error {
	for len(r.maps)*RecordsPerSegment < n {
		i := len(r.maps)
		m, err := mapSegment(r.file, HeaderSize+int64(i)*RecordsPerSegment*int64(r.Size), RecordsPerSegment*r.Size)
		if err != nil {
			return err
		}
		r.maps = append(r.maps, m)
	}
	return nil
}

// At returns the bytes of a record, which the caller must not modify.
func (r *File) At(i int) []byte {
	start := i % RecordsPerSegment * r.Size
	return r.maps[i/RecordsPerSegment].data[start : start+r.Size]
}

// Append writes the records in data after the last one. If it fails, N is
// unchanged. It returns ErrUnreadable if another program has truncated the file, rather than
// fill the gap with zeros.
func (r *File) Append(data []byte) error {
	if info, err := r.file.Stat(); err != nil {
		return err
	} else if info.Size() < HeaderSize+int64(r.N)*int64(r.Size) {
		return ErrUnreadable
	}
	if _, err := r.file.WriteAt(data, HeaderSize+int64(r.N)*int64(r.Size)); err != nil {
		return err
	}
	if err := r.extend(r.N + len(data)/r.Size); err != nil {
		return err
	}
	for i, rest := r.N, data; len(rest) > 0; {
		first := i % RecordsPerSegment
		fits := min(len(rest), (RecordsPerSegment-first)*r.Size)
		if err := r.maps[i/RecordsPerSegment].wrote(r.file, first*r.Size, rest[:fits]); err != nil {
			return err
		}
		i, rest = i+fits/r.Size, rest[fits:]
	}
	r.N += len(data) / r.Size
	return nil
}

// Overwrite replaces a record.
func (r *File) Overwrite(i int, data []byte) error {
	if _, err := r.file.WriteAt(data, HeaderSize+int64(i)*int64(r.Size)); err != nil {
		return err
	}
	return r.maps[i/RecordsPerSegment].wrote(r.file, i%RecordsPerSegment*r.Size, data)
}

// Sync waits until the disk has all that was written.
func (r *File) Sync() error { return r.file.Sync() }

// Truncate drops the records from n on. Append then overwrites them; the file
// keeps its size.
func (r *File) Truncate(n int) { r.N = n }

// Memory returns the size of the segments in bytes where they are read into memory, or 0 where
// they are mapped.
func (r *File) Memory() (size int64) {
	for _, m := range r.maps {
		size += m.memory()
	}
	return size
}

// Close unmaps and closes the file. Slices returned by At become invalid. Closing again
// is a no-op.
func (r *File) Close() error {
	if r.file == nil {
		return nil
	}
	var errs []error
	for _, m := range r.maps {
		errs = append(errs, m.unmap())
	}
	errs = append(errs, r.file.Close())
	r.maps, r.file, r.N = nil, nil, 0
	return errors.Join(errs...)
}
