package kernel

// generic is the tier that runs everywhere and defines the others' results.
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
	Interleave16:    interleave16Generic,
	Softmax:         softmaxGeneric,
	Scale:           scaleGeneric,
	rows8:           1 << 20,
	rows16:          1 << 20,
	tile8:           tile8Generic,
	tile16:          tile16Generic,
}

// genericDepth is how much of k tile8Generic unpacks at once: its lanes take
// 4 KiB of stack and stay in the first-level cache.
const genericDepth = 512

// tile8Generic makes one 64-bit multiplication do the work of two: a pair of
// columns is unpacked into the halves of an int64, w0 + w1 × 2³², so that a
// sum of products by activations carries both columns' sums. Unpacking is paid
// once for all rows.
func tile8Generic(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups, rows int) {
	for r := range rows {
		clear(dst[r*dstStride : r*dstStride+Panel])
	}
	var lanes [genericDepth]int64
	k := groups * Group
	for from := 0; from < k; from += genericDepth {
		depth := min(genericDepth, k-from)
		for c := 0; c < Panel; c += 2 {
			unpackColumns(lanes[:depth], panel[from*Panel:], c)
			addColumns(dst[c:], dstStride, act[from:], actStride, lanes[:depth], rows)
		}
	}
}

// unpackColumns pairs columns c and c+1 of a panel.
func unpackColumns(lanes []int64, panel []int8, c int) {
	for g := 0; g < len(lanes); g += Group {
		w := panel[g*Panel+c*Group:][:2*Group]
		out := lanes[g:][:Group]
		for i := range out {
			out[i] = int64(w[i]) + int64(w[i+Group])<<32
		}
	}
}

// addColumns adds the products of every row with one pair of columns.
func addColumns(dst []int32, dstStride int, act []byte, actStride int, lanes []int64, rows int) {
	n := len(lanes)
	r := 0
	for ; r+4 <= rows; r += 4 {
		at := r * actStride
		a0, a1 := act[at:][:n], act[at+actStride:][:n]
		a2, a3 := act[at+2*actStride:][:n], act[at+3*actStride:][:n]
		var s0, s1, s2, s3 int64
		for i, w := range lanes {
			s0 += int64(a0[i]) * w
			s1 += int64(a1[i]) * w
			s2 += int64(a2[i]) * w
			s3 += int64(a3[i]) * w
		}
		addHalves(dst[r*dstStride:], s0)
		addHalves(dst[(r+1)*dstStride:], s1)
		addHalves(dst[(r+2)*dstStride:], s2)
		addHalves(dst[(r+3)*dstStride:], s3)
	}
	for ; r < rows; r++ {
		a := act[r*actStride:][:n]
		var s int64
		for i, w := range lanes {
			s += int64(a[i]) * w
		}
		addHalves(dst[r*dstStride:], s)
	}
}

// addHalves splits low + high × 2³² into its signed halves.
func addHalves(dst []int32, s int64) {
	low := int32(s)
	dst[0] += low
	dst[1] += int32((s - int64(low)) >> 32)
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
