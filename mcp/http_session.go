package mcp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// full reports whether there is no room for another session.
func (h *HTTP) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed || len(h.sessions)+len(h.legacy) >= h.o.Sessions
}

// attach makes the session known to the notifier for as long as ss lasts: a
// session with an id from its initialize on, one of 2026-07-28 while it listens.
func (h *HTTP) attach(s *session, ss *sdk.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	out := newSDKOutlet(s, ss)
	s.out = out
	h.core.add(s)
	h.sessions[ss] = s
	ended := make(chan struct{})
	h.running.Go(func() {
		_ = ss.Wait() // why it ended is the client's affair
		close(ended)
	})
	h.running.Go(func() {
		out.run(ended)
		h.core.remove(s)
		s.end()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.sessions, ss)
	})
}

// abort ends what the session with the id is doing and asking, because its
// client is done with it: the SDK's Close would wait for both.
func (h *HTTP) abort(id string) {
	if s := h.find(id); s != nil {
		s.stop()
		s.stopWork()
	}
}

// find returns the session with the id, or nil.
func (h *HTTP) find(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ss, s := range h.sessions {
		if id != "" && ss.ID() == id {
			return s
		}
	}
	return nil
}

// close ends the session. What it asks its client ends at once, and what it
// works on after grace.
func (s *session) close(ss *sdk.ServerSession, grace time.Duration) {
	s.stop()
	impatient := time.AfterFunc(grace, s.stopWork)
	defer impatient.Stop()
	_ = ss.Close() // why it fails is the client's affair
}

// An sdkOutlet sends through the SDK, which waits for the client: so it has a
// goroutine for it, and what piles up meanwhile is merged or dropped.
type sdkOutlet struct {
	session *session
	server  *sdk.Server
	ss      *sdk.ServerSession
	wake    chan struct{}

	mu    sync.Mutex
	uris  map[string]struct{}
	list  bool
	tools bool
	logs  []*sdk.LoggingMessageParams
}

func newSDKOutlet(s *session, ss *sdk.ServerSession) *sdkOutlet {
	return &sdkOutlet{session: s, server: s.server, ss: ss, wake: make(chan struct{}, 1), uris: make(map[string]struct{})}
}

func (o *sdkOutlet) updated(p *sdk.ResourceUpdatedNotificationParams) {
	o.put(func() { o.uris[p.URI] = struct{}{} })
}

func (o *sdkOutlet) listChanged(*sdk.ResourceListChangedParams) {
	o.put(func() { o.list = true })
}

func (o *sdkOutlet) toolsChanged(*sdk.ToolListChangedParams) {
	o.put(func() { o.tools = true })
}

// notify queues log records, the only other notifications; a client that does
// not read loses the oldest.
func (o *sdkOutlet) notify(_ string, params any) {
	const most = 100
	if record, ok := params.(*sdk.LoggingMessageParams); ok {
		o.put(func() {
			if len(o.logs) == most {
				o.logs = o.logs[1:]
			}
			o.logs = append(o.logs, record)
		})
	}
}

func (o *sdkOutlet) put(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *sdkOutlet) run(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-o.wake:
		}
		o.mu.Lock()
		uris, list, tools, logs := slices.Sorted(maps.Keys(o.uris)), o.list, o.tools, o.logs
		clear(o.uris)
		o.list, o.tools, o.logs = false, false, nil
		o.mu.Unlock()
		ctx := context.Background() // not that of a request, to whose stream it would go
		for _, uri := range uris {
			// Errors mean that the session has ended, or are logged by the SDK.
			_ = o.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		if list {
			o.server.AddResource(fixedResources[0], o.session.readResource) // the SDK's way to say that the list has changed
		}
		if tools {
			o.session.addTools(o.server) // the same for tools
		}
		for _, record := range logs {
			_ = o.ss.Log(ctx, record)
		}
	}
}
