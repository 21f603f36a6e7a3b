package kernel

// generic is the tier that runs everywhere and defines the results of the others.
var generic = &Set{
	Name:            "purego",
	ActivationBytes: 1,
	Quantise:        quantiseGeneric,
	Dequantise:      dequantiseGeneric,
	DequantiseAdd:   dequantiseAddGeneric,
	DequantiseGELU:  dequantiseGELUGeneric,
	Normalise:       normaliseGeneric,
	MaxAbs:          maxAbsGeneric,
	Round16:         round16Generic,
	Score:           scoreGeneric,
	Softmax:         softmaxGeneric,
	Dot:             dotGeneric,
	SignSums:        signSumsGeneric,
	rows8:           1 << 20,
	rows16:          1 << 20,
	tile8:           tile8Generic,
	tile16:          tile16Generic,
}

// One 64-bit multiplication does the work of three: columns c, c+1 and c+2 of a panel
// are combined into w0 + w1 × 2²¹ + w2 × 2⁴², so that a sum of such words times
// activations contains three columns' sums. Each has 21 bits, signed, just enough for
// 32 products of 255 × 127.
const (
	columnBits = 21
	columns    = 3
	depth      = 32 // products between two calls of split
)

// unpacked is the number of values of k that are unpacked at once: 4 KiB, which stay
// in the first-level cache while all rows are multiplied.
const unpacked = 512

func tile8Generic(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups, rows int) {
	for r := range rows {
		clear(dst[r*dstStride : r*dstStride+Panel])
	}
	var words [unpacked]int64
	k := groups * Group
	for from := 0; from < k; from += unpacked {
		words := words[:min(unpacked, k-from)]
		for c := 0; c < Panel; c += columns {
			count := min(columns, Panel-c)
			unpackColumns(words, panel[from*Panel:], c, count)
			for r := 0; r < rows; r += 4 {
				addColumns(dst[r*dstStride+c:], dstStride, act[r*actStride+from:], actStride, words, min(4, rows-r), count)
			}
		}
	}
}

// unpackColumns combines count columns of a panel, starting at c.
func unpackColumns(words []int64, panel []int8, c, count int) {
	for g := 0; g < len(words); g += Group {
		w := panel[g*Panel+c*Group:][:count*Group]
		out := words[g:][:Group]
		for i := range out {
			out[i] = int64(w[i]) + int64(w[i+Group])<<columnBits
			if count == columns {
				out[i] += int64(w[i+2*Group]) << (2 * columnBits)
			}
		}
	}
}

// addColumns adds the products of up to four rows with count columns.
func addColumns(dst []int32, dstStride int, act []byte, actStride int, words []int64, rows, count int) {
	if rows < 4 {
		for r := range rows {
			addRow(dst[r*dstStride:], act[r*actStride:], words, count)
		}
		return
	}
	for from := 0; from+depth <= len(words); from += depth {
		w := (*[depth]int64)(words[from:])
		a0, a1 := (*[depth]byte)(act[from:]), (*[depth]byte)(act[actStride+from:])
		a2, a3 := (*[depth]byte)(act[2*actStride+from:]), (*[depth]byte)(act[3*actStride+from:])
		var s0, s1, s2, s3 int64
		for i, w := range w {
			s0 += int64(a0[i]) * w
			s1 += int64(a1[i]) * w
			s2 += int64(a2[i]) * w
			s3 += int64(a3[i]) * w
		}
		split(dst, s0, count)
		split(dst[dstStride:], s1, count)
		split(dst[2*dstStride:], s2, count)
		split(dst[3*dstStride:], s3, count)
	}
}

func addRow(dst []int32, act []byte, words []int64, count int) {
	for from := 0; from+depth <= len(words); from += depth {
		a := (*[depth]byte)(act[from:])
		var s int64
		for i, w := range words[from:][:depth] {
			s += int64(a[i]) * w
		}
		split(dst, s, count)
	}
}

// split adds the sums of the count columns in a word to dst.
func split(dst []int32, s int64, count int) {
	for i := range count {
		low := s << (64 - columnBits) >> (64 - columnBits)
		dst[i] += int32(low)
		s = (s - low) >> columnBits
	}
}

func tile16Generic(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs, rows int) {
	for r := range rows {
		var sums [Panel]int32
		row := a[r*aStride:][:2*pairs]
		for p := range pairs {
			even, odd := int32(row[2*p]), int32(row[2*p+1])
			for c, w := range b[p*bStride:][:Panel] {
				sums[c] += even*int32(int16(w)) + odd*(int32(w)>>16)
			}
		}
		copy(dst[r*dstStride:], sums[:])
	}
}
