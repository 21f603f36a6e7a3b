package main

import "fmt"

// Constants of package kernel: see its float.go.
var (
	tinyRange   = float("tinyRange", 1e-30)
	byteMax     = integer("byteMax", 255)
	byteRange   = float("byteRange", 255)
	one         = float("one", 1)
	half        = float("half", 0.5)
	signless    = integer("signless", 0x7FFFFFFF)
	lowHalf     = integer("lowHalf", 0xFFFF)
	geluHigh    = float("geluHigh", 4.5)
	geluLow     = float("geluLow", -4.5)
	geluScale   = float("geluScale", 0.09876543283462524)
	geluFactors = coefficients("gelu",
		0.156902015209198, -0.07717247307300568, 0.05482327938079834,
		-0.04054955765604973, 0.027598027139902115, -0.01676146127283573,
		0.012272712774574757, -0.009315266273915768, 0.003313843859359622)
)

func coefficients(name string, values ...float32) []constant {
	var c []constant
	for i, v := range values {
		c = append(c, float(fmt.Sprint(name, i), v))
	}
	return c
}

// polynomial prints Horner's rule: register p = c[n] x^n + … + c[0].
func polynomial(p *printer, v *isa, to, x int, pool *pool, c []constant) {
	last := len(c) - 1
	p.op("VMOVUPS", pool.get(c[last]), v.r(to))
	for i := last - 1; i >= 0; i-- {
		p.op("VMULPS", v.r(x), v.r(to), v.r(to))
		p.op("VADDPS", pool.get(c[i]), v.r(to), v.r(to))
	}
}

func (v *isa) quantise(p *printer) {
	p.function("quantise"+v.suffix, "is Set.Quantise.", "dst []byte, x []float32, smooth []float32", "scale float32, zero int32")
	p.op("MOVQ", p.arg("x"), "SI")
	p.op("MOVQ", p.arg("smooth"), "DX")
	p.op("MOVQ", p.arg("dst"), "DI")
	n := v.chunks()
	low, high, temp := 0, n, 2*n
	for i := range 2 * n {
		v.zero(p, i)
	}
	v.loop(p, "x_len", func() {
		for c := range n {
			t := v.r(temp + c)
			p.op("VMOVUPS", v.f32("SI", c), t)
			p.op("VMULPS", v.f32("DX", c), t, t)
			p.op("VMINPS", t, v.r(low+c), v.r(low+c))
			p.op("VMAXPS", t, v.r(high+c), v.r(high+c))
		}
	})
	v.reduce(p, "VMINPS", low, temp)
	v.reduce(p, "VMAXPS", high, temp)
	inverse, zero := temp+1, temp+2
	v.quantisation(p, low, high, temp, inverse, zero)

	// Registers below inverse are free.
	none, most := 0, 1
	v.zero(p, none)
	p.op("VBROADCASTSS", v.operand(byteMax), v.r(most))
	v.loop(p, "x_len", func() {
		for c := range n {
			t := v.r(2 + c)
			p.op("VMOVUPS", v.f32("SI", c), t)
			p.op("VMULPS", v.f32("DX", c), t, t)
			p.op("VMULPS", v.r(inverse), t, t)
			p.op("VCVTPS2DQ", t, t)
			p.op("VPADDD", v.r(zero), t, t)
			p.op("VPMAXSD", v.r(none), t, t)
			p.op("VPMINSD", v.r(most), t, t)
			v.storeActivations(p, 2+c, 2+n, c)
		}
	})
	p.ret()
}

