package jsonrpc

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBatch(t *testing.T) {
	b := NewBatch()
	for range 3 {
		b.Expect()
	}
	assert.Nil(t, b.Answer([]byte("1\n")))
	assert.Nil(t, b.Forget(), "one answer will not come")
	assert.Nil(t, b.Forget(), "all have been read")
	assert.Equal(t, "[1,2]\n", string(b.Answer([]byte(" 2 "))))

	assert.Nil(t, NewBatch().Forget(), "a batch without answers is not answered")
	var alone *Batch
	alone.Expect()
	assert.Equal(t, "1\n", string(alone.Answer([]byte("1\n"))))
	assert.Nil(t, alone.Forget())
}

func TestFailure(t *testing.T) {
	line := Failure(nil, -32600, "a \"quote\"\n")
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a \"quote\"\n"}}`, string(line))
	assert.Equal(t, byte('\n'), line[len(line)-1])
	assert.True(t, json.Valid(Failure([]byte(`"x"`), 1, "")))
}
