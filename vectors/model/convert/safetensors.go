package main

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	"notesd/vectors/bert/modelfile"
)

// tensors are the float32 arrays of a safetensors file: a length, a JSON header
// of that length, the data.
type tensors struct {
	entries map[string]tensor
	data    []byte
	hidden  int // of the word embeddings
}

type tensor struct {
	Offsets [2]int `json:"data_offsets"`
}

// readTensors reads a file with weightsDigest, whose structure needs no checks.
func readTensors(c *modelfile.Config, file []byte) (*tensors, error) {
	n := binary.LittleEndian.Uint64(file)
	t := &tensors{data: file[8+n:], hidden: c.Hidden}
	return t, json.Unmarshal(file[8:8+n], &t.entries)
}

// floatRows are rows of h values that are stored with eight bits in a model file.
type floatRows struct {
	h      int
	values []float32
}

func (t *tensors) embeddings() words {
	return floatRows{t.hidden, t.get("embeddings.word_embeddings.weight")}
}

func (r floatRows) row(id int) []float32 { return slices.Clone(r.values[id*r.h:][:r.h]) }

func (r floatRows) sections() map[string][]byte {
	weight, scale, _ := rows8(r.values, r.h)
	return map[string][]byte{modelfile.WordWeight: encode(weight), modelfile.WordScale: encode(scale)}
}

// get returns the values of a tensor.
func (t *tensors) get(name string) []float32 {
	at := t.entries[name].Offsets
	b := t.data[at[0]:at[1]]
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = modelfile.Float(b, i)
	}
	return values
}
