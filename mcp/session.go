package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
)

// serverName is what notesd calls itself.
const serverName = "notesd"

// lastSessionVersion is the newest version that initialize negotiates.
const lastSessionVersion = "2025-11-25"

// A session is one client on one connection.
type session struct {
	core    *Core
	profile Profile
	outer   Profile // that bounded it, whose selection of tools counts as well
	limits  Limits
	server  *sdk.Server
	out     outlet
	line    *transport.Conn // nil for a session over Streamable HTTP
	http    *HTTP           // nil for others
	log     *slog.Logger
	working chan struct{} // a slot for each request being worked on
	rate    *rate.Limiter // of requests; nil: no limit
	logRate *rate.Limiter

	ctx        context.Context // of what the session does beside requests; ends with it
	stop       context.CancelFunc
	background sync.WaitGroup  // what that is
	work       context.Context // of requests over HTTP, beside their own; ends with the session
	stopWork   context.CancelFunc

	prompts *sessionPrompts
	subs    *subscriptions
	roots   *roots

	seen tools.Seen

	since time.Time

	mu          sync.Mutex
	client      notes.Author // its name, "" until it has said it
	panel       bool         // the client shows the panel
	initialized bool         // the client has said that it is ready for notifications
	level       slog.Level
	wantsLog    bool
}

// fixedTools is for sessions whose list of tools cannot change: a request of
// 2026-07-28 over HTTP has no roots, and gets what every other gets.
const fixedTools = true

func (c *Core) newSession(p Profile, fixedTools bool) (*session, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if c.opts.Refresh != nil {
		c.opts.Refresh()
	}
	outer := *c.profile.Load()
	s := &session{
		core:    c,
		profile: p.within(outer),
		outer:   outer,
		limits:  c.limits,
		log:     c.log,
		since:   c.now(),
		working: make(chan struct{}, c.limits.Concurrent),
		rate:    perSecond(c.limits.CallsPerSecond),
		logRate: perSecond(logsPerSecond),
		out:     silent,
	}
	s.prompts = &sessionPrompts{session: s, catalogue: s.profile.Settings.Prompts}
	s.subs, s.roots = newSubscriptions(s), &roots{session: s}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.work, s.stopWork = context.WithCancel(context.Background())
	s.server = s.newServer(fixedTools)
	return s, nil
}

// newServer builds the SDK's server for this session.
func (s *session) newServer(fixedTools bool) *sdk.Server {
	o := s.core.opts
	server := sdk.NewServer(&sdk.Implementation{
		Name:    serverName,
		Title:   o.Title,
		Version: o.Version,
		Icons:   []sdk.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
	}, &sdk.ServerOptions{
		Logger:             slog.New(quieter{s.log.Handler()}),
		PageSize:           s.limits.PageSize,
		Capabilities:       s.capabilities(fixedTools),
		CompletionHandler:  completer{s.resources()}.complete,
		SubscribeHandler:   s.subs.subscribe,
		UnsubscribeHandler: s.subs.unsubscribe,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.CacheScope = "private" // lists and notes are one user's
		},
		InitializedHandler:      func(_ context.Context, r *sdk.InitializedRequest) { s.begin(r.Session) },
		RootsListChangedHandler: func(_ context.Context, r *sdk.RootsListChangedRequest) { s.roots.learn(r.Session) },
	})
	s.toolbox().addTools(server, s.toolbox().callable()...)
	s.resources().addResources(server)
	s.prompts.add(server)
	s.addMethods(server)
	server.AddReceivingMiddleware(s.explaining, s.ending, s.admitting, s.checking)
	return server
}

// A Client is a connected client, and the settings of its session.
type Client struct {
	Name        string    `json:"name"` // "" until it has said it
	Version     string    `json:"version,omitempty"`
	Since       time.Time `json:"since"`
	HTTP        bool      `json:"http,omitempty"`    // connected over HTTP
	Panel       bool      `json:"panel,omitempty"`   // shows results in the panel
	Command     bool      `json:"command,omitempty"` // a command of the owner's shell
	Profile               // that bounds it
	Mode        string    `json:"search_mode,omitempty"`
	Hits        int       `json:"hits"`
	ResultBytes int       `json:"result_bytes"`
}

