package flat

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"unsafe"
)

// valuesAt is where the values of a record begin: 16 bytes are the caller's,
// then a float32 scale, then the CRC-32C of everything else.
const ValuesAt = 24

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// recordSize is the size of a record of 24 bytes and the values of a vector.
func RecordSize(dim int) int { return ValuesAt + (dim+7)/8*8 }

func ChecksumOf(b []byte) uint64 { return uint64(crc32.Checksum(b, crcTable))<<32 | uint64(len(b)) }

// checksum is of all but the checksum's own place.
func Checksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:20], crcTable), crcTable, record[ValuesAt:])
}

// storedVector is the vector that a record holds.
func VectorOf(record []byte, dim int) Vector {
	values := record[ValuesAt : ValuesAt+dim]
	return Vector{
		Scale:  math.Float32frombits(binary.LittleEndian.Uint32(record[16:])),
		Values: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(values))), len(values)), // bytes read as signed ones
	}
}

// storeVector writes a vector into a record, which is complete but for it.
func PutVector(record []byte, v []float32) {
	values := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(record[ValuesAt:]))), len(v))
	binary.LittleEndian.PutUint32(record[16:], math.Float32bits(Quantise(v, values)))
	binary.LittleEndian.PutUint32(record[20:], Checksum(record))
}
