// Package transport carries protocol messages over a pair of byte streams, one per line,
// and decodes input from clients: a line or the body of a request.
//
// A [Conn] owns two goroutines, which end with Close.
package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "notesd/internal/jsonrpc"
	"notesd/internal/phrase"
)

// ModernVersion is the first protocol version without sessions.
const ModernVersion = "2026-07-28"

// Methods that a line connection handles specially.
const (
	MethodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// Limits bound the memory used by one line connection. For a zero field the default
// applies.
type Limits struct {
	MessageBytes int // longest line accepted; default rpc.MaxMessage
	InFlight     int // concurrent calls; default 1024
	QueueFrames  int // messages queued for a client that does not read; default 8192

	// Grace is how long calls in flight may continue after the client closes its end, and
	// how long the client then has to read the responses. The default is 2 s, after which
	// common clients kill a server that they are stopping.
	Grace time.Duration
}

// WithDefaults replaces zero fields with their defaults.
func (l Limits) WithDefaults() Limits {
	return Limits{cmp.Or(l.MessageBytes, rpc.MaxMessage), cmp.Or(l.InFlight, 1024), cmp.Or(l.QueueFrames, 8192), cmp.Or(l.Grace, 2*time.Second)}
}

const queueBytes = 64 << 20 // responses queued for a client that does not read

// A Conn speaks newline-delimited JSON-RPC over a pair of byte streams. Unlike the SDK's
// transports it survives invalid messages: it responds with an error and continues.
// Writes never block; a client that lets the queue overflow is disconnected. It has two
// goroutines: one reads lines, the outbox's writes them.
type Conn struct {
	in       io.ReadCloser
	out      *outbox
	limits   Limits
	incoming chan jsonrpc.Message // closed by readLoop at the end of input
	done     chan struct{}        // closed by Close
	closing  sync.Once
	closeErr error
	version  atomic.Value // a string, negotiated by initialize; nil before that and for sessionless versions

	mu    sync.Mutex
	calls map[jsonrpc.ID]*inFlight // the client's calls in flight
	idle  chan struct{}            // receives a token when a call finishes
}

// Open starts reading and writing.
func Open(in io.ReadCloser, out io.WriteCloser, limits Limits) *Conn {
	limits = limits.WithDefaults()
	c := &Conn{
		in:       in,
		out:      newOutbox(out, limits),
		limits:   limits,
		incoming: make(chan jsonrpc.Message),
		done:     make(chan struct{}),
		calls:    make(map[jsonrpc.ID]*inFlight),
		idle:     make(chan struct{}, 1),
	}
	go c.readLoop()
	return c
}

// Connect returns c, which is the transport of a single connection.
func (c *Conn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// An inFlight is a call from the client that has not been answered yet.
type inFlight struct {
	method    string
	cancelled bool // its response must not be sent
}

// SessionID returns "": a line connection has a single session.
func (c *Conn) SessionID() string { return "" }

// Read returns the client's next valid message, or io.EOF once the input has ended and
// the calls in flight have been answered.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-c.done:
		return nil, io.EOF
	default:
	}
	select {
	case msg, ok := <-c.incoming:
		if !ok {
			return nil, io.EOF
		}
		return msg, nil
	case <-c.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write queues a message. It fails only if the connection is closed, or if the queue
// overflows, which closes the connection.
func (c *Conn) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		data, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("encode a message: %w", err)
		}
		return c.send(append(data, '\n'))
	}
	data, err := encodeResponse(presentable(resp))
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	if data = c.finish(resp, append(data, '\n')); data == nil {
		return nil
	}
	return c.send(data)
}

// encodeResponse is jsonrpc.EncodeMessage, except that it does not parse and copy a result,
// which is already encoded.
func encodeResponse(resp *jsonrpc.Response) ([]byte, error) {
	if resp.Error != nil || len(resp.Result) == 0 {
		return jsonrpc.EncodeMessage(resp)
	}
	id, err := json.Marshal(resp.ID.Raw())
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), resp.Result, []byte("}")), nil
}

// send queues a line.
func (c *Conn) send(line []byte) error {
	err := c.out.put(line)
	if errors.Is(err, ErrSlowClient) {
		go c.Close() // asynchronously: the SDK holds locks during a write that Close needs
	}
	return err
}

// Close closes the connection: queued messages are still written for up to Grace, then
// both streams are closed. It is idempotent and waits for the writer. The reader ends
// when its stream's Read returns; for a terminal or a file on stdin that may be only when
// the process exits.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		close(c.done)
		c.closeErr = errors.Join(ignoreClosed(c.in.Close()), c.out.Close())
	})
	return c.closeErr
}

// Negotiated records the protocol version, which determines whether batches are accepted.
func (c *Conn) Negotiated(version string) { c.version.Store(version) }

