package main

import "fmt"

// A NEON tile is up to 8 rows by 8 columns; registers hold its sums and 16 bytes of
// each row of the left operand. The columns of a panel are processed 8 at a time.

// neonTile describes what differs between the tiles of the tiers.
type neonTile struct {
	left, leftStride, right, depth string                                     // argument names
	leftShift                      int                                        // log₂ of the bytes of a left element
	rows                           int                                        // maximum
	sums                           func(rows int) (first register, count int) // registers of the sums
	step                           func(rows int)
	finish                         func(r int) (first, second register) // columns 0 to 3 and 4 to 7 of row r
}

// Registers. R2 to R9 point to the rows of the left operand, or to those of the
// output.
const (
	rightRow   = "R10" // current row of the panel
	rightStep  = "R11" // bytes to the next one
	depthLeft  = "R12"
	blocksLeft = "R13"
	out        = "R14"
	outStep    = "R15"
	leftStep   = "R19"
	rightBase  = "R20"
	leftBase   = "R21"
	depth      = "R22" // in steps
)

func leftRow(r int) string { return fmt.Sprintf("R%d", 2+r) }

// print prints a function with one case for every number of rows.
func (t *neonTile) print(v *neon) {
	v.emit("MOVD", v.arg(t.left), leftBase)
	v.emit("MOVD", v.arg(t.leftStride), leftStep)
	if t.leftShift > 0 {
		v.emit("LSL", t.leftShift, leftStep)
	}
	v.emit("MOVD", v.arg("dst"), out)
	v.emit("MOVD", v.arg("dstStride"), outStep)
	v.emit("LSL", 2, outStep)
	v.emit("MOVD", v.arg(t.right), rightBase)
	v.emit("MOVD", v.arg(t.depth), depth)
	v.emit("LSR", 2, depth)
	v.emit("MOVD", v.arg("rows"), "R0")
	for rows := t.rows; rows > 1; rows-- {
		v.emit("CMP", rows, "R0")
		v.emit("BEQ", fmt.Sprintf("rows%d", rows))
	}
	for rows := 1; rows <= t.rows; rows++ {
		t.printRows(v, rows)
	}
}

// printRows prints the code for one number of rows: a loop over the column blocks of a
// panel and, inside it, one over the depth, 16 bytes of each row per step.
func (t *neonTile) printRows(v *neon, rows int) {
	v.place(fmt.Sprintf("rows%d", rows))
	next, step := v.label("columns"), v.label("step")
	v.emit("MOVD", lanesPerBlock/8, blocksLeft)
	v.place(next)
	v.emit("MOVD", leftBase, leftRow(0))
	for r := 1; r < rows; r++ {
		v.emit("ADD", leftStep, leftRow(r-1), leftRow(r))
	}
	v.emit("MOVD", rightBase, rightRow)
	v.emit("MOVD", depth, depthLeft)
	first, count := t.sums(rows)
	zero(v, first, count)
	v.place(step)
	t.step(rows)
	v.emit("SUBS", 1, depthLeft)
	v.emit("BNE", step)
	v.emit("MOVD", out, leftRow(0))
	for r := range rows {
		first, second := t.finish(r)
		v.emit("FSTPQ", fmt.Sprintf("(%s, %s)", f(first), f(second)), "("+leftRow(0)+")")
		if r+1 < rows {
			v.emit("ADD", outStep, leftRow(0))
		}
	}
	v.emit("ADD", 32, out)
	v.emit("ADD", 32, rightBase)
	v.emit("SUBS", 1, blocksLeft)
	v.emit("BNE", next)
	v.ret()
}

// loadLeft loads the next 16 bytes of row r.
func loadLeft(v *neon, r int, to register) {
	v.emit("FMOVQ.P", fmt.Sprintf("16(%s)", leftRow(r)), f(to))
}

// loadGroups loads the weights of 8 columns for consecutive groups, two registers
// for each.
func loadGroups(v *neon, first, count int, to register) {
	for g := range count {
		r := to + register(2*g)
		v.emit("FLDPQ", fmt.Sprintf("%d(%s)", (first+g)*4*lanesPerBlock, rightRow), fmt.Sprintf("(%s, %s)", f(r), f(r+1)))
	}
}

// nextGroups moves to the next 16 values of k.
func nextGroups(v *neon) { v.emit("ADD", 4*4*lanesPerBlock, rightRow) }

func (v *neon) tile8(t *neonTile) {
	v.function("tile8", "dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int", "")
	t.left, t.leftStride, t.right, t.depth = "act", "actStride", "panel", "groups"
	t.print(v)
}