// quantisation spreads the bytes over what lies between the lowest lanes of low
// and high: it sets the results scale and zero, and broadcasts the inverse of
// the scale and the zero point to registers. All stay zero unless the spread is
// above tinyRange.
func (v *isa) quantisation(p *printer, low, high, spread, inverse, zero int) {
	p.op("VSUBSS", x(low), x(high), x(spread))
	v.zero(p, inverse)
	p.op("XORL", "R8", "R8")
	p.op("MOVL", 0, p.arg("scale"))
	p.op("VUCOMISS", v.operand(tinyRange), x(spread))
	p.op("JLS", "flat")
	p.op("VMOVSS", v.operand(byteRange), x(high))
	p.op("VDIVSS", x(spread), x(high), x(inverse))
	p.op("VDIVSS", x(high), x(spread), x(spread))
	p.op("VMOVSS", x(spread), p.arg("scale"))
	p.op("VMULSS", x(inverse), x(low), x(low))
	p.op("VCVTSS2SI", x(low), "R8")
	p.op("NEGL", "R8")
	p.place("flat")
	p.op("MOVL", "R8", p.arg("zero"))
	p.op("VBROADCASTSS", x(inverse), v.r(inverse))
	p.op("VMOVD", "R8", x(zero))
	p.op("VPBROADCASTD", x(zero), v.r(zero))
}

// storeActivations stores a register of values of 0 to 255 at chunk c of the
// block at DI: as bytes, or as 16-bit values where the tier multiplies those.
func (v *isa) storeActivations(p *printer, from, temp, c int) {
	if v.lanes == 16 {
		p.op("VPMOVDB", v.r(from), at(16*c, "DI", "AX"))
		return
	}
	v.store16(p, from, temp, "VPACKUSDW", f16("DI", v, c))
}

// variant is what dequantise does with its result.
type variant struct{ name, doc string }

var (
	plain    = variant{"dequantise", "is Set.Dequantise."}
	adding   = variant{"dequantiseAdd", "is Set.DequantiseAdd."}
	withGELU = variant{"dequantiseGELU", "is Set.DequantiseGELU."}
)

func (v *isa) dequantise(p *printer, kind variant) {
	p.function(kind.name+v.suffix, kind.doc, "dst []float32, acc []int32, cols *Columns, scale float32, zero int32", "")
	p.op("MOVQ", p.arg("dst"), "DI")
	p.op("MOVQ", p.arg("acc"), "SI")
	p.op("MOVQ", p.arg("cols"), "BX")
	p.op("MOVQ", mem(0, "BX"), "R8")   // Sum
	p.op("MOVQ", mem(24, "BX"), "R9")  // Scale
	p.op("MOVQ", mem(48, "BX"), "R10") // Bias
	scale, zero, value, t1, t2 := 0, 1, 2, 3, 4
	p.op("VBROADCASTSS", p.arg("scale"), v.r(scale))
	p.op("VBROADCASTSS", p.arg("zero"), v.r(zero))
	var constants *pool
	if kind == withGELU {
		constants = v.pool(p, 5, append([]constant{geluHigh, geluLow, geluScale, one, half}, geluFactors...)...)
	}
	v.loop(p, "dst_len", func() {
		for c := range v.chunks() {
			y := v.r(value)
			p.op("VMOVUPS", v.f32("R8", c), v.r(t1))
			p.op("VPMULLD", v.r(zero), v.r(t1), v.r(t1))
			p.op("VMOVUPS", v.f32("SI", c), y)
			p.op("VPSUBD", v.r(t1), y, y)
			p.op("VCVTDQ2PS", y, y)
			p.op("VMULPS", v.f32("R9", c), v.r(scale), v.r(t1))
			p.op("VMULPS", v.r(t1), y, y)
			p.op("VADDPS", v.f32("R10", c), y, y)
			switch kind {
			case adding:
				p.op("VADDPS", v.f32("DI", c), y, y)
			case withGELU:
				v.gelu(p, value, t1, t2, constants)
			}
			p.op("VMOVUPS", y, v.f32("DI", c))
		}
	})
	p.ret()
}

