package main

import "fmt"

// A tile keeps its sums in the registers from 0 on, two for each row. Rows of
// the left operand are addressed from a base for each four of them; its values
// are broadcast, one lane at a time, and multiplied by a row of the panel.

// Registers. Those of the left operand are free once its loop has ended and
// then serve the output. AX points to the output, R15 to the panel's columns,
// R14 to its current row; R10 is the step from one row to the next.
var (
	leftBases = []string{"SI", "R8", "R9"} // rows 0, 4 and 8
	outBases  = []string{"AX", "R8", "R9"}
)

const (
	leftOne, leftThree = "BX", "DX" // strides
	outOne, outThree   = "CX", "SI"
	depthCounter       = "CX"
	columnCounter      = "DI"
)

// row is the memory operand of row r, given its bases and the registers of one
// and of three strides.
func row(bases []string, offset, r int, one, three string) string {
	base := bases[r/4]
	switch r % 4 {
	case 1:
		return fmt.Sprintf("%d(%s)(%s*1)", offset, base, one)
	case 2:
		return fmt.Sprintf("%d(%s)(%s*2)", offset, base, one)
	case 3:
		return fmt.Sprintf("%d(%s)(%s*1)", offset, base, three)
	}
	return fmt.Sprintf("%d(%s)", offset, base)
}

// setBases points bases[1:] at rows 4 and 8, as far as there are so many rows.
func setBases(p *printer, bases []string, rows int, stride string) {
	for i := 1; i*4 < rows; i++ {
		p.op("LEAQ", fmt.Sprintf("(%s)(%s*4)", bases[i-1], stride), bases[i])
	}
}

// tile is what tile8 and tile16 differ in.
type tile struct {
	left, leftStride string // argument names
	right            string
	depth            string // argument: number of steps
	leftShift        int    // log₂ of the bytes of a left element
	step             int    // bytes of left that a step takes
	columns          int    // columns in two registers
	rightBytes       int    // bytes of a panel's row that they take
	multiply         func(p *printer, r int)
	load             func(p *printer)
	broadcast        string
	finish           func(p *printer, r int) // adds up the two registers of row r into the first
	setStep          func(p *printer)        // sets R10
}

// print prints a function with code for every number of rows.
func (t *tile) print(p *printer, v *isa) {
	p.op("MOVQ", p.arg(t.leftStride), leftOne)
	if t.leftShift > 0 {
		p.op("SHLQ", t.leftShift, leftOne)
	}
	p.op("LEAQ", fmt.Sprintf("(%s)(%s*2)", leftOne, leftOne), leftThree)
	p.op("MOVQ", p.arg("dst"), "AX")
	p.op("MOVQ", p.arg(t.right), "R15")
	t.setStep(p)
	p.op("MOVQ", p.arg("rows"), "CX")
	for rows := v.rows; rows > 1; rows-- {
		p.op("CMPQ", "CX", rows)
		p.op("JEQ", fmt.Sprintf("rows%d", rows))
	}
	for rows := 1; rows <= v.rows; rows++ {
		t.rows(p, v, rows)
	}
}

// rows prints the code for one number of rows: a loop over the column blocks
// of a panel, and in it one over the depth.
func (t *tile) rows(p *printer, v *isa, rows int) {
	p.place(fmt.Sprintf("rows%d", rows))
	blocks := lanesPerBlock / t.columns
	next, step := p.label("columns"), p.label("step")
	if blocks > 1 {
		p.op("MOVQ", blocks, columnCounter)
		p.place(next)
	}
	p.op("MOVQ", p.arg(t.left), leftBases[0])
	setBases(p, leftBases, rows, leftOne)
	for i := range 2 * rows {
		v.zero(p, i)
	}
	p.op("MOVQ", p.arg(t.depth), depthCounter)
	p.op("MOVQ", "R15", "R14")
	p.place(step)
	t.load(p)
	p.op("ADDQ", "R10", "R14")
	for r := range rows {
		p.op(t.broadcast, row(leftBases, 0, r, leftOne, leftThree), v.r(t.broadcastReg(v, r)))
		t.multiply(p, r)
	}
	for i := 0; i*4 < rows; i++ {
		p.op("ADDQ", t.step, leftBases[i])
	}
	p.op("DECQ", depthCounter)
	p.op("JNZ", step)
	t.store(p, v, rows)
	if blocks > 1 {
		p.op("ADDQ", 4*t.columns, outBases[0])
		p.op("ADDQ", t.rightBytes, "R15")
		p.op("DECQ", columnCounter)
		p.op("JNZ", next)
	}
	p.ret()
}

