package jsonrpc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Replace returns a copy of line with the bytes at replaced by with.
func Replace(line []byte, at Span, with string) []byte {
	return slices.Concat(line[:at.From], []byte(with), line[at.To:])
}

// Insert returns a copy of line with a member, given as raw JSON, added as the first
// member of object.
func Insert(line []byte, object Span, name, rawValue string) []byte {
	member := strconv.Quote(name) + ":" + rawValue
	if line[skipSpace(line, object.From+1)] != '}' {
		member += ","
	}
	return slices.Insert(slices.Clone(line), object.From+1, []byte(member)...)
}

// Notification returns a line without an id. It panics if params cannot be encoded.
func Notification(method string, params any) []byte {
	type body struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}
	line, err := json.Marshal(body{"2.0", method, params})
	if err != nil {
		panic("jsonrpc: a notification that cannot be encoded: " + err.Error())
	}
	return append(line, '\n')
}

// Failure returns the line of an error response. rawID is the id as spelled in the
// request; if empty, because it could not be read, the id is null as JSON-RPC requires.
func Failure(rawID []byte, code int64, message string) []byte {
	if len(rawID) == 0 {
		rawID = []byte("null")
	}
	text, _ := json.Marshal(message) // a string cannot fail
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", rawID, code, text)
}
