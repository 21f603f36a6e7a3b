package transport

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	rpc "notesd/internal/jsonrpc"
)

// Decode turns a request's body, one message or a batch of them, into
// messages, as a client of the given protocol version may send them; one that
// names no version is of those that have batches. One message that is not
// acceptable refuses the whole body.
func Decode(body []byte, version string) ([]jsonrpc.Message, *Refusal) {
	body = bytes.TrimSpace(body)
	if bad := tooDeep(body); bad != nil {
		return nil, bad
	}
	if len(body) == 0 || body[0] != '[' {
		msg, bad := decodeMessage(body)
		return []jsonrpc.Message{msg}, bad
	}
	items, bad := splitBatch(body, cmp.Or(version, rpc.BatchVersion))
	if bad != nil {
		return nil, bad
	}
	msgs := make([]jsonrpc.Message, len(items))
	for i, item := range items {
		if msgs[i], bad = decodeMessage(item); bad != nil {
			return nil, bad
		}
	}
	return msgs, nil
}

// splitBatch returns the messages of a batch, a JSON array, which a client of the
// given protocol version has sent.
func splitBatch(data []byte, version string) ([]json.RawMessage, *Refusal) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, Refuse(nil, jsonrpc.CodeParseError, "parse error: %v", err)
	}
	switch {
	case version != rpc.BatchVersion:
		return nil, Refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: send one message at a time; batches exist in protocol version %s only, after initialize", rpc.BatchVersion)
	case len(items) == 0:
		return nil, Refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the batch is empty")
	case len(items) > maxBatch:
		return nil, Refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: a batch may have %d messages at most", maxBatch)
	}
	return items, nil
}

// acceptBatch handles a line that holds an array, and reports whether to go on.
func (c *Conn) acceptBatch(line []byte) bool {
	c.mu.Lock()
	version := c.version
	c.mu.Unlock()
	items, bad := splitBatch(line, version)
	if bad != nil {
		c.refuse(bad)
		return true
	}
	b := rpc.NewBatch()
	var msgs []jsonrpc.Message
	for _, item := range items {
		msg, bad := decodeMessage(item)
		if bad == nil {
			bad = c.register(msg, b)
		}
		switch bad {
		case nil:
			msgs = append(msgs, msg)
		case unanswerable:
		default:
			c.mu.Lock()
			b.Expect()
			b.Answer(bad.Encode())
			c.mu.Unlock()
		}
	}
	c.mu.Lock()
	refused := b.Forget() // when not one of its messages is a call
	c.mu.Unlock()
	if refused != nil {
		_ = c.send(refused)
	}
	for _, msg := range msgs {
		if !c.deliver(msg) {
			return false
		}
	}
	return true
}
