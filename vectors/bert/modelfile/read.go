package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	magic      = "NDMODEL\n"
	version    = 1
	digestAt   = 16
	digestEnd  = digestAt + sha256.Size
	headerAt   = digestEnd
	alignment  = 64
	headerSize = 1 << 20 // limit of what Read decodes
)

// ErrFormat is matched by all errors about a file's contents.
var ErrFormat = errors.New("not a usable model file")

// File is a model file in memory.
type File struct {
	Config   Config
	data     []byte
	contents string
	sections map[string][]byte
}

// header is the JSON part of a file.
type header struct {
	Config   Config    `json:"config"`
	Contents string    `json:"contents"` // SHA-256 of the sections, in order
	Sections []section `json:"sections"`
}

type section struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"`
	Bytes  int    `json:"bytes"`
}

// Read opens a model file held in memory. Data is not copied: it must stay unchanged
// while the File, or any section of it, is in use. Errors match [ErrFormat].
func Read(data []byte) (*File, error) {
	h, err := readHeader(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	f := &File{Config: h.Config, data: data, contents: h.Contents, sections: make(map[string][]byte, len(h.Sections))}
	for _, s := range h.Sections {
		if s.Offset < headerAt || s.Bytes < 0 || s.Offset > len(data) || s.Bytes > len(data)-s.Offset {
			return nil, fmt.Errorf("%w: section %q lies outside the file (%d bytes): it is incomplete or damaged",
				ErrFormat, s.Name, len(data))
		}
		f.sections[s.Name] = data[s.Offset : s.Offset+s.Bytes : s.Offset+s.Bytes]
	}
	if err := f.checkSections(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

func readHeader(data []byte) (*header, error) {
	if len(data) < headerAt || string(data[:len(magic)]) != magic {
		return nil, errors.New("it does not begin as one")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != version {
		return nil, fmt.Errorf("its format is version %d, and this program reads version %d", v, version)
	}
	n := int64(binary.LittleEndian.Uint32(data[12:]))
	if n > headerSize || n > int64(len(data)-headerAt) {
		return nil, errors.New("its header is longer than the file: it is incomplete or damaged")
	}
	var h header
	dec := json.NewDecoder(bytes.NewReader(data[headerAt : headerAt+n]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		return nil, fmt.Errorf("its header is damaged: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("its header is damaged: more than one JSON value")
	}
	return &h, h.Config.check()
}

// checkSections reports a section that is missing or whose length differs from the
// one that the configuration implies.
func (f *File) checkSections() error {
	for name, size := range f.Config.sizes() {
		s, ok := f.sections[name]
		if !ok {
			return fmt.Errorf("section %q is missing", name)
		}
		if int64(len(s)) != size {
			return fmt.Errorf("section %q has %d bytes where the configuration means %d", name, len(s), size)
		}
	}
	return f.checkVocabulary()
}

func (f *File) checkVocabulary() error {
	last := uint32(0)
	ends := f.sections[VocabularyEnds]
	for i := 0; i < len(ends); i += 4 {
		end := binary.LittleEndian.Uint32(ends[i:])
		if end < last {
			return fmt.Errorf("the vocabulary is damaged at token %d", i/4)
		}
		last = end
	}
	if text := f.sections[VocabularyText]; int64(last) != int64(len(text)) {
		return fmt.Errorf("the vocabulary's text has %d bytes and its tokens %d", len(text), last)
	}
	return nil
}

// Bytes returns a section without copying it, or nil if it does not exist.
func (f *File) Bytes(name string) []byte { return f.sections[name] }

// Identity returns a digest of everything that vectors depend on: the sections, by
// the digest in the header, and the configuration without provenance and calibration.
func (f *File) Identity() string {
	c := f.Config
	c.License, c.Source, c.SourceSHA256, c.Calibration = "", "", "", nil
	encoded, err := json.Marshal(c)
	if err != nil {
		panic(err) // it was read from JSON
	}
	sum := sha256.Sum256(append(encoded, f.contents...))
	return hex.EncodeToString(sum[:])
}

// Verify reads the whole file and compares its digest with the one in the file.
func (f *File) Verify() error {
	if sum := sha256.Sum256(f.data[digestEnd:]); !bytes.Equal(sum[:], f.data[digestAt:digestEnd]) {
		return fmt.Errorf("%w: its contents do not match its checksum: fetch it again", ErrFormat)
	}
	return nil
}

// Floats returns a copy of a section of float32 values. It fails if a value is not
// finite.
func (f *File) Floats(name string) ([]float32, error) {
	b := f.sections[name]
	values := make([]float32, len(b)/4)
	for i := range values {
		v := Float(b, i)
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%w: section %q is damaged: value %d is %v", ErrFormat, name, i, v)
		}
		values[i] = v
	}
	return values, nil
}

// Ints returns a copy of a section of int32 values.
func (f *File) Ints(name string) []int32 {
	b := f.sections[name]
	values := make([]int32, len(b)/4)
	for i := range values {
		values[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values
}

// WordRow writes the embedding of a token to row, given the sections of 4-bit word
// embeddings: see [WordBlock].
func WordRow(row []float32, weight, scale []byte, id int) {
	const half = WordBlock / 2
	for at := 0; at < len(row); at += WordBlock {
		block := (id*len(row) + at) / WordBlock
		unit := Half(scale, block)
		high := row[at+half:][:half]
		for j, b := range weight[block*half:][:half] {
			row[at+j] = float32(int(b&15)-8) * unit
			high[j] = float32(int(b>>4)-8) * unit
		}
	}
}

// Half returns the i-th float16 of a section as a float32, exactly.
func Half(section []byte, i int) float32 {
	h := uint32(binary.LittleEndian.Uint16(section[2*i:]))
	bits := h>>15<<31 | h&0x7FFF<<13
	if h&0x7C00 == 0x7C00 { // infinity or NaN
		return math.Float32frombits(bits | 255<<23)
	}
	return math.Float32frombits(bits) * 0x1p112 // the quotient of the biases of both formats
}

// Float returns the i-th float32 of a section. Sections embedded in the program need
// not be aligned.
func Float(section []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(section[4*i:]))
}