// gelu replaces a register by its GELU.
func (v *isa) gelu(p *printer, value, t1, t2 int, constants *pool) {
	u, w := v.r(t1), v.r(t2)
	p.op("VMAXPS", constants.get(geluLow), v.r(value), u)
	p.op("VMINPS", constants.get(geluHigh), u, u)
	p.op("VMULPS", u, u, w)
	p.op("VMULPS", constants.get(geluScale), w, w)
	p.op("VSUBPS", constants.get(one), w, w)
	// The polynomial needs a register: u × result is all that u is for, and
	// u can be had again.
	polynomial(p, v, t1, t2, constants, geluFactors)
	p.op("VMAXPS", constants.get(geluLow), v.r(value), w)
	p.op("VMINPS", constants.get(geluHigh), w, w)
	p.op("VMULPS", w, u, u)
	p.op("VADDPS", constants.get(half), u, u)
	p.op("VMULPS", u, v.r(value), v.r(value))
}

func (v *isa) normalise(p *printer) {
	p.function("normalise"+v.suffix, "is Set.Normalise.", "x []float32, gamma []float32, beta []float32, epsilon float32", "")
	p.op("MOVQ", p.arg("x"), "SI")
	p.op("MOVQ", p.arg("gamma"), "R8")
	p.op("MOVQ", p.arg("beta"), "R9")
	n := v.chunks()
	temp, mean, length := n, 2*n, 2*n+1
	p.op("VXORPS", x(length), x(length), x(length))
	p.op("VCVTSI2SSQ", p.arg("x_len"), x(length), x(length))

	for c := range n {
		v.zero(p, c)
	}
	v.loop(p, "x_len", func() {
		for c := range n {
			p.op("VADDPS", v.f32("SI", c), v.r(c), v.r(c))
		}
	})
	v.reduce(p, "VADDPS", 0, temp)
	p.op("VDIVSS", x(length), x(0), x(0))
	p.op("VBROADCASTSS", x(0), v.r(mean))

	for c := range n {
		v.zero(p, c)
	}
	v.loop(p, "x_len", func() {
		for c := range n {
			t := v.r(temp + c)
			p.op("VMOVUPS", v.f32("SI", c), t)
			p.op("VSUBPS", v.r(mean), t, t)
			p.op("VMULPS", t, t, t)
			p.op("VADDPS", t, v.r(c), v.r(c))
		}
	})
	v.reduce(p, "VADDPS", 0, temp)
	p.op("VDIVSS", x(length), x(0), x(0))
	p.op("VADDSS", p.arg("epsilon"), x(0), x(0))
	p.op("VSQRTSS", x(0), x(0), x(0))
	p.op("VMOVSS", v.operand(one), x(temp))
	p.op("VDIVSS", x(0), x(temp), x(0))
	p.op("VBROADCASTSS", x(0), v.r(length))

	v.loop(p, "x_len", func() {
		for c := range n {
			t := v.r(temp + c)
			p.op("VMOVUPS", v.f32("SI", c), t)
			p.op("VSUBPS", v.r(mean), t, t)
			p.op("VMULPS", v.r(length), t, t)
			p.op("VMULPS", v.f32("R8", c), t, t)
			p.op("VADDPS", v.f32("R9", c), t, t)
			p.op("VMOVUPS", t, v.f32("SI", c))
		}
	})
	p.ret()
}

func (v *isa) maxAbs(p *printer) {
	p.function("maxAbs"+v.suffix, "is Set.MaxAbs.", "x []float32", "largest float32")
	p.op("MOVQ", p.arg("x"), "SI")
	n := v.chunks()
	mask := 2 * n
	p.op("VBROADCASTSS", v.operand(signless), v.r(mask))
	for c := range n {
		v.zero(p, c)
	}
	v.loop(p, "x_len", func() {
		for c := range n {
			p.op(v.and, v.f32("SI", c), v.r(mask), v.r(n+c))
			p.op("VMAXPS", v.r(n+c), v.r(c), v.r(c))
		}
	})
	v.reduce(p, "VMAXPS", 0, n)
	p.op("VMOVSS", x(0), p.arg("largest"))
	p.ret()
}

