package modelfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallest returns the configuration of the smallest possible model.
func smallest() Config {
	return Config{
		Name: "tiny", License: "none", Source: "a test",
		Layers: 1, Hidden: 32, Heads: 1, Intermediate: 32, Positions: 8,
		Activation: GELU, Epsilon: 1e-12, Pooling: PoolingMean, MaxTokens: 8,
		Tokenizer: Tokenizer{
			Kind: WordPiece, Size: 4, Lowercase: true, Continuation: "##", MaxWordRunes: 100, Start: 1, End: 2, Unknown: 0,
		},
	}
}

// sections returns all sections, filled with zeros, and a vocabulary.
func sections(c Config) map[string][]byte {
	s := map[string][]byte{VocabularyText: []byte("[UNK][CLS][SEP]word")}
	for name, size := range c.sizes() {
		s[name] = make([]byte, size)
	}
	for i, end := range []uint32{5, 10, 15, 19} {
		binary.LittleEndian.PutUint32(s[VocabularyEnds][4*i:], end)
	}
	return s
}

func encoded(t testing.TB) []byte {
	data, err := Encode(smallest(), sections(smallest()))
	require.NoError(t, err)
	return data
}

func TestEncodeRead(t *testing.T) {
	s := sections(smallest())
	copy(s[EmbeddingNorm], binary.LittleEndian.AppendUint32(nil, math.Float32bits(1.5)))
	name := LayerSection(0, Up+"."+Sum)
	copy(s[name], []byte{0xFF, 0xFF, 0xFF, 0xFF, 2})
	data, err := Encode(smallest(), s)
	require.NoError(t, err)
	again, err := Encode(smallest(), s)
	require.NoError(t, err)
	assert.Equal(t, data, again, "the same to the byte")

	f, err := Read(data)
	require.NoError(t, err)
	assert.Equal(t, smallest(), f.Config)
	assert.NoError(t, f.Verify())
	floats, err := f.Floats(EmbeddingNorm)
	require.NoError(t, err)
	assert.Len(t, floats, 64)
	assert.Equal(t, float32(1.5), floats[0])
	assert.Equal(t, []int32{-1, 2, 0}, f.Ints(name)[:3])
	assert.Nil(t, f.Bytes("nothing"))
	assert.Equal(t, "[UNK][CLS][SEP]word", string(f.Bytes(VocabularyText)))
	assert.Equal(t, []int32{5, 10, 15, 19}, f.Ints(VocabularyEnds))
	for name, section := range f.sections {
		assert.Equal(t, len(section), cap(section), "%s cannot be appended to in place", name)
	}
}

func TestSectionsAligned(t *testing.T) {
	h, err := readHeader(encoded(t))
	require.NoError(t, err)
	for _, s := range h.Sections {
		assert.Zero(t, s.Offset%alignment, s.Name)
	}
}

// Identity changes exactly when vectors do.
func TestIdentity(t *testing.T) {
	identity := func(c Config, s map[string][]byte) string {
		data, err := Encode(c, s)
		require.NoError(t, err)
		f, err := Read(data)
		require.NoError(t, err)
		return f.Identity()
	}
	base := identity(smallest(), sections(smallest()))

	c := smallest()
	c.License, c.Source, c.SourceSHA256 = "MIT", "elsewhere", "00"
	assert.Equal(t, base, identity(c, sections(c)), "provenance does not matter")

	c = smallest()
	c.QueryPrefix = "query: "
	assert.NotEqual(t, base, identity(c, sections(c)))
	c = smallest()
	c.MaxTokens = 7
	assert.NotEqual(t, base, identity(c, sections(c)))

	for name := range sections(smallest()) {
		if name == VocabularyEnds {
			continue // any change there is an error or also moves the text
		}
		s := sections(smallest())
		s[name][0] ^= 1
		assert.NotEqual(t, base, identity(smallest(), s), name)
	}
}

