//go:build purego || !amd64

package kernel

// available lists the tiers of this build. A tier for another CPU (AVX-VNNI,
// NEON SDOT) is one more Set, listed here or beside the amd64 ones.
func available() []*Set { return []*Set{generic} }
