package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
	"notesd/internal/jsonrpc"
)

// relayTest runs a Relay between a client and daemons simulated by the test, inside a
// synctest bubble.
type relayTest struct {
	t       *testing.T
	in      *io.PipeWriter // the client's input to the relay
	out     *bufio.Reader  // the relay's output to the client
	outPipe *io.PipeReader
	dialed  chan net.Conn // the daemon's ends of the connections
	refuse  chan error    // the error of the next dial
	ended   chan error    // the result of Run
	dials   atomic.Int64  // calls of Dial
	stopped atomic.Bool   // connect only while the client is waiting
	stop    context.CancelCauseFunc
}

// startRelay starts a Relay that is stopped at the end of the test. Its first dials
// fail with the given errors.
func startRelay(t *testing.T, refusals ...error) *relayTest {
	t.Helper()
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	h := &relayTest{
		t: t, in: inWriter, out: bufio.NewReader(outReader), outPipe: outReader,
		dialed: make(chan net.Conn, 1), refuse: make(chan error, 100), ended: make(chan error, 1), stop: cancel,
	}
	for _, err := range refusals {
		h.refuse <- err
	}
	relay := &Relay{In: inReader, Out: outWriter, Dial: h.dial}
	go func() { h.ended <- relay.Run(ctx) }()
	t.Cleanup(func() {
		cancel(nil)
		inWriter.Close()
		outReader.Close()
		synctest.Wait()
	})
	return h
}

func (h *relayTest) dial(ctx context.Context, asked bool) (io.ReadWriteCloser, error) {
	h.dials.Add(1)
	if h.stopped.Load() && !asked {
		return nil, daemon.ErrStopped
	}
	select {
	case err := <-h.refuse:
		return nil, err
	default:
	}
	ours, theirs := net.Pipe()
	select {
	case h.dialed <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// say sends a line as the client.
func (h *relayTest) say(line string) {
	h.t.Helper()
	_, err := io.WriteString(h.in, line+"\n")
	require.NoError(h.t, err)
}

// hear returns the next line that the client receives, without its newline.
func (h *relayTest) hear() string {
	h.t.Helper()
	line, err := h.out.ReadString('\n')
	require.NoError(h.t, err)
	return line[:len(line)-1]
}

// hears checks the next line that the client receives.
func (h *relayTest) hears(want string) {
	h.t.Helper()
	require.JSONEq(h.t, want, h.hear())
}

// daemon returns the daemon that the relay connects to next, waiting if necessary.
func (h *relayTest) daemon() *fakeDaemon {
	h.t.Helper()
	conn := <-h.dialed
	h.t.Cleanup(func() { conn.Close() })
	d := &fakeDaemon{t: h.t, conn: conn, in: make(chan string, 2*maxInFlight)}
	go func() {
		defer close(d.in)
		lines := jsonrpc.NewReader(conn, maxLine)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			d.in <- string(line[:len(line)-1])
		}
	}()
	return d
}

// result returns the result of Run.
func (h *relayTest) result() error {
	h.t.Helper()
	return <-h.ended
}

// fakeDaemon is the daemon's end of a connection, controlled by a test. Like the real
// daemon, it always reads.
type fakeDaemon struct {
	t    *testing.T
	conn net.Conn
	in   chan string
}

// rpc is a decoded message.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name  string         `json:"name"`
		URI   string         `json:"uri"`
		Level string         `json:"level"`
		ReqID any            `json:"requestId"`
		Meta  map[string]any `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// get returns the next line that the daemon receives, without its newline.
func (d *fakeDaemon) get() string {
	d.t.Helper()
	line, ok := <-d.in
	require.True(d.t, ok, "the relay hung up")
	return line
}

// gets returns the next message and checks its method.
func (d *fakeDaemon) gets(method string) rpc {
	d.t.Helper()
	line := d.get()
	var m rpc
	require.NoError(d.t, json.Unmarshal([]byte(line), &m), line)
	require.Equal(d.t, method, m.Method, line)
	return m
}

// getsNothing checks that no line is on its way to the daemon.
func (d *fakeDaemon) getsNothing() {
	d.t.Helper()
	synctest.Wait()
	require.Empty(d.t, d.in, "the daemon hears something")
}

// send sends a line as the daemon.
func (d *fakeDaemon) send(line string) {
	d.t.Helper()
	_, err := io.WriteString(d.conn, line+"\n")
	require.NoError(d.t, err)
}

// answer answers a request.
func (d *fakeDaemon) answer(m rpc, result string) {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

// die closes the connection as a crash does.
func (d *fakeDaemon) die() { d.conn.Close() }

// hungUp checks that the relay has closed the connection.
func (d *fakeDaemon) hungUp() {
	d.t.Helper()
	line, ok := <-d.in
	require.False(d.t, ok, line)
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	initializeReply = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{}}}`
)

// initialized performs the handshake with the first daemon.
func (h *relayTest) initialized() *fakeDaemon {
	h.t.Helper()
	d := h.daemon()
	h.say(initializeLine)
	d.answer(d.gets("initialize"), initializeReply)
	h.hears(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
	h.say(initializedLine)
	d.gets("notifications/initialized")
	return d
}

// handshakeReplayed handles the replay of the handshake as the next daemon.
func (h *relayTest) handshakeReplayed() *fakeDaemon {
	h.t.Helper()
	d := h.daemon()
	m := d.gets("initialize")
	assert.NotEqual(h.t, "0", string(m.ID), "a replayed request has an id of the relay's own")
	d.answer(m, initializeReply)
	d.gets("notifications/initialized")
	return d
}

// listsChanged checks for the notifications that complete a replay.
func (h *relayTest) listsChanged() {
	h.t.Helper()
	h.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	h.hears(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
}
