package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	// Panel is the number of columns that a tile computes at once: two 512-bit
	// registers.
	Panel = 32
	// Group is the number of consecutive k in one 32-bit lane of VPDPBUSD.
	Group = 4
	// Lanes is the number of running sums of a row. Every row length is a multiple of
	// it.
	Lanes = 32
	// MaxK bounds the length of a dot product so that the largest sum,
	// 255 × 127 × k, stays far inside an int32.
	MaxK = 1 << 15
)

// Pack returns w, a matrix of n output columns with k consecutive values each
// ([n][k], as checkpoints store a linear layer), in the order that the tiles read:
// [n/Panel][k/Group][Panel][Group]. The values must be in -127 to 127, so that the
// sum of two products with signed bytes, which tier "neon" forms, fits 16 bits.
func Pack(w []int8, n, k int) ([]int8, error) {
	if n%Panel != 0 || k%Lanes != 0 || k > MaxK || len(w) != n*k {
		return nil, fmt.Errorf("kernel: cannot pack %d values as %d columns of %d: columns come in %ds, rows in %ds",
			len(w), n, k, Panel, Lanes)
	}
	if slices.Contains(w, math.MinInt8) {
		return nil, errors.New("kernel: cannot pack a weight of -128: the least is -127")
	}
	packed := make([]int8, 0, n*k)
	for panel := 0; panel < n; panel += Panel {
		for group := 0; group < k; group += Group {
			for column := panel; column < panel+Panel; column++ {
				at := column*k + group
				packed = append(packed, w[at:at+Group]...)
			}
		}
	}
	return packed, nil
}

// SignWords is the number of words of a [SignPlanes].
const SignWords = 8

// SignPlanes holds five-bit numbers in two's complement, one bit per plane: bit b of
// number 64*w + i is bit i of word w of plane b.
type SignPlanes [5][SignWords]uint64
