// Code printed by the program in folder asm. DO NOT EDIT.

//go:build arm64 && !purego

package kernel

//go:noescape
func tile8NEON(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

//go:noescape
func tile16NEON(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

//go:noescape
func quantiseNEON(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

//go:noescape
func dequantiseNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseAddNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseGELUNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func normaliseNEON(x []float32, gamma []float32, beta []float32, epsilon float32)

//go:noescape
func maxAbsNEON(x []float32) (largest float32)

//go:noescape
func round16NEON(dst []int16, x []float32, inverse float32)

//go:noescape
func scoreNEON(acc []int32, keyScale []float32, mask []float32) (largest float32)

//go:noescape
func softmaxNEON(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

//go:noescape
func dotNEON(a []int16, b []int8) (sum int32)

//go:noescape
func tile8NEONDot(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

//go:noescape
func tile8NEONI8MM(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)
