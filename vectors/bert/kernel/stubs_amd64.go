// Code printed by the program in folder asm. DO NOT EDIT.

//go:build amd64 && !purego

package kernel

// tile8AVX2 computes up to 6 rows of a panel's columns.
//
//go:noescape
func tile8AVX2(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

// tile16AVX2 computes up to 6 rows of 32 columns of pairs.
//
//go:noescape
func tile16AVX2(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

// quantiseAVX2 is Set.Quantise.
//
//go:noescape
func quantiseAVX2(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

// dequantiseAVX2 is Set.Dequantise.
//
//go:noescape
func dequantiseAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseAddAVX2 is Set.DequantiseAdd.
//
//go:noescape
func dequantiseAddAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseGELUAVX2 is Set.DequantiseGELU.
//
//go:noescape
func dequantiseGELUAVX2(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// normaliseAVX2 is Set.Normalise.
//
//go:noescape
func normaliseAVX2(x []float32, gamma []float32, beta []float32, epsilon float32)

// maxAbsAVX2 is Set.MaxAbs.
//
//go:noescape
func maxAbsAVX2(x []float32) (largest float32)

// round16AVX2 is Set.Round16.
//
//go:noescape
func round16AVX2(dst []int16, x []float32, inverse float32)

// interleave16AVX2 is Set.Interleave16.
//
//go:noescape
func interleave16AVX2(dst []uint32, x []float32, inverse float32, odd bool)

// scoreAVX2 is Set.Score.
//
//go:noescape
func scoreAVX2(acc []int32, keyScale []float32, mask []float32) (largest float32)

// softmaxAVX2 is Set.Softmax.
//
//go:noescape
func softmaxAVX2(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

// scaleAVX2 is Set.Scale.
//
//go:noescape
func scaleAVX2(dst []float32, acc []int32, factor float32)

// dotAVX2 is Set.Dot.
//
//go:noescape
func dotAVX2(a []int16, b []int8) (sum int32)

// signSumsAVX2 is Set.SignSums.
//
//go:noescape
func signSumsAVX2(dst []int32, signs []uint64, planes *SignPlanes, words int, stride int)

// tile8AVXVNNI computes up to 6 rows of a panel's columns.
//
//go:noescape
func tile8AVXVNNI(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

// tile16AVXVNNI computes up to 6 rows of 32 columns of pairs.
//
//go:noescape
func tile16AVXVNNI(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

// quantiseAVXVNNI is Set.Quantise.
//
//go:noescape
func quantiseAVXVNNI(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

// tile8AVX512VNNI computes up to 12 rows of a panel's columns.
//
//go:noescape
func tile8AVX512VNNI(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)

// tile16AVX512VNNI computes up to 12 rows of 32 columns of pairs.
//
//go:noescape
func tile16AVX512VNNI(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)

// quantiseAVX512VNNI is Set.Quantise.
//
//go:noescape
func quantiseAVX512VNNI(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)

// dequantiseAVX512VNNI is Set.Dequantise.
//
//go:noescape
func dequantiseAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseAddAVX512VNNI is Set.DequantiseAdd.
//
//go:noescape
func dequantiseAddAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// dequantiseGELUAVX512VNNI is Set.DequantiseGELU.
//
//go:noescape
func dequantiseGELUAVX512VNNI(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)

// normaliseAVX512VNNI is Set.Normalise.
//
//go:noescape
func normaliseAVX512VNNI(x []float32, gamma []float32, beta []float32, epsilon float32)

// maxAbsAVX512VNNI is Set.MaxAbs.
//
//go:noescape
func maxAbsAVX512VNNI(x []float32) (largest float32)

// round16AVX512VNNI is Set.Round16.
//
//go:noescape
func round16AVX512VNNI(dst []int16, x []float32, inverse float32)

// interleave16AVX512VNNI is Set.Interleave16.
//
//go:noescape
func interleave16AVX512VNNI(dst []uint32, x []float32, inverse float32, odd bool)

// scoreAVX512VNNI is Set.Score.
//
//go:noescape
func scoreAVX512VNNI(acc []int32, keyScale []float32, mask []float32) (largest float32)

// softmaxAVX512VNNI is Set.Softmax.
//
//go:noescape
func softmaxAVX512VNNI(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)

// scaleAVX512VNNI is Set.Scale.
//
//go:noescape
func scaleAVX512VNNI(dst []float32, acc []int32, factor float32)

// dotAVX512VNNI is Set.Dot.
//
//go:noescape
func dotAVX512VNNI(a []int16, b []int8) (sum int32)

// signSumsAVX512VNNI is Set.SignSums.
//
//go:noescape
func signSumsAVX512VNNI(dst []int32, signs []uint64, planes *SignPlanes, words int, stride int)
