package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"notesd/notes"
)

// The encodings of texts in blob columns.
const (
	codecPlain = 0
	codecZstd  = 1
)

// compressFrom is the size in bytes below which zstd saves less than it costs.
const compressFrom = 256

// Both are safe for concurrent use through EncodeAll and DecodeAll. The fastest level
// halves Markdown at about 300 MB/s; higher levels save another tenth at four times the
// time.
var (
	zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderLowmem(true))
)

// Pack compresses a text if that saves bytes. The codec must be passed to Unpack.
func Pack(data []byte) (codec int, packed []byte) {
	if len(data) < compressFrom {
		return codecPlain, nonNil(data)
	}
	packed = zstdEncoder.EncodeAll(data, make([]byte, 0, len(data)/2))
	if len(packed) >= len(data) {
		return codecPlain, data
	}
	return codecZstd, packed
}

// Unpack returns the original of bytes packed with the codec.
func Unpack(codec int, packed []byte) ([]byte, error) {
	switch codec {
	case codecPlain:
		return packed, nil
	case codecZstd:
		return zstdDecoder.DecodeAll(packed, nil)
	}
	return nil, fmt.Errorf("unknown codec %d", codec)
}

// nonNil returns an empty slice for nil, which database/sql would write as NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// An outline holds what readers of a note need besides its text (aliases, tags,
// headings and chunks) in one column, because a search reads a dozen notes for every
// page of hits. It is a version byte followed by the four lists, each preceded by its
// length. Numbers are varints, strings are length-prefixed, and values that grow
// through a note are stored as differences from the previous one.
const outlineVersion = 1

// packOutline encodes the outline of a note.
func packOutline(n *notes.Note) ([]byte, error) {
	b := append(make([]byte, 0, 64+64*len(n.Chunks)+32*len(n.Headings)), outlineVersion)
	b = appendStrings(b, n.Aliases)
	b = appendStrings(b, n.Tags)
	b = binary.AppendUvarint(b, uint64(len(n.Headings)))
	line := 0
	for _, h := range n.Headings {
		b = binary.AppendUvarint(b, uint64(h.Level))
		b = appendString(b, h.Text)
		b = binary.AppendVarint(b, int64(h.Line-line))
		line = h.Line
	}
	b = binary.AppendUvarint(b, uint64(len(n.Chunks)))
	var before notes.Chunk
	for _, c := range n.Chunks {
		shared := CommonLength(before.Path, c.Path)
		b = binary.AppendUvarint(b, uint64(shared))
		b = appendStrings(b, c.Path[shared:])
		for _, d := range []int{c.Start - before.End, c.End - c.Start, c.LineStart - before.LineEnd, c.LineEnd - c.LineStart} {
			b = binary.AppendVarint(b, int64(d))
		}
		var err error
		if b, err = hex.AppendDecode(b, []byte(c.Hash)); err != nil {
			return nil, err
		}
		before = c
	}
	return b, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

var errOutline = errors.New("the outline of a note is damaged")

// unpackOutline sets the note's aliases, tags, headings and chunks. Their strings share
// the memory of packed, which must not be modified afterwards.
func unpackOutline(packed []byte, n *notes.Note) error {
	if len(packed) == 0 || packed[0] != outlineVersion {
		return errOutline
	}
	r := outlineReader{packed: packed, text: unsafe.String(unsafe.SliceData(packed), len(packed)), at: 1}
	n.Aliases, n.Tags = r.strings(), r.strings()
	line := 0
	if count := r.length(); count > 0 {
		n.Headings = make([]notes.Heading, count)
	}
	for i := range n.Headings {
		h := notes.Heading{Level: int(r.uvarint()), Text: r.string()}
		line += r.varint()
		h.Line = line
		n.Headings[i] = h
	}
	r.chunks(n)
	if r.bad || r.at != len(packed) {
		return errOutline
	}
	return nil
}

// outlineReader decodes values in sequence. After an invalid value, bad is set and
// further reads return zero values.
type outlineReader struct {
	packed []byte
	text   string // the same bytes
	at     int
	bad    bool
}

func (r *outlineReader) chunks(n *notes.Note) {
	count := r.length()
	if count == 0 {
		return
	}
	n.Chunks = make([]notes.Chunk, count)
	var hashes []byte
	var before notes.Chunk
	for i := range n.Chunks {
		c := notes.Chunk{Ordinal: i}
		shared := int(r.uvarint())
		added := r.strings()
		if shared < 0 || shared > len(before.Path) {
			r.bad = true
			return
		}
		if shared+len(added) > 0 {
			c.Path = append(slices.Clip(before.Path[:shared]), added...)
		}
		c.Start = before.End + r.varint()
		c.End = c.Start + r.varint()
		c.LineStart = before.LineEnd + r.varint()
		c.LineEnd = c.LineStart + r.varint()
		hashes = append(hashes, r.take(sha256.Size)...)
		n.Chunks[i], before = c, c
	}
	if r.bad {
		return
	}
	names := hex.EncodeToString(hashes)
	for i := range n.Chunks {
		n.Chunks[i].Hash = names[2*sha256.Size*i : 2*sha256.Size*(i+1)]
	}
}

// skip advances by n bytes. n is a result of package binary, 0 or less for an invalid
// number.
func (r *outlineReader) skip(n int) bool {
	if n <= 0 || n > len(r.packed)-r.at {
		r.bad, r.at = true, len(r.packed)
		return false
	}
	r.at += n
	return true
}

func (r *outlineReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.packed[r.at:])
	r.skip(n)
	return v
}

func (r *outlineReader) varint() int {
	v, n := binary.Varint(r.packed[r.at:])
	r.skip(n)
	return int(v)
}

// length returns the length of a list or string. Every element takes at least one byte.
func (r *outlineReader) length() int {
	n := r.uvarint()
	if n > uint64(len(r.packed)-r.at) {
		r.bad, r.at = true, len(r.packed)
		return 0
	}
	return int(n)
}

func (r *outlineReader) take(n int) string {
	start := r.at
	if n == 0 || !r.skip(n) {
		return ""
	}
	return r.text[start:r.at]
}

func (r *outlineReader) string() string { return r.take(r.length()) }

func (r *outlineReader) strings() []string {
	n := r.length()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.string()
	}
	return list
}

// loadBlob returns the text with this hash, or nil if hash is nil. Older versions did not
// store every empty text.
func loadBlob(ctx context.Context, tx *sql.Tx, hash []byte) ([]byte, error) {
	if hash == nil {
		return nil, nil
	}
	if bytes.Equal(hash, rawHash(nil)) {
		return []byte{}, nil
	}
	var codec int
	var packed []byte
	if err := tx.QueryRowContext(ctx, `SELECT codec, data FROM blobs WHERE hash = ?`, hash).Scan(&codec, &packed); err != nil {
		return nil, err
	}
	return Unpack(codec, packed)
}

// rawHash returns [notes.Hash] in binary, as stored in the databases.
func rawHash(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// CommonLength returns the length of the common prefix of two lists.
func CommonLength(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
