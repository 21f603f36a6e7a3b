// Package modelfile is the file that a model is shipped in: configuration,
// vocabulary and weights, laid out so that the weights are used where they lie,
// in the pages of the program or of a mapped file.
//
// # Format, version 1 (all numbers little-endian)
//
//	 0   8  magic "NDMODEL\n"
//	 8   4  version
//	12   4  length of the header
//	16  32  SHA-256 of everything after it
//	48   …  header, JSON: {"config": …, "contents": SHA-256 of the sections,
//	        "sections": [{name, offset, bytes}]}
//	 …   …  sections, each beginning at a multiple of 64
//
// A section is an array without any framing: int8 weights as package kernel
// packs them, or float32, int32 and uint32 values. Which sections there are,
// and their lengths, follows from the configuration: see [Config] and the names
// in names.go.
//
// [Read] checks everything that could make later use run out of bounds, in
// microseconds and without touching the weights. [File.Verify] reads the whole
// file and compares its digest.
package modelfile
