package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/transport"
)

// ServeMCP answers a request to a vault's /mcp endpoint with the handler of its era. caller is the
// profile of the request's subject, or the one common to all clients with the token. The sessions
// of one subject are unknown to others.
func (h *HTTP) ServeMCP(w http.ResponseWriter, r *http.Request, caller Profile) {
	sessionID, posts := r.Header.Get(headerSession), r.Method == http.MethodPost
	var msgs []jsonrpc.Message
	if posts {
		var ok bool
		if msgs, ok = h.readMessages(w, r); !ok {
			return
		}
		w = &responseWriter{ResponseWriter: w, call: callOf(msgs)}
	}
	switch {
	case sessionID != "":
		h.serveSession(w, r, caller, sessionID)
	case r.Header.Get(headerVersion) >= transport.ModernVersion || anyModern(msgs):
		h.serveSingle(w, h.withServer(r, caller, true, msgs))
	case posts && !begins(msgs):
		http.Error(w, "the request has no session: send initialize first, and then the header "+headerSession+" of its answer", http.StatusBadRequest)
	case posts && h.refuseFull(w, caller.Subject):
	default:
		h.stateful.ServeHTTP(w, h.withServer(r, caller, false, msgs))
	}
}

// serveSession serves a request within the session whose client sent the id.
func (h *HTTP) serveSession(w http.ResponseWriter, r *http.Request, caller Profile, sent string) {
	s, begun, leave := h.enterFor(r, caller, sent)
	switch {
	case s == nil && h.isClosed():
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is stopping; the session continues when it runs again", http.StatusServiceUnavailable)
		return
	case s == nil:
		http.Error(w, "session not found", http.StatusNotFound) // on which the client begins another
		return
	}
	defer leave()
	as := resumedAs{caller.Subject, sent}
	if id := s.ss.ID(); id != sent {
		r = r.Clone(r.Context())
		r.Header.Set(headerSession, id)
	}
	if r.Method == http.MethodGet {
		if err := h.resubscribe(r, as, s); err != nil {
			h.log.Warn("a client's subscriptions cannot be read", "err", err)
			w.Header().Set("Retry-After", "5")
			http.Error(w, "the subscriptions cannot be read; try again later", http.StatusServiceUnavailable)
			return
		}
		if h.replays && resumesResponse(r) {
			h.serveRest(w, r, s)
			return
		}
		var ended func()
		if w, r, ended = h.streaming(w, r, s, begun); r == nil {
			return
		}
		defer ended()
	}
	if r.Method == http.MethodDelete {
		h.forget(as)
		s.stop() // cancels all requests, in both directions; the SDK would wait for them
		s.stopWork()
	}
	h.stateful.ServeHTTP(w, r)
}

// serveSingle serves a request without a session. Close waits for it.
func (h *HTTP) serveSingle(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the server is stopping; try again", http.StatusServiceUnavailable)
		return
	}
	h.single.Add(1)
	h.mu.Unlock()
	defer h.single.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.streamed, cancel)()
	h.stateless.ServeHTTP(w, r.WithContext(ctx))
}

// serveLegacy serves the transport of 2024-11-05: a client opens a stream, whose first
// event names the URL to post to, and which carries all responses.
func (h *HTTP) serveLegacy(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		if _, ok := h.readMessages(w, r); !ok {
			return
		}
	case http.MethodGet:
		if h.refuseFull(w, "") {
			return
		}
		ctx, end := context.WithCancel(r.Context())
		defer end()
		defer context.AfterFunc(h.streamed, end)()
		r = h.withServer(r.WithContext(ctx), h.o.Profile, false, nil)
	}
	h.legacy.ServeHTTP(w, r)
}

// refuseFull responds with an error and returns true if there is no room for another
// session of the subject.
func (h *HTTP) refuseFull(w http.ResponseWriter, subject string) bool {
	if h.hasRoom(subject) {
		return false
	}
	w.Header().Set("Retry-After", "60")
	http.Error(w, fmt.Sprintf("there are %d sessions already, which is the limit: close one, or try again later", h.o.sessions), http.StatusServiceUnavailable)
	return true
}

// readMessages reads and decodes a request's body, within the size limit and the deadline
// set by ServeHTTP, and restores r.Body. If it returns false, it has responded with an
// error.
func (h *HTTP) readMessages(w http.ResponseWriter, r *http.Request) ([]jsonrpc.Message, bool) {
	limit := h.core.limits.Line.MessageBytes
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		h.guard.Refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request may have %d bytes", limit))
		return nil, false
	case err != nil:
		h.guard.Refuse(w, r, http.StatusRequestTimeout, "the request did not come whole")
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // set by ServeHTTP; the response may be a stream
	r.Body = io.NopCloser(bytes.NewReader(body))
	msgs, bad := transport.Decode(body, r.Header.Get(headerVersion))
	if bad != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(bad) //nolint:gosec // it is JSON, and ServeHTTP sets nosniff
	}
	return msgs, bad == nil
}

// anyModern reports whether any request declares version 2026-07-28 in its _meta.
func anyModern(msgs []jsonrpc.Message) bool {
	for _, msg := range msgs {
		req, ok := msg.(*jsonrpc.Request)
		if !ok {
			continue
		}
		var params struct {
			Meta map[string]any `json:"_meta"`
		}
		if json.Unmarshal(req.Params, &params) == nil {
			if version, _ := params.Meta[sdk.MetaKeyProtocolVersion].(string); version >= transport.ModernVersion {
				return true
			}
		}
	}
	return false
}

// begins reports whether the messages include initialize.
func begins(msgs []jsonrpc.Message) bool {
	for _, msg := range msgs {
		if req, ok := msg.(*jsonrpc.Request); ok && req.Method == transport.MethodInitialize {
			return true
		}
	}
	return false
}
