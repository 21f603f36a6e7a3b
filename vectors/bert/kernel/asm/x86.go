package main

import (
	"fmt"
	"slices"
	"strings"
)

// x86 is the machine of an amd64 tier.
type x86 struct {
	*printer
	suffix string // of function names
	width  int    // lanes of a register
	vnni   bool   // VPDPBUSD and VPDPWSSD
	rows   int    // rows of a tile

	pointers int                   // of the function
	registry map[constant]register // constants in registers
	used     []constant            // in the order of first use
}

// evex reports whether the registers are those of AVX-512: 32 of 512 bits each.
func (v *x86) evex() bool { return v.width == 16 }

var x86Operations = map[string]string{
	"load": "VMOVUPS", "store": "VMOVUPS", "mul": "VMULPS", "add": "VADDPS", "sub": "VSUBPS", "min": "VMINPS", "max": "VMAXPS",
	"round": "VCVTPS2DQ", "float": "VCVTDQ2PS", "muli": "VPMULLD", "addi": "VPADDD", "subi": "VPSUBD",
	"mini": "VPMINSD", "maxi": "VPMAXSD", "shift": "VPSLLD", "and": "VPAND", "xor": "VPXOR",
}

var x86Scalars = map[string]string{
	"mul": "VMULSS", "add": "VADDSS", "sub": "VSUBSS", "div": "VDIVSS", "sqrt": "VSQRTSS",
}

func (v *x86) function(name, params, results string) {
	v.pointers, v.registry = 0, map[constant]register{}
	v.printer.function(name+v.suffix, params, results)
}

func (v *x86) ret() {
	v.emit("VZEROUPPER")
	v.emit("RET")
}

func (v *x86) lanes() int    { return v.width }
func (v *x86) offset() int32 { return 0 }

// r returns a whole register, x its low 128 bits, y its low 256.
func (v *x86) r(i register) string {
	if v.evex() {
		return fmt.Sprintf("Z%d", i)
	}
	return y(i)
}

func x(i register) string { return fmt.Sprintf("X%d", i) }
func y(i register) string { return fmt.Sprintf("Y%d", i) }

// text returns an operand in Go's syntax.
func (v *x86) text(operand any, name func(register) string) any {
	switch o := operand.(type) {
	case register:
		return name(o)
	case constant:
		if r, ok := v.registry[o]; ok {
			return name(r)
		}
		return v.symbol(o)
	case argument:
		return v.arg(string(o))
	case cell:
		return fmt.Sprintf("%d(%s)(AX*%d)", o.chunk*v.width*o.row.size, o.row.pointer, o.row.size)
	}
	return operand
}

func (v *x86) texts(operands []any, name func(register) string) []any {
	texts := make([]any, len(operands))
	for i, o := range operands {
		texts[i] = v.text(o, name)
	}
	return texts
}

func (v *x86) op(name string, operands ...any) {
	mnemonic := x86Operations[name]
	if v.evex() && slices.Contains([]string{"and", "xor"}, name) {
		mnemonic += "D"
	}
	v.emit(mnemonic, v.texts(operands, v.r)...)
}

func (v *x86) low(name string, operands ...any) {
	if name == "sqrt" {
		operands = append(operands[:1:1], operands...)
	}
	v.emit(x86Scalars[name], v.texts(operands, x)...)
}

func (v *x86) broadcast(from any, to register) {
	v.emit("VBROADCASTSS", v.text(from, x), v.r(to))
}

func (v *x86) resident(first register, constants ...constant) {
	if !v.evex() {
		return
	}
	for i, c := range constants {
		to := first + register(i)
		v.broadcast(c, to)
		v.registry[c] = to
	}
}

// symbol returns the memory operand of a constant, which has a copy for each lane of
// 256 bits.
func (v *x86) symbol(c constant) string {
	if !slices.Contains(v.used, c) {
		v.used = append(v.used, c)
	}
	return fmt.Sprintf("%s%s<>+0(SB)", c.name, v.suffix)
}

// constants prints the data of all constants used.
func (v *x86) constants() {
	for _, c := range v.used {
		v.line("")
		for i := 0; i < 32; i += 4 {
			v.line("DATA %s%s<>+%d(SB)/4, $0x%08x", c.name, v.suffix, i, c.bits)
		}
		v.line("GLOBL %s%s<>(SB), RODATA|NOPTR, $32", c.name, v.suffix)
	}
}

func (v *x86) pointer() string {
	v.pointers++
	return []string{"DI", "SI", "R8", "R9", "R10", "R11"}[v.pointers-1]
}

func (v *x86) row(slice string, size int) row {
	p := v.pointer()
	v.emit("MOVQ", v.arg(slice), p)
	return row{p, size}
}

func (v *x86) field(pointer string, offset, size int) row {
	p := v.pointer()
	v.emit("MOVQ", v.arg(pointer), p)
	v.emit("MOVQ", mem(offset, p), p)
	return row{p, size}
}

