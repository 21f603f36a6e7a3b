//go:build arm64 && !purego

package kernel

import (
	"sync"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C asm .

// available lists the tiers that this CPU supports, best first. Every arm64 CPU has
// NEON.
var available = sync.OnceValue(func() []*Set {
	sets := []*Set{neon, generic}
	if cpu.ARM64.HasASIMDDP {
		sets = append([]*Set{neondot}, sets...)
	}
	if hasI8MM() {
		sets = append([]*Set{neoni8mm}, sets...)
	}
	return sets
})

var neon = &Set{
	Name:            "neon",
	ActivationBytes: 1,
	Quantise:        quantiseNEON,
	Dequantise:      dequantiseNEON,
	DequantiseAdd:   dequantiseAddNEON,
	DequantiseGELU:  dequantiseGELUNEON,
	Normalise:       normaliseNEON,
	MaxAbs:          maxAbsNEON,
	Round16:         round16NEON,
	Score:           scoreNEON,
	Softmax:         softmaxNEON,
	Dot:             dotNEON,
	SignSums:        signSumsGeneric,
	rows8:           4,
	rows16:          8,
	tile8:           tile8NEON,
	tile16:          tile16NEON,
}

// neondot and neoni8mm are neon with SDOT and with SMMLA.
var (
	neondot  = withTile8("neondot", tile8NEONDot)
	neoni8mm = withTile8("neoni8mm", tile8NEONI8MM)
)

func withTile8(name string, tile func([]int32, int, []byte, int, []int8, int, int)) *Set {
	s := *neon
	s.Name, s.rows8, s.tile8 = name, 8, tile
	return &s
}
