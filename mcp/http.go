package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	// Token is the bearer token that every request but /healthz must carry. It
	// must not be empty.
	Token string
	// Hosts are the names, beside those of the loopback interface, under which
	// clients may address notesd, with or without a port. Others are refused:
	// a page that has its own name resolve to this machine sends that name.
	Hosts []string
	// Origins are the web origins (https://example.com) whose pages may send
	// requests. A request without an Origin does not come from a page.
	Origins []string

	// Own answers more paths for clients with the token, and Open for all; both by
	// pattern.
	Own, Open map[string]http.Handler

	// Page, when it is not nil, answers all requests that are not MCP's. It does
	// without the token and admits browsers itself.
	Page http.Handler

	// Stopping, when it is not nil, is called when Serve accepts no more connections,
	// and ends what would keep requests to Own from ending.
	Stopping func()

	Profile Profile // of every client: lists of 2026-07-28 must not differ between them

	// For tests; zero means the default.
	sessions   int           // sessions at a time, for each subject; 64
	headerRead time.Duration // a client has so long to send a request's headers; 10 s
	bodyRead   time.Duration // and the rest of it; 30 s
	stall      time.Duration // a client that reads nothing for so long is disconnected; 30 s
}

const (
	httpIdle    = 30 * time.Minute // after which a session is closed
	httpWorking = 8                // requests without a session that are worked on at a time, for each subject

	subjectsSessions = 16 // times what one subject may have are the sessions of all
)

func (o HTTPOptions) withDefaults() HTTPOptions {
	o.sessions = cmp.Or(o.sessions, 64)
	o.headerRead = cmp.Or(o.headerRead, 10*time.Second)
	o.bodyRead = cmp.Or(o.bodyRead, 30*time.Second)
	o.stall = cmp.Or(o.stall, 30*time.Second)
	return o
}

// HTTP serves a core over HTTP: Streamable HTTP at /mcp, in both eras of the
// protocol, and at /sse the transport of 2024-11-05.
//
// A request of 2026-07-28 gets a session that ends with it. Other requests have a
// session with an id, which lasts until the client deletes it, it is idle for too
// long, or Close is called.
type HTTP struct {
	core *Core
	o    HTTPOptions
	log  *slog.Logger

	guard     guard
	mux       *http.ServeMux
	stateful  http.Handler
	stateless http.Handler
	legacy    http.Handler
	versions  *sdk.Server // what the SDK asks for its versions, for requests within a session
	resuming  sync.Mutex  // held while a session is looked up or resumed

	mu       sync.Mutex
	closed   bool
	shared   map[string]sharedLimits // by subject
	sessions map[*sdk.ServerSession]*session
	uses     int64                // requests with the id of a session, so far
	streams  map[string]*stream   // of subjects, by the id of the session
	resumed  map[resumedAs]string // the ids of the sessions that continue others
	running  sync.WaitGroup       // what sessions have started
	streamed context.Context      // ends with Close, for streams on which no session has begun
	end      context.CancelFunc
}

// sharedLimits are what the requests without a session share.
type sharedLimits struct {
	working chan struct{} // a slot for each that is worked on
	rate    *rate.Limiter // how often they may come
}

// A stream is the one that a session's client listens on.
type stream struct {
	end   context.CancelFunc
	ended chan struct{}
}

// NewHTTP returns a handler. It starts nothing. An error says that there is no token, or
// what is wrong with the profile.
func NewHTTP(core *Core, o HTTPOptions) (*HTTP, error) {
	if o.Token == "" {
		return nil, errors.New("serve HTTP: there is no token")
	}
	h, err := newHTTP(core, o, sdk.NewMemoryEventStore(nil))
	if err != nil {
		return nil, err
	}
	h.mux = http.NewServeMux()
	h.mux.HandleFunc("GET /healthz", h.health)
	h.mux.Handle("/mcp", h.guard.authorized(http.HandlerFunc(h.serveMCP)))
	h.mux.Handle("/sse", h.guard.authorized(http.HandlerFunc(h.serveLegacy)))
	for pattern, handler := range o.Own {
		h.mux.Handle(pattern, h.guard.authorized(handler))
	}
	for pattern, handler := range o.Open {
		h.mux.Handle(pattern, handler)
	}
	if o.Page != nil {
		h.mux.Handle("/", o.Page)
	}
	return h, nil
}

// NewSubjectHTTP returns a handler of which ServeSubject is used alone, behind another's
// ServeHTTP.
//
// It keeps no answers: a client that asks for the rest of an answer, on a node or in a
// session that does not have it, would wait without end. One that cannot ask learns at
// once that its call was interrupted.
func NewSubjectHTTP(core *Core) (*HTTP, error) { return newHTTP(core, HTTPOptions{}, nil) }

// ServeSubject answers a request, for the endpoint /mcp of a vault, of the subject that
// p names and bounds. The session of one subject is unknown to others. One that began on
// another node continues; see newSessionID.
func (h *HTTP) ServeSubject(w http.ResponseWriter, r *http.Request, p Profile) {
	h.serveMCP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, &p)))
}

