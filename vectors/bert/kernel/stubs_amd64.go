// Code printed by the program in folder asm. DO NOT EDIT.

//go:build amd64 && !purego

package kernel

//go:noescape
func tile8AVX2(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

//go:noescape
func tile16AVX2(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

//go:noescape
func quantiseAVX2(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

//go:noescape
func dequantiseAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseAddAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseGELUAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func normaliseAVX2(x []float32, gamma []float32, beta []float32, epsilon float32)

//go:noescape
func maxAbsAVX2(x []float32) (largest float32)

//go:noescape
func round16AVX2(dst []int16, x []float32, inverse float32)

//go:noescape
func scoreAVX2(acc []int32, keyScale []float32, mask []float32) (largest float32)

//go:noescape
func softmaxAVX2(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

//go:noescape
func dotAVX2(a []int16, b []int8) (sum int32)

//go:noescape
func signSumsAVX2(dst []int32, signs []uint64, planes *SignPlanes, words int, stride int)

//go:noescape
func tile8AVXVNNI(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

//go:noescape
func tile16AVXVNNI(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

//go:noescape
func quantiseAVXVNNI(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

//go:noescape
func tile8AVX512VNNI(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

//go:noescape
func tile16AVX512VNNI(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

//go:noescape
func quantiseAVX512VNNI(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

//go:noescape
func dequantiseAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseAddAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func dequantiseGELUAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

//go:noescape
func normaliseAVX512VNNI(x []float32, gamma []float32, beta []float32, epsilon float32)

//go:noescape
func maxAbsAVX512VNNI(x []float32) (largest float32)

//go:noescape
func round16AVX512VNNI(dst []int16, x []float32, inverse float32)

//go:noescape
func scoreAVX512VNNI(acc []int32, keyScale []float32, mask []float32) (largest float32)

//go:noescape
func softmaxAVX512VNNI(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

//go:noescape
func dotAVX512VNNI(a []int16, b []int8) (sum int32)

//go:noescape
func signSumsAVX512VNNI(dst []int32, signs []uint64, planes *SignPlanes, words int, stride int)
