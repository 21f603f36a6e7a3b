package flat

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"unsafe"
)

// ValuesAt is the offset of the values in a record, after 16 bytes of the caller,
// the scale as a float32, and the CRC-32C of everything else.
const ValuesAt = 24

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// RecordSize returns the size of the record of a vector.
func RecordSize(dim int) int { return ValuesAt + (dim+7)/8*8 }

// ChecksumOf returns the CRC-32C of b with its length, to identify b in a header.
func ChecksumOf(b []byte) uint64 { return uint64(crc32.Checksum(b, crcTable))<<32 | uint64(len(b)) }

// Checksum returns the checksum of a record, without its checksum field.
func Checksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:20], crcTable), crcTable, record[ValuesAt:])
}

// VectorOf returns the vector of a record. It shares memory with the record.
func VectorOf(record []byte, dim int) Vector {
	values := record[ValuesAt : ValuesAt+dim]
	return Vector{
		Scale:  math.Float32frombits(binary.LittleEndian.Uint32(record[16:])),
		Values: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(values))), len(values)), // int8 and byte have the same layout
	}
}

// PutVector quantises a vector into a record and sets the checksum. The caller
// must have set the first 16 bytes.
func PutVector(record []byte, v []float32) {
	values := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(record[ValuesAt:]))), len(v))
	binary.LittleEndian.PutUint32(record[16:], math.Float32bits(Quantise(v, values)))
	binary.LittleEndian.PutUint32(record[20:], Checksum(record))
}
