package vectors

import (
	"encoding/binary"
	"math"
)

// packHalf encodes v in IEEE 754 half precision, little endian. Its eleven
// significant bits change a cosine by less than a millionth.
func packHalf(v []float32) []byte {
	out := make([]byte, 0, 2*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint16(out, halfBits(x))
	}
	return out
}

func unpackHalf(data []byte) []float32 {
	v := make([]float32, len(data)/2)
	for i := range v {
		h := uint32(binary.LittleEndian.Uint16(data[2*i:]))
		v[i] = math.Float32frombits(h&0x8000<<16|h&0x7fff<<13) / halfScale
	}
	return v
}

// halfScale is the quotient of the biases of both formats: a value multiplied by it has the bits
// of its half-precision form, above 13 more of the fraction.
const halfScale = 0x1p-112

// halfBits rounds to nearest even. It saturates beyond the range, which does not
// occur in unit vectors.
func halfBits(x float32) uint16 {
	const largest = 65504
	bits := math.Float32bits(min(max(x, -largest), largest) * halfScale)
	rounded := bits&^(1<<31) + 0xfff + bits>>13&1
	return uint16(bits>>16&0x8000 | rounded>>13)
}
