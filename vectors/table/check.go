package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// Metric is a measure of the similarity of two vectors.
type Metric string

// The metrics and their scores. A higher score is nearer for all of them.
const (
	Cosine Metric = "cosine" // the cosine of the angle, -1 to 1
	Dot    Metric = "dot"    // the inner product
	L2     Metric = "l2"     // the Euclidean distance, negated: 0 is the same vector
)

const (
	maxTableName = 64  // characters
	maxRowID     = 256 // bytes
	// maxNumber bounds numbers so that sums of squares do not overflow float32.
	maxNumber = 1e15
)

// invalid returns an error about an argument of the caller.
func invalid(op, table, hint, format string, args ...any) error {
	return &notes.Error{Op: op, Path: table, Err: notes.ErrInvalid, Detail: fmt.Sprintf(format, args...), Hint: hint}
}

// unstored returns err or, if the disk is full, an error for the caller that says so.
func unstored(op, table string, err error) error {
	if sqlite.IsFull(err) {
		return &notes.Error{Op: op, Path: table, Err: notes.ErrUnavailable, Detail: "the disk that holds notesd's state is full", Hint: "Nothing was stored. Free some space there and try again."}
	}
	return err
}

// tableName checks a name and returns its canonical form.
func tableName(op, name string) (string, error) {
	const hint = "Use 1 to 64 letters, digits, _, - and ., beginning with a letter or digit."
	if !utf8.ValidString(name) {
		return "", invalid(op, "", hint, "the table's name is not UTF-8")
	}
	name = norm.NFC.String(strings.TrimSpace(name))
	if n := utf8.RuneCountInString(name); n == 0 {
		return "", invalid(op, "", hint, "the table's name is empty")
	} else if n > maxTableName {
		return "", invalid(op, name, hint, "a table's name has at most %d characters, not %d", maxTableName, n)
	}
	for i, r := range name {
		plain := unicode.IsLetter(r) || unicode.IsDigit(r) || i > 0 && (unicode.IsMark(r) || strings.ContainsRune("_-.", r))
		if !plain {
			return "", invalid(op, name, hint, "a table's name cannot have %q there", r)
		}
	}
	return name, nil
}

// checkVector returns an error for a vector that cannot be compared. which names
// the vector in the error.
func checkVector(op string, info Info, which string, v []float32) error {
	if len(v) != info.Dimension {
		return invalid(op, info.Name, fmt.Sprintf("Pass vectors of %d numbers, or create another table.", info.Dimension),
			"%s has %d numbers, and the table takes %d", which, len(v), info.Dimension)
	}
	zero := true
	for i, x := range v {
		switch {
		case x != x:
			return invalid(op, info.Name, "Pass finite numbers only.", "%s has NaN at position %d", which, i+1)
		case math.IsInf(float64(x), 0):
			return invalid(op, info.Name, "Pass numbers that a 32-bit float can hold.", "%s has an infinite number at position %d", which, i+1)
		case x > maxNumber || x < -maxNumber:
			return invalid(op, info.Name, "Scale the vectors down.", "%s has %g at position %d, and numbers go up to %g", which, x, i+1, maxNumber)
		}
		zero = zero && x == 0
	}
	if zero && info.Metric == Cosine {
		return invalid(op, info.Name, "Leave it out, or use a table with the metric dot or l2.",
			"%s is all zeros, which has no direction for a cosine", which)
	}
	return nil
}

func checkID(table, which, id string) error {
	const hint = "Use up to 256 bytes of text on one line, or leave the id out."
	switch {
	case len(id) > maxRowID:
		return invalid(opAdd, table, hint, "%s has an id of %d bytes, and %d are allowed", which, len(id), maxRowID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return invalid(opAdd, table, hint, "%s has an id with control characters or broken UTF-8", which)
	}
	return nil
}

// checkMetadata checks metadata and returns it as a compact JSON object.
func checkMetadata(table, which string, metadata json.RawMessage) (string, error) {
	metadata = bytes.TrimSpace(metadata)
	if len(metadata) == 0 || string(metadata) == "null" {
		return "{}", nil
	}
	if len(metadata) > MaxMetadataBytes {
		return "", invalid(opAdd, table, "Keep long texts in notes and their paths in the metadata.",
			"%s has %d bytes of metadata, and %d are allowed", which, len(metadata), MaxMetadataBytes)
	}
	var object map[string]any
	if err := json.Unmarshal(metadata, &object); err != nil || !utf8.Valid(metadata) {
		return "", invalid(opAdd, table, `Pass an object, like {"key": "value"}.`, "%s has metadata that is not a JSON object", which)
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, metadata) // it is valid JSON
	return compact.String(), nil
}
