package main

import (
	"fmt"
	"math"
	"slices"
)

// isa is what the two tiers differ in.
type isa struct {
	suffix   string // of function names
	file     string
	lanes    int // float32 in a register
	prefix   string
	rows     int  // rows of a tile
	resident bool // constants are kept in registers

	and, or, xor string

	used []constant // in the order of first use
}

var (
	avx2 = &isa{
		suffix: "AVX2", file: "avx2_amd64.s", lanes: 8, prefix: "Y", rows: 6,
		and: "VPAND", or: "VPOR", xor: "VPXOR",
	}
	avx512 = &isa{
		suffix: "AVX512VNNI", file: "avx512vnni_amd64.s", lanes: 16, prefix: "Z", rows: 12, resident: true,
		and: "VPANDD", or: "VPORD", xor: "VPXORD",
	}
)

// lanesPerBlock is the number of elements that a loop handles at once.
const lanesPerBlock = 32

// chunks is the number of registers for a block.
func (v *isa) chunks() int { return lanesPerBlock / v.lanes }

// bytes is the size of a register.
func (v *isa) bytes() int { return 4 * v.lanes }

// r is a vector register.
func (v *isa) r(i int) string { return fmt.Sprintf("%s%d", v.prefix, i) }

// x is the low 128 bits of a register, y the low 256.
func x(i int) string { return fmt.Sprintf("X%d", i) }
func y(i int) string { return fmt.Sprintf("Y%d", i) }

// constant is a value that stands in every lane.
type constant struct {
	name string
	bits uint32
}

func float(name string, f float32) constant { return constant{name, math.Float32bits(f)} }

func integer(name string, i int32) constant { return constant{name, uint32(i)} }

// operand returns the memory operand of a constant, with a copy for each lane
// of 256 bits.
func (v *isa) operand(c constant) string {
	if !slices.Contains(v.used, c) {
		v.used = append(v.used, c)
	}
	return fmt.Sprintf("%s%s<>+0(SB)", c.name, v.suffix)
}

// pool hands out operands for constants: registers from first on where the
// tier has enough of them, memory otherwise.
type pool struct {
	isa  *isa
	regs map[constant]string
}

func (v *isa) pool(p *printer, first int, constants ...constant) *pool {
	c := &pool{v, map[constant]string{}}
	if v.resident {
		for i, k := range constants {
			c.regs[k] = v.r(first + i)
			p.op("VBROADCASTSS", v.operand(k), v.r(first+i))
		}
	}
	return c
}

func (c *pool) get(k constant) string {
	if r, ok := c.regs[k]; ok {
		return r
	}
	return c.isa.operand(k)
}

// constants prints the data of the constants that were used.
func (v *isa) constants(p *printer) {
	for _, c := range v.used {
		p.line("")
		for i := 0; i < 32; i += 4 {
			p.line("DATA %s%s<>+%d(SB)/4, $0x%08x", c.name, v.suffix, i, c.bits)
		}
		p.line("GLOBL %s%s<>(SB), RODATA|NOPTR, $32", c.name, v.suffix)
	}
}

// loop prints body once for each block of a row of n elements, n being an
// argument such as "x_len". AX counts elements.
func (v *isa) loop(p *printer, n string, body func()) {
	label := p.label("block")
	p.op("XORL", "AX", "AX")
	p.place(label)
	body()
	p.op("ADDQ", lanesPerBlock, "AX")
	p.op("CMPQ", "AX", p.arg(n))
	p.op("JLT", label)
}

// f32 is the memory operand of chunk c of a block of a row of 4-byte elements.
func (v *isa) f32(base string, c int) string {
	return fmt.Sprintf("%d(%s)(AX*4)", c*v.bytes(), base)
}

// f16 is the memory operand of chunk c of a block of a row of 2-byte elements.
func f16(base string, v *isa, c int) string {
	return fmt.Sprintf("%d(%s)(AX*2)", c*v.bytes()/2, base)
}

// zero clears a register.
func (v *isa) zero(p *printer, i int) { p.op(v.xor, v.r(i), v.r(i), v.r(i)) }

// reduce folds the chunks in registers first … into the lowest lane of X(first)
// with op, in the order 16+16, 8+8, 4+4, 2+2, 1+1. temp is overwritten.
func (v *isa) reduce(p *printer, op string, first, temp int) {
	switch v.chunks() {
	case 2:
		p.op(op, v.r(first+1), v.r(first), v.r(first))
		p.op("VEXTRACTF64X4", 1, v.r(first), y(temp))
	case 4:
		p.op(op, v.r(first+2), v.r(first), v.r(first))
		p.op(op, v.r(first+3), v.r(first+1), v.r(temp))
	}
	p.op(op, y(temp), y(first), y(first))
	p.op("VEXTRACTF128", 1, y(first), x(temp))
	p.op(op, x(temp), x(first), x(first))
	p.op("VMOVHLPS", x(first), x(first), x(temp))
	p.op(op, x(temp), x(first), x(first))
	p.op("VMOVSHDUP", x(first), x(temp))
	p.op(op, x(temp), x(first), x(first))
}

// store16 stores the int32 of a register as 16-bit values. temp is
// overwritten. pack is the saturating instruction of the narrower tier.
func (v *isa) store16(p *printer, from, temp int, pack, to string) {
	if v.lanes == 16 {
		p.op("VPMOVDW", v.r(from), to)
		return
	}
	p.op("VEXTRACTI128", 1, y(from), x(temp))
	p.op(pack, x(temp), x(from), x(from))
	p.op("VMOVDQU", x(from), to)
}
