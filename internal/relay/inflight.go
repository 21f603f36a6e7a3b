package relay

import (
	"errors"
	"fmt"
	"slices"

	"notesd/internal/jsonrpc"
)

const (
	// maxLine bounds one message of the daemon.
	maxLine = 64 << 20
	// maxIDLength is the daemon's limit on an id, in bytes.
	maxIDLength = 256
	// maxInFlight bounds the unanswered requests of one client.
	maxInFlight = 4096
	// maxHeldBytes bounds the memory for a client's messages that may have to be sent
	// or resent: the largest message and many more.
	maxHeldBytes = jsonrpc.MaxMessage + 32<<20
	// maxSends is how often one request is sent to daemons that die before they answer
	// it. Then the client gets an error, because the request may be what kills them.
	// The limit is generous: a slow request was seen to lose five daemons in a row to
	// unrelated kills.
	maxSends = 12
)

var (
	errNoMessage   = errors.New("the line is not a JSON-RPC message: send one request, notification or response; an id is a string or an integer")
	errDuplicateID = errors.New("the id of this request belongs to one that is still in progress")
	errLongID      = errors.New("an id may have 256 bytes at most")
	errLargeID     = errors.New("an id that is a number must be an integer of at most 53 bits")
	errTooMany     = errors.New("too many requests are waiting for an answer")
)

// request is a client's request that has not been answered.
type request struct {
	id     jsonrpc.ID
	rawID  []byte // the id as the client spelled it
	method string
	line   []byte // the line sent to the daemon

	generation int // the last daemon it was sent to; 0 if none
	sends      int

	progressToken jsonrpc.ID // zero if the client requested no progress
	progress      float64    // the last value forwarded
	progressed    bool

	acknowledged bool // subscriptions/listen: the client has the acknowledgment
}

// sentTo records that the request is about to be written to l.
func (r *request) sentTo(l *link) {
	r.generation = l.generation
	r.sends++
}

// listens reports whether the request stays open until it is cancelled.
func (r *request) listens() bool { return r.method == methodListen }

// unanswered returns the error for a client whose request r cannot be answered. A
// daemon that received a tool call may have executed it.
func (r *request) unanswered(err error) error {
	if r.method == methodCallTool && r.sends > 0 {
		return fmt.Errorf("the outcome of this call is unknown (if it was to change a note, read the note before repeating it): %w", err)
	}
	return err
}

// inflight is the table of unanswered requests, in the order in which the client sent
// them. It is not safe for concurrent use.
type inflight struct {
	list []*request
	held int // bytes of all lines
}

// admits returns an error if a request of size bytes with that id must be rejected.
func (t *inflight) admits(id jsonrpc.ID, size int) error {
	if _, exact := id.Exact(); id.Numeric && !exact {
		return errLargeID
	}
	if len(id.Text) > maxIDLength { // the daemon would answer without an id
		return errLongID
	}
	if t.find(id) != nil {
		return errDuplicateID
	}
	if len(t.list) >= maxInFlight || t.held+size > maxHeldBytes {
		return errTooMany
	}
	return nil
}

func (t *inflight) add(r *request) {
	t.list = append(t.list, r)
	t.held += len(r.line)
}

// remove removes r, which must be in the table.
func (t *inflight) remove(r *request) {
	i := slices.Index(t.list, r)
	t.list = slices.Delete(t.list, i, i+1)
	t.held -= len(r.line)
}

// find returns the request with the id, or nil.
func (t *inflight) find(id jsonrpc.ID) *request {
	if i := slices.IndexFunc(t.list, func(r *request) bool { return r.id == id }); i >= 0 {
		return t.list[i]
	}
	return nil
}

// awaited returns the number of requests that will be answered without being cancelled,
// which excludes open listens. It counts all of them, or those sent to one generation.
func (t *inflight) awaited(generation ...int) (n int) {
	for _, r := range t.list {
		if !r.listens() && (generation == nil || slices.Contains(generation, r.generation)) {
			n++
		}
	}
	return n
}

// withProgressToken returns the request with that progress token, or nil.
func (t *inflight) withProgressToken(token jsonrpc.ID) *request {
	for _, r := range t.list {
		if r.progressToken == token {
			return r
		}
	}
	return nil
}
