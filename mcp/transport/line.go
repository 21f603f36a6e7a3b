// Package transport carries the protocol's messages over a pair of byte streams,
// a line each, and decodes what clients send: a line or a request's body.
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

// The methods that a line connection treats differently.
const (
	MethodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// Limits bound what one line connection may make notesd hold in memory. A
// zero field means its default.
type Limits struct {
	MessageBytes int // longest line accepted; 48 MiB: a 16 MiB note, escaped
	InFlight     int // calls being answered at a time; 1024
	QueueFrames  int // messages waiting for a client that does not read; 8192

	// Grace is how long the calls in flight may still take when the client
	// closes its end, and how long it then has to read the answers; 2 s, which
	// is when the common clients lose patience with a server that they stop.
	Grace time.Duration
}

// WithDefaults replaces zero fields with their defaults.
func (l Limits) WithDefaults() Limits {
	return Limits{cmp.Or(l.MessageBytes, 48<<20), cmp.Or(l.InFlight, 1024), cmp.Or(l.QueueFrames, 8192), cmp.Or(l.Grace, 2*time.Second)}
}

const queueBytes = 64 << 20 // answers waiting for a client that does not read

// Lines speaks newline-delimited JSON-RPC over a pair of byte streams.
// Unlike the SDK's transports it survives what is not a message: it answers
// with an error and reads on. Writing never blocks; a client that lets the
// queue overflow is cut off.
type Lines struct {
	In     io.ReadCloser
	Out    io.WriteCloser
	Limits Limits
}

// Connect starts reading and writing. It may be called once.
func (t *Lines) Connect(context.Context) (sdk.Connection, error) {
	limits := t.Limits.WithDefaults()
	c := &Conn{
		in:       t.In,
		limits:   limits,
		incoming: make(chan jsonrpc.Message),
		done:     make(chan struct{}),
		calls:    make(map[jsonrpc.ID]*inFlight),
		idle:     make(chan struct{}, 1),
	}
	c.out = newOutbox(t.Out, limits)
	go c.readLoop()
	return c, nil
}

// A Conn is the connection of a Lines. It owns two goroutines: one
// reads lines, the other (the outbox's) writes them.
type Conn struct {
	in       io.ReadCloser
	out      *outbox
	limits   Limits
	incoming chan jsonrpc.Message // closed by readLoop at the end of input
	done     chan struct{}        // closed by Close
	closing  sync.Once
	closeErr error
	version  atomic.Value // a string, negotiated by initialize; nil before, and in the sessionless era

	mu    sync.Mutex
	calls map[jsonrpc.ID]*inFlight // the client's calls that have no answer yet
	idle  chan struct{}            // has a token when a call was answered
}

// An inFlight is a call of the client's that is being answered.
type inFlight struct {
	method    string
	cancelled bool // its answer must not be sent
}

// SessionID is "": a line connection has one session.
func (c *Conn) SessionID() string { return "" }

// Read returns the client's next valid message, and io.EOF when there are no
// more and the calls in flight have been answered.
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

// Write queues a message. It fails only when the connection is closed or when
// the queue overflows, which closes it.
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

// encodeResponse does as jsonrpc.EncodeMessage, but does not parse and copy a
// result that was encoded a moment ago.
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
		c.out.abandon(err)
		go c.Close() // not from here: the SDK holds locks around a write that Close needs
	}
	return err
}

// Close ends the connection: what is queued is still written, for as long as
// Grace, and then both streams are closed. It is idempotent, and waits for the
// writer. The reader ends when its stream's Read returns, which for a terminal
// or a file on stdin may be only when the process exits.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		close(c.done)
		c.closeErr = errors.Join(ignoreClosed(c.in.Close()), c.out.Close())
	})
	return c.closeErr
}

// Negotiated records the protocol version, on which batches depend.
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
			c.refuse(Refuse(salvageID(line), jsonrpc.CodeInvalidRequest,
				"invalid request: a message may have %d bytes at most", c.limits.MessageBytes))
		case err != nil:
			c.awaitAnswers()
			return
		case !c.accept(line):
			return
		}
	}
}

// accept handles one line and reports whether to go on.
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

// deliver hands a message to the session.
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

// refuse answers something that is not an acceptable message. An overflow or a
// closed connection shows in the next write.
func (c *Conn) refuse(r *Refusal) {
	if r != unanswerable {
		_ = c.send(r.Encode())
	}
}

// register notes a call as being answered.
func (c *Conn) register(msg jsonrpc.Message) *Refusal {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	rawID, _ := json.Marshal(req.ID.Raw()) // a string or a number
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[req.ID] != nil {
		// Not under its id: the answer would be taken for the other call's.
		return Refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the id %s belongs to a call that is still being answered", rawID)
	}
	if len(c.calls) >= c.limits.InFlight {
		return Refuse(rawID, CodeBusy, "too many calls at a time (%d): wait for answers before sending more", c.limits.InFlight)
	}
	if req.Method == methodListen {
		withRequestID(req, string(rawID))
	}
	c.calls[req.ID] = &inFlight{method: req.Method}
	return nil
}

// cancel notes that a call's answer is not wanted, and reports whether the
// session should hear of it. Initialize cannot be cancelled.
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

// finish removes a call from those in flight. It returns what to send:
// data, or nil when the call was cancelled.
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

// awaitAnswers returns when every call has been answered, so that the answers
// to what was piped in are not lost at its end, but after Grace at the latest.
// A subscription has no answer to wait for.
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

// presentable gives an error response a code where the SDK sent none (it
// refuses calls before initialize with a bare error), and takes out of its
// message the parameters that the SDK quotes whole when it cannot decode them.
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

// ignoreClosed drops the errors that only say that a stream was closed before.
func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
