// Package modelfile reads and writes the file that a model is shipped in:
// configuration, vocabulary and weights, laid out so that the weights can be used in
// place, embedded in the program or in a mapped file.
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
// A section is an unframed array: int8 weights as package kernel packs them, or
// float32, int32 and uint32 values. The configuration determines which sections exist
// and how long they are: see [Config] and names.go.
//
// [Read] checks everything that could make later use go out of bounds, in
// microseconds and without reading the weights. [File.Verify] reads the whole file
// and compares its digest.
package modelfile
