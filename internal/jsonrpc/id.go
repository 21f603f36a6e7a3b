package jsonrpc

import (
	"strconv"
	"strings"
)

// BatchVersion is the only protocol version with batches: 2024-11-05 did not have them in
// MCP, and 2025-06-18 removed them.
const BatchVersion = "2025-03-26"

// maxExactInteger is the largest integer that every JSON implementation represents
// exactly, 2^53-1. A larger id is returned with different digits, because the MCP SDK
// reads numbers as float64.
const maxExactInteger = 1<<53 - 1

// ID is a JSON-RPC request id in a form that can be compared: a string without its
// escapes, or an integer. Two spellings of one id are equal.
type ID struct {
	Text    string // without escapes, or the digits of an integer
	Numeric bool
}

// ParseID parses a raw id. It returns false for values that are not request ids in MCP:
// null, fractions and exponents, booleans, containers, the empty span.
func ParseID(raw []byte) (ID, bool) {
	if len(raw) == 0 {
		return ID{}, false
	}
	if raw[0] == '"' {
		s := Text(raw)
		return ID{Text: s}, s != "" || len(raw) == len(`""`)
	}
	digits := strings.TrimPrefix(string(raw), "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return ID{}, false
	}
	if digits == "0" {
		return ID{Text: "0", Numeric: true}, true
	}
	return ID{Text: string(raw), Numeric: true}, true
}

// Exact returns the value of a numeric id, and whether every JSON implementation
// represents it exactly.
func (id ID) Exact() (int64, bool) {
	n, err := strconv.ParseInt(id.Text, 10, 64)
	return n, id.Numeric && err == nil && -maxExactInteger <= n && n <= maxExactInteger
}
