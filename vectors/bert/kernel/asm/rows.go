package main

// Constants of package kernel: see float.go there.
var (
	tinyRange   = float("tinyRange", 1e-30)
	byteRange   = float("byteRange", 255)
	one         = float("one", 1)
	half        = float("half", 0.5)
	signless    = integer("signless", 0x7FFFFFFF)
	geluHigh    = float("geluHigh", 4.5)
	geluLow     = float("geluLow", -4.5)
	geluScale   = float("geluScale", 0.09876543283462524)
	geluFactors = coefficients("gelu",
		0.156902015209198, -0.07717247307300568, 0.05482327938079834,
		-0.04054955765604973, 0.027598027139902115, -0.01676146127283573,
		0.012272712774574757, -0.009315266273915768, 0.003313843859359622)
)

// zero clears count registers, starting at first.
func zero(m machine, first register, count int) {
	for r := first; r < first+register(count); r++ {
		m.op("xor", r, r, r)
	}
}

// polynomial prints Horner's rule: register to = c[n] x^n + … + c[0].
func polynomial(m machine, to, x register, c []constant) {
	last := len(c) - 1
	m.op("mul", c[last], x, to)
	for i := last - 1; i > 0; i-- {
		m.op("add", c[i], to, to)
		m.op("mul", x, to, to)
	}
	m.op("add", c[0], to, to)
}

func quantise(m machine) {
	m.function("quantise", "dst []byte, x []float32, smooth []float32", "scale float32, zero int32")
	dst, row, smooth := m.row("dst", 1), m.row("x", 4), m.row("smooth", 4)
	n := chunks(m)
	low, high, temp := register(0), register(n), register(2*n)
	zero(m, 0, 2*n)
	m.loop("x_len", func() {
		for c := range n {
			t, low, high := temp+register(c), low+register(c), high+register(c)
			m.op("load", row.chunk(c), t)
			m.op("mul", smooth.chunk(c), t, t)
			m.op("min", t, low, low)
			m.op("max", t, high, high)
		}
	})
	m.reduce("min", low, temp)
	m.reduce("max", high, temp)
	inverse, zeroPoint := temp+1, temp+2
	m.quantisation(low, high, temp, inverse, zeroPoint)

	// Registers below inverse are free.
	least, most, first := register(0), register(1), register(2)
	m.broadcast(integer("byteLeast", -m.offset()), least)
	m.broadcast(integer("byteMost", 255-m.offset()), most)
	m.loop("x_len", func() {
		for c := range n {
			t := first + register(c)
			m.op("load", row.chunk(c), t)
			m.op("mul", smooth.chunk(c), t, t)
			m.op("mul", inverse, t, t)
			m.op("round", t, t)
			m.op("addi", zeroPoint, t, t)
			m.op("maxi", least, t, t)
			m.op("mini", most, t, t)
		}
		m.storeActivations(first, first+register(n), dst)
	})
	m.ret()
}

// Forms of dequantise.
const plain, adding, withGELU = "dequantise", "dequantiseAdd", "dequantiseGELU"

func dequantise(m machine, kind string) {
	m.function(kind, "dst []float32, acc []int32, cols *Columns, scale float32, zero int32", "")
	dst, acc := m.row("dst", 4), m.row("acc", 4)
	sum, colScale, bias := m.field("cols", 0, 4), m.field("cols", 24, 4), m.field("cols", 48, 4)
	const scale, zero, value, t1, t2, t3, free register = 0, 1, 2, 3, 4, 5, 6
	m.broadcast(argument("scale"), scale)
	m.broadcast(argument("zero"), zero)
	if kind == withGELU {
		m.resident(free, append([]constant{geluHigh, geluLow, geluScale, one, half}, geluFactors...)...)
	}
	m.loop("dst_len", func() {
		for c := range chunks(m) {
			m.op("muli", sum.chunk(c), zero, t1)
			m.op("load", acc.chunk(c), value)
			m.op("subi", t1, value, value)
			m.op("float", value, value)
			m.op("mul", colScale.chunk(c), scale, t1)
			m.op("mul", t1, value, value)
			m.op("add", bias.chunk(c), value, value)
			switch kind {
			case adding:
				m.op("add", dst.chunk(c), value, value)
			case withGELU:
				gelu(m, value, t1, t2, t3)
			}
			m.op("store", value, dst.chunk(c))
		}
	})
	m.ret()
}

