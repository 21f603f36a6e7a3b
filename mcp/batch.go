package mcp

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// batchVersion is the one protocol version with batches: 2024-11-05 never had
// them in MCP, and 2025-06-18 took them out again.
const batchVersion = "2025-03-26"

// A batch collects the answers to the calls of one JSON-RPC batch. The
// connection's lock guards it.
type batch struct {
	waiting int  // calls without an answer
	closed  bool // all its messages have been read
	answers []json.RawMessage
}

// add takes the answer to one of the calls, or nil when there is none to send.
// It returns the array of all answers when it was the last.
func (b *batch) add(answer []byte) []byte {
	b.waiting--
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	return b.complete()
}

// complete returns the array of answers once there are no more to come, and nil
// before that, or when there is nothing to answer.
func (b *batch) complete() []byte {
	if b.waiting > 0 || !b.closed || len(b.answers) == 0 {
		return nil
	}
	answers := make([][]byte, len(b.answers))
	for i, a := range b.answers {
		answers[i] = a
	}
	return append(append([]byte{'['}, bytes.Join(answers, []byte{','})...), ']')
}

// acceptBatch handles a line that holds an array.
func (c *lineConn) acceptBatch(line []byte) bool {
	var items []json.RawMessage
	if err := json.Unmarshal(line, &items); err != nil {
		c.refuse(refuse(nil, jsonrpc.CodeParseError, "parse error: %v", err))
		return true
	}
	c.mu.Lock()
	version := c.version
	c.mu.Unlock()
	switch {
	case version != batchVersion:
		c.refuse(refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: send one message a line; batches exist in protocol version %s only, after initialize", batchVersion))
		return true
	case len(items) == 0:
		c.refuse(refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the batch is empty"))
		return true
	case len(items) > c.limits.Batch:
		c.refuse(refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: a batch may have %d messages at most", c.limits.Batch))
		return true
	}
	return c.deliverBatch(items)
}

func (c *lineConn) deliverBatch(items []json.RawMessage) bool {
	b := new(batch)
	var msgs []jsonrpc.Message
	for _, item := range items {
		msg, bad := decodeMessage(item)
		if bad == nil {
			bad = c.register(msg, b)
		}
		if bad == unanswerable {
			continue
		}
		if bad != nil {
			c.mu.Lock()
			b.answers = append(b.answers, bad.encode())
			c.mu.Unlock()
			continue
		}
		msgs = append(msgs, msg)
	}
	c.mu.Lock()
	b.closed = true
	refused := b.complete() // when not one of its messages is a call
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
