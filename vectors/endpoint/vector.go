package endpoint

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// maxDimension is twice the largest dimension of a published model.
const maxDimension = 8192

// vector is a JSON array of numbers. Unlike encoding/json, it rejects null as a number.
type vector []float32

// UnmarshalJSON reads the array.
func (v *vector) UnmarshalJSON(data []byte) error {
	inner, isArray := bytes.CutPrefix(data, []byte("["))
	if !isArray {
		return fmt.Errorf("a vector is not an array of numbers: %.20s", data)
	}
	inner = bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
	if len(inner) == 0 {
		*v = vector{}
		return nil
	}
	if n := bytes.Count(inner, []byte(",")); n >= maxDimension {
		return fmt.Errorf("a vector has %d numbers", n+1)
	}
	*v = make(vector, 0, bytes.Count(inner, []byte(","))+1)
	for number := range bytes.SplitSeq(inner, []byte(",")) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 32)
		if err != nil {
			return fmt.Errorf("a vector has %.20q among its numbers", number)
		}
		*v = append(*v, float32(x))
	}
	return nil
}

// normalise scales v to length one and reports whether that is possible.
func normalise(v []float32) bool {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return false
	}
	inverse := 1 / math.Sqrt(squares)
	for i, x := range v {
		v[i] = float32(float64(x) * inverse)
	}
	return true
}
