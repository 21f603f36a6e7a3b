package store

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// How a text is kept in a blob column.
const (
	codecPlain = 0
	codecZstd  = 1
)

// compressFrom is the size below which zstd saves less than it costs.
const compressFrom = 256

// Both are safe for concurrent use through EncodeAll and DecodeAll. The
// fastest level halves Markdown at about 300 MB/s; better ones save a tenth
// more for four times the time.
var (
	zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderLowmem(true))
)

func pack(data []byte) (codec int, packed []byte) {
	if len(data) < compressFrom {
		return codecPlain, nonNil(data)
	}
	packed = zstdEncoder.EncodeAll(data, make([]byte, 0, len(data)/2))
	if len(packed) >= len(data) {
		return codecPlain, data
	}
	return codecZstd, packed
}

// unpack returns the plain bytes of what was packed with the codec.
func unpack(codec int, packed []byte) ([]byte, error) {
	switch codec {
	case codecPlain:
		return packed, nil
	case codecZstd:
		return zstdDecoder.DecodeAll(packed, nil)
	}
	return nil, fmt.Errorf("unknown codec %d", codec)
}

// nonNil: database/sql writes a nil slice as NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
