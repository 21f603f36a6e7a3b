package vectors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
	"unsafe"
)

// slots is a flat file of quantised vectors, found by the hash of their text
// and mapped into memory. It is a cache: SQLite has every vector in more
// precision, and what is missing or damaged here is written again.
//
// The file is a header and then records of equal size:
//
//	key [16]byte | scale float32 | crc32 of the rest | values [dim]int8, padded to 8
//
// It only grows while it is open; opening it anew leaves out, when they are
// many, the records that nothing uses.
type slots struct {
	dim    int
	record int

	mu    sync.RWMutex
	file  *os.File
	n     int // records
	maps  []segment
	byKey map[slotKey]uint32
}

// slotKey is half a SHA-256: collisions stay out of reach.
type slotKey [16]byte

const (
	slotHeader = 64
	// slotsPerSegment is how many records are mapped at a time; a mapping must
	// not move while vectors are being read.
	slotsPerSegment = 1 << 14
	slotMagic       = "notesd vectors 1"
	valuesAt        = 24
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// openSlots opens or creates the file. One for another model, or that is no
// such file, is emptied. Records that are not sound, such as those whose pages
// a power cut lost, are passed over.
func openSlots(path string, model string, dim int) (*slots, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &slots{dim: dim, record: valuesAt + (dim+7)/8*8, file: file, byKey: map[slotKey]uint32{}}
	if err := s.load(model); err != nil {
		return nil, errors.Join(fmt.Errorf("open the vector file: %w", err), s.Close())
	}
	return s, nil
}

func (s *slots) header(model string) []byte {
	h := make([]byte, slotHeader)
	copy(h, slotMagic)
	binary.LittleEndian.PutUint32(h[20:], uint32(s.dim))
	binary.LittleEndian.PutUint64(h[24:], crcOf([]byte(model)))
	return h
}

func crcOf(b []byte) uint64 { return uint64(crc32.Checksum(b, crcTable))<<32 | uint64(len(b)) }

func (s *slots) load(model string) error {
	want, have := s.header(model), make([]byte, slotHeader)
	if _, err := s.file.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(have) != string(want) {
		if err := s.file.Truncate(0); err != nil {
			return err
		}
		_, err := s.file.WriteAt(want, 0)
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	s.n = int((info.Size() - slotHeader) / int64(s.record))
	if err := s.extend(s.n); err != nil {
		return err
	}
	for i := range s.n {
		record := s.at(uint32(i))
		if binary.LittleEndian.Uint32(record[20:]) == checksum(record) {
			s.byKey[slotKey(record[:16])] = uint32(i)
		}
	}
	return nil
}

func checksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:20], crcTable), crcTable, record[valuesAt:])
}

// extend maps segments until n records can be read.
func (s *slots) extend(n int) error {
	for len(s.maps)*slotsPerSegment < n {
		i := len(s.maps)
		m, err := mapSegment(s.file, slotHeader+int64(i)*slotsPerSegment*int64(s.record), slotsPerSegment*s.record)
		if err != nil {
			return err
		}
		s.maps = append(s.maps, m)
	}
	return nil
}

// at returns the bytes of a record. The caller holds mu, or knows that the
// record was there when it last did.
func (s *slots) at(i uint32) []byte {
	start := int(i) % slotsPerSegment * s.record
	return s.maps[i/slotsPerSegment].data[start : start+s.record]
}

// find returns the record of a text.
func (s *slots) find(key slotKey) (uint32, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.byKey[key]
	return i, ok
}

// vector returns the quantised vector of a record, to be read only.
func (s *slots) vector(i uint32) quantised {
	s.mu.RLock()
	record := s.at(i)
	s.mu.RUnlock()
	values := record[valuesAt : valuesAt+s.dim]
	return quantised{
		scale:  math.Float32frombits(binary.LittleEndian.Uint32(record[16:])),
		values: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(values))), len(values)), // bytes read as signed ones
	}
}

// add writes the vector of a text, unless it is there, and returns its record.
func (s *slots) add(key slotKey, v []float32) (uint32, error) {
	if len(v) != s.dim {
		return 0, fmt.Errorf("a vector of %d dimensions, not %d", len(v), s.dim)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.byKey[key]; ok {
		return i, nil
	}
	record := make([]byte, s.record)
	copy(record, key[:])
	values := make([]int8, s.dim)
	binary.LittleEndian.PutUint32(record[16:], math.Float32bits(quantise(v, values)))
	for i, x := range values {
		record[valuesAt+i] = byte(x)
	}
	binary.LittleEndian.PutUint32(record[20:], checksum(record))
	if _, err := s.file.WriteAt(record, slotHeader+int64(s.n)*int64(s.record)); err != nil {
		return 0, err
	}
	if err := s.extend(s.n + 1); err != nil {
		return 0, err
	}
	i := uint32(s.n)
	if err := s.maps[i/slotsPerSegment].wrote(s.file, int(i)%slotsPerSegment*s.record, record); err != nil {
		return 0, err
	}
	s.byKey[key] = i
	s.n++
	return i, nil
}

// wasteful reports whether most records are of texts that are gone.
func (s *slots) wasteful(used int) bool { return s.n > 2*used+slotsPerSegment }

// Close unmaps the file. No vector may be read afterwards.
func (s *slots) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	var errs []error
	for _, m := range s.maps {
		errs = append(errs, m.unmap())
	}
	errs = append(errs, s.file.Close())
	s.maps, s.file = nil, nil
	return errors.Join(errs...)
}
