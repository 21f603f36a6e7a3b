package jsonrpc

import (
	"strconv"
	"strings"
)

// BatchVersion is the only protocol version with batches: 2024-11-05 never had
// them in MCP, and 2025-06-18 removed them.
const BatchVersion = "2025-03-26"

// maxExactInteger is the largest integer that every JSON implementation holds
// exactly, 2^53-1. An id beyond it is answered with other digits, because the MCP
// SDK reads numbers as float64.
const maxExactInteger = 1<<53 - 1

// ID is a JSON-RPC request id in the form in which ids are compared: a
// string without its escapes, or an integer. Two spellings of one id are equal.
type ID struct {
	Text    string // without escapes; the digits of an integer
	Numeric bool
}

// ParseID reads a raw id. It reports false for what is not a request id in MCP:
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
// holds it exactly.
func (id ID) Exact() (int64, bool) {
	n, err := strconv.ParseInt(id.Text, 10, 64)
	return n, id.Numeric && err == nil && -maxExactInteger <= n && n <= maxExactInteger
}