// widening multiplies bytes to 16 bits, adds two of these products, which just fit
// (2 × 128 × 127), and adds them in pairs to 32-bit sums. A column's sum is in two
// lanes, a row's in four registers.
func (v *neon) widening() *neonTile {
	const left, groups, first, second, product register = 16, 20, 24, 25, 26
	return &neonTile{
		rows: 4,
		sums: func(rows int) (register, int) { return 0, 4 * rows },
		step: func(rows int) {
			for r := range rows {
				loadLeft(v, r, left+register(r))
			}
			for g := 0; g < 4; g += 2 {
				loadGroups(v, g, 2, groups)
				for r := range rows {
					v.wordLane("lane", g, first, left+register(r))
					v.wordLane("lane", g+1, second, left+register(r))
					half := []string{"", "b", "", "b"} // of columns 0 to 3, and of 4 to 7
					for i := range register(4) {
						v.word("mul8"+half[i], product+i, groups+i/2, first)
					}
					for i := range register(4) {
						v.word("madd8"+half[i], product+i, groups+2+i/2, second)
					}
					for i := range register(4) {
						v.word("addPair", register(4*r)+i, product+i)
					}
				}
			}
			nextGroups(v)
		},
		finish: func(r int) (register, register) {
			s := register(4 * r)
			v.word("pairs", s, s, s+1)
			v.word("pairs", s+2, s+2, s+3)
			return s, s + 2
		},
	}
}

// dotting multiplies four columns by a row's group with one instruction.
func (v *neon) dotting() *neonTile {
	const left, groups register = 16, 24
	return &neonTile{
		rows:   8,
		sums:   func(rows int) (register, int) { return 0, 2 * rows },
		finish: func(r int) (register, register) { return register(2 * r), register(2*r + 1) },
		step: func(rows int) {
			for r := range rows {
				loadLeft(v, r, left+register(r))
			}
			loadGroups(v, 0, 4, groups)
			nextGroups(v)
			for g := range 4 {
				for r := range rows {
					for i := range register(2) {
						v.wordLane("dotLane", g, register(2*r)+i, groups+register(2*g)+i, left+register(r))
					}
				}
			}
		},
	}
}

// matrices multiplies two rows by two columns with one instruction, eight values of k
// at a time. Four registers hold the sums of two rows. If the number of rows is odd,
// the last one is multiplied twice.
func (v *neon) matrices() *neonTile {
	const left, raw, groups register = 16, 20, 24
	return &neonTile{
		rows: 8,
		sums: func(rows int) (register, int) { return 0, (rows + 1) / 2 * 4 },
		step: func(rows int) {
			for half := range 2 {
				loadGroups(v, 2*half, 2, raw)
				for i := range register(2) {
					to := groups + register(4*half) + 2*i
					v.word("zip32", to, raw+i, raw+2+i)
					v.word("zip32b", to+1, raw+i, raw+2+i)
				}
			}
			nextGroups(v)
			for r := 0; r < rows; r += 2 {
				other := left
				loadLeft(v, r, left)
				if r+1 < rows {
					other = left + 1
					loadLeft(v, r+1, other)
				}
				v.word("zip64", left+2, left, other)
				v.word("zip64b", left+3, left, other)
				for half := range register(2) {
					for i := range register(4) {
						v.word("matrix", register(2*r)+i, left+2+half, groups+4*half+i)
					}
				}
			}
		},
		finish: func(r int) (register, register) {
			s, name := register(r/2*4), []string{"zip64", "zip64b"}[r%2]
			v.word(name, left, s, s+1)
			v.word(name, left+1, s+2, s+3)
			return left, left + 1
		},
	}
}

// tile16 separates the two values of 8 pairs and multiplies each by a lane of a row.
// Lanes must be in the first 16 registers, so the sums use the others.
func (v *neon) tile16() {
	const left, raw, even, odd, sums register = 0, 8, 10, 11, 16
	t := &neonTile{
		left: "a", leftStride: "aStride", leftShift: 1, right: "b", depth: "pairs",
		rows: 8,
		sums: func(rows int) (register, int) { return sums, 2 * rows },
		step: func(rows int) {
			for r := range rows {
				loadLeft(v, r, left+register(r))
			}
			for pair := range 4 {
				v.emit("FLDPQ", "("+rightRow+")", fmt.Sprintf("(%s, %s)", f(raw), f(raw+1)))
				v.emit("ADD", rightStep, rightRow)
				v.word("evens16", even, raw, raw+1)
				v.word("odds16", odd, raw, raw+1)
				for i, values := range []register{even, odd} {
					for r := range rows {
						s := sums + register(2*r)
						v.wordLane("maddLane", 2*pair+i, s, values, left+register(r))
						v.wordLane("maddLaneb", 2*pair+i, s+1, values, left+register(r))
					}
				}
			}
		},
		finish: func(r int) (register, register) { return sums + register(2*r), sums + register(2*r) + 1 },
	}
	v.function("tile16", "dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int", "")
	v.emit("MOVD", v.arg("bStride"), rightStep)
	v.emit("LSL", 2, rightStep)
	t.print(v)
}
