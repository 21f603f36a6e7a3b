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
	// maxLine bounds one message, either way. A note of 16 MB, whose every byte
	// needs a six-byte escape at worst, is refused by the daemon's own limits
	// long before.
	maxLine = 64 << 20
	// maxInFlight bounds the requests that one client may have unanswered.
	maxInFlight = 4096
	// maxHeldBytes bounds the memory for messages of one client that may have
	// to be sent (again): the largest message and many more.
	maxHeldBytes = maxLine + 16<<20
	// maxSends is how often one request is sent to daemons that die over it
	// before the client gets an error. The request may be what kills them; but
	// one that only takes long, while something else kills daemons several
	// times a second, has met five in a row.
	maxSends = 12
)

var (
	errDuplicateID = errors.New("the id of this request belongs to one that is still in progress")
	errTooMany     = errors.New("too many requests are waiting for an answer")
)

// request is a client's request that has not been answered.
type request struct {
	client jsonrpc.ID // the id as the client compares it
	wire   jsonrpc.ID // the id as the daemon sees it; differs when the client's would not survive
	rawID  []byte     // the id as the client spelled it
	method string
	line   []byte // what the daemon is sent
	order  uint64

	posted     bool // it has been given to a daemon or the backlog once
	generation int  // the last daemon that was sent it; 0 while none was
	sends      int

	progressToken jsonrpc.ID // zero when the client asked for no progress
	progress      float64    // the last value passed on
	progressed    bool

	acknowledged bool // subscriptions/listen: the client has had the acknowledgment
}

// listens reports whether the request stays open until it is cancelled.
func (r *request) listens() bool { return r.method == methodListen }

// unanswered returns the error that the client gets instead of the answer to
// r. A daemon that received a tool call may have executed it.
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

// admits returns why a request of size bytes under id is refused, or nil.
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

// remove forgets r. It may be called again for the same request.
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

// awaited counts the requests that will be answered by themselves, which leaves
// out open listens: all, or those that one generation was sent.
func (t *inflight) awaited(generation ...int) (n int) {
	for _, r := range t.byWire {
		if !r.listens() && (generation == nil || slices.Contains(generation, r.generation)) {
			n++
		}
	}
	return n
}

// withProgressToken returns the request that asked for progress under token.
func (t *inflight) withProgressToken(token jsonrpc.ID) *request {
	for _, r := range t.byWire {
		if r.progressToken == token {
			return r
		}
	}
	return nil
}

// relayIDPrefix starts every request id of the relay. Ids of the client that
// start with it are replaced on the way to the daemon.
const relayIDPrefix = "notesd:"

// survives reports whether the daemon answers under this very id, so that the
// relay need not replace it.
func survives(id jsonrpc.ID) bool {
	if _, exact := id.Exact(); id.Numeric {
		return exact
	}
	return !strings.HasPrefix(id.Text, relayIDPrefix)
}

// relayID returns the n-th id of the relay's own.
func relayID(n uint64) jsonrpc.ID {
	return jsonrpc.ID{Text: relayIDPrefix + strconv.FormatUint(n, 10)}
}

// rawIDOf spells an id of the relay's own as JSON.
func rawIDOf(id jsonrpc.ID) string { return strconv.Quote(id.Text) }
