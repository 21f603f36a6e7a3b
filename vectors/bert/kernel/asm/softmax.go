package main

import "math"

var (
	lowest      = float("lowest", -math.MaxFloat32)
	expFloor    = float("expFloor", -80)
	probability = float("probability", 32767)
	expFactors  = coefficients("exp", 1, 0.6931243538856506, 0.24024145305156708, 0.05590597167611122, 0.009581047110259533)
)

// score prints the pass over a row that converts its sums to float32.
func score(m machine) {
	m.function("score", "acc []int32, keyScale []float32, mask []float32", "largest float32")
	acc, keyScale, mask := m.row("acc", 4), m.row("keyScale", 4), m.row("mask", 4)
	n := chunks(m)
	for c := range n {
		m.broadcast(lowest, register(c))
	}
	m.loop("acc_len", func() {
		for c := range n {
			t := register(n + c)
			m.op("float", acc.chunk(c), t)
			m.op("mul", keyScale.chunk(c), t, t)
			m.op("add", mask.chunk(c), t, t)
			m.op("max", t, register(c), register(c))
			m.op("store", t, acc.chunk(c))
		}
	})
	m.reduce("max", 0, register(n))
	m.result(0, "largest")
	m.ret()
}

// softmax prints two passes over a row: powers of two and their sums, then
// probabilities.
func softmax(m machine) {
	m.function("softmax", "p []int16, acc []int32, valueScale []float32, largest float32, factor float32", "unit float32")
	p, acc, valueScale := m.row("p", 2), m.row("acc", 4), m.row("valueScale", 4)
	n := chunks(m)
	ones, weighted := register(0), register(n) // sums
	largest, factor, t := register(2*n), register(2*n+1), register(2*n+2)
	m.broadcast(argument("largest"), largest)
	m.broadcast(argument("factor"), factor)
	m.resident(register(2*n+6), append([]constant{expFloor}, expFactors...)...)
	zero(m, 0, 2*n)
	m.loop("acc_len", func() {
		for c := range n {
			ones, weighted := ones+register(c), weighted+register(c)
			m.op("load", acc.chunk(c), t)
			m.op("sub", largest, t, t)
			m.op("mul", factor, t, t)
			exp2(m, t, t+1, t+2)
			m.op("add", t+2, ones, ones)
			m.op("mul", valueScale.chunk(c), t+2, t+2)
			m.op("add", t+2, weighted, weighted)
			m.op("store", t+2, acc.chunk(c))
		}
	})
	m.reduce("add", ones, t)
	m.reduce("add", weighted, t)
	m.broadcast(probability, t)
	m.low("mul", t, ones, ones)
	m.low("div", ones, weighted, ones)
	m.result(ones, "unit")
	m.low("div", weighted, t, t)
	inverse := register(0)
	m.broadcast(t, inverse)
	m.loop("acc_len", func() { roundChunks(m, acc, inverse, 1, p) })
	m.ret()
}

// exp2 computes 2^f in register e. It overwrites f and n.
func exp2(m machine, f, n, e register) {
	m.op("max", expFloor, f, f)
	m.op("round", f, n)
	m.op("float", n, e)
	m.op("sub", e, f, f)
	m.op("shift", 23, n, n)
	polynomial(m, e, f, expFactors)
	m.op("addi", n, e, e)
}
