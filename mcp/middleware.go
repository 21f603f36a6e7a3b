package mcp

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/mcp/transport"
)

// The methods that the middleware interprets.
const (
	methodDiscover      = "server/discover"
	methodCallTool      = "tools/call"
	methodGetPrompt     = "prompts/get"
	methodListResources = "resources/list"
	methodReadResource  = "resources/read"
	methodComplete      = "completion/complete"
)

// sessionVersions are the versions that initialize can negotiate.
var sessionVersions = slices.DeleteFunc(sdk.SupportedProtocolVersions(), func(v string) bool { return v >= transport.ModernVersion })

// explaining is the outermost layer: it makes every error a protocol error, and
// every panic an error with its stack. A panic in the SDK's goroutine would end
// the process and all sessions.
func (s *session) explaining(next sdk.MethodHandler) sdk.MethodHandler {
	signed := func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer recovered(method, &err)
		res, err = next(ctx, method, req)
		if err == nil && res != nil && isModern(req) && method != methodDiscover { // a notification has no result
			// Short: the SDK would put all of it, icon included, into each.
			setMeta(res, sdk.MetaKeyServerInfo, &sdk.Implementation{Name: serverName, Version: s.core.opts.Version})
		}
		return res, err
	}
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := signed(ctx, method, req)
		if err != nil {
			return nil, s.core.rpcError(ctx, err)
		}
		return res, nil
	}
}

// setMeta adds a member to the _meta of a result.
func setMeta(res sdk.Result, key string, value any) {
	meta := res.GetMeta()
	if meta == nil {
		meta = make(map[string]any)
	}
	meta[key] = value
	res.SetMeta(meta)
}

// ending cancels the requests of a session over HTTP when the session ends. A
// line connection does so itself.
func (s *session) ending(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if s.http == nil {
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.work, cancel)()
		return next(ctx, method, req)
	}
}

// recovered is to be deferred: it makes a panic the error of what panicked.
func recovered(what string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%s panicked: %v\n%s", what, v, debug.Stack())
	}
}

