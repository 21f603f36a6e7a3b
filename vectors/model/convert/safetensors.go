package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"notesd/vectors/bert/modelfile"
)

// tensors are the float32 arrays of a safetensors file: a length, a JSON header
// of that length, the data.
type tensors struct {
	entries      map[string]tensor
	data         []byte
	size, hidden int // of the word embeddings
}

type tensor struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

func readTensors(c *modelfile.Config, file []byte) (*tensors, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("safetensors: too short")
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("safetensors: header longer than the file")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &raw); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	delete(raw, "__metadata__")
	t := &tensors{make(map[string]tensor), file[8+n:], c.Tokenizer.Size, c.Hidden}
	for name, r := range raw {
		var e tensor
		if err := json.Unmarshal(r, &e); err != nil {
			return nil, fmt.Errorf("safetensors: %s: %w", name, err)
		}
		t.entries[name] = e
	}
	return t, nil
}

// floatRows are rows of h values that are stored with eight bits in a model file.
type floatRows struct {
	h      int
	values []float32
}

func (t *tensors) embeddings() (words, error) {
	values, err := t.get("embeddings.word_embeddings.weight", t.size, t.hidden)
	return floatRows{t.hidden, values}, err
}

func (r floatRows) row(id int) []float32 { return slices.Clone(r.values[id*r.h:][:r.h]) }

func (r floatRows) sections() map[string][]byte {
	weight, scale, _ := rows8(r.values, r.h)
	return map[string][]byte{modelfile.WordWeight: encode(weight), modelfile.WordScale: encode(scale)}
}

// get returns the values of the tensor with this name and shape.
func (t *tensors) get(name string, shape ...int) ([]float32, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: no tensor %s", name)
	}
	if e.DType != "F32" || fmt.Sprint(e.Shape) != fmt.Sprint(shape) {
		return nil, fmt.Errorf("safetensors: %s is %s %v and not F32 %v", name, e.DType, e.Shape, shape)
	}
	if e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > len(t.data) {
		return nil, fmt.Errorf("safetensors: %s lies outside the file", name)
	}
	b := t.data[e.Offsets[0]:e.Offsets[1]]
	size := 1
	for _, d := range shape {
		size *= d
	}
	if len(b) != 4*size {
		return nil, fmt.Errorf("safetensors: %s has %d bytes for %v", name, len(b), shape)
	}
	values := make([]float32, size)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values, nil
}
