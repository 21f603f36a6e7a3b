package mcp

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"notesd/mcp/transport"
)

// A session with a subject can continue on another node, or after its grants have
// changed: its id holds what its client has said of itself, so that a handler that does
// not have the session can begin one in its place. The id is no secret; who may use the
// session is decided by the token of each request.
//
// A request with an id that this handler does not know goes through these steps, one
// request of the handler at a time, so that two of one client do not begin two sessions:
//
//  1. sessionFor makes the initialize of the id's introduction and sends it to the SDK in
//     the client's name, and then notifications/initialized. That begins a session of the
//     SDK's with an id of its own.
//  2. HTTP.resumed maps the client's id to that one, under the subject: the same id from
//     another subject is unknown. The client keeps the id that it has; serveMCP puts the
//     other into each of its requests.
//  3. The request enters the session (see enter), and is answered as any other.
//
// Where no session can be begun, since the id holds nothing, the subject has as many as it
// may, or the request is the one that ends it, the answer is 404, on which clients
// initialize again. So is it for a client whose introduction was too long for an id.
//
// What the session knew beside that is lost: its log level, and which resources its client
// subscribed to, which the id cannot hold, since the client was given it before. Such a
// session is marked as continued. Its client is notified that lists have changed also
// when a note has other text, which makes clients read again what they show, and when
// its stream begins (see everythingChanged).

// resumableBytes bounds an id that can be resumed: servers bound their headers.
const resumableBytes = 2 << 10

// introduction is the part of initialize that an id holds.
type introduction struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"capabilities"`
	ClientInfo      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
}

// newSessionID returns an id for the session that the messages begin.
func newSessionID(msgs []jsonrpc.Message) string {
	id := rand.Text()
	for _, msg := range msgs {
		req, ok := msg.(*jsonrpc.Request)
		if !ok || req.Method != transport.MethodInitialize {
			continue
		}
		said := introduction{Capabilities: json.RawMessage("{}")}
		if json.Unmarshal(req.Params, &said) != nil {
			break
		}
		text, err := json.Marshal(&said)
		if long := id + "." + base64.RawURLEncoding.EncodeToString(text); err == nil && len(long) <= resumableBytes {
			return long
		}
	}
	return id
}

// introductionOf returns what an id of newSessionID holds.
func introductionOf(id string) (said introduction, ok bool) {
	_, text, found := strings.Cut(id, ".")
	data, err := base64.RawURLEncoding.DecodeString(text)
	return said, found && err == nil && len(id) <= resumableBytes && json.Unmarshal(data, &said) == nil && said.ProtocolVersion != ""
}

// enterFor returns the id of the session for a request, as sessionFor does, which the
// request has entered until leave is called.
func (h *HTTP) enterFor(r *http.Request, caller *Profile, sent string) (id string, leave func()) {
	for {
		id = h.sessionFor(r, caller, sent)
		if id == "" || r.Method == http.MethodDelete {
			return id, func() {}
		}
		if leave, ok := h.enter(id); ok {
			return id, sync.OnceFunc(leave)
		}
	}
}

// sessionFor returns the id of the caller's own session for the id that the client
// sent, "" if there is none and none can be begun.
func (h *HTTP) sessionFor(r *http.Request, caller *Profile, sent string) string {
	h.resuming.Lock()
	defer h.resuming.Unlock()
	h.mu.Lock()
	id := cmp.Or(h.resumed[resumedAs{caller.Subject, sent}], sent)
	h.mu.Unlock()
	if s := h.find(id); s != nil {
		if s.profile.Subject != caller.Subject {
			return ""
		}
		return id
	}
	said, ok := introductionOf(sent)
	if !ok || h.full(caller.Subject) && !h.makeRoom(caller.Subject) || r.Method == http.MethodDelete {
		return ""
	}
	params, err := json.Marshal(&said)
	if err != nil {
		return ""
	}
	answer := h.post(r, "", `{"jsonrpc":"2.0","id":"resume","method":"initialize","params":`+string(params)+`}`)
	id = answer.Get(headerSession)
	s := h.find(id)
	if s == nil {
		return ""
	}
	h.post(r, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.mu.Lock()
	defer h.mu.Unlock()
	s.resumes = resumedAs{caller.Subject, sent}
	h.resumed[s.resumes] = id
	s.continued.Store(true)
	s.log.Info("a session continues that began elsewhere")
	return id
}

// post sends a message to the SDK in the name of the caller of r and returns the
// headers of its answer.
func (h *HTTP) post(r *http.Request, session, body string) http.Header {
	r = r.Clone(r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	r = h.withServer(r, false, nil)
	answer := &discarding{header: http.Header{}}
	h.stateful.ServeHTTP(answer, r)
	return answer.header
}

// discarding is a response of which only the headers are kept.
type discarding struct {
	bytes.Buffer
	header http.Header
}

func (d *discarding) Header() http.Header { return d.header }
func (d *discarding) WriteHeader(int)     {}
func (d *discarding) Flush()              {}