func TestReadRefuses(t *testing.T) {
	good := encoded(t)
	replace := func(old, new string) func([]byte) []byte {
		return func(data []byte) []byte {
			require.Len(t, new, len(old))
			require.Contains(t, string(data), old)
			return bytes.Replace(data, []byte(old), []byte(new), 1)
		}
	}
	for name, c := range map[string]struct {
		change func(data []byte) []byte
		says   string
	}{
		"empty":              {func([]byte) []byte { return nil }, "does not begin"},
		"another file":       {func([]byte) []byte { return []byte(strings.Repeat("GGUF", 100)) }, "does not begin"},
		"newer version":      {func(d []byte) []byte { d[8] = 2; return d }, "version 2"},
		"cut in the header":  {func(d []byte) []byte { return d[:300] }, "longer than the file"},
		"cut in the weights": {func(d []byte) []byte { return d[:len(d)-100] }, "outside the file"},
		"huge header":        {func(d []byte) []byte { d[15] = 0xFF; return d }, "longer than the file"},
		"no JSON":            {replace(`{"config"`, `{"confi!!`), "header is damaged"},
		"unknown field":      {replace(`"heads"`, `"headz"`), "headz"},
		"absurd layers":      {replace(`"layers":1`, `"layers":0`), "layers is 0"},
		"absurd hidden":      {replace(`"hidden":32`, `"hidden":31`), "hidden is 31"},
		"absurd heads":       {replace(`"heads":1`, `"heads":2`), "heads"},
		"negative":           {replace(`"positions":8`, `"positions":-`), "header is damaged"},
		"too many tokens":    {replace(`"max_tokens":8`, `"max_tokens":9`), "max_tokens is 9"},
		"odd id":             {replace(`"unknown":0`, `"unknown":4`), "tokenizer.unknown is 4"},
		"odd pooling":        {replace(`"mean"`, `"most"`), `"most"`},
		"odd activation":     {replace(`"gelu"`, `"relu"`), `"relu"`},
		"odd tokenizer":      {replace(`"wordpiece"`, `"wordsmith"`), `"wordsmith"`},
		"epsilon":            {replace(`"epsilon":1e-12`, `"epsilon":-1.12`), "epsilon is -1.12"},
		"section missing":    {replace(`layer.0.up.scale"`, `layer.0.up.scalp"`), `layer.0.up.scale" is missing`},
		"vocabulary order": {func(d []byte) []byte {
			return bytes.Replace(d, []byte{10, 0, 0, 0, 15, 0, 0, 0}, []byte{15, 0, 0, 0, 10, 0, 0, 0}, 1)
		}, "damaged at token 2"},
		"vocabulary end": {func(d []byte) []byte {
			return bytes.Replace(d, []byte{15, 0, 0, 0, 19, 0, 0, 0}, []byte{15, 0, 0, 0, 20, 0, 0, 0}, 1)
		}, "19 bytes and its tokens 20"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(c.change(bytes.Clone(good)))
			require.ErrorIs(t, err, ErrFormat)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	s := sections(smallest())
	delete(s, WordScale)
	_, err := Encode(smallest(), s)
	assert.ErrorContains(t, err, WordScale)

	s = sections(smallest())
	s[WordWeight] = s[WordWeight][1:]
	_, err = Encode(smallest(), s)
	assert.ErrorContains(t, err, "has 127 bytes where the configuration means 128")
}

func TestVerify(t *testing.T) {
	data := encoded(t)
	data[len(data)-1] ^= 1
	f, err := Read(data)
	require.NoError(t, err, "the structure is whole")
	assert.ErrorIs(t, f.Verify(), ErrFormat)
}

func TestFloatsRefusesInfinity(t *testing.T) {
	s := sections(smallest())
	binary.LittleEndian.PutUint32(s[EmbeddingNorm][8:], math.Float32bits(float32(math.Inf(1))))
	data, err := Encode(smallest(), s)
	require.NoError(t, err)
	f, err := Read(data)
	require.NoError(t, err)
	_, err = f.Floats(EmbeddingNorm)
	require.ErrorIs(t, err, ErrFormat)
	assert.ErrorContains(t, err, `"embedding.norm" is damaged: value 2`)
}

// FuzzRead changes the structured part of a file. A file accepted by Read must have all
// sections with their lengths.
func FuzzRead(f *testing.F) {
	data := encoded(f)
	length := headerAt + int(binary.LittleEndian.Uint32(data[12:]))
	f.Add(data[:length], data[length:])
	f.Add(data[:20], []byte{})
	f.Fuzz(func(t *testing.T, head, body []byte) {
		file, err := Read(append(bytes.Clone(head), body...))
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		for name, size := range file.Config.sizes() {
			require.Len(t, file.Bytes(name), int(size))
		}
		for _, end := range file.Ints(VocabularyEnds) {
			require.LessOrEqual(t, int(uint32(end)), len(file.Bytes(VocabularyText)))
		}
		file.Identity()
	})
}

// multilingual returns the smallest model with a Unigram vocabulary and four-bit
// embeddings.
func multilingual() Config {
	c := smallest()
	c.WordBits = 4
	c.Tokenizer = Tokenizer{Kind: Unigram, Size: 4, Start: 1, End: 2}
	c.Calibration = &Calibration{Zero: 0.8, Unit: 0.25, Mean: 0.7, Deviation: 0.02}
	return c
}

func TestMultilingual(t *testing.T) {
	c := multilingual()
	s := sections(c)
	assert.Len(t, s[WordWeight], 4*32/2)
	assert.Len(t, s[WordScale], 4*2)
	assert.Len(t, s[VocabularyScores], 4*4)
	data, err := Encode(c, s)
	require.NoError(t, err)
	f, err := Read(data)
	require.NoError(t, err)
	assert.Equal(t, c, f.Config)

	uncalibrated := c
	uncalibrated.Calibration = nil
	again, err := Encode(uncalibrated, s)
	require.NoError(t, err)
	other, err := Read(again)
	require.NoError(t, err)
	assert.Equal(t, f.Identity(), other.Identity(), "no vector depends on the calibration")

	for name, change := range map[string]func(c *Config){
		"word_bits":   func(c *Config) { c.WordBits = 3 },
		"calibration": func(c *Config) { c.Calibration = &Calibration{Zero: 0.8} },
		"sections":    func(c *Config) { c.Tokenizer.Kind, c.Tokenizer.MaxWordRunes = WordPiece, 100; c.WordBits = 0 },
	} {
		c := multilingual()
		change(&c)
		_, err := Encode(c, s)
		assert.ErrorIs(t, err, ErrFormat, name)
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0: 0, 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0400: 1.0 / (1 << 14), 0x0001: 1.0 / (1 << 24), 0x83FF: -1023.0 / (1 << 24),
		0x7C00: float32(math.Inf(1)), 0x3555: 0.333251953125,
	} {
		assert.Equal(t, want, Half(binary.LittleEndian.AppendUint16([]byte{9, 9}, bits), 1), "%04x", bits)
	}
	assert.True(t, math.IsNaN(float64(Half([]byte{1, 0x7C}, 0))))
}
