package mcp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"notesd/internal/httpserver"
)

const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerLastEvent = "Last-Event-Id"
)

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	// Token is the bearer token required on every path except /healthz and those of Open
	// and Page. It must not be empty.
	Token string
	// Hosts lists the host names, besides those of the loopback interface, under which
	// clients may address notesd, with or without a port. Requests for other hosts are
	// rejected: a page whose own name resolves to this machine sends that name.
	Hosts []string
	// Origins lists the web origins (https://example.com) whose pages may send requests. A
	// request without an Origin header does not come from a page.
	Origins []string

	// Own and Open map patterns to additional handlers. Those in Own require the token.
	Own, Open map[string]http.Handler

	// Page, if not nil, handles all requests that match no other pattern. It requires no
	// token and authenticates browsers itself.
	Page http.Handler

	// Stopping, if not nil, is called when Serve stops accepting connections. It must end
	// whatever keeps requests to Own from completing.
	Stopping func()

	Profile Profile // of all clients: lists of 2026-07-28 must not differ between them

	// For tests; zero means the default.
	sessions   int           // concurrent sessions per subject; 64
	idle       time.Duration // a session with no open request or stream is closed after this time; 30 min
	headerRead time.Duration // time limit for a request's headers; 10 s
	bodyRead   time.Duration // time limit for the rest of the request; 30 s
	stall      time.Duration // a client that reads nothing for this long is disconnected; 30 s
	silence    time.Duration // time after which a comment is sent on a silent event stream; 20 s
}

const (
	httpWorking = 8 // concurrent sessionless requests per subject

	subjectsSessions = 16 // limit on all sessions, as a multiple of one subject's
)

func (o HTTPOptions) withDefaults() HTTPOptions {
	o.sessions = cmp.Or(o.sessions, 64)
	o.idle = cmp.Or(o.idle, 30*time.Minute)
	o.headerRead = cmp.Or(o.headerRead, 10*time.Second)
	o.bodyRead = cmp.Or(o.bodyRead, 30*time.Second)
	o.stall = cmp.Or(o.stall, 30*time.Second)
	o.silence = cmp.Or(o.silence, 20*time.Second)
	return o
}

// HTTP serves a core over HTTP: Streamable HTTP at /mcp, in both eras of the protocol, and
// the transport of 2024-11-05 at /sse.
//
// A request of 2026-07-28 has a session that ends with it. Other requests belong to a
// session with an id, which lasts until the client deletes it, it has been idle for half an
// hour, or Close is called. A session whose client listens is not idle. A client that comes
// back later, to this handler or to another of the same vault, continues its session; see
// newSessionID.
type HTTP struct {
	core *Core
	o    HTTPOptions
	log  *slog.Logger

	guard     *httpserver.Guard
	mux       *http.ServeMux
	stateful  http.Handler
	stateless http.Handler
	legacy    http.Handler
	resuming  sync.Mutex // held while a session is looked up or resumed

	mu       sync.Mutex
	closed   bool
	shared   map[string]sharedLimits // by subject
	sessions map[*session]struct{}
	uses     int64                  // the latest value of session.used
	resumed  map[resumedAs]*session // those that continue others
	deleted  map[resumedAs]bool     // sessions that clients have deleted, and that therefore do not continue
	running  sync.WaitGroup         // goroutines started by sessions
	single   sync.WaitGroup         // requests without a session
	replays  bool                   // the SDK stores what it sends on streams, for clients that lose one
	streamed context.Context        // ends with Close; for streams whose session has not begun, and requests without one
	end      context.CancelFunc
}

// sharedLimits apply to all sessionless requests of a subject together.
type sharedLimits struct {
	working chan struct{} // a slot for each request in progress
	rate    *rate.Limiter // of requests
}

// A stream is the open event stream of a session's client.
type stream struct {
	end   context.CancelFunc
	ended chan struct{}
}

// NewHTTP returns a handler and starts nothing. It fails if the token is missing or the
// profile is invalid.
func NewHTTP(core *Core, o HTTPOptions) (*HTTP, error) {
	if o.Token == "" {
		return nil, errors.New("serve HTTP: there is no token")
	}
	if err := o.Profile.Validate(); err != nil {
		return nil, err
	}
	h := newHTTP(core, o, streamEvents{sdk.NewMemoryEventStore(nil)})
	h.replays = true
	h.mux = http.NewServeMux()
	h.mux.HandleFunc("GET /healthz", h.health)
	h.mux.Handle("/mcp", h.guard.Authorized(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeMCP(w, r, h.o.Profile)
	})))
	h.mux.Handle("/sse", h.guard.Authorized(http.HandlerFunc(h.serveLegacy)))
	for pattern, handler := range o.Own {
		h.mux.Handle(pattern, h.guard.Authorized(handler))
	}
	for pattern, handler := range o.Open {
		h.mux.Handle(pattern, handler)
	}
	if o.Page != nil {
		h.mux.Handle("/", o.Page)
		h.mux.Handle("/.well-known/", http.NotFoundHandler()) // tells clients that there is no authorization server
	}
	return h, nil
}

