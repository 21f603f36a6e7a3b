//go:build amd64 && !purego

package kernel

import (
	"sync"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C asm .

// available lists the tiers that this CPU supports, best first.
var available = sync.OnceValue(func() []*Set {
	sets := []*Set{generic}
	if cpu.X86.HasAVX2 {
		sets = append([]*Set{avx2}, sets...)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasAVXVNNI {
		sets = append([]*Set{avxvnni}, sets...)
	}
	// Every CPU with VNNI on 512-bit registers has the others, but a virtual machine
	// may hide some.
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI {
		best := *avx512vnni
		if !cpu.X86.HasAVX512VPOPCNTDQ { // before Ice Lake
			best.SignSums = signSumsAVX2
		}
		sets = append([]*Set{&best}, sets...)
	}
	return sets
})

var avx2 = &Set{
	Name:            "avx2",
	ActivationBytes: 2,
	Quantise:        quantiseAVX2,
	Dequantise:      dequantiseAVX2,
	DequantiseAdd:   dequantiseAddAVX2,
	DequantiseGELU:  dequantiseGELUAVX2,
	Normalise:       normaliseAVX2,
	MaxAbs:          maxAbsAVX2,
	Round16:         round16AVX2,
	Score:           scoreAVX2,
	Softmax:         softmaxAVX2,
	Dot:             dotAVX2,
	SignSums:        signSumsAVX2,
	rows8:           6,
	rows16:          6,
	tile8:           tile8AVX2,
	tile16:          tile16AVX2,
}

// avxvnni is avx2 with 8-bit activations and the AVX-VNNI instructions, which desktop
// and laptop CPUs have without AVX-512.
var avxvnni = func() *Set {
	s := *avx2
	s.Name = "avxvnni"
	s.ActivationBytes = 1
	s.Quantise = quantiseAVXVNNI
	s.tile8 = tile8AVXVNNI
	s.tile16 = tile16AVXVNNI
	return &s
}()

var avx512vnni = &Set{
	Name:            "avx512vnni",
	ActivationBytes: 1,
	Quantise:        quantiseAVX512VNNI,
	Dequantise:      dequantiseAVX512VNNI,
	DequantiseAdd:   dequantiseAddAVX512VNNI,
	DequantiseGELU:  dequantiseGELUAVX512VNNI,
	Normalise:       normaliseAVX512VNNI,
	MaxAbs:          maxAbsAVX512VNNI,
	Round16:         round16AVX512VNNI,
	Score:           scoreAVX512VNNI,
	Softmax:         softmaxAVX512VNNI,
	Dot:             dotAVX512VNNI,
	SignSums:        signSumsAVX512VNNI,
	rows8:           12,
	rows16:          12,
	tile8:           tile8AVX512VNNI,
	tile16:          tile16AVX512VNNI,
}