// Bound ends the sessions of subjects that are no longer bounded as they were: the next
// request begins another. now returns what bounds a subject, false for one that may do
// nothing.
func (h *HTTP) Bound(now func(subject string) (Profile, bool)) {
	h.resuming.Lock() // a session that is being resumed takes the request that it is resumed for
	defer h.resuming.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	for ss, s := range h.sessions {
		p, ok := now(s.profile.Subject)
		if !s.barred && (!ok || !p.sameBounds(s.asked)) {
			s.barred = true
			s.log.Info("a session ends: what its subject may do has changed")
			h.running.Go(func() { s.close(ss, h.core.limits.Line.Grace) })
		}
	}
}

func newHTTP(core *Core, o HTTPOptions, answers sdk.EventStore) (*HTTP, error) {
	prototype, err := core.newSession(o.Profile, !fixedTools)
	if err != nil {
		return nil, err
	}
	h := &HTTP{
		core: core, o: o.withDefaults(), log: core.log, guard: guard{o.Hosts, o.Origins, sha256.Sum256([]byte(o.Token)), core.log}, versions: prototype.server,
		sessions: make(map[*sdk.ServerSession]*session),
		shared:   make(map[string]sharedLimits), resumed: make(map[resumedAs]string), streams: make(map[string]*stream),
	}
	quietLog := slog.New(quieter{core.log.Handler()})
	h.stateful = sdk.NewStreamableHTTPHandler(h.serverFor, &sdk.StreamableHTTPOptions{
		Logger: quietLog, EventStore: answers, SessionTimeout: httpIdle,
		MaxRequestBodyBytes: -1, DisableLocalhostProtection: true, // admit and readMessages have done both
	})
	h.stateless = sdk.NewStreamableHTTPHandler(h.serverFor, &sdk.StreamableHTTPOptions{
		Logger: quietLog, Stateless: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: -1, DisableLocalhostProtection: true,
	})
	h.streamed, h.end = context.WithCancel(context.Background())
	h.legacy = sdk.NewSSEHandler(h.serverFor, &sdk.SSEOptions{MaxRequestBodyBytes: -1, DisableLocalhostProtection: true})
	return h, nil
}

// ServeHTTP answers one request.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.ContentLength != 0 {
		// readMessages clears it. The server reads the rest of a body that the answer did
		// not need, and would wait without a bound.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.o.bodyRead)) // a writer of a test may know none
	}
	if !h.guard.admit(w, r) {
		return
	}
	h.mux.ServeHTTP(&patientWriter{ResponseWriter: w, wait: h.o.stall}, r)
}

// Serve answers requests on the listener until ctx is cancelled, and then closes
// all sessions. It returns when no request is left: nil, or why the listener ended.
func (h *HTTP) Serve(ctx context.Context, ln net.Listener) error {
	const headerBytes = 64 << 10
	server := &http.Server{
		Handler: h, MaxHeaderBytes: headerBytes, ReadHeaderTimeout: h.o.headerRead,
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	return ServeUntil(ctx, ln, server, func() {
		var others sync.WaitGroup
		if h.o.Stopping != nil {
			others.Go(h.o.Stopping)
		}
		h.Close()
		others.Wait()
	})
}

// ServeUntil has the server answer requests on the listener until ctx is cancelled. It
// then calls stopping, which ends the streams that the server would wait for, and
// returns when no request is left, after two seconds at the latest. An error is the
// listener's.
func ServeUntil(ctx context.Context, ln net.Listener, server *http.Server, stopping func()) error {
	// Browsers open connections in advance. One on which nothing has come by then is
	// closed; Shutdown would wait for it for as long as stopWait.
	const unusedWait, stopWait = 500 * time.Millisecond, 2 * time.Second
	var unused sync.Map
	server.IdleTimeout = 2 * time.Minute
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			unused.Store(c, nil)
		} else {
			unused.Delete(c)
		}
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = ln.Close() // a proxy sends what it could not connect for to another server
		stopping()
		closing := time.AfterFunc(unusedWait, func() {
			for c := range unused.Range {
				_ = c.(net.Conn).Close() // it has no request
			}
		})
		defer closing.Stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
		defer cancel()
		// What fails is closing the listener again, and clients that do not take their answers.
		_ = server.Shutdown(ctx)
		_ = server.Close()
	})
	err := server.Serve(ln)
	if stop() { // it was not ctx that ended it
		stopping()
		return err
	}
	<-stopped
	return nil
}

// Close ends all sessions and refuses new ones. Requests in progress may take as
// long as Grace of the line limits. It returns when they have ended.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	var closing sync.WaitGroup
	for ss, s := range h.sessions {
		s.barred = true
		closing.Go(func() { s.close(ss, h.core.limits.Line.Grace) })
	}
	h.mu.Unlock()
	closing.Wait()
	h.end()
	h.running.Wait()
}

func (h *HTTP) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// full reports whether there is no room for another session of the subject.
func (h *HTTP) full(subject string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := 0
	for _, s := range h.sessions {
		if s.profile.Subject == subject && !s.barred {
			own++
		}
	}
	return h.closed || own >= h.o.sessions || len(h.sessions) >= subjectsSessions*h.o.sessions
}

