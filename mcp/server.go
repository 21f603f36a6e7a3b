package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp/tools"
	"notesd/mcp/transport"
	"notesd/notes"
)

// fixedTools is for sessions whose list of tools cannot change: requests of 2026-07-28 over
// HTTP have no roots, and all get the same list.
const fixedTools = true

// ServeLines serves one session over a pair of byte streams, which it closes. It returns
// nil when the client disconnects, ctx's error when ctx is cancelled, and otherwise the
// error that ended the session, such as a client that does not read or a broken stream. p
// narrows the core's profile.
func (c *Core) ServeLines(ctx context.Context, in io.ReadCloser, out io.WriteCloser, p Profile) error {
	if err := p.Validate(); err != nil {
		return err
	}
	s := c.newSession(p, !fixedTools)
	conn := transport.Open(in, out, c.limits.Line)
	s.line, s.out = conn, toConn(conn)
	s.consistency.reached.Store(true) // a line connection cannot come from another node
	c.add(s)
	defer s.end()
	defer c.remove(s)
	ss, err := s.server.Connect(ctx, conn, nil)
	if err != nil {
		return errors.Join(fmt.Errorf("connect: %w", err), conn.Close())
	}
	// Close the connection, not the session: the SDK then cancels the requests in flight
	// instead of waiting for them.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	err = ss.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// newSession returns a session that is not connected yet. The profile must be valid.
func (c *Core) newSession(p Profile, fixedTools bool) *session {
	if c.opts.Refresh != nil {
		c.opts.Refresh()
	}
	s := &session{
		core:        c,
		profile:     p.within(*c.profile.Load()),
		asked:       p,
		log:         c.log,
		since:       c.now(),
		working:     make(chan struct{}, c.limits.Concurrent),
		rate:        perSecond(c.limits.CallsPerSecond),
		logRate:     perSecond(logsPerSecond),
		out:         silent,
		consistency: consistency{shared: c.opts.Shared},

		sessionID: rand.Text,
	}
	if p.Subject != "" {
		s.log = s.log.With("subject", p.Subject)
	}
	s.subs, s.roots = newSubscriptions(s), &roots{session: s}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.work, s.stopWork = context.WithCancel(context.Background())
	s.server = s.newServer(fixedTools)
	return s
}

// newServer creates the SDK's server for this session.
func (s *session) newServer(fixedTools bool) *sdk.Server {
	o := s.core.opts
	server := sdk.NewServer(&sdk.Implementation{
		Name:    serverName,
		Title:   o.Title,
		Version: o.Version,
		Icons:   []sdk.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
	}, &sdk.ServerOptions{
		Logger:             slog.New(quieter{s.log.Handler()}),
		PageSize:           s.core.limits.PageSize,
		Capabilities:       s.capabilities(fixedTools),
		CompletionHandler:  completer{s.resources()}.complete,
		GetSessionID:       func() string { return s.sessionID() },
		SubscribeHandler:   s.subs.subscribe,
		UnsubscribeHandler: s.subs.unsubscribe,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.CacheScope = "private" // lists and notes belong to one user
		},
		InitializedHandler:      func(_ context.Context, r *sdk.InitializedRequest) { s.begin(r.Session) },
		RootsListChangedHandler: func(_ context.Context, r *sdk.RootsListChangedRequest) { s.learnRoots(r.Session) },
	})
	s.toolbox().addTools(server, tools.All()...)
	s.resources().addResources(server)
	server.AddPrompt(&sdk.Prompt{Name: routedPrompt}, s.prompts().get)
	s.addMethods(server)
	server.AddReceivingMiddleware(s.explaining, s.ending, s.admitting, s.checking)
	return server
}

// capabilities returns the capabilities of this session.
func (s *session) capabilities(fixedTools bool) *sdk.ServerCapabilities {
	caps := &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{ListChanged: !fixedTools},
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &sdk.CompletionCapabilities{},
		Prompts:     &sdk.PromptCapabilities{ListChanged: true},
	}
	if s.core.opts.ClientLog != nil {
		caps.Logging = &sdk.LoggingCapabilities{}
	}
	return caps
}

// addMethods registers notesd's own methods. The status counts and names what is in all
// folders, so a session that may not see all of them is refused, and a subject's lacks it.
func (s *session) addMethods(server *sdk.Server) {
	for name, method := range s.core.opts.Methods {
		isStatus := name == MethodStatus
		if method.Owner && !s.profile.Owner || isStatus && s.profile.Subject != "" {
			continue
		}
		err := sdk.AddReceivingCustomMethod(server, name,
			func(ctx context.Context, _ *sdk.ServerSession, p *RawParams) (*RawResult, error) {
				if isStatus && !s.profile.Owner && s.profile.Read != nil {
					return nil, &notes.Error{Op: "status", Err: notes.ErrForbidden, Detail: "the status is of the whole vault, and this client may read only some folders", Hint: "Run notesd status in a terminal."}
				}
				if !isStatus {
					if err := s.awaitReady(ctx); err != nil {
						return nil, err
					}
				}
				var params json.RawMessage
				if p != nil {
					params = p.RawMessage
				}
				value, err := method.Call(ctx, s.bounds().scope(), params)
				if err != nil {
					return nil, err
				}
				result := &RawResult{}
				result.RawMessage, err = json.Marshal(value)
				return result, err
			})
		if err != nil {
			panic(err) // the names are notesd's own
		}
	}
}

// RawParams are the parameters of a [Method] as JSON.
type RawParams struct {
	sdk.ParamsBase
	json.RawMessage
}

// RawResult is the result of a [Method] as JSON.
type RawResult struct {
	sdk.ResultBase
	json.RawMessage
}

// icon shows a written page and is small enough to send with every handshake:
//
//	<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='#777'>
//	<path d='M3 1h7l3 3v11H3zM5 6h6M5 9h6M5 12h4'/></svg>
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHZpZXdCb3g9JzAgMCAxNiAxNicgZmlsbD0nbm9uZScgc3Ryb2tlPScjNzc3Jz48cGF0aCBkPSdNMyAxaDdsMyAzdjExSDN6TTUgNmg2TTUgOWg2TTUgMTJoNCcvPjwvc3ZnPg=="
