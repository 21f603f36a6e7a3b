package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/vectors/bert"
	"notesd/vectors/bert/unigram"
)

// smallE5 returns a file in the format E5S1 with random weights, and with one more row of
// words than pieces.
func smallE5() []byte {
	const hidden, layers, heads, wide, positions = 64, 2, 2, 128, 16
	rng := rand.New(rand.NewPCG(2, 2))
	pieces := []string{"<s>", "<pad>", "</s>", "<unk>", "▁", "▁red", "green", "e"}
	le := binary.LittleEndian
	ints := func(b []byte, values ...int) []byte {
		for _, v := range values {
			b = le.AppendUint32(b, uint32(v))
		}
		return b
	}
	f := ints([]byte("E5S1"), 1, hidden, layers, heads, wide, len(pieces)+1, positions, 2)
	f = le.AppendUint32(f, math.Float32bits(1e-12))
	f = ints(f, 32, len(pieces), 0, 2, 1, 3)
	text, ends, scores := []byte(nil), []byte(nil), []byte(nil)
	for i, p := range pieces {
		text = append(text, p...)
		ends = ints(ends, len(text))
		scores = le.AppendUint32(scores, math.Float32bits(-float32(max(i-3, 0))))
	}
	f = le.AppendUint64(f, uint64(len(text)))
	f = append(append(append(ints(f, 0), ends...), scores...), text...)
	f = ints(f, 1, 5)
	f = append(f, 1, 2, 3, 4, 5)

	type tensor struct {
		name   string
		blocks bool
		data   []byte
	}
	var all []tensor
	floats := func(name string, mean, spread float64, n int) {
		var b []byte
		for range n {
			b = le.AppendUint32(b, math.Float32bits(float32(mean+spread*rng.NormFloat64())))
		}
		all = append(all, tensor{name, false, b})
	}
	blocks := func(name string, n int) {
		var b []byte
		for range n / 32 {
			b = le.AppendUint16(b, 0x2800) // 1/32
			for range 16 {
				b = append(b, byte(rng.IntN(256)))
			}
		}
		all = append(all, tensor{name, true, b})
	}
	norm := func(name string) {
		floats(name+".w", 1, 0.2, hidden)
		floats(name+".b", 0, 0.1, hidden)
	}
	blocks("emb.word", (len(pieces)+1)*hidden)
	floats("emb.pos", 0, 0.02, positions*hidden)
	floats("emb.type", 0, 0.02, 2*hidden)
	norm("emb.ln")
	for i := range layers {
		for name, shape := range map[string][2]int{
			"q": {hidden, hidden}, "k": {hidden, hidden}, "v": {hidden, hidden}, "ao": {hidden, hidden},
			"fi": {wide, hidden}, "fo": {hidden, wide},
		} {
			blocks(fmt.Sprintf("l%d.%s.w", i, name), shape[0]*shape[1])
			floats(fmt.Sprintf("l%d.%s.b", i, name), 0, 0.1, shape[0])
		}
		norm(fmt.Sprintf("l%d.aln", i))
		norm(fmt.Sprintf("l%d.oln", i))
	}
	at := len(f) + 4
	for _, t := range all {
		at += 2 + len(t.name) + 1 + 4 + 16
	}
	f = ints(f, len(all))
	for _, t := range all {
		f = append(le.AppendUint16(f, uint16(len(t.name))), t.name...)
		kind := byte(0)
		if t.blocks {
			kind = 1
		}
		f = ints(append(f, kind), 0)
		f = le.AppendUint64(le.AppendUint64(f, uint64(at)), uint64(len(t.data)))
		at += len(t.data)
	}
	for _, t := range all {
		f = append(f, t.data...)
	}
	return f
}

// A converted model gives nearly the same result as the packed one.
func TestBuildE5(t *testing.T) {
	texts := []string{"red green", "query: e e red", ""}
	e := readE5(smallE5())
	c := &e.config
	assert.Equal(t, 8, c.Tokenizer.Size)
	tok := unigram.New(e.text, e.ends, e.scores, 3)
	file, err := build(c, e.vocabulary(), tok, e, texts)
	require.NoError(t, err)
	again, err := build(c, e.vocabulary(), tok, e, texts)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(file, again), "the same to the byte")

	m, err := bert.Open(file)
	require.NoError(t, err)
	require.NoError(t, m.Verify())
	assert.Equal(t, []int32{0, 5, 4, 6, 3, 2}, m.TokenIDs("red greenxy"))
	query, _ := m.Prefixes()
	assert.Equal(t, "query: ", query)
	net := newNetwork(c, e)
	for _, text := range []string{"", "red", "green e red eee", "passage: green green green green"} {
		got := make([]float32, m.Dim())
		require.NoError(t, m.NewEncoder().Embed(context.Background(), text, got))
		rows := net.run(m.TokenIDs(text), func(int, int, [][]float32) {})
		assert.Greater(t, cosineOfMean(got, rows), 0.999, text)
	}
}
