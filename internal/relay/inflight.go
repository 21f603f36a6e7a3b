package relay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"notesd/internal/jsonrpc"
)

const (
	// maxLine bounds one message in either direction. It exceeds the daemon's own
	// limit, so that the daemon is the one to report messages that are too long.
	maxLine = 64 << 20
	// maxInFlight bounds the unanswered requests of one client.
	maxInFlight = 4096
	// maxHeldBytes bounds the memory for a client's messages that may have to be sent
	// or resent: the largest message and many more.
	maxHeldBytes = maxLine + 16<<20
	// maxSends is how often one request is sent to daemons that die before they answer
	// it. Then the client gets an error, because the request may be what kills them.
	// The limit is generous: a slow request was seen to lose five daemons in a row to
	// unrelated kills.
	maxSends = 12
)

var (
	errDuplicateID = errors.New("the id of this request belongs to one that is still in progress")
	errTooMany     = errors.New("too many requests are waiting for an answer")
)

// request is a client's request that has not been answered.
type request struct {
	client jsonrpc.ID // the client's id, normalized for comparison
	wire   jsonrpc.ID // the id sent to the daemon; differs if the client's would not survive
	rawID  []byte     // the id as the client spelled it
	method string
	line   []byte // the line sent to the daemon
	order  uint64

	posted     bool // sent to a daemon or queued at least once
	generation int  // the last daemon it was sent to; 0 if none
	sends      int

	progressToken jsonrpc.ID // zero if the client requested no progress
	progress      float64    // the last value forwarded
	progressed    bool

	acknowledged bool // subscriptions/listen: the client has the acknowledgment
}

// listens reports whether the request stays open until it is cancelled.
func (r *request) listens() bool { return r.method == methodListen }

// unanswered returns the error for a client whose request r cannot be answered. A
// daemon that received a tool call may have executed it.
func (r *request) unanswered(err error) error {
	if r.method == methodCallTool && r.sends > 0 {
		return fmt.Errorf("%w. The outcome of this call is unknown: if it was to change a note, read the note before repeating it", err)
	}
	return err
}

// inflight is the table of unanswered requests. It is not safe for concurrent
// use.
type inflight struct {
	byClient map[jsonrpc.ID]*request
	byWire   map[jsonrpc.ID]*request
	held     int // bytes of all lines
	order    uint64
}

func newInflight() inflight {
	return inflight{byClient: map[jsonrpc.ID]*request{}, byWire: map[jsonrpc.ID]*request{}}
}

// admits returns an error if a request of size bytes with that id must be rejected.
func (t *inflight) admits(id jsonrpc.ID, size int) error {
	if _, taken := t.byClient[id]; taken {
		return errDuplicateID
	}
	if len(t.byClient) >= maxInFlight || t.held+size > maxHeldBytes {
		return errTooMany
	}
	return nil
}

func (t *inflight) add(r *request) {
	t.order++
	r.order = t.order
	t.byClient[r.client] = r
	t.byWire[r.wire] = r
	t.held += len(r.line)
}

// remove removes r. It is idempotent.
func (t *inflight) remove(r *request) {
	if t.byWire[r.wire] != r {
		return
	}
	delete(t.byClient, r.client)
	delete(t.byWire, r.wire)
	t.held -= len(r.line)
}

func (t *inflight) holds(r *request) bool { return t.byWire[r.wire] == r }

// inOrder returns the requests in the order in which the client sent them.
func (t *inflight) inOrder() []*request {
	return slices.SortedFunc(maps.Values(t.byWire), func(a, b *request) int { return cmp.Compare(a.order, b.order) })
}

// awaited returns the number of requests that will be answered without being cancelled,
// which excludes open listens. It counts all of them, or those sent to one generation.
func (t *inflight) awaited(generation ...int) (n int) {
	for _, r := range t.byWire {
		if !r.listens() && (generation == nil || slices.Contains(generation, r.generation)) {
			n++
		}
	}
	return n
}

// withProgressToken returns the request with that progress token, or nil.
func (t *inflight) withProgressToken(token jsonrpc.ID) *request {
	for _, r := range t.byWire {
		if r.progressToken == token {
			return r
		}
	}
	return nil
}

// relayIDPrefix is the prefix of the relay's own request ids. Client ids with the same
// prefix are replaced before they are sent to the daemon.
const relayIDPrefix = "notesd:"

// survives reports whether the daemon returns exactly this id, so that the relay need
// not replace it.
func survives(id jsonrpc.ID) bool {
	if _, exact := id.Exact(); id.Numeric {
		return exact
	}
	return !strings.HasPrefix(id.Text, relayIDPrefix)
}

// relayID returns the relay's n-th id.
func relayID(n uint64) jsonrpc.ID {
	return jsonrpc.ID{Text: relayIDPrefix + strconv.FormatUint(n, 10)}
}

// rawIDOf returns one of the relay's own ids as JSON.
func rawIDOf(id jsonrpc.ID) string { return strconv.Quote(id.Text) }
