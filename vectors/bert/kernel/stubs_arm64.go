// Code printed by the program in folder asm. DO NOT EDIT.

//go:build arm64 && !purego

package kernel

// tile8NEON computes up to 4 rows of a panel's columns.
//
//go:noescape
func tile8NEON(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

// tile16NEON computes up to 8 rows of 32 columns of pairs.
//
//go:noescape
func tile16NEON(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

// quantiseNEON is Set.Quantise.
//
//go:noescape
func quantiseNEON(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

// dequantiseNEON is Set.Dequantise.
//
//go:noescape
func dequantiseNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseAddNEON is Set.DequantiseAdd.
//
//go:noescape
func dequantiseAddNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseGELUNEON is Set.DequantiseGELU.
//
//go:noescape
func dequantiseGELUNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// normaliseNEON is Set.Normalise.
//
//go:noescape
func normaliseNEON(x []float32, gamma []float32, beta []float32, epsilon float32)

// maxAbsNEON is Set.MaxAbs.
//
//go:noescape
func maxAbsNEON(x []float32) (largest float32)

// round16NEON is Set.Round16.
//
//go:noescape
func round16NEON(dst []int16, x []float32, inverse float32)

// interleave16NEON is Set.Interleave16.
//
//go:noescape
func interleave16NEON(dst []uint32, x []float32, inverse float32, odd bool)

// scoreNEON is Set.Score.
//
//go:noescape
func scoreNEON(acc []int32, keyScale []float32, mask []float32) (largest float32)

// softmaxNEON is Set.Softmax.
//
//go:noescape
func softmaxNEON(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

// scaleNEON is Set.Scale.
//
//go:noescape
func scaleNEON(dst []float32, acc []int32, factor float32)

// dotNEON is Set.Dot.
//
//go:noescape
func dotNEON(a []int16, b []int8) (sum int32)

// tile8NEONDot computes up to 8 rows of a panel's columns.
//
//go:noescape
func tile8NEONDot(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

// tile8NEONI8MM computes up to 8 rows of a panel's columns.
//
//go:noescape
func tile8NEONI8MM(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)
