package vectors

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"notesd/vectors/flat"
)

// slots is a mapped file of quantised vectors, indexed by the hash of their text. It
// is a cache: SQLite has every vector in higher precision, and missing or damaged
// records are written again.
//
// The file consists of a header and records of equal size:
//
//	key [16]byte | scale float32 | crc32 of the rest | values [dim]int8, padded to 8
//
// Records are only appended. A file with many that no note uses is replaced when it is
// opened.
type slots struct {
	dim int

	mu      sync.RWMutex
	records *flat.File
	byKey   map[slotKey]uint32

	view atomic.Pointer[flat.File] // a snapshot, whose records are read without mu
}

// slotKey is the first half of a SHA-256, which is long enough to exclude
// collisions.
type slotKey [16]byte

const slotMagic = "notesd vectors 1"

// openSlots opens or creates the file. It empties a file of another model or format.
// Damaged records, such as those whose pages were lost in a power failure, are ignored.
func openSlots(path string, model string, dim int) (*slots, error) {
	header := make([]byte, 32)
	copy(header, slotMagic)
	binary.LittleEndian.PutUint32(header[20:], uint32(dim))
	binary.LittleEndian.PutUint64(header[24:], flat.ChecksumOf([]byte(model)))
	records, err := flat.Open(path, header, flat.RecordSize(dim))
	if err != nil {
		return nil, fmt.Errorf("open the vector file: %w", err)
	}
	s := &slots{dim: dim, records: records, byKey: make(map[slotKey]uint32, records.N)}
	s.publish()
	for i := range records.N {
		record := records.At(i)
		key := slotKey(record[:16])
		if _, twice := s.byKey[key]; !twice && binary.LittleEndian.Uint32(record[20:]) == flat.Checksum(record) {
			s.byKey[key] = uint32(i)
		}
	}
	return s, nil
}

// find returns the record of a text.
func (s *slots) find(key slotKey) (uint32, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.byKey[key]
	return i, ok
}

// vector returns the vector of a record, which the caller must not modify. It takes no
// lock; the file must be open.
func (s *slots) vector(i uint32) flat.Vector { return flat.VectorOf(s.view.Load().At(int(i)), s.dim) }

// publish makes the records of new segments visible to vector.
func (s *slots) publish() {
	snapshot := *s.records
	s.view.Store(&snapshot)
}

// add writes the vector of a text unless the file has it, and returns its record.
func (s *slots) add(key slotKey, v []float32) (uint32, error) {
	if len(v) != s.dim {
		return 0, fmt.Errorf("a vector of %d dimensions, not %d", len(v), s.dim)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.byKey[key]; ok {
		return i, nil
	}
	record := make([]byte, s.records.Size)
	copy(record, key[:])
	flat.PutVector(record, v)
	i := uint32(s.records.N)
	if err := s.records.Append(record); err != nil {
		return 0, err
	}
	if i%flat.RecordsPerSegment == 0 {
		s.publish()
	}
	s.byKey[key] = i
	return i, nil
}

// unused returns the records that are not in used.
func (s *slots) unused(used []uint32) (records []uint32) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	isUsed := make([]bool, s.records.N)
	for _, i := range used {
		isUsed[i] = true
	}
	for i := range isUsed {
		if !isUsed[i] {
			records = append(records, uint32(i))
		}
	}
	return records
}

// erase overwrites records with zeros, which have a wrong checksum, and syncs the file: a power
// failure does not bring them back. The caller must ensure that no goroutine reads the vectors.
func (s *slots) erase(records []uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(records) == 0 {
		return nil
	}
	zeros := make([]byte, s.records.Size)
	for _, i := range records {
		if key := slotKey(s.records.At(int(i))[:16]); s.byKey[key] == i {
			delete(s.byKey, key)
		}
		if err := s.records.Overwrite(int(i), zeros); err != nil {
			return err
		}
	}
	return s.records.Sync()
}

// Close unmaps the file. No vector may be read afterwards. It may be called
// again.
func (s *slots) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records.Close()
}