// readLoop delivers messages until the input ends.
func (c *Conn) readLoop() {
	defer close(c.incoming)
	lines := rpc.NewReader(c.in, c.limits.MessageBytes)
	for {
		line, err := lines.Next()
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, rpc.ErrLineTooLong):
			c.refuse(refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: a message may have %d bytes at most", c.limits.MessageBytes))
		case err != nil:
			c.awaitAnswers()
			return
		case !c.accept(line):
			return
		}
	}
}

// accept handles one line and reports whether to continue.
func (c *Conn) accept(line []byte) bool {
	if bad := tooDeep(line); bad != nil {
		c.refuse(bad)
		return true
	}
	version, _ := c.version.Load().(string)
	items, bad := split(line, version)
	if bad != nil {
		c.refuse(bad)
	}
	for _, item := range items {
		msg, bad := decodeMessage(item)
		if bad == nil {
			bad = c.register(msg)
		}
		if bad != nil {
			c.refuse(bad)
		} else if !c.deliver(msg) {
			return false
		}
	}
	return true
}

// deliver passes a message to the session.
func (c *Conn) deliver(msg jsonrpc.Message) bool {
	req, ok := msg.(*jsonrpc.Request)
	if ok && req.Method == methodCancelled && !c.cancel(req) {
		return true
	}
	select {
	case c.incoming <- msg:
		return true
	case <-c.done:
		return false
	}
}

// refuse responds to an unacceptable message. The next write reports an overflow or a
// closed connection.
func (c *Conn) refuse(r Refusal) {
	if len(r) > 0 {
		_ = c.send(r)
	}
}

// register records a call as in flight.
func (c *Conn) register(msg jsonrpc.Message) Refusal {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	rawID, _ := json.Marshal(req.ID.Raw()) // a string or a number
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[req.ID] != nil {
		// Without the id: the response would be mistaken for that of the other call.
		return refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the id %s belongs to a call that is still being answered", rawID)
	}
	if len(c.calls) >= c.limits.InFlight {
		return refuse(rawID, CodeBusy, "too many calls at a time (%d): wait for answers before sending more", c.limits.InFlight)
	}
	if req.Method == methodListen {
		withRequestID(req, string(rawID))
	}
	c.calls[req.ID] = &inFlight{method: req.Method}
	return nil
}

// cancel marks a call as cancelled, and reports whether to pass the cancellation on to
// the session. Initialize cannot be cancelled.
func (c *Conn) cancel(req *jsonrpc.Request) bool {
	id, ok := cancelledID(req)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[id]
	if call == nil || call.method == MethodInitialize {
		return false
	}
	call.cancelled = true
	return true
}

// finish removes a call from those in flight. It returns the data to send, or nil if the
// call was cancelled.
func (c *Conn) finish(resp *jsonrpc.Response, data []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[resp.ID]
	if call == nil {
		return data
	}
	delete(c.calls, resp.ID)
	select {
	case c.idle <- struct{}{}:
	default:
	}
	if call.cancelled {
		return nil
	}
	return data
}

// awaitAnswers waits until all calls have been answered, but at most for Grace, so that
// responses to piped input are not lost when it ends. Subscriptions are excluded, because
// they have no response.
func (c *Conn) awaitAnswers() {
	grace := time.NewTimer(c.limits.Grace)
	defer grace.Stop()
	for c.answering() {
		select {
		case <-c.idle:
		case <-grace.C:
			return
		case <-c.done:
			return
		}
	}
}

func (c *Conn) answering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		if call.method != methodListen {
			return true
		}
	}
	return false
}

// presentable adds an error code where the SDK sent none, as for calls before initialize,
// and removes from the message the parameters that the SDK quotes in full when it cannot
// decode them.
func presentable(resp *jsonrpc.Response) *jsonrpc.Response {
	if resp.Error == nil {
		return resp
	}
	const quoted = "unmarshaling "
	out := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: resp.Error.Error()}
	var wire *jsonrpc.Error
	if errors.As(resp.Error, &wire) && wire.Code != 0 {
		out.Code, out.Data = wire.Code, wire.Data
	}
	if at := strings.Index(out.Message, quoted); at >= 0 && (out.Code == jsonrpc.CodeInvalidParams || wire == nil) {
		out.Code, out.Message = jsonrpc.CodeInvalidParams, out.Message[:at]+"a field has the wrong type"
	}
	if strings.HasSuffix(out.Message, "is invalid during session initialization") {
		out.Message += ": send initialize first, or in _meta what " + ModernVersion + " asks for"
	}
	out.Message = phrase.Clip(out.Message, 2000)
	return &jsonrpc.Response{ID: resp.ID, Error: out}
}

// ignoreClosed drops errors that only report that a stream was already closed.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
