package mcp

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
)

// serverName is the server's name in the handshake.
const serverName = "notesd"

// lastSessionVersion is the newest version that initialize negotiates.
const lastSessionVersion = "2025-11-25"

// A session is one client on one connection.
type session struct {
	core    *Core
	profile Profile
	asked   Profile // the profile as requested, before it was narrowed
	server  *sdk.Server
	out     outlet
	line    *transport.Conn // nil for a session over Streamable HTTP
	http    *HTTP           // nil for a line connection
	log     *slog.Logger
	working chan struct{} // a slot for each request in progress
	rate    *rate.Limiter // of requests; nil: no limit
	logRate *rate.Limiter

	ctx        context.Context // of background work; ends with the session
	stop       context.CancelFunc
	background sync.WaitGroup  // started by the session, outside of requests
	work       context.Context // of requests over HTTP, in addition to their own; ends with the session
	stopWork   context.CancelFunc

	subs  *subscriptions
	roots *roots

	sessionID func() string // creates the id of a Streamable HTTP session
	ss        *sdk.ServerSession
	resumes   resumedAs      // the session that this one continues
	stream    *stream        // the open event stream of its client, if any; guarded by http.mu
	streamed  bool           // its client has opened one; guarded by http.mu
	barred    bool           // it accepts no more requests; guarded by http.mu
	posts     sync.WaitGroup // messages in progress over HTTP
	open      int            // HTTP requests in progress, including streams; guarded by http.mu
	used      int64          // HTTP.uses at the latest of them; guarded by http.mu
	idle      *time.Timer    // closes the session if open stays 0; guarded by http.mu

	seen        tools.Seen
	consistency consistency

	since time.Time

	mu          sync.Mutex
	client      notes.Author // without a name until introduced
	panel       bool         // the client shows the panel
	initialized bool         // the client accepts notifications
	level       slog.Level
	wantsLog    bool
}

// A Client describes a connected client and the settings of its session.
type Client struct {
	Name    string    `json:"name"` // "" until introduced
	Version string    `json:"version,omitempty"`
	Since   time.Time `json:"since"`
	HTTP    bool      `json:"http,omitempty"`    // connected over HTTP
	Panel   bool      `json:"panel,omitempty"`   // shows results in the panel
	Command bool      `json:"command,omitempty"` // a command of the owner's shell
	Profile           // its bounds
}

// Clients returns the connected clients, oldest first.
func (c *Core) Clients() []Client {
	clients := []Client{}
	c.each(func(s *session) {
		client := Client{Since: s.since, HTTP: s.line == nil, Command: s.profile.Owner, Profile: s.bounds()}
		s.mu.Lock()
		client.Name, client.Version, client.Panel = s.client.Name, s.client.Version, s.panel
		s.mu.Unlock()
		clients = append(clients, client)
	})
	slices.SortStableFunc(clients, func(a, b Client) int { return a.Since.Compare(b.Since) })
	return clients
}

// introduce records the client's name and capabilities, which it sends with initialize or
// with its first request of 2026-07-28.
func (s *session) introduce(info *sdk.Implementation, caps *sdk.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.panel = authorOf(info), declaresPanel(caps)
}

// introduced is implemented by requests that identify their client.
type introduced interface {
	ClientInfo() *sdk.Implementation
	ClientCapabilities() *sdk.ClientCapabilities
}

// unnamed reports whether the client has not been introduced.
func (s *session) unnamed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Name == ""
}

// ready records that the client accepts notifications.
func (s *session) ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized = true
}

// begin starts the background work of a session once its client accepts
// notifications and requests.
func (s *session) begin(ss *sdk.ServerSession) {
	s.ready()
	s.learnRoots(ss)
}

// learnRoots requests the client's roots if it has any.
func (s *session) learnRoots(ss *sdk.ServerSession) {
	if p := ss.InitializeParams(); p != nil && s.hasRoots(p.Capabilities) {
		s.roots.learn(ss)
	}
}

// hasRoots reports whether the client has roots that can bound the session. A subject's
// folders are on another machine.
func (s *session) hasRoots(caps *sdk.ClientCapabilities) bool {
	return caps != nil && caps.RootsV2 != nil && s.profile.Subject == ""
}

