// Package kernel has the inner loops of the transformer, once for each kind of
// CPU, and the rules that make all of them give the same bits.
//
// # Vocabulary
//
//   - A tier is a complete set of kernels for one kind of CPU: "purego" runs
//     everywhere; "avx2", "avxvnni" and "avx512vnni" on amd64; "neon", "neondot"
//     (with SDOT) and "neoni8mm" (with SMMLA) on arm64. A [Set] is a tier in
//     use; [Select] chooses the best one that the CPU has.
//   - A panel is [Panel] columns of a weight matrix, stored so that the
//     [Group] consecutive values of k that one lane of VPDPBUSD or SDOT consumes
//     are adjacent: int8 [k/Group][Panel][Group]. A packed matrix is its panels
//     one after another; see [Pack].
//   - A pair is two consecutive int16 values of k in one uint32, low half
//     first: what one VPDPWSSD or VPMADDWD lane consumes. Attention works on
//     pairs because its operands are made at run time, and 13 to 15 bits leave
//     its result as good as float32.
//   - An activation is quantised asymmetrically: x ≈ scale × (q − zero), q a
//     byte.
//
// # Same bits on every CPU
//
// Matrix products are sums of integers that cannot overflow an int32, so their
// order is free. Everything else is float32 with one defined order: products
// and sums are rounded one by one (never fused), rounding to integer is to
// nearest even, and a sum over a row is kept in 32 lanes (lane = index mod 32)
// that are then added as 16+16, 8+8, 4+4, 2+2, 1+1. The Go code in this package
// is the definition; explicit float32 conversions keep the compiler from
// fusing. The assembly is printed by the program in the folder asm, and a test
// prints it again to compare.
//
// # Concurrency
//
// A Set is immutable and its functions keep no state, so any number of
// goroutines may share it.
package kernel
