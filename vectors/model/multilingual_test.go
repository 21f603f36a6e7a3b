package model_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/bert/modelfile"
	"notesd/vectors/bert/unigram"
	"notesd/vectors/model"
)

// lines decodes the lines of a file in testdata.
func lines[T any](t *testing.T, name string) []T {
	f, err := os.Open("testdata/" + name)
	require.NoError(t, err)
	defer f.Close()
	var all []T
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(s.Bytes(), &v))
		all = append(all, v)
	}
	require.NoError(t, s.Err())
	return all
}

// TestTokens compares ids with those of the reference tokenizer (tokenizers 0.23 for
// Python, prevented from matching control tokens in text), on a thousand texts in two
// dozen languages and at random, and some of 100 000 characters.
func TestTokens(t *testing.T) {
	data, err := os.ReadFile("multilingual-e5-small.ndmodel")
	require.NoError(t, err)
	f, err := modelfile.Read(data)
	require.NoError(t, err)
	tok := unigram.New(f.Bytes(modelfile.VocabularyText), f.Bytes(modelfile.VocabularyEnds), f.Bytes(modelfile.VocabularyScores), int32(f.Config.Tokenizer.Unknown))
	all := lines[struct {
		Text   string  `json:"text"`
		IDs    []int32 `json:"ids"`
		Repeat int     `json:"repeat"` // for a long text only
		Count  int     `json:"count"`  // the number of tokens
		Digest string  `json:"digest"` // and their hash
	}](t, "tokens.jsonl")
	require.Greater(t, len(all), 1000)
	for _, c := range all {
		if c.Repeat == 0 {
			require.Equal(t, c.IDs, tok.Append([]int32{}, c.Text, math.MaxInt), "%+q", c.Text)
			continue
		}
		ids := tok.Append(nil, strings.Repeat(c.Text, c.Repeat), math.MaxInt)
		require.Len(t, ids, c.Count, "%+q × %d", c.Text, c.Repeat)
		sum := sha256.Sum256([]byte(strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")))
		require.Equal(t, c.Digest, hex.EncodeToString(sum[:])[:len(c.Digest)], "%+q × %d", c.Text, c.Repeat)
	}
}

func TestMultilingual(t *testing.T) {
	m, err := model.Multilingual()
	require.NoError(t, err)
	again, err := model.Multilingual()
	require.NoError(t, err)
	assert.Same(t, m, again)
	assert.Equal(t, "multilingual-e5-small", m.Name())
	assert.Equal(t, 384, m.Dim())
	assert.Len(t, m.TokenIDs(strings.Repeat("the ", 1000)), 512)
	query, passage := m.Prefixes()
	assert.Equal(t, "query: ", query)
	assert.Equal(t, "passage: ", passage)
	assert.NotNil(t, m.Calibration())
	require.NoError(t, m.Verify(), "the bundled file is whole")
}

// TestParity compares vectors with those computed in float32 from the original's four-bit
// weights.
func TestParity(t *testing.T) {
	m, err := model.Multilingual()
	require.NoError(t, err)
	all := lines[struct {
		Text   string  `json:"text"`
		IDs    []int32 `json:"ids"`
		Vector []byte  `json:"vector"` // int16: float32 times 32767
	}](t, "multilingual.jsonl")
	require.NotEmpty(t, all)
	e, got := m.NewEncoder(), make([]float32, m.Dim())
	sum := 0.0
	for _, c := range all {
		require.Equal(t, c.IDs, m.TokenIDs(c.Text), c.Text)
		require.NoError(t, e.Embed(context.Background(), c.Text, got))
		var dot, square float64
		for i := range got {
			v := float64(int16(binary.LittleEndian.Uint16(c.Vector[2*i:])))
			dot += v * float64(got[i])
			square += v * v
		}
		cosine := dot / math.Sqrt(square)
		assert.Greater(t, cosine, 0.999, c.Text)
		sum += cosine
	}
	assert.Greater(t, sum/float64(len(all)), 0.9995)
}

// TestAcrossLanguages checks that queries find passages in other languages.
func TestAcrossLanguages(t *testing.T) {
	m, err := model.Multilingual()
	require.NoError(t, err)
	embed := func(text string) []float32 {
		v := make([]float32, m.Dim())
		require.NoError(t, m.NewEncoder().Embed(context.Background(), text, v))
		return v
	}
	similarity := func(a, b string) (dot float64) {
		va, vb := embed("query: "+a), embed("passage: "+b)
		for i := range va {
			dot += float64(va[i]) * float64(vb[i])
		}
		return dot
	}
	for _, c := range []struct{ query, near, far string }{
		{"Wie entlüfte ich die Heizung?", "Open the radiator's valve until water comes out, then check the boiler's pressure.", "The concert begins at eight."},
		{"如何解除租房合同？", "The lease ends three months after written notice to the landlord.", "Add two eggs and a pinch of salt."},
		{"how to make miso soup", "味噌汁は煮立てないことが大切です。だしを取り、豆腐とわかめを入れます。", "来週の出張のために新幹線の切符を予約する。"},
	} {
		assert.Greater(t, similarity(c.query, c.near), similarity(c.query, c.far)+0.03, c.query)
	}
}