// gelu replaces the contents of a register by its GELU.
func gelu(m machine, value, u, w, p register) {
	m.op("max", geluLow, value, u)
	m.op("min", geluHigh, u, u)
	m.op("mul", u, u, w)
	m.op("mul", geluScale, w, w)
	m.op("sub", one, w, w)
	polynomial(m, p, w, geluFactors)
	m.op("mul", u, p, p)
	m.op("add", half, p, p)
	m.op("mul", p, value, value)
}

func normalise(m machine) {
	m.function("normalise", "x []float32, gamma []float32, beta []float32, epsilon float32", "")
	x, gamma, beta := m.row("x", 4), m.row("gamma", 4), m.row("beta", 4)
	n := chunks(m)
	temp, mean, length := register(n), register(2*n), register(2*n+1)
	m.length("x_len", length)

	zero(m, 0, n)
	m.loop("x_len", func() {
		for c := range n {
			m.op("add", x.chunk(c), register(c), register(c))
		}
	})
	m.reduce("add", 0, temp)
	m.low("div", length, register(0), register(0))
	m.broadcast(register(0), mean)

	zero(m, 0, n)
	m.loop("x_len", func() {
		for c := range n {
			t := temp + register(c)
			m.op("load", x.chunk(c), t)
			m.op("sub", mean, t, t)
			m.op("mul", t, t, t)
			m.op("add", t, register(c), register(c))
		}
	})
	m.reduce("add", 0, temp)
	m.low("div", length, register(0), register(0))
	m.low("add", argument("epsilon"), register(0), register(0))
	m.low("sqrt", register(0), register(0))
	m.broadcast(one, temp)
	m.low("div", register(0), temp, register(0))
	inverse := length
	m.broadcast(register(0), inverse)

	m.loop("x_len", func() {
		for c := range n {
			t := temp + register(c)
			m.op("load", x.chunk(c), t)
			m.op("sub", mean, t, t)
			m.op("mul", inverse, t, t)
			m.op("mul", gamma.chunk(c), t, t)
			m.op("add", beta.chunk(c), t, t)
			m.op("store", t, x.chunk(c))
		}
	})
	m.ret()
}

func maxAbs(m machine) {
	m.function("maxAbs", "x []float32", "largest float32")
	x := m.row("x", 4)
	n := chunks(m)
	mask := register(2 * n)
	m.broadcast(signless, mask)
	zero(m, 0, n)
	m.loop("x_len", func() {
		for c := range n {
			t := register(n + c)
			m.op("and", x.chunk(c), mask, t)
			m.op("max", t, register(c), register(c))
		}
	})
	m.reduce("max", 0, register(n))
	m.result(0, "largest")
	m.ret()
}

func round16(m machine) {
	m.function("round16", "dst []int16, x []float32, inverse float32", "")
	dst, x := m.row("dst", 2), m.row("x", 4)
	const inverse, first register = 0, 1
	m.broadcast(argument("inverse"), inverse)
	m.loop("x_len", func() { roundChunks(m, x, inverse, first, dst) })
	m.ret()
}

// roundChunks stores a block of x × factor, rounded to 16-bit values.
func roundChunks(m machine, x row, factor, first register, dst row) {
	n := chunks(m)
	for c := range n {
		t := first + register(c)
		m.op("mul", x.chunk(c), factor, t)
		m.op("round", t, t)
	}
	m.store16(first, first+register(n), dst)
}