// NewSubjectHTTP returns a handler that serves only through ServeMCP, behind another
// handler's ServeHTTP.
//
// It stores no responses: a client that tries to resume a response on a node or in a
// session that does not have it would wait indefinitely. A client that cannot resume learns
// immediately that its call was interrupted.
func NewSubjectHTTP(core *Core) *HTTP { return newHTTP(core, HTTPOptions{}, nil) }

// Bound closes the sessions of subjects whose bounds have changed; their next request
// begins another session. now returns the current profile of a subject, or false if the
// subject has no access.
func (h *HTTP) Bound(now func(subject string) (Profile, bool)) {
	h.resuming.Lock() // so that a session being resumed accepts the request it is resumed for
	defer h.resuming.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		p, ok := now(s.profile.Subject)
		if !s.barred && (!ok || !p.sameBounds(s.asked)) {
			s.log.Info("a session ends: what its subject may do has changed")
			h.retire(s)
		}
	}
}

func newHTTP(core *Core, o HTTPOptions, answers sdk.EventStore) *HTTP {
	h := &HTTP{
		core: core, o: o.withDefaults(), log: core.log, guard: httpserver.NewGuard(o.Token, o.Hosts, o.Origins, core.log),
		sessions: make(map[*session]struct{}), shared: make(map[string]sharedLimits),
		resumed: make(map[resumedAs]*session), deleted: make(map[resumedAs]bool),
	}
	quietLog := slog.New(quieter{core.log.Handler()})
	h.stateful = sdk.NewStreamableHTTPHandler(serverFor, &sdk.StreamableHTTPOptions{
		Logger: quietLog, EventStore: answers,
		MaxRequestBodyBytes: -1, DisableLocalhostProtection: true, // both are done by the guard and readMessages
	})
	h.stateless = sdk.NewStreamableHTTPHandler(serverFor, &sdk.StreamableHTTPOptions{
		Logger: quietLog, Stateless: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
	})
	h.streamed, h.end = context.WithCancel(context.Background())
	h.legacy = sdk.NewSSEHandler(serverFor, &sdk.SSEOptions{MaxRequestBodyBytes: -1, DisableLocalhostProtection: true})
	return h
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would delay the events of a stream
	if r.ContentLength != 0 {
		// readMessages clears the deadline. The server reads the rest of a body that the
		// handler did not consume, and would otherwise wait indefinitely.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.o.bodyRead)) // not supported by all writers in tests
	}
	if !h.guard.Admit(w, r) {
		return
	}
	patient := httpserver.NewPatientWriter(w, h.o.stall, h.o.silence)
	defer patient.End()
	h.mux.ServeHTTP(patient, r)
}

// Serve answers requests on the listener until ctx is cancelled, then closes all sessions.
// It returns as [httpserver.Serve] does.
func (h *HTTP) Serve(ctx context.Context, ln net.Listener) error {
	const headerBytes = 64 << 10
	server := &http.Server{
		Handler: h, MaxHeaderBytes: headerBytes, ReadHeaderTimeout: h.o.headerRead,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	return httpserver.Serve(ctx, ln, server, func() {
		var others sync.WaitGroup
		if h.o.Stopping != nil {
			others.Go(h.o.Stopping)
		}
		h.Close()
		others.Wait()
	})
}

// Close ends all sessions and rejects new ones. Requests in progress may continue for as
// long as Grace of the line limits. It returns when they have ended.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	var closing sync.WaitGroup
	for s := range h.sessions {
		s.barred = true
		closing.Go(s.close)
	}
	h.mu.Unlock()
	defer time.AfterFunc(h.core.limits.Line.Grace, h.end).Stop()
	closing.Wait()
	h.single.Wait()
	h.end()
	h.running.Wait()
}

// retire ends a session, which accepts no more requests. It must be called with mu held.
func (h *HTTP) retire(s *session) {
	s.barred = true
	h.running.Go(s.close)
}

// isClosed reports whether Close was called.
func (h *HTTP) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

func (h *HTTP) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// hasRoom reports whether there is room for another session of the subject. If there is
// none, it makes some: it closes the subject's least recently used session that has no
// open request or stream, because clients often leave without closing theirs. A client that
// returns continues its session.
func (h *HTTP) hasRoom(subject string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := 0
	var unused *session
	for s := range h.sessions {
		if s.profile.Subject != subject || s.barred {
			continue
		}
		own++
		if s.open == 0 && (unused == nil || s.used < unused.used) {
			unused = s
		}
	}
	switch {
	case h.closed:
		return false
	case own < h.o.sessions && len(h.sessions) < subjectsSessions*h.o.sessions:
		return true
	case unused == nil:
		return false
	}
	unused.log.Info("a session ends: it is unused, and another needs its place")
	h.retire(unused)
	return true
}

