package main

import "math"

var (
	lowest      = float("lowest", -math.MaxFloat32)
	expFloor    = float("expFloor", -80)
	probability = float("probability", 32767)
	expFactors  = coefficients("exp", 1, 0.6931243538856506, 0.24024145305156708, 0.05590597167611122, 0.009581047110259533)
)

// softmax prints three passes over a row: scores and their maximum, powers of
// two and their sums, probabilities.
func (v *isa) softmax(p *printer) {
	p.function("softmax"+v.suffix, "is Set.Softmax.",
		"p []int16, acc []int32, keyScale []float32, valueScale []float32, mask []float32, factor float32", "unit float32")
	p.op("MOVQ", p.arg("p"), "DI")
	p.op("MOVQ", p.arg("acc"), "SI")
	p.op("MOVQ", p.arg("keyScale"), "R8")
	p.op("MOVQ", p.arg("valueScale"), "R9")
	p.op("MOVQ", p.arg("mask"), "R10")
	n := v.chunks()
	for c := range n {
		p.op("VBROADCASTSS", v.operand(lowest), v.r(c))
	}
	v.loop(p, "acc_len", func() {
		for c := range n {
			t := v.r(n + c)
			p.op("VCVTDQ2PS", v.f32("SI", c), t)
			p.op("VMULPS", v.f32("R8", c), t, t)
			p.op("VADDPS", v.f32("R10", c), t, t)
			p.op("VMAXPS", t, v.r(c), v.r(c))
			p.op("VMOVUPS", t, v.f32("SI", c))
		}
	})
	v.reduce(p, "VMAXPS", 0, n)

	ones, weighted := 0, n // sums
	largest, factor, t := 2*n, 2*n+1, 2*n+2
	p.op("VBROADCASTSS", x(0), v.r(largest))
	p.op("VBROADCASTSS", p.arg("factor"), v.r(factor))
	constants := v.pool(p, 2*n+8, append([]constant{expFloor}, expFactors...)...)
	for c := range 2 * n {
		v.zero(p, c)
	}
	v.loop(p, "acc_len", func() {
		for c := range n {
			v.exp2(p, c, largest, factor, t, constants)
			p.op("VADDPS", v.r(t+2), v.r(ones+c), v.r(ones+c))
			p.op("VMULPS", v.f32("R9", c), v.r(t+2), v.r(t+2))
			p.op("VADDPS", v.r(t+2), v.r(weighted+c), v.r(weighted+c))
			p.op("VMOVUPS", v.r(t+2), v.f32("SI", c))
		}
	})
	v.reduce(p, "VADDPS", ones, t)
	v.reduce(p, "VADDPS", weighted, t)
	p.op("VMOVSS", v.operand(probability), x(t))
	p.op("VMULSS", x(t), x(ones), x(ones))
	p.op("VDIVSS", x(ones), x(weighted), x(ones))
	p.op("VMOVSS", x(ones), p.arg("unit"))
	p.op("VDIVSS", x(weighted), x(t), x(t))
	p.op("VBROADCASTSS", x(t), v.r(t))
	v.loop(p, "acc_len", func() {
		for c := range n {
			p.op("VMULPS", v.f32("SI", c), v.r(t), v.r(0))
			p.op("VCVTPS2DQ", v.r(0), v.r(0))
			v.store16(p, 0, 1, "VPACKSSDW", f16("DI", v, c))
		}
	})
	p.ret()
}

// exp2 loads chunk c of the scores and leaves 2^((score − largest) × factor) in
// register t+2.
func (v *isa) exp2(p *printer, c, largest, factor, t int, constants *pool) {
	f, n, e := v.r(t), v.r(t+1), v.r(t+2)
	p.op("VMOVUPS", v.f32("SI", c), f)
	p.op("VSUBPS", v.r(largest), f, f)
	p.op("VMULPS", v.r(factor), f, f)
	p.op("VMAXPS", constants.get(expFloor), f, f)
	p.op("VCVTPS2DQ", f, n)
	p.op("VCVTDQ2PS", n, e)
	p.op("VSUBPS", e, f, f)
	p.op("VPSLLD", 23, n, n)
	polynomial(p, v, t+2, t, constants, expFactors)
	p.op("VPADDD", n, e, e)
}
