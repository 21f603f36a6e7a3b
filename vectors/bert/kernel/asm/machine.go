package main

import (
	"fmt"
	"math"
)

// lanesPerBlock is the number of elements that a loop handles at once.
const lanesPerBlock = 32

// machine is what the kernels of rows.go and softmax.go are written for: an
// instruction set with registers of several lanes of 32 bits.
//
// Operands are a [register], a [constant], an [argument], a [cell] of memory or
// an int, in the order of Go's assembler: the destination is last, and the first
// operand is the one that is subtracted or divided by. Only that one and the
// destination may be in memory.
type machine interface {
	function(name, doc, params, results string)
	ret()

	// lanes is the number of lanes of a register, and offset what an activation
	// is stored less: 128 where activations are signed bytes.
	lanes() int
	offset() int32

	// row sets a pointer to the elements of a slice, field to those of a slice
	// in the struct that an argument points to.
	row(slice string, size int) row
	field(pointer string, offset, size int) row
	// loop prints body once for each block of a row whose length is an argument.
	loop(length string, body func())

	// op prints an operation on all lanes, low one on the lowest lane.
	op(name string, operands ...any)
	low(name string, operands ...any)
	// broadcast copies a constant, an argument or a register's lowest lane to
	// all lanes.
	broadcast(from any, to register)
	// resident keeps constants in registers from first on, if there are enough.
	resident(first register, constants ...constant)
	// reduce folds the registers of a block, first …, into the lowest lane of
	// first with an operation, in the order 16+16, 8+8, 4+4, 2+2, 1+1. The
	// register temp is overwritten.
	reduce(name string, first, temp register)

	// store16 stores the int32 of a block's registers, first …, as 16-bit values,
	// storeActivations as activations. They overwrite the registers and temp.
	store16(first, temp register, to row)
	storeActivations(first, temp register, to row)

	// length sets the lowest lane to the length of a row, as a float32.
	length(argument string, to register)
	// result stores the lowest lane.
	result(from register, to argument)
	// quantisation spreads the bytes over what lies between the lowest lanes of
	// low and high: it sets the results scale and zero, and broadcasts the
	// inverse of the scale and the zero point to registers. All stay zero (the
	// zero point less the offset) unless the spread is above tinyRange.
	quantisation(low, high, spread, inverse, zero register)
	// jumpIf jumps if an argument is true.
	jumpIf(flag, label string)
	place(label string)
}

// register is a vector register.
type register int

// argument names an argument or result of the function.
type argument string

// constant is a value that stands in every lane.
type constant struct {
	name string
	bits uint32
}

func float(name string, f float32) constant { return constant{name, math.Float32bits(f)} }

func integer(name string, i int32) constant { return constant{name, uint32(i)} }

func coefficients(name string, values ...float32) []constant {
	var c []constant
	for i, v := range values {
		c = append(c, float(fmt.Sprint(name, i), v))
	}
	return c
}

// row is a general register that points to elements of so many bytes.
type row struct {
	pointer string
	size    int
}

// chunk is the part of a block of a row that fills register c of the block.
func (r row) chunk(c int) cell { return cell{r, c} }

type cell struct {
	row   row
	chunk int
}

// chunks is the number of registers that a block fills.
func chunks(m machine) int { return lanesPerBlock / m.lanes() }