// closeIdle closes the session unless a request is in progress.
func (h *HTTP) closeIdle(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.open == 0 && !s.barred && !h.closed {
		h.retire(s)
	}
}

// sharedBy returns the limits shared by a subject's sessionless requests.
func (h *HTTP) sharedBy(subject string) (chan struct{}, *rate.Limiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.shared[subject]
	if !ok {
		l = sharedLimits{make(chan struct{}, httpWorking), perSecond(h.core.limits.CallsPerSecond)}
		h.shared[subject] = l
	}
	return l.working, l.rate
}

// attach registers the session for notifications until ss ends: a session with an id from
// its initialize on, one of 2026-07-28 while it listens.
func (h *HTTP) attach(s *session, ss *sdk.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.uses++
	s.ss, s.used = ss, h.uses
	out := newSDKOutlet(s)
	s.out = out.notify
	h.core.add(s)
	h.sessions[s] = struct{}{}
	s.idle = time.AfterFunc(h.o.idle, func() { h.closeIdle(s) })
	ended := make(chan struct{})
	h.running.Go(func() {
		_ = ss.Wait() // the reason does not matter here
		close(ended)
	})
	h.running.Go(func() {
		out.run(ended)
		h.core.remove(s)
		s.end()
		h.mu.Lock()
		defer h.mu.Unlock()
		s.barred = true
		s.idle.Stop()
		delete(h.sessions, s)
		if h.resumed[s.resumes] == s {
			delete(h.resumed, s.resumes)
		}
	})
}

// reaches reports whether the client of the session can be notified: it has a stream, the
// SDK stores what is sent until it has one, or the session is a stream and has no id.
// Without any of them, the SDK would log a warning for each notification.
func (h *HTTP) reaches(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.replays || s.ss.ID() == "" || s.stream != nil
}

// enter keeps the session from being closed until begun is called, and from giving way to
// another until leave is called, which also calls begun. It returns false if the session
// accepts no more requests.
//
// A session may be closed at any time, and its client continues in another one under the
// same id; no request may be lost in between. A message therefore holds the
// session until it is answered, and a stream until it has begun. close bars the session, so
// that nothing more enters, and waits for what has entered before it closes the SDK's
// session: the SDK would answer a request that arrives in between with 404, on which
// clients give up. A stream that has begun ends with the session, and its client opens the
// next.
func (h *HTTP) enter(s *session) (begun, leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.barred {
		return nil, nil, false
	}
	h.uses++
	s.open, s.used = s.open+1, h.uses
	s.idle.Stop()
	s.posts.Add(1)
	begun = sync.OnceFunc(s.posts.Done)
	return begun, func() {
		begun()
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.open--; s.open == 0 && !s.barred {
			s.idle.Reset(h.o.idle)
		}
	}, true
}

// find returns the session with the id if it still accepts requests, or nil. It must be called
// with mu held.
func (h *HTTP) find(id string) *session {
	for s := range h.sessions {
		if id != "" && !s.barred && s.ss.ID() == id {
			return s
		}
	}
	return nil
}

// close closes the session, which must be barred. Its requests to the client are cancelled
// immediately, the requests in progress after Grace.
func (s *session) close() {
	s.stop()
	impatient := time.AfterFunc(s.core.limits.Line.Grace, s.stopWork)
	defer impatient.Stop()
	s.posts.Wait()
	_ = s.ss.Close() // an error concerns only the client
}

// requestSessionKey is the context key of the function that creates a request's server.
type requestSessionKey struct{}

// withServer returns the request with a function in its context that creates its server,
// once.
func (h *HTTP) withServer(r *http.Request, caller Profile, modern bool, msgs []jsonrpc.Message) *http.Request {
	make := sync.OnceValue(func() *sdk.Server { return h.newServer(caller, modern, msgs) })
	return r.WithContext(context.WithValue(r.Context(), requestSessionKey{}, make))
}

// serverFor returns the server for a request, or nil for one within a session, which has its
// server already. The SDK calls it more than once per request.
func serverFor(r *http.Request) *sdk.Server {
	make, ok := r.Context().Value(requestSessionKey{}).(func() *sdk.Server)
	if !ok {
		return nil
	}
	return make()
}

// newServer creates the session that begins with a request or, for 2026-07-28, lasts only
// for that request.
func (h *HTTP) newServer(caller Profile, modern bool, msgs []jsonrpc.Message) *sdk.Server {
	s := h.core.newSession(caller, modern)
	s.http = h
	s.sessionID = func() string { return newSessionID(msgs) }
	if modern {
		s.working, s.rate = h.sharedBy(caller.Subject)
	}
	if modern || msgs == nil {
		s.open = 1 // the session consists of this one request or stream, or is being resumed
	}
	return s.server
}