// Clients returns the connected clients, the oldest first.
func (c *Core) Clients() []Client {
	clients := []Client{}
	c.each(func(s *session) {
		answers := s.profile.Settings.tools()
		client := Client{
			Since: s.since, HTTP: s.line == nil, Command: s.profile.Owner, Profile: s.bounds(),
			Mode: string(s.profile.Settings.Mode), Hits: answers.Hits, ResultBytes: answers.ResultBytes,
		}
		s.mu.Lock()
		client.Name, client.Version, client.Panel = s.client.Name, s.client.Version, s.panel
		s.mu.Unlock()
		clients = append(clients, client)
	})
	slices.SortStableFunc(clients, func(a, b Client) int { return a.Since.Compare(b.Since) })
	return clients
}

// introduce records what a client says of itself, with initialize or with its
// first request of 2026-07-28.
func (s *session) introduce(info *sdk.Implementation, caps *sdk.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.panel = authorOf(info), declaresPanel(caps)
}

// introduced is a request from which its client is known.
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
	if p := ss.InitializeParams(); p != nil && p.Capabilities != nil && p.Capabilities.RootsV2 != nil {
		s.roots.learn(ss)
	}
}

// end stops what begin has started, and waits for it.
func (s *session) end() {
	s.stop()
	s.stopWork()
	s.background.Wait()
}

// capabilities are what this session supports.
func (s *session) capabilities(fixedTools bool) *sdk.ServerCapabilities {
	caps := &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{ListChanged: !fixedTools},
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &sdk.CompletionCapabilities{},
	}
	if s.core.opts.ClientLog != nil {
		caps.Logging = &sdk.LoggingCapabilities{}
	}
	if s.prompts.catalogue != nil {
		caps.Prompts = &sdk.PromptCapabilities{ListChanged: s.prompts.templated()}
	}
	return caps
}

// authorOf is a client, for the history.
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

// requestMeta returns a request's _meta. A request without params has a nil
// pointer for them, on which GetMeta panics.
func requestMeta(req sdk.Request) map[string]any {
	p := req.GetParams()
	if v := reflect.ValueOf(p); !v.IsValid() || v.IsNil() {
		return nil
	}
	return p.GetMeta()
}

// quieter lowers what the SDK logs at info, a line for each session and
// subscription, to debug.
type quieter struct{ slog.Handler }

func (q quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return q.Handler.Enabled(ctx, quiet(level))
}

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Level = quiet(r.Level)
	return q.Handler.Handle(ctx, r)
}

func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

func quiet(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}

// icon is a written page, small enough to be sent with every handshake:
//
//	<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='#777'>
//	<path d='M3 1h7l3 3v11H3zM5 6h6M5 9h6M5 12h4'/></svg>
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAxNiAxNicgZmlsbD0nbm9uZScgc3Ryb2tlPScjNzc3Jz48cGF0aCBkPSdNMyAxaDdsMyAzdjExSDN6TTUgNmg2TTUgOWg2TTUgMTJoNCcvPjwvc3ZnPg=="

// MethodStatus is the method behind "notesd status".
const MethodStatus = "notesd/status"

// A Method answers a method that notesd adds to the protocol. What it returns is
// encoded as the result, a JSON object; params is nil when there are none.
type Method func(ctx context.Context, params json.RawMessage) (any, error)

// A ScopedMethod is a method for every session: it answers what the scope, which
// is the session's, may read.
type ScopedMethod func(ctx context.Context, scope notes.Scope, params json.RawMessage) (any, error)

type methodParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

func (p *methodParams) UnmarshalJSON(data []byte) error {
	p.raw = bytes.Clone(data)
	return nil
}

type methodResult struct {
	sdk.ResultBase
	value any
}

func (r *methodResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// addMethods registers notesd's own methods. All are for the sessions of the
// owner's commands. The status is for others as well, unless they may not see
// all folders: it counts and names what is in them.
func (s *session) addMethods(server *sdk.Server) {
	methods := map[string]Method{}
	if s.profile.Owner {
		maps.Copy(methods, s.core.opts.Methods)
	} else if status := s.core.opts.Methods[MethodStatus]; status != nil && s.profile.Read == nil {
		methods[MethodStatus] = status
	}
	for name, method := range s.core.opts.ScopedMethods {
		methods[name] = func(ctx context.Context, params json.RawMessage) (any, error) {
			return method(ctx, s.bounds().scope(), params)
		}
	}
	for name, method := range methods {
		err := sdk.AddReceivingCustomMethod(server, name,
			func(ctx context.Context, _ *sdk.ServerSession, p *methodParams) (*methodResult, error) {
				var raw json.RawMessage
				if p != nil {
					raw = p.raw
				}
				value, err := method(ctx, raw)
				if err != nil {
					return nil, err
				}
				return &methodResult{value: value}, nil
			})
		if err != nil {
			panic(err) // the names are notesd's own
		}
	}
}
