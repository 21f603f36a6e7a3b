package jsonrpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInsert(t *testing.T) {
	for object, want := range map[string]string{
		`{}`:        `{"a":1}`,
		"{ \t}":     "{\"a\":1 \t}",
		`{"b":"}"}`: `{"a":1,"b":"}"}`,
		`{ "b":2 }`: `{"a":1, "b":2 }`,
	} {
		line := []byte(`{"params":` + object + `}`)
		m, ok := Scan(line)
		assert.True(t, ok)
		assert.Equal(t, `{"params":`+want+`}`, string(Insert(line, m.Params, "a", "1")))
		assert.Equal(t, `{"params":`+object+`}`, string(line), "the line is not changed")
	}
}

// JSON-RPC requires an id in each error response: null if it could not be read.
func TestFailure(t *testing.T) {
	line := string(Failure(nil, -32700, `a "b"`))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a \"b\""}}`, line)
	assert.Equal(t, len(line)-1, strings.IndexByte(line, '\n'), "one line")
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`, string(Failure([]byte(`"x"`), 1, "m")))
}
