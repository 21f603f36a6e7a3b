package main

import "fmt"

// neon is the machine of an arm64 tier. Activations are signed bytes, because not
// every CPU can multiply unsigned ones by weights.
//
// R0 counts elements, R1 to R8 point to rows and R9 to R16 to their current blocks;
// R19, R20, V30 and V31 are scratch registers.
type neon struct {
	*printer
	suffix string // of function names

	pointers int                   // of the function
	registry map[constant]register // constants in registers
	blocks   map[string]bool       // rows whose pointer to the current block is set
}

const (
	firstScratch, secondScratch register = 30, 31
	activationOffset                     = 128
)

// instruction is one that Go's assembler does not support: its encoding without
// registers, and its GNU syntax. Register numbers start at bits 0, 5 and 16.
type instruction struct {
	bits uint32
	text string
}

var instructions = map[string]instruction{
	"mul":     {0x6E20DC00, "fmul v%d.4s, v%d.4s, v%d.4s"},
	"add":     {0x4E20D400, "fadd v%d.4s, v%d.4s, v%d.4s"},
	"sub":     {0x4EA0D400, "fsub v%d.4s, v%d.4s, v%d.4s"},
	"min":     {0x4EA0F400, "fmin v%d.4s, v%d.4s, v%d.4s"},
	"max":     {0x4E20F400, "fmax v%d.4s, v%d.4s, v%d.4s"},
	"muli":    {0x4EA09C00, "mul v%d.4s, v%d.4s, v%d.4s"},
	"addi":    {0x4EA08400, "add v%d.4s, v%d.4s, v%d.4s"},
	"subi":    {0x6EA08400, "sub v%d.4s, v%d.4s, v%d.4s"},
	"mini":    {0x4EA06C00, "smin v%d.4s, v%d.4s, v%d.4s"},
	"maxi":    {0x4EA06400, "smax v%d.4s, v%d.4s, v%d.4s"},
	"and":     {0x4E201C00, "and v%d.16b, v%d.16b, v%d.16b"},
	"xor":     {0x6E201C00, "eor v%d.16b, v%d.16b, v%d.16b"},
	"round":   {0x4E21A800, "fcvtns v%d.4s, v%d.4s"},
	"float":   {0x4E21D800, "scvtf v%d.4s, v%d.4s"},
	"shift":   {0x4F205400, "shl v%d.4s, v%d.4s, #%d"},
	"halves":  {0x6E004000, "ext v%d.16b, v%d.16b, v%d.16b, #8"},
	"evens16": {0x4E401800, "uzp1 v%d.8h, v%d.8h, v%d.8h"},
	"odds16":  {0x4E405800, "uzp2 v%d.8h, v%d.8h, v%d.8h"},
	"evens8":  {0x4E001800, "uzp1 v%d.16b, v%d.16b, v%d.16b"},
	"zip32":   {0x4E803800, "zip1 v%d.4s, v%d.4s, v%d.4s"},
	"zip32b":  {0x4E807800, "zip2 v%d.4s, v%d.4s, v%d.4s"},
	"zip64":   {0x4EC03800, "zip1 v%d.2d, v%d.2d, v%d.2d"},
	"zip64b":  {0x4EC07800, "zip2 v%d.2d, v%d.2d, v%d.2d"},
	"pairs":   {0x4EA0BC00, "addp v%d.4s, v%d.4s, v%d.4s"},
	"widen":   {0x0F08A400, "sxtl v%d.8h, v%d.8b"},
	"widenb":  {0x4F08A400, "sxtl2 v%d.8h, v%d.16b"},
	"mul8":    {0x0E20C000, "smull v%d.8h, v%d.8b, v%d.8b"},
	"mul8b":   {0x4E20C000, "smull2 v%d.8h, v%d.16b, v%d.16b"},
	"madd8":   {0x0E208000, "smlal v%d.8h, v%d.8b, v%d.8b"},
	"madd8b":  {0x4E208000, "smlal2 v%d.8h, v%d.16b, v%d.16b"},
	"madd16":  {0x0E608000, "smlal v%d.4s, v%d.4h, v%d.4h"},
	"madd16b": {0x4E608000, "smlal2 v%d.4s, v%d.8h, v%d.8h"},
	"addPair": {0x4E606800, "sadalp v%d.4s, v%d.8h"},
	"matrix":  {0x4E80A400, "smmla v%d.4s, v%d.16b, v%d.16b"},

	// With a lane of the last register.
	"dotLane":   {0x4F80E000, "sdot v%d.4s, v%d.16b, v%d.4b[%d]"},
	"maddLane":  {0x0F402000, "smlal v%d.4s, v%d.4h, v%d.h[%d]"},
	"maddLaneb": {0x4F402000, "smlal2 v%d.4s, v%d.8h, v%d.h[%d]"},
	"lane":      {0x4E040400, "dup v%d.4s, v%d.s[%d]"},
}