// loop counts elements in AX.
func (v *x86) loop(length string, body func()) {
	block, check := v.label("block"), v.label("check")
	v.emit("XORL", "AX", "AX")
	v.emit("JMP", check)
	v.place(block)
	body()
	v.emit("ADDQ", lanesPerBlock, "AX")
	v.place(check)
	v.emit("CMPQ", "AX", v.arg(length))
	v.emit("JLT", block)
}

func (v *x86) reduce(name string, first, temp register) {
	op := x86Operations[name]
	if v.evex() {
		v.emit(op, v.r(first+1), v.r(first), v.r(first))
		v.emit("VEXTRACTF64X4", 1, v.r(first), y(temp))
	} else {
		v.emit(op, v.r(first+2), v.r(first), v.r(first))
		v.emit(op, v.r(first+3), v.r(first+1), v.r(temp))
	}
	v.emit(op, y(temp), y(first), y(first))
	v.emit("VEXTRACTF128", 1, y(first), x(temp))
	v.emit(op, x(temp), x(first), x(first))
	v.emit("VMOVHLPS", x(first), x(first), x(temp))
	v.emit(op, x(temp), x(first), x(first))
	v.emit("VMOVSHDUP", x(first), x(temp))
	v.emit(op, x(temp), x(first), x(first))
}

func (v *x86) store16(first, temp register, to row) { v.narrow(first, temp, to, "VPACKSSDW") }

// narrow stores 16-bit values; pack is the saturating instruction of tiers without
// AVX-512.
func (v *x86) narrow(first, temp register, to row, pack string) {
	for c := range chunks(v) {
		from, at := first+register(c), v.text(to.chunk(c), x)
		if v.evex() {
			v.emit("VPMOVDW", v.r(from), at)
			continue
		}
		v.emit("VEXTRACTI128", 1, y(from), x(temp))
		v.emit(pack, x(temp), x(from), x(from))
		v.emit("VMOVDQU", x(from), at)
	}
}

// storeActivations stores bytes, or 16-bit values if the tier multiplies those.
func (v *x86) storeActivations(first, temp register, to row) {
	if !v.vnni {
		v.narrow(first, temp, row{to.pointer, 2}, "VPACKUSDW")
		return
	}
	for c := range chunks(v) {
		from, at := first+register(c), v.text(to.chunk(c), x)
		if v.evex() {
			v.emit("VPMOVDB", v.r(from), at)
			continue
		}
		v.emit("VEXTRACTI128", 1, y(from), x(temp))
		v.emit("VPACKUSDW", x(temp), x(from), x(from))
		v.emit("VPACKUSWB", x(from), x(from), x(from))
		v.emit("VMOVQ", x(from), at)
	}
}

func (v *x86) length(argument string, to register) {
	v.emit("VXORPS", x(to), x(to), x(to))
	v.emit("VCVTSI2SSQ", v.arg(argument), x(to), x(to))
}

func (v *x86) result(from register, to argument) { v.emit("VMOVSS", x(from), v.arg(string(to))) }

func (v *x86) quantisation(low, high, spread, inverse, zero register) {
	v.low("sub", low, high, spread)
	v.op("xor", inverse, inverse, inverse)
	v.emit("XORL", "AX", "AX")
	v.emit("MOVL", 0, v.arg("scale"))
	v.emit("VUCOMISS", v.symbol(tinyRange), x(spread))
	v.emit("JLS", "flat")
	v.emit("VMOVSS", v.symbol(byteRange), x(high))
	v.low("div", spread, high, inverse)
	v.low("div", high, spread, spread)
	v.result(spread, "scale")
	v.low("mul", inverse, low, low)
	v.emit("VCVTSS2SI", x(low), "AX")
	v.emit("NEGL", "AX")
	v.place("flat")
	v.emit("MOVL", "AX", v.arg("zero"))
	v.broadcast(inverse, inverse)
	v.emit("VMOVD", "AX", x(zero))
	v.emit("VPBROADCASTD", x(zero), v.r(zero))
}

// dot multiplies the widened bytes by the 16-bit values in pairs. It uses half of a
// block's running sums; the others stay zero for reduce.
func (v *x86) dot() {
	v.function("dot", "a []int16, b []int8", "sum int32")
	a, b := v.row("a", 2), v.row("b", 1)
	n := chunks(v)
	zero(v, 0, n)
	v.loop("a_len", func() {
		for c := range n / 2 {
			t := v.r(register(n + c))
			v.emit("VPMOVSXBW", v.text(b.chunk(2*c), x), t)
			v.emit("VPMADDWD", v.text(a.chunk(2*c), x), t, t)
			v.emit("VPADDD", t, v.r(register(c)), v.r(register(c)))
		}
	})
	v.reduce("addi", 0, register(n))
	v.emit("VMOVD", x(0), "AX")
	v.emit("MOVL", "AX", v.arg("sum"))
	v.ret()
}