// end stops the session's background work and waits for it.
func (s *session) end() {
	s.stop()
	s.stopWork()
	s.background.Wait()
}

// bounds returns the profile narrowed by the client's roots.
func (s *session) bounds() Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.profile
	if s.roots.folders != nil {
		p.Read, p.Write = narrow(p.Read, s.roots.folders), narrow(p.Write, s.roots.folders)
	}
	return p
}

// awaitReady waits until the notes can be expected to be complete, and for the client's
// roots, but for these no longer than rootsPatience.
func (s *session) awaitReady(ctx context.Context) error {
	if err := Await(ctx, s.core.opts.Settled); err != nil {
		return err
	}
	s.mu.Lock()
	waiting := s.roots.pending
	s.mu.Unlock()
	if waiting == nil {
		return nil
	}
	patience := time.NewTimer(rootsPatience)
	defer patience.Stop()
	select {
	case <-waiting:
	case <-patience.C:
		s.roots.known()
	case <-ctx.Done():
	}
	return ctx.Err()
}

// rootsPatience is how long a session's first requests wait for the client's roots, which
// bound them too.
const rootsPatience = 2 * time.Second

// author returns the author of the client's writes: the client, or the subject together
// with its client.
func (s *session) author(info *sdk.Implementation) notes.Author {
	client := authorOf(info)
	if s.profile.Subject == "" {
		return client
	}
	return notes.Author{Name: s.profile.Subject, Version: "(" + strings.TrimSpace(client.Name+" "+client.Version) + ")"}
}

// authorOf returns a client as an author in the history.
func authorOf(info *sdk.Implementation) notes.Author {
	if info == nil || info.Name == "" {
		return notes.Author{Name: "unknown"}
	}
	return notes.Author{Name: phrase.Clip(phrase.OneLine(info.Name), 100), Version: phrase.Clip(phrase.OneLine(info.Version), 50)}
}

// isModern reports whether a request is of the era without sessions.
func isModern(req sdk.Request) bool {
	version, _ := requestMeta(req)[sdk.MetaKeyProtocolVersion].(string)
	return version >= transport.ModernVersion
}

// quieter drops the SDK's records below warnings, several for each session and
// subscription, and its errors about methods that a client may not call: the client gets
// them as the response.
type quieter struct{ slog.Handler }

func (q quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "method ") {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// initialize negotiates a version of the session era. The SDK would also accept 2026-07-28,
// and then treat the client as one without a session.
func (s *session) initialize(ctx context.Context, req sdk.Request, params *sdk.InitializeParams, next sdk.MethodHandler) (sdk.Result, error) {
	if ss, ok := req.GetSession().(*sdk.ServerSession); ok && ss.InitializeParams() != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "invalid request: this connection has begun already, with initialize or with requests of " + transport.ModernVersion}
	}
	if !slices.Contains(sessionVersions, params.ProtocolVersion) {
		params.ProtocolVersion = lastSessionVersion
	}
	res, err := next(ctx, transport.MethodInitialize, req)
	if err != nil {
		return nil, err
	}
	result := res.(*sdk.InitializeResult)
	result.Instructions = s.instructions(ctx)
	s.introduce(params.ClientInfo, params.Capabilities)
	if declaresPanel(params.Capabilities) {
		result.Capabilities.AddExtension(extensionUI, nil)
	}
	if s.hasRoots(params.Capabilities) {
		s.mu.Lock()
		s.roots.pending = make(chan struct{})
		s.mu.Unlock()
	}
	switch ss, _ := req.GetSession().(*sdk.ServerSession); {
	case s.line != nil:
		s.line.Negotiated(result.ProtocolVersion)
	case s.http != nil:
		s.http.attach(s, ss)
	}
	return result, nil
}

// awaitsInitialized reports whether notifications/initialized is still expected. Some
// clients send it twice or too early, which has no effect.
func (s *session) awaitsInitialized(req sdk.Request) bool {
	ss, ok := req.GetSession().(*sdk.ServerSession)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && ss.InitializeParams() != nil && !s.initialized && !isModern(req)
}
