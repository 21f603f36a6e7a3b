package vectors

import (
	"errors"
	"io"
	"os"
)

const (
	recordsHeader = 64
	// recordsPerSegment is how many records are mapped at a time; a mapping must
	// not move while records are being read.
	recordsPerSegment = 1 << 14
)

// records is a file of a header and then records of equal size, which only
// grows, mapped into memory. The caller locks: at may run beside itself, all
// else alone.
type records struct {
	size int // of a record
	n    int
	file *os.File
	maps []segment
}

// openRecords opens or creates the file. One with another header is emptied:
// it is a cache of something else.
func openRecords(path string, header []byte, size int) (*records, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	r := &records{size: size, file: file}
	if err := r.load(header); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *records) load(header []byte) error {
	want, have := make([]byte, recordsHeader), make([]byte, recordsHeader)
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
	n := int((info.Size() - recordsHeader) / int64(r.size))
	if err := r.extend(n); err != nil {
		return err
	}
	r.n = n
	return nil
}

// extend maps segments until n records can be read.
func (r *records) extend(n int) error {
	for len(r.maps)*recordsPerSegment < n {
		i := len(r.maps)
		m, err := mapSegment(r.file, recordsHeader+int64(i)*recordsPerSegment*int64(r.size), recordsPerSegment*r.size)
		if err != nil {
			return err
		}
		r.maps = append(r.maps, m)
	}
	return nil
}

// at returns the bytes of a record, to be read only.
func (r *records) at(i int) []byte {
	start := i % recordsPerSegment * r.size
	return r.maps[i/recordsPerSegment].data[start : start+r.size]
}

// append writes records, one after another in data, behind the last. After an
// error there are as many as before.
func (r *records) append(data []byte) error {
	if _, err := r.file.WriteAt(data, recordsHeader+int64(r.n)*int64(r.size)); err != nil {
		return err
	}
	if err := r.extend(r.n + len(data)/r.size); err != nil {
		return err
	}
	for i, rest := r.n, data; len(rest) > 0; {
		first := i % recordsPerSegment
		fits := min(len(rest), (recordsPerSegment-first)*r.size)
		if err := r.maps[i/recordsPerSegment].wrote(r.file, first*r.size, rest[:fits]); err != nil {
			return err
		}
		i, rest = i+fits/r.size, rest[fits:]
	}
	r.n += len(data) / r.size
	return nil
}

// overwrite writes another record in the place of one.
func (r *records) overwrite(i int, data []byte) error {
	if _, err := r.file.WriteAt(data, recordsHeader+int64(i)*int64(r.size)); err != nil {
		return err
	}
	return r.maps[i/recordsPerSegment].wrote(r.file, i%recordsPerSegment*r.size, data)
}

// cut forgets the records from n on; others may be written in their place.
func (r *records) cut(n int) { r.n = n }

// Close unmaps the file. No record may be read afterwards.
func (r *records) Close() error {
	if r.file == nil {
		return nil
	}
	var errs []error
	for _, m := range r.maps {
		errs = append(errs, m.unmap())
	}
	errs = append(errs, r.file.Close())
	r.maps, r.file, r.n = nil, nil, 0
	return errors.Join(errs...)
}