// word prints such an instruction with the given registers or number.
func (v *neon) word(name string, registers ...register) {
	v.encode(instructions[name], 0, registers)
}

// wordLane is word with a lane of the last register.
func (v *neon) wordLane(name string, lane int, registers ...register) {
	bits := uint32(lane&1)<<20 | uint32(lane>>1&1)<<21 | uint32(lane>>2)<<11 // 16 bits wide: M, L, H
	switch name {
	case "dotLane":
		bits = uint32(lane&1)<<21 | uint32(lane>>1)<<11 // L, H
	case "lane":
		bits = uint32(lane) << 19 // imm5
	}
	v.encode(instructions[name], bits, registers, lane)
}

func (v *neon) encode(i instruction, bits uint32, registers []register, values ...any) {
	bits |= i.bits
	var texts []any
	for n, r := range registers {
		bits |= uint32(r) << []int{0, 5, 16}[n]
		texts = append(texts, int(r))
	}
	v.line("\tWORD $0x%08x // %s", bits, fmt.Sprintf(i.text, append(texts, values...)...))
}

func (v *neon) function(name, params, results string) {
	v.pointers, v.registry = 0, map[constant]register{}
	v.printer.function(name+v.suffix, params, results)
}

func (v *neon) ret()          { v.emit("RET") }
func (v *neon) lanes() int    { return 4 }
func (v *neon) offset() int32 { return activationOffset }

// f returns Go's name of a vector register for scalars and whole loads.
func f(r register) string { return fmt.Sprintf("F%d", r) }

func (v *neon) row(slice string, size int) row {
	v.pointers++
	p := fmt.Sprintf("R%d", v.pointers)
	v.emit("MOVD", v.arg(slice), p)
	return row{p, size}
}

func (v *neon) field(pointer string, offset, size int) row {
	r := v.row(pointer, size)
	v.emit("MOVD", fmt.Sprintf("%d(%s)", offset, r.pointer), r.pointer)
	return r
}

func (v *neon) loop(length string, body func()) {
	block, check := v.label("block"), v.label("check")
	v.emit("MOVD", v.arg(length), "R19")
	v.emit("MOVD", "ZR", "R0")
	v.emit("B", check)
	v.place(block)
	v.blocks = map[string]bool{}
	body()
	v.emit("ADD", lanesPerBlock, "R0")
	v.place(check)
	v.emit("CMP", "R19", "R0")
	v.emit("BLT", block)
}

// memory returns the operand of a cell. For the first cell of a row it prints the
// instruction that points to the block.
func (v *neon) memory(c cell) string {
	var number int
	fmt.Sscanf(c.row.pointer, "R%d", &number)
	at := fmt.Sprintf("R%d", number+8)
	if !v.blocks[at] {
		v.blocks[at] = true
		v.emit("ADD", fmt.Sprintf("R0<<%d", map[int]int{1: 0, 2: 1, 4: 2}[c.row.size]), c.row.pointer, at)
	}
	return fmt.Sprintf("%d(%s)", c.chunk*v.lanes()*c.row.size, at)
}

// source returns the register of an operand, after loading it to a scratch register
// if it is in memory.
func (v *neon) source(operand any, scratch register) register {
	switch o := operand.(type) {
	case register:
		return o
	case cell:
		v.emit("FMOVQ", v.memory(o), f(scratch))
		return scratch
	case constant:
		if r, ok := v.registry[o]; ok {
			return r
		}
	}
	v.broadcast(operand, scratch)
	return scratch
}

func (v *neon) op(name string, operands ...any) {
	switch name {
	case "load":
		v.emit("FMOVQ", v.memory(operands[0].(cell)), f(operands[1].(register)))
		return
	case "store":
		v.emit("FMOVQ", f(operands[0].(register)), v.memory(operands[1].(cell)))
		return
	case "shift":
		v.word(name, operands[2].(register), operands[1].(register), register(operands[0].(int)))
		return
	}
	registers := []register{operands[len(operands)-1].(register)}
	for i := len(operands) - 2; i >= 0; i-- {
		registers = append(registers, v.source(operands[i], secondScratch))
	}
	v.word(name, registers...)
}