// makeRoom ends the subject's session that was used longest ago of those with no request
// and no stream open, as clients leave that go without a word. It returns false if there
// is none. A client that comes back begins another.
func (h *HTTP) makeRoom(subject string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	var of *sdk.ServerSession
	for ss, s := range h.sessions {
		if s.profile.Subject == subject && !s.barred && s.open == 0 && (of == nil || s.used < h.sessions[of].used) {
			of = ss
		}
	}
	if h.closed || of == nil {
		return false
	}
	s := h.sessions[of]
	s.barred = true
	s.log.Info("a session ends: it is unused, and another needs its place")
	h.running.Go(func() { s.close(of, h.core.limits.Line.Grace) })
	return true
}

// use keeps the session with the id in its place until done is called.
func (h *HTTP) use(id string) (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.findLocked(id)
	if s == nil {
		return func() {}
	}
	h.uses++
	s.open, s.used = s.open+1, h.uses
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.open--
	}
}

// sharedBy returns the limits of the requests without a session of a subject.
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

// Sessions returns how many sessions there are, of all subjects and transports.
func (h *HTTP) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// attach makes the session known to the notifier for as long as ss lasts: a
// session with an id from its initialize on, one of 2026-07-28 while it listens.
func (h *HTTP) attach(s *session, ss *sdk.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.uses++
	s.used = h.uses
	out := newSDKOutlet(s, ss)
	s.out = out.notify
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
		if h.resumed[s.resumes] == ss.ID() {
			delete(h.resumed, s.resumes)
		}
	})
}

// abort cancels the requests of the session with the id in both directions. The
// SDK's Close would wait for them.
func (h *HTTP) abort(id string) {
	if s := h.find(id); s != nil {
		s.stop()
		s.stopWork()
	}
}

// find returns the session with the id that takes requests, or nil.
func (h *HTTP) find(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.findLocked(id)
}

// enter keeps the session with the id from being closed until leave is called. It
// returns false if the session takes no more requests.
//
// The session of a subject may end at any time, and its client goes on with another under
// the same id; no request may be lost between the two. So a message enters until it is
// answered, and a stream until it has begun. close bars the session, after which nothing
// enters, and waits for those that have before it closes the session of the SDK: that
// would answer a request that comes in meanwhile with 404, and a client gives up then. A
// stream that has begun ends with the session, and its client opens the next.
func (h *HTTP) enter(id string) (leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.findLocked(id)
	if s == nil {
		return nil, false
	}
	s.posts.Add(1)
	return s.posts.Done, true
}

func (h *HTTP) findLocked(id string) *session {
	for ss, s := range h.sessions {
		if id != "" && !s.barred && ss.ID() == id {
			return s
		}
	}
	return nil
}

// close ends the session, which is barred: its requests to the client at once, the
// requests in progress after grace.
func (s *session) close(ss *sdk.ServerSession, grace time.Duration) {
	s.stop()
	impatient := time.AfterFunc(grace, s.stopWork)
	defer impatient.Stop()
	s.posts.Wait()
	_ = ss.Close() // why it fails is the client's affair
}

// callerKey is where the context of a subject's request has its profile.
type callerKey struct{}

// callerOf returns the profile of the caller: that of a subject, or of all clients that
// have the token.
func (h *HTTP) callerOf(ctx context.Context) *Profile {
	if p, ok := ctx.Value(callerKey{}).(*Profile); ok {
		return p
	}
	return &h.o.Profile
}

// requestSessionKey is where a request's context holds what makes its server.
type requestSessionKey struct{}

// withServer returns the request with what makes its server, once.
func (h *HTTP) withServer(r *http.Request, modern bool, msgs []jsonrpc.Message) *http.Request {
	caller := *h.callerOf(r.Context())
	make := sync.OnceValue(func() *sdk.Server { return h.newServer(caller, modern, msgs) })
	return r.WithContext(context.WithValue(r.Context(), requestSessionKey{}, make))
}

// serverFor returns the server that a request is for. The SDK calls it more than once.
func (h *HTTP) serverFor(r *http.Request) *sdk.Server {
	if r.Header.Get(headerSession) != "" {
		return h.versions
	}
	return r.Context().Value(requestSessionKey{}).(func() *sdk.Server)()
}

// newServer makes the session that begins with a request, or that answers it: a
// request of 2026-07-28 has one of its own.
func (h *HTTP) newServer(caller Profile, modern bool, msgs []jsonrpc.Message) *sdk.Server {
	s, err := h.core.newSession(caller, modern)
	if err != nil {
		return nil // NewHTTP has validated the profile
	}
	s.http = h
	if caller.Subject != "" {
		s.sessionID = func() string { return newSessionID(msgs) }
	}
	if modern {
		s.working, s.rate = h.sharedBy(caller.Subject)
	}
	if modern || msgs == nil {
		s.open = 1 // its one request, or stream, is all of it
	}
	return s.server
}
