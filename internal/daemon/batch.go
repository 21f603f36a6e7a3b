package daemon

import "bytes"

// batch gathers the answers to a JSON-RPC batch. The relay gives the daemon each
// of its messages by itself, so that each is tracked and repeated like any
// other. The methods accept a nil batch, which stands for a message that came
// alone. They are called under relaySession.mu.
type batch struct {
	open    int // answers that are still to come, and one until all messages are read
	answers [][]byte
}

func (b *batch) expect() {
	if b != nil {
		b.open++
	}
}

// answer takes one answer and returns what to send to the client now, if
// anything: the line itself for a message that came alone, or the whole batch
// when it was the last.
func (b *batch) answer(line []byte) []byte {
	if b == nil {
		return line
	}
	b.answers = append(b.answers, bytes.Clone(bytes.TrimSpace(line)))
	return b.forget()
}

// forget takes note that an answer will not come, and returns the whole batch
// when it was the last that was missing.
func (b *batch) forget() []byte {
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

// takesBatches reports whether the session's protocol version has batches.
func (s *relaySession) takesBatches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handshake.version == batchVersion
}

// fromBatch takes a batch apart. An empty one goes to the daemon, which refuses
// it.
func (s *relaySession) fromBatch(line []byte, at span) {
	b := &batch{open: 1}
	empty := true
	for element := range elements(line, at) {
		empty = false
		s.fromObject(append(bytes.Clone(element.of(line)), '\n'), b)
	}
	if empty {
		s.postUntracked(line)
		return
	}
	s.mu.Lock()
	complete := b.forget()
	s.mu.Unlock()
	if complete != nil {
		s.client.write(complete)
	}
}