// admitting bounds how many requests of a session are in progress at a time;
// others wait, so that one client cannot take all cores. Notifications, which the
// SDK handles in order, and methods that answer at once pass: a client that waits
// for a ping behind a search would give up.
func (s *session) admitting(next sdk.MethodHandler) sdk.MethodHandler {
	work := []string{methodCallTool, methodGetPrompt, methodListResources, methodReadResource, methodComplete}
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if !slices.Contains(work, method) {
			return next(ctx, method, req)
		}
		defer s.core.begin()()
		cost, what := callCost, "calls"
		if method == methodComplete {
			cost, what = completionCost, "completions"
		}
		if err := take(s.rate, cost, what); err != nil {
			if method == methodCallTool { // for the model to read
				return s.failed(ctx, err), nil
			}
			return nil, err
		}
		if err := s.awaitReady(ctx); err != nil {
			return nil, err
		}
		if err := s.place.await(ctx, req); err != nil {
			if method == methodCallTool && ctx.Err() == nil {
				return s.failed(ctx, err), nil
			}
			return nil, err
		}
		select {
		case s.working <- struct{}{}:
			defer func() { <-s.working }()
			res, err := next(ctx, method, req)
			if err == nil {
				s.place.mark(res)
			}
			return res, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A place is where in the changes of a vault that nodes share a session's client is: the
// session may have seen more on another node than this one has.
type place struct {
	shared Shared      // nil: the vault is not shared
	landed atomic.Bool // this node has what the session may have seen before it began here
}

// await returns when the node has what the client has seen on another: the number in the
// request's _meta, or the newest there is if the session begins here.
func (p *place) await(ctx context.Context, req sdk.Request) error {
	if p.shared == nil {
		return nil
	}
	if seq, ok := requestMeta(req)[MetaSeq].(float64); ok && seq >= 1 {
		return p.shared.Await(ctx, uint64(seq))
	}
	if p.landed.Load() {
		return nil
	}
	err := p.shared.Await(ctx, 0)
	p.landed.Store(err == nil)
	return err
}

// mark adds to a result what a later request may have to wait for elsewhere.
func (p *place) mark(res sdk.Result) {
	if p.shared != nil {
		setMeta(res, MetaSeq, p.shared.Seq())
	}
}

// checking does the checks that the SDK leaves to its user, for each method.
func (s *session) checking(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if r, ok := req.(introduced); ok && isModern(req) && s.unnamed() {
			s.introduce(r.ClientInfo(), r.ClientCapabilities())
		}
		switch params := req.GetParams().(type) {
		case *sdk.InitializeParams:
			return s.initialize(ctx, req, params, next)
		case *sdk.InitializedParams:
			if !s.awaitsInitialized(req) {
				return nil, nil //nolint:nilnil // a notification has no result
			}
		case *sdk.CallToolParamsRaw:
			if err := s.toolbox().checkTool(params.Name); err != nil {
				return nil, err
			}
		case *sdk.GetPromptParams:
			var err error
			if ctx, err = s.prompts.choose(ctx, params); err != nil {
				return nil, err
			}
		case *sdk.ListToolsParams:
			return s.toolbox().listTools(params, showsPanel(req))
		case *sdk.ListPromptsParams:
			if err := await(ctx, s.core.opts.Opened); err != nil {
				return nil, err
			}
			if _, _, err := s.prompts.refresh(ctx); err != nil {
				return nil, err
			}
			res, err := next(ctx, method, req)
			return res, cursorError(err, params != nil && params.Cursor != "", method)
		case *sdk.ListResourceTemplatesParams:
			res, err := next(ctx, method, req)
			return res, cursorError(err, params != nil && params.Cursor != "", method)
		case *sdk.SetLoggingLevelParams:
			if err := s.setLevel(params); err != nil {
				return nil, err
			}
		case *sdk.SubscriptionsListenParams:
			listen, ok := req.(*sdk.SubscriptionsListenRequest)
			if ok && s.line != nil {
				return s.subs.listen(ctx, listen)
			}
			if ok && s.http != nil {
				if err := s.subs.narrow(ctx, params.Notifications); err != nil {
					return nil, err
				}
				s.ready()
				s.http.attach(s, listen.Session)
			}
		case *sdk.ListResourcesParams:
			return s.resources().listResources(ctx, params, showsPanel(req))
		case *sdk.ReadResourceParams:
			if params.URI == panelURI && showsPanel(req) {
				return panelContents(), nil
			}
			return s.resources().readResources(ctx, req, params, next)
		}
		res, err := next(ctx, method, req)
		if discovered, ok := res.(*sdk.DiscoverResult); ok && err == nil {
			discovered.Instructions = s.instructions(ctx)
			discovered.Capabilities.Logging = nil // there is no session whose level could be set
			if showsPanel(req) {
				discovered.Capabilities.AddExtension(extensionUI, nil)
			}
		}
		return res, err
	}
}

// cursorError maps an error of the SDK for a list to a bad cursor, which is the only way
// in which a list with a cursor fails.
func cursorError(err error, given bool, method string) error {
	if err == nil || !given {
		return err
	}
	return badCursor(method)
}

// initialize negotiates a version of the session era. The SDK would let the
// client have 2026-07-28, and then treat it as one without a session.
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

// awaitsInitialized reports whether the client has to say that it is
// initialized. Some say it twice, or too early; that changes nothing.
func (s *session) awaitsInitialized(req sdk.Request) bool {
	ss, ok := req.GetSession().(*sdk.ServerSession)
	s.mu.Lock()
	defer s.mu.Unlock()
	return ok && ss.InitializeParams() != nil && !s.initialized && !isModern(req)
}

// checkTool refuses a tool that the session does not offer, and says why.
func (s toolbox) checkTool(name string) error {
	t := tools.Find(name)
	switch {
	case t == nil:
		message := fmt.Sprintf("unknown tool %q", phrase.Clip(name, 100))
		if near := phrase.Nearest(phrase.SnakeCase(name), s.toolNames()); near != "" {
			message += fmt.Sprintf(": did you mean %q?", near)
		}
		return invalidParams("%s", message)
	case s.offers(t):
		return nil
	case s.profile.ReadOnly && t.Writes():
		return invalidParams("the tool %q is not available: this session is read-only", name)
	}
	if s.selected(t) {
		return invalidParams("the tool %q is not available: nothing that this session sees may be changed", name)
	}
	return invalidParams("the tool %q is not among the tools selected for this session", name)
}

func (s toolbox) toolNames() []string {
	var names []string
	for _, t := range s.offered() {
		names = append(names, t.Name)
	}
	return names
}

// What a request costs of Limits.CallsPerSecond. A call of a tool that writes is
// fsynced and kept in history; completions come with every key that is typed.
const (
	callCost       = 1
	writeCost      = 4
	completionCost = 10
)

// logsPerSecond bounds the log records that one client is sent; others are
// dropped.
const logsPerSecond = 100

// perSecond allows n a second, and those of five seconds at once: clients work
// in bursts. It returns nil, no limit, for 0.
func perSecond(n int) *rate.Limiter {
	const burst = 5
	if n <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n), n*burst)
}

// A busyError refuses something that was asked too often.
type busyError struct {
	what string
	wait time.Duration
}

func (e *busyError) Error() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("too many %s: try again in %v", e.what, max(e.wait.Round(tenth), tenth))
}

// take uses what a limiter allows, as often as cost says.
func take(l *rate.Limiter, cost int, what string) error {
	if l == nil {
		return nil
	}
	now := time.Now()
	r := l.ReserveN(now, min(cost, l.Burst()))
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return &busyError{what: what, wait: wait}
	}
	return nil
}