func (v *isa) round16(p *printer) {
	p.function("round16"+v.suffix, "is Set.Round16.", "dst []int16, x []float32, inverse float32", "")
	p.op("MOVQ", p.arg("dst"), "DI")
	p.op("MOVQ", p.arg("x"), "SI")
	p.op("VBROADCASTSS", p.arg("inverse"), v.r(0))
	v.loop(p, "x_len", func() {
		for c := range v.chunks() {
			p.op("VMULPS", v.f32("SI", c), v.r(0), v.r(1))
			p.op("VCVTPS2DQ", v.r(1), v.r(1))
			v.store16(p, 1, 2, "VPACKSSDW", f16("DI", v, c))
		}
	})
	p.ret()
}

func (v *isa) interleave16(p *printer) {
	p.function("interleave16"+v.suffix, "is Set.Interleave16.", "dst []uint32, x []float32, inverse float32, odd bool", "")
	p.op("MOVQ", p.arg("dst"), "DI")
	p.op("MOVQ", p.arg("x"), "SI")
	p.op("VBROADCASTSS", p.arg("inverse"), v.r(0))
	p.op("VBROADCASTSS", v.operand(lowHalf), v.r(2))
	p.op("CMPB", p.arg("odd"), 0)
	p.op("JNE", "high")
	v.loop(p, "x_len", func() {
		for c := range v.chunks() {
			p.op("VMULPS", v.f32("SI", c), v.r(0), v.r(1))
			p.op("VCVTPS2DQ", v.r(1), v.r(1))
			p.op(v.and, v.r(2), v.r(1), v.r(1))
			p.op("VMOVUPS", v.r(1), v.f32("DI", c))
		}
	})
	p.ret()
	p.place("high")
	v.loop(p, "x_len", func() {
		for c := range v.chunks() {
			p.op("VMULPS", v.f32("SI", c), v.r(0), v.r(1))
			p.op("VCVTPS2DQ", v.r(1), v.r(1))
			p.op("VPSLLD", 16, v.r(1), v.r(1))
			p.op(v.or, v.f32("DI", c), v.r(1), v.r(1))
			p.op("VMOVUPS", v.r(1), v.f32("DI", c))
		}
	})
	p.ret()
}

func (v *isa) scale(p *printer) {
	p.function("scale"+v.suffix, "is Set.Scale.", "dst []float32, acc []int32, factor float32", "")
	p.op("MOVQ", p.arg("dst"), "DI")
	p.op("MOVQ", p.arg("acc"), "SI")
	p.op("VBROADCASTSS", p.arg("factor"), v.r(0))
	v.loop(p, "dst_len", func() {
		for c := range v.chunks() {
			p.op("VCVTDQ2PS", v.f32("SI", c), v.r(1))
			p.op("VMULPS", v.r(0), v.r(1), v.r(1))
			p.op("VMOVUPS", v.r(1), v.f32("DI", c))
		}
	})
	p.ret()
}

// dot multiplies the bytes, widened, with the 16-bit values in pairs. One half
// of the running sums of a block is enough; the others stay zero for reduce.
func (v *isa) dot(p *printer) {
	p.function("dot"+v.suffix, "is Set.Dot.", "a []int16, b []int8", "sum int32")
	p.op("MOVQ", p.arg("a"), "SI")
	p.op("MOVQ", p.arg("b"), "DX")
	n := v.chunks()
	for c := range n {
		v.zero(p, c)
	}
	v.loop(p, "a_len", func() {
		for c := range n / 2 {
			t := v.r(n + c)
			p.op("VPMOVSXBW", at(c*v.bytes()/2, "DX", "AX"), t)
			p.op("VPMADDWD", fmt.Sprintf("%d(SI)(AX*2)", c*v.bytes()), t, t)
			p.op("VPADDD", t, v.r(c), v.r(c))
		}
	})
	v.reduce(p, "VPADDD", 0, n)
	p.op("VMOVD", x(0), "AX")
	p.op("MOVL", "AX", p.arg("sum"))
	p.ret()
}