func (v *neon) low(name string, operands ...any) {
	texts := make([]any, len(operands))
	for i, o := range operands {
		texts[i] = f(v.source(o, secondScratch))
	}
	v.emit(map[string]string{"mul": "FMULS", "add": "FADDS", "sub": "FSUBS", "div": "FDIVS", "sqrt": "FSQRTS"}[name], texts...)
}

func (v *neon) broadcast(from any, to register) {
	switch o := from.(type) {
	case constant:
		v.emit("MOVD", fmt.Sprintf("$0x%08x", o.bits), "R20")
		v.emit("VDUP", "R20", fmt.Sprintf("V%d.S4", to))
	case argument:
		v.emit("FMOVS", v.arg(string(o)), f(to))
		v.wordLane("lane", 0, to, to)
	case register:
		v.wordLane("lane", 0, to, o)
	}
}

func (v *neon) resident(first register, constants ...constant) {
	for i, c := range constants {
		to := first + register(i)
		v.broadcast(c, to)
		v.registry[c] = to
	}
}

func (v *neon) reduce(name string, first, temp register) {
	for half := register(chunks(v) / 2); half > 0; half /= 2 {
		for i := range half {
			v.word(name, first+i, first+i, first+i+half)
		}
	}
	v.word("halves", temp, first, first)
	v.word(name, first, first, temp)
	v.wordLane("lane", 1, temp, first)
	v.word(name, first, first, temp)
}

// narrow packs pairs of registers, starting at first, into the first of each pair.
func (v *neon) narrow(name string, first, distance, count register) {
	for i := first; i < first+count; i += 2 * distance {
		v.word(name, i, i, i+distance)
	}
}

func (v *neon) store16(first, _ register, to row) {
	v.narrow("evens16", first, 1, 8)
	for i := range register(4) {
		v.op("store", first+2*i, to.chunk(2*int(i)))
	}
}

func (v *neon) storeActivations(first, _ register, to row) {
	v.narrow("evens16", first, 1, 8)
	v.narrow("evens8", first, 2, 8)
	for i := range register(2) {
		v.op("store", first+4*i, to.chunk(4*int(i)))
	}
}

func (v *neon) length(argument string, to register) {
	v.emit("MOVD", v.arg(argument), "R20")
	v.emit("SCVTFS", "R20", f(to))
}

func (v *neon) result(from register, to argument) { v.emit("FMOVS", f(from), v.arg(string(to))) }

func (v *neon) quantisation(low, high, spread, inverse, zero register) {
	v.low("sub", low, high, spread)
	v.op("xor", inverse, inverse, inverse)
	v.emit("MOVD", "ZR", "R0")
	v.result(inverse, "scale")
	v.broadcast(tinyRange, zero)
	v.emit("FCMPS", f(zero), f(spread))
	v.emit("BLE", "flat")
	v.broadcast(byteRange, high)
	v.low("div", spread, high, inverse)
	v.low("div", high, spread, spread)
	v.result(spread, "scale")
	v.low("mul", inverse, low, low)
	v.emit("FRINTNS", f(low), f(low))
	v.emit("FCVTZSSW", f(low), "R0")
	v.place("flat")
	v.emit("NEG", "R0", "R0")
	v.emit("SUB", activationOffset, "R0")
	v.emit("MOVW", "R0", v.arg("zero"))
	v.broadcast(inverse, inverse)
	v.emit("VDUP", "R0", fmt.Sprintf("V%d.S4", zero))
}

// dot widens the bytes. Each register of a block holds one running sum.
func (v *neon) dot() {
	v.function("dot", "a []int16, b []int8", "sum int32")
	a, b := v.row("a", 2), v.row("b", 1)
	zero(v, 0, 8)
	const bytes, low, high, left, right register = 16, 17, 18, 19, 20
	v.loop("a_len", func() {
		for half := range 2 {
			sum := register(4 * half)
			v.op("load", b.chunk(4*half), bytes)
			v.word("widen", low, bytes)
			v.word("widenb", high, bytes)
			v.op("load", a.chunk(4*half), left)
			v.op("load", a.chunk(4*half+2), right)
			v.word("madd16", sum, low, left)
			v.word("madd16b", sum+1, low, left)
			v.word("madd16", sum+2, high, right)
			v.word("madd16b", sum+3, high, right)
		}
	})
	v.reduce("addi", 0, bytes)
	v.result(0, "sum")
	v.ret()
}
