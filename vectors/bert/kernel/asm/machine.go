package main

import (
	"fmt"
	"math"
)

// lanesPerBlock is the number of elements that a loop iteration processes.
const lanesPerBlock = 32

// machine is the target of the kernels in rows.go and softmax.go: an instruction set
// whose registers have several lanes of 32 bits.
//
// Operands are a [register], a [constant], an [argument], a [cell] of memory or an
// int, in the order of Go's assembler: the destination is last, and the first operand
// is the subtrahend or divisor. Only the first operand and the destination may be in
// memory.
type machine interface {
	function(name, params, results string)
	ret()

	// lanes is the number of lanes of a register; offset is the amount subtracted
	// from stored activations: 128 where they are signed bytes.
	lanes() int
	offset() int32

	// row sets a pointer to the elements of a slice, field to those of a slice
	// in the struct that an argument points to.
	row(slice string, size int) row
	field(pointer string, offset, size int) row
	// loop prints body, to run for each block of a row whose length is an argument.
	loop(length string, body func())

	// op prints an operation on all lanes, low on the lowest lane only.
	op(name string, operands ...any)
	low(name string, operands ...any)
	// broadcast copies a constant, an argument or a register's lowest lane to
	// all lanes.
	broadcast(from any, to register)
	// resident keeps constants in registers starting at first, if there are enough.
	resident(first register, constants ...constant)
	// reduce folds the registers of a block, starting at first, into the lowest lane
	// of first with an operation, in the order 16+16, 8+8, 4+4, 2+2, 1+1. temp is
	// overwritten.
	reduce(name string, first, temp register)

	// store16 stores the int32 values of a block's registers, starting at first, as
	// 16-bit values, storeActivations as activations. Both overwrite the registers
	// and temp.
	store16(first, temp register, to row)
	storeActivations(first, temp register, to row)

	// length sets the lowest lane to the length of a row, as a float32.
	length(argument string, to register)
	// result stores the lowest lane.
	result(from register, to argument)
	// quantisation maps the range between the lowest lanes of low and high to a byte:
	// it sets the results scale and zero, and broadcasts the inverse of the scale and
	// the zero point to registers. All are zero (the zero point minus the offset)
	// unless the spread is above tinyRange.
	quantisation(low, high, spread, inverse, zero register)
}

// register is a vector register.
type register int

// argument names an argument or result of the function.
type argument string

// constant is a value that is the same in every lane.
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

// row is a general register that points to elements of size bytes.
type row struct {
	pointer string
	size    int
}

// chunk is the part of the current block that register c of the block holds.
func (r row) chunk(c int) cell { return cell{r, c} }

type cell struct {
	row   row
	chunk int
}

// chunks is the number of registers that a block fills.
func chunks(m machine) int { return lanesPerBlock / m.lanes() }