func (t *tile) store(p *printer, v *isa, rows int) {
	p.op("MOVQ", p.arg("dstStride"), outOne)
	p.op("SHLQ", 2, outOne)
	p.op("LEAQ", fmt.Sprintf("(%s)(%s*2)", outOne, outOne), outThree)
	setBases(p, outBases, rows, outOne)
	for r := range rows {
		first := row(outBases, 0, r, outOne, outThree)
		if t.finish != nil { // one register is left
			t.finish(p, r)
			p.op("VMOVUPS", v.r(2*r), first)
			continue
		}
		p.op("VMOVUPS", v.r(2*r), first)
		p.op("VMOVUPS", v.r(2*r+1), row(outBases, v.bytes(), r, outOne, outThree))
	}
}

// broadcastReg is the register that a row's value is broadcast to: always the
// same one where there are few, in turn where there are enough.
func (t *tile) broadcastReg(v *isa, r int) int {
	if v.lanes == 16 {
		return 26 + r%6
	}
	return 14
}

// Registers of the panel's row, after the sums.
func (v *isa) panelReg() int { return 2 * v.rows }

func (v *isa) tile8(p *printer) {
	p.function("tile8"+v.suffix, "computes up to "+fmt.Sprint(v.rows)+" rows of a panel's columns.",
		"dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int", "")
	w := v.panelReg()
	t := &tile{
		left: "act", leftStride: "actStride", right: "panel", depth: "groups",
		setStep: func(p *printer) { p.op("MOVQ", 128, "R10") },
	}
	if v.lanes == 16 {
		t.step, t.columns, t.broadcast = 4, 32, "VPBROADCASTD"
		t.load = func(p *printer) {
			p.op("VMOVDQU32", mem(0, "R14"), v.r(w))
			p.op("VMOVDQU32", mem(64, "R14"), v.r(w+1))
		}
		t.multiply = func(p *printer, r int) {
			b := v.r(t.broadcastReg(v, r))
			p.op("VPDPBUSD", v.r(w), b, v.r(2*r))
			p.op("VPDPBUSD", v.r(w+1), b, v.r(2*r+1))
		}
	} else {
		// Activations take two bytes each; weights are widened on loading. A
		// register holds four columns' sums, each in two halves.
		t.step, t.columns, t.rightBytes, t.broadcast = 8, 8, 32, "VPBROADCASTQ"
		t.load = func(p *printer) {
			p.op("VPMOVSXBW", mem(0, "R14"), v.r(w))
			p.op("VPMOVSXBW", mem(16, "R14"), v.r(w+1))
		}
		t.multiply = v.multiplyAdd
		t.finish = func(p *printer, r int) {
			p.op("VPHADDD", v.r(2*r+1), v.r(2*r), v.r(2*r))
			p.op("VPERMQ", 0xD8, v.r(2*r), v.r(2*r))
		}
	}
	t.print(p, v)
}

// multiplyAdd adds the products of row r, which is in register 14, with the
// panel's registers.
func (v *isa) multiplyAdd(p *printer, r int) {
	w := v.panelReg()
	p.op("VPMADDWD", v.r(w), v.r(14), v.r(15))
	p.op("VPADDD", v.r(15), v.r(2*r), v.r(2*r))
	p.op("VPMADDWD", v.r(w+1), v.r(14), v.r(14))
	p.op("VPADDD", v.r(14), v.r(2*r+1), v.r(2*r+1))
}

func (v *isa) tile16(p *printer) {
	p.function("tile16"+v.suffix, "computes up to "+fmt.Sprint(v.rows)+" rows of 32 columns of pairs.",
		"dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int", "")
	w := v.panelReg()
	t := &tile{
		left: "a", leftStride: "aStride", right: "b", depth: "pairs",
		leftShift: 1, step: 4, columns: 2 * v.lanes, rightBytes: 8 * v.lanes,
		broadcast: "VPBROADCASTD",
		setStep: func(p *printer) {
			p.op("MOVQ", p.arg("bStride"), "R10")
			p.op("SHLQ", 2, "R10")
		},
	}
	t.load = func(p *printer) {
		p.op("VMOVUPS", mem(0, "R14"), v.r(w))
		p.op("VMOVUPS", mem(v.bytes(), "R14"), v.r(w+1))
	}
	t.multiply = v.multiplyAdd
	if v.lanes == 16 {
		t.multiply = func(p *printer, r int) {
			b := v.r(t.broadcastReg(v, r))
			p.op("VPDPWSSD", v.r(w), b, v.r(2*r))
			p.op("VPDPWSSD", v.r(w+1), b, v.r(2*r+1))
		}
	}
	t.print(p, v)
}
