package session_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/assert"

	"notesd/internal/session"
)

func TestFailureOf(t *testing.T) {
	full := &session.Failure{Code: "conflict", Message: "it has changed", Hint: "Read it again."}
	data, err := json.Marshal(full)
	assert.NoError(t, err)
	for _, c := range []struct{ err, want error }{
		{fmt.Errorf("call: %w", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "conflict: it has changed", Data: data}), full},
		{&jsonrpc.Error{Code: -32002, Message: "Resource not found: gone", Data: []byte(`{"uri":"note:///a.md","code":"not_found","message":"gone"}`)}, &session.Failure{Code: "not_found", Message: "gone"}},
		{&jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no"}, &session.Failure{Code: "failed", Message: "no"}},
		{io.EOF, io.EOF},
	} {
		assert.Equal(t, c.want, session.FailureOf(c.err))
	}
}
