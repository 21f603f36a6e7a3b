package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"notesd/mcp/transport"
	"notesd/notes"
)

// A session over HTTP continues after the daemon has been restarted or the session was idle
// for long, on another node, and after its subject's grants have changed: many clients do
// not begin another. Its id contains the client's introduction, so that a handler without
// the session can create one in its place. The id is not a secret; access to a session is
// decided by the token of each request.
//
// A request with an id that is unknown to the handler is processed in these steps, one
// request at a time, so that two requests of one client do not create two sessions:
//
// 1. sessionFor builds an initialize request from the introduction in the id and sends it to
//    the SDK on the client's behalf, followed by notifications/initialized. This creates a
//    session of the SDK with its own id.
// 2. HTTP.resumed maps the subject and the client's id to the new session; for another
//    subject, the same id is unknown. The client keeps its id, which serveSession replaces with
//    that of the SDK in each request.
// 3. The request enters the session (see enter) and is answered like any other.
//
// If no session can be created, because the id contains no introduction or was too long for
// one, the client has deleted its session, or there are too many others, the response is
// 404, on which clients initialize again. While the handler closes, it is 503.
//
// The client's subscriptions are in a store, from which they are restored whenever the
// client opens a stream, before it is notified that everything has changed (see
// everythingChanged). The rest of the session's state is lost: its log level, and responses
// that were in progress.

// A SubscriptionStore stores the subscriptions of sessions over HTTP, under a digest of the
// subject and the id that the client uses.
type SubscriptionStore interface {
	Subscribe(ctx context.Context, session, uri string) error
	Unsubscribe(ctx context.Context, session, uri string) error
	Subscriptions(ctx context.Context, session string) (uris []string, err error)
}

// resumedAs identifies a session that another continues, by the id that its client uses.
type resumedAs struct{ subject, id string }

// key returns the session's key in a SubscriptionStore.
func (r resumedAs) key() string { return notes.Hash([]byte(r.subject + "\x00" + r.id)) }

// resubscribe repeats the stored subscriptions that the session lacks: its client may have made
// them on another node. Those to resources that the subject may no longer read fail.
func (h *HTTP) resubscribe(r *http.Request, as resumedAs, s *session) error {
	opening, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // close waits for this request
	if err := Await(opening, h.core.opts.Opened); err != nil {
		return err
	}
	s.subs.restore.Lock()
	defer s.subs.restore.Unlock()
	uris, err := h.core.opts.Subscriptions.Subscriptions(r.Context(), as.key())
	if err != nil {
		return err
	}
	missing, done := s.subs.beginRestore(uris)
	defer done()
	for _, uri := range missing {
		params, _ := json.Marshal(map[string]string{"uri": uri}) // cannot fail
		h.post(r, s.ss.ID(), `{"jsonrpc":"2.0","id":"resume","method":"resources/subscribe","params":`+string(params)+`}`)
	}
	return nil
}

// resumableBytes bounds the length of an id that can be resumed, since servers limit the
// size of headers.
const resumableBytes = 2 << 10

// introduction is the part of initialize that an id contains.
type introduction struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"capabilities"`
	ClientInfo      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
}

// newSessionID returns an id for the session that the messages begin. It contains the
// introduction, unless that is too long.
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

// introductionOf decodes the introduction in an id from newSessionID.
func introductionOf(id string) (said introduction, ok bool) {
	_, text, found := strings.Cut(id, ".")
	data, err := base64.RawURLEncoding.DecodeString(text)
	ok = found && err == nil && len(id) <= resumableBytes && json.Unmarshal(data, &said) == nil
	return said, ok && said.ProtocolVersion != ""
}

// enterFor returns the session for a request, as sessionFor does, and enters it.
func (h *HTTP) enterFor(r *http.Request, caller Profile, sent string) (s *session, begun, leave func()) {
	for {
		if s = h.sessionFor(r, caller, sent); s == nil {
			return nil, nil, nil
		}
		if begun, leave, ok := h.enter(s); ok {
			return s, begun, leave
		}
	}
}

// sessionFor returns the caller's session for the id that the client sent, resuming the session
// if necessary, or nil if there is none and none can be created.
func (h *HTTP) sessionFor(r *http.Request, caller Profile, sent string) *session {
	h.resuming.Lock()
	defer h.resuming.Unlock()
	as := resumedAs{caller.Subject, sent}
	h.mu.Lock()
	s, deleted := h.resumed[as], h.deleted[as]
	if s == nil || s.barred {
		s = h.find(sent)
	}
	h.mu.Unlock()
	if s != nil {
		if s.profile.Subject != caller.Subject {
			return nil
		}
		return s
	}
	said, ok := introductionOf(sent)
	if !ok || deleted || r.Method == http.MethodDelete || !h.hasRoom(caller.Subject) {
		return nil
	}
	params, err := json.Marshal(&said)
	if err != nil {
		return nil
	}
	r = h.withServer(r, caller, false, nil)
	id := h.post(r, "", `{"jsonrpc":"2.0","id":"resume","method":"initialize","params":`+string(params)+`}`).Get(headerSession)
	if id == "" {
		return nil
	}
	h.post(r, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.mu.Lock()
	defer h.mu.Unlock()
	if s = h.find(id); s == nil {
		return nil
	}
	s.resumes = as
	s.open-- // from here on, the requests of the client count
	h.resumed[as] = s
	s.log.Info("a session continues that began before or elsewhere")
	return s
}

// forget makes the requests of a session that its client deletes fail from now on.
func (h *HTTP) forget(as resumedAs) {
	const most = 10_000 // requests to older ones continue the session, as those after a restart do
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.deleted) == most {
		clear(h.deleted)
	}
	h.deleted[as] = true
}

// post sends a message to the SDK in the context of r and returns the response headers.
func (h *HTTP) post(r *http.Request, session, body string) http.Header {
	r = r.Clone(r.Context())
	r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	answer := &discarding{header: http.Header{}}
	h.stateful.ServeHTTP(answer, r)
	return answer.header
}

// discarding is a response writer of which only the headers are used.
type discarding struct {
	bytes.Buffer
	header http.Header
}

func (d *discarding) Header() http.Header { return d.header }
func (d *discarding) WriteHeader(int)     {}
func (d *discarding) Flush()              {}
