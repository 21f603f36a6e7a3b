package bert

import (
	"unsafe"

	"notesd/vectors/bert/kernel"
	"notesd/vectors/bert/modelfile"
)

// matrix is a quantised linear layer with k inputs and columns outputs.
type matrix struct {
	k, columns int
	weights    []int8 // packed, in the file
	cols       kernel.Columns
	smooth     []float32 // k factors for the inputs
}

// norm is a LayerNorm's gain and offset.
type norm struct{ gamma, beta []float32 }

// layer is one layer of the transformer.
type layer struct {
	queryKeyValue, output, up, down matrix
	attentionNorm, outputNorm       norm
}

func loadLayer(f *modelfile.File, i int) (l layer, err error) {
	into := []*matrix{&l.queryKeyValue, &l.output, &l.up, &l.down}
	for n, m := range f.Config.Matrices() {
		if *into[n], err = loadMatrix(f, i, m); err != nil {
			return l, err
		}
	}
	if l.attentionNorm, err = loadNorm(f, modelfile.LayerSection(i, modelfile.AttentionNorm)); err != nil {
		return l, err
	}
	l.outputNorm, err = loadNorm(f, modelfile.LayerSection(i, modelfile.OutputNorm))
	return l, err
}

func loadMatrix(f *modelfile.File, i int, shape modelfile.Matrix) (matrix, error) {
	section := func(part string) string { return modelfile.LayerSection(i, shape.Name+"."+part) }
	m := matrix{k: shape.K, columns: shape.Columns, weights: int8s(f.Bytes(section(modelfile.Weight)))}
	m.cols.Sum = f.Ints(section(modelfile.Sum))
	for _, part := range []struct {
		name string
		into *[]float32
	}{
		{modelfile.Scale, &m.cols.Scale},
		{modelfile.Bias, &m.cols.Bias},
		{modelfile.Smooth, &m.smooth},
	} {
		values, err := f.Floats(section(part.name))
		if err != nil {
			return m, err
		}
		*part.into = values
	}
	return m, nil
}

func loadNorm(f *modelfile.File, name string) (norm, error) {
	both, err := f.Floats(name)
	if err != nil {
		return norm{}, err
	}
	half := len(both) / 2
	return norm{both[:half:half], both[half:]}, nil
}

// int8s views bytes as int8, which have the same size and alignment.
func int8s(b []byte) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}
