package relay

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"notesd/internal/jsonrpc"
)

// recorder is a connection that records what is written to it.
type recorder struct{ bytes.Buffer }

func (*recorder) Close() error { return nil }

// FuzzRelay feeds a line from the client and one from the daemon to a session in
// progress. Whatever they are, all output consists of whole lines, valid JSON stays
// valid, and the next daemon is sent only lines of the client.
func FuzzRelay(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`},
		{`{"id":12345678901234567890,"method":"subscriptions/listen"}`, `{"method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"notesd:1"}}}`},
		{`[{"id":1,"method":"ping"},{"id":2,"method":"ping"}]`, `{"id":1,"result":{}}`},
		{`{"method":"notifications/cancelled","params":{"requestId":"s"}}`, `{"id":3,"method":"elicitation/create"}`},
		{`{"id":1,"result":{}}`, `{"method":"notesd/closing"}`},
		{`{"id":0,"method":"initialize"}`, `{"id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":true}}}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, fromClient, fromDaemon []byte) {
		if bytes.IndexByte(fromClient, '\n') >= 0 || bytes.IndexByte(fromDaemon, '\n') >= 0 {
			return // no lines
		}
		var client bytes.Buffer
		s := newSession(&client, slog.New(slog.DiscardHandler), func(error) {})
		s.handshake.version = jsonrpc.BatchVersion
		daemon := &recorder{}
		l := newLink(s, daemon, 1)
		s.current, s.live = l, l
		s.questions["1"] = `"q"`
		s.readClient(io.NopCloser(bytes.NewReader(fromClient)))
		l.fromDaemon(append(bytes.Clone(fromDaemon), '\n'))
		checkLines(t, client.Bytes(), json.Valid(fromDaemon))
		checkLines(t, daemon.Bytes(), json.Valid(fromClient))
		l.lose()
		next := &recorder{}
		require.NoError(t, newLink(s, next, 2).flush())
		checkLines(t, next.Bytes(), true)
	})
}

// checkLines checks that out consists of whole lines, and of JSON if required.
func checkLines(t *testing.T, out []byte, valid bool) {
	t.Helper()
	if len(out) == 0 {
		return
	}
	require.Equal(t, byte('\n'), out[len(out)-1])
	if !valid {
		return
	}
	for line := range bytes.Lines(out) {
		require.True(t, json.Valid(line), "%q", line)
	}
}
