package kernel

import (
	"math"
	"math/bits"
)

func quantiseGeneric(dst []byte, x, smooth []float32) (scale float32, zero int32) {
	smooth, dst = smooth[:len(x)], dst[:len(x)]
	var lo, hi float32
	for i, v := range x {
		v = float32(v * smooth[i])
		lo, hi = min(lo, v), max(hi, v)
	}
	scale, inverse, zero := quantisation(lo, hi)
	for i, v := range x {
		q := round(float32(float32(v*smooth[i])*inverse)) + zero
		dst[i] = byte(min(max(q, 0), 255))
	}
	return scale, zero
}

// quantisation maps lo … hi, which includes zero, to the range of a byte.
func quantisation(lo, hi float32) (scale, inverse float32, zero int32) {
	spread := hi - lo
	if !(spread > tinyRange) {
		return 0, 0, 0
	}
	inverse = 255 / spread
	return spread / 255, inverse, round(float32(-lo * inverse))
}

func dequantiseGeneric(dst []float32, acc []int32, cols *Columns, scale float32, zero int32) {
	for i := range dst {
		dst[i] = cols.value(i, acc[i], scale, zero)
	}
}

func dequantiseAddGeneric(dst []float32, acc []int32, cols *Columns, scale float32, zero int32) {
	for i := range dst {
		dst[i] += cols.value(i, acc[i], scale, zero)
	}
}

func dequantiseGELUGeneric(dst []float32, acc []int32, cols *Columns, scale float32, zero int32) {
	for i := range dst {
		dst[i] = gelu(cols.value(i, acc[i], scale, zero))
	}
}

// value converts the sum of column i to float32.
func (c *Columns) value(i int, acc int32, scale float32, zero int32) float32 {
	v := float32(acc - zero*c.Sum[i])
	return float32(v*float32(scale*c.Scale[i])) + c.Bias[i]
}

func normaliseGeneric(x, gamma, beta []float32, epsilon float32) {
	gamma, beta = gamma[:len(x)], beta[:len(x)]
	n := float32(len(x))
	var lanes [Lanes]float32
	for i, v := range x {
		lanes[i%Lanes] += v
	}
	mean := sumLanes(&lanes) / n
	lanes = [Lanes]float32{}
	for i, v := range x {
		d := v - mean
		x[i] = d
		lanes[i%Lanes] += float32(d * d)
	}
	variance := sumLanes(&lanes) / n
	inverse := 1 / float32(math.Sqrt(float64(variance+epsilon)))
	for i, d := range x {
		x[i] = float32(float32(d*inverse)*gamma[i]) + beta[i]
	}
}

func maxAbsGeneric(x []float32) float32 {
	var largest float32
	for _, v := range x {
		largest = max(largest, math.Float32frombits(math.Float32bits(v)&^(1<<31)))
	}
	return largest
}

func round16Generic(dst []int16, x []float32, inverse float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = int16(round(float32(v * inverse)))
	}
}

func scoreGeneric(acc []int32, keyScale, mask []float32) float32 {
	keyScale, mask = keyScale[:len(acc)], mask[:len(acc)]
	largest := float32(-math.MaxFloat32)
	for i, a := range acc {
		s := float32(float32(a)*keyScale[i]) + mask[i]
		largest = max(largest, s)
		acc[i] = int32(math.Float32bits(s))
	}
	return largest
}

func softmaxGeneric(p []int16, acc []int32, valueScale []float32, largest, factor float32) float32 {
	p, valueScale = p[:len(acc)], valueScale[:len(acc)]
	var ones, weighted [Lanes]float32
	for i, a := range acc {
		e := exp2(float32((math.Float32frombits(uint32(a)) - largest) * factor))
		v := float32(e * valueScale[i])
		ones[i%Lanes] += e
		weighted[i%Lanes] += v
		acc[i] = int32(math.Float32bits(v))
	}
	total, mass := sumLanes(&ones), sumLanes(&weighted)
	inverse := probabilityOne / mass
	for i, a := range acc {
		p[i] = int16(round(float32(math.Float32frombits(uint32(a)) * inverse)))
	}
	return mass / float32(total*probabilityOne)
}

func dotGeneric(a []int16, b []int8) (sum int32) {
	b = b[:len(a)]
	for i, v := range a {
		sum += int32(v) * int32(b[i])
	}
	return sum
}

func signSumsGeneric(dst []int32, signs []uint64, planes *SignPlanes, words, stride int) {
	for i := range dst {
		var b0, b1, b2, b3, b4 int
		for j, w := range signs[i*stride:][:words] {
			b0 += bits.OnesCount64(w & planes[0][j])
			b1 += bits.OnesCount64(w & planes[1][j])
			b2 += bits.OnesCount64(w & planes[2][j])
			b3 += bits.OnesCount64(w & planes[3][j])
			b4 += bits.OnesCount64(w & planes[4][j])
		}
		dst[i] += int32(b0 + b1<<1 + b2<<2 + b3<<3 - b4<<4)
	}
}
