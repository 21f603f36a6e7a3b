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
		v[i] = halfValue(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return v
}

// halfBits rounds to nearest even. It saturates beyond the range, which does not
// occur in unit vectors.
func halfBits(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127 + 15
	mantissa := bits & 0x7fffff
	switch {
	case exponent >= 31:
		return sign | 0x7bff
	case exponent <= -11:
		return sign
	case exponent <= 0: // subnormal
		mantissa |= 0x800000
		shift := uint(14 - exponent)
		return sign | uint16(roundShift(mantissa, shift))
	}
	rounded := uint32(exponent)<<10 + roundShift(mantissa, 13) // a carry increments the exponent, as required
	return sign | uint16(min(rounded, 0x7bff))
}

func roundShift(m uint32, shift uint) uint32 {
	half := uint32(1) << (shift - 1)
	rest := m & (1<<shift - 1)
	m >>= shift
	if rest > half || rest == half && m&1 == 1 {
		m++
	}
	return m
}

func halfValue(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, mantissa := uint32(h>>10&0x1f), uint32(h&0x3ff)
	if exponent == 0 {
		v := float32(mantissa) / (1 << 24)
		if sign != 0 {
			return -v
		}
		return v
	}
	return math.Float32frombits(sign | (exponent-15+127)<<23 | mantissa<<13)
}