// signSums adds up the bits of a row plane by plane, the highest first and negated:
// with AVX-512 all words of the row at once, otherwise word by word.
func (v *x86) signSums() {
	v.function("signSums", "dst []int32, signs []uint64, planes *SignPlanes, words int, stride int", "")
	v.emit("MOVQ", v.arg("dst"), "DI")
	v.emit("MOVQ", v.arg("signs"), "SI")
	v.emit("MOVQ", v.arg("planes"), "R8")
	v.emit("MOVQ", v.arg("words"), "CX")
	v.emit("MOVQ", v.arg("stride"), "DX")
	v.emit("SHLQ", 3, "DX")
	v.emit("MOVQ", v.arg("dst_len"), "R9")
	const planes = 5
	if v.evex() {
		v.emit("MOVL", 1, "AX")
		v.emit("SHLL", "CX", "AX")
		v.emit("DECL", "AX")
		v.emit("KMOVW", "AX", "K1")
		for b := range planes {
			v.emit("VMOVDQU64", mem(64*b, "R8"), v.r(register(1+b)))
		}
	}
	v.emit("JMP", "check")
	v.place("row")
	v.emit("PREFETCHT0", mem(1024, "SI")) // a million rows take 2.3 ms instead of 6.3
	if v.evex() {
		v.emit("VMOVDQU64.Z", mem(0, "SI"), "K1", "Z0")
		for b := range planes {
			t := v.r(register(8 + b))
			v.emit("VPANDQ", v.r(register(1+b)), "Z0", t)
			v.emit("VPOPCNTQ", t, t)
		}
		sum := v.r(register(8 + planes - 1))
		for b := planes - 2; b >= 0; b-- {
			v.emit("VPADDQ", sum, sum, sum)
			if b == planes-2 {
				v.emit("VPSUBQ", sum, v.r(register(8+b)), sum)
			} else {
				v.emit("VPADDQ", v.r(register(8+b)), sum, sum)
			}
		}
		v.emit("VEXTRACTI64X4", 1, sum, "Y0")
		v.emit("VPADDQ", "Y0", y(8+planes-1), "Y0")
		v.emit("VEXTRACTI128", 1, "Y0", "X8")
		v.emit("VPADDQ", "X8", "X0", "X0")
		v.emit("VPSHUFD", 0x4E, "X0", "X8")
		v.emit("VPADDQ", "X8", "X0", "X0")
		v.emit("VMOVD", "X0", "AX")
	} else {
		sums := []string{"R11", "R12", "R13", "BX", "AX"}
		for _, sum := range sums {
			v.emit("XORL", sum, sum)
		}
		v.emit("XORL", "R10", "R10")
		v.place("word")
		for b, sum := range sums {
			v.emit("MOVQ", "0(SI)(R10*8)", "R15")
			v.emit("ANDQ", fmt.Sprintf("%d(R8)(R10*8)", 64*b), "R15")
			v.emit("POPCNTQ", "R15", "R15")
			v.emit("ADDQ", "R15", sum)
		}
		v.emit("INCQ", "R10")
		v.emit("CMPQ", "R10", "CX")
		v.emit("JLT", "word")
		v.emit("NEGQ", "AX")
		for _, sum := range []string{"BX", "R13", "R12", "R11"} {
			v.emit("LEAQ", fmt.Sprintf("0(%s)(AX*2)", sum), "AX")
		}
	}
	v.emit("ADDL", "AX", mem(0, "DI"))
	v.emit("ADDQ", 4, "DI")
	v.emit("ADDQ", "DX", "SI")
	v.emit("DECQ", "R9")
	v.place("check")
	v.emit("TESTQ", "R9", "R9")
	v.emit("JNE", "row")
	v.ret()
}

// vnniForms are the opcodes of instructions that Go's assembler supports only in EVEX
// form, VEX.256.66.0F38.W0 op /r (Intel SDM 2, VPDPBUSD and VPDPWSSD).
var vnniForms = map[string]int{"VPDPBUSD": 0x50, "VPDPWSSD": 0x52}

// dotProduct prints a VNNI instruction: to += a · b within each lane. In VPDPBUSD a
// is unsigned.
func dotProduct(v *x86, name string, b, a, to register) {
	if v.evex() {
		v.emit(name, v.r(b), v.r(a), v.r(to))
		return
	}
	rxb := 0xE0 &^ (int(to) >> 3 << 7) &^ (int(b) >> 3 << 5) // inverted high bits of the registers
	v.line("\tBYTE $0xC4; BYTE $0x%02X; BYTE $0x%02X; BYTE $0x%02X; BYTE $0x%02X // {vex} %s %%ymm%d, %%ymm%d, %%ymm%d",
		rxb|0x02, (^int(a)&15)<<3|0x05, vnniForms[name], 0xC0|int(to)&7<<3|int(b)&7, strings.ToLower(name), b, a, to)
}

// at is the memory operand offset(base)(index*1).
func at(offset int, base, index string) string {
	return fmt.Sprintf("%d(%s)(%s*1)", offset, base, index)
}

// mem is the memory operand offset(base).
func mem(offset int, base string) string {
	return fmt.Sprintf("%d(%s)", offset, base)
}
