package jsonrpc

import "bytes"

// BatchVersion is the only protocol version with batches: 2024-11-05 never had
// them in MCP, and 2025-06-18 removed them.
const BatchVersion = "2025-03-26"

// Batch gathers the answers to the messages of a JSON-RPC batch, each of which
// is handled like a message of its own. The methods accept a nil Batch, which
// stands for a message that came alone. It is not safe for concurrent use.
type Batch struct {
	open    int // answers that are still to come, and one until all messages are read
	answers [][]byte
}

// NewBatch returns a batch whose messages are still being read. The caller calls
// Forget once after the last one.
func NewBatch() *Batch { return &Batch{open: 1} }

// Expect adds an answer to those that the batch waits for.
func (b *Batch) Expect() {
	if b != nil {
		b.open++
	}
}

// Answer adds one answer and returns what to send to the client now, if
// anything: the line itself for a message that came alone, or the whole batch
// when it was the last.
func (b *Batch) Answer(line []byte) []byte {
	if b == nil {
		return line
	}
	b.answers = append(b.answers, bytes.Clone(bytes.TrimSpace(line)))
	return b.Forget()
}

// Forget stops waiting for one answer, and returns the whole batch when it was
// the last that was missing.
func (b *Batch) Forget() []byte {
	if b == nil {
		return nil
	}
	b.open--
	if b.open > 0 || len(b.answers) == 0 {
		return nil
	}
	line := append([]byte{'['}, bytes.Join(b.answers, []byte{','})...)
	return append(line, "]\n"...)
}
