package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"notesd/mcp/transport"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"
)

// Methods with special handling in the middleware.
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

// explaining is the outermost layer: it converts every error to a protocol error, and every
// panic to an error with its stack. A panic in one of the SDK's goroutines would end the
// process and all sessions.
func (s *session) explaining(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if err != nil {
				res, err = nil, s.rpcError(ctx, err)
			}
		}()
		defer recovered(method, &err)
		res, err = next(ctx, method, req)
		if err == nil && res != nil && isModern(req) && method != methodDiscover { // a notification has no result
			// Name and version only: the SDK would add everything, including the icon, to
			// each result.
			setMeta(res, sdk.MetaKeyServerInfo, &sdk.Implementation{Name: serverName, Version: s.core.opts.Version})
		}
		return res, err
	}
}

// ending cancels the requests of a session when the session ends. A line connection does so
// itself; over HTTP, a request may outlast its session.
func (s *session) ending(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.work, cancel)()
		return next(ctx, method, req)
	}
}

// admitting enforces the rate limit and bounds the requests of a session in progress;
// others wait, so that one client cannot use all cores. Notifications, which the SDK
// handles in order, and methods that respond at once are exempt: a client whose ping waits
// behind a search would give up.
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
		err := take(s.rate, cost, what)
		if err == nil {
			err = s.awaitReady(ctx)
		}
		if err == nil {
			err = s.consistency.await(ctx, req)
		}
		if err != nil && method == methodCallTool && ctx.Err() == nil {
			return s.failed(ctx, err), nil // a result, which the model sees
		}
		if err != nil {
			return nil, err
		}
		select {
		case s.working <- struct{}{}:
			defer func() { <-s.working }()
			res, err := next(ctx, method, req)
			if err == nil {
				s.consistency.mark(res)
			}
			return res, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// checking performs, for each method, the checks that the SDK leaves to the server, and
// answers the methods whose handling by the SDK is insufficient.
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
			if ctx, err = s.prompts().choose(ctx, params); err != nil {
				return nil, err
			}
		case *sdk.ListToolsParams:
			return s.toolbox().listTools(params, showsPanel(req))
		case *sdk.ListPromptsParams:
			return s.prompts().listPrompts(ctx, params)
		case *sdk.ListResourceTemplatesParams:
			if params != nil && params.Cursor != "" { // they fit in one page
				return nil, badCursor(method)
			}
		case *sdk.SetLoggingLevelParams:
			if err := s.setLevel(params); err != nil {
				return nil, err
			}
		case *sdk.SubscriptionsListenParams:
			listen := req.(*sdk.SubscriptionsListenRequest)
			if s.line != nil {
				return s.subs.listen(ctx, listen)
			}
			if !s.http.hasRoom(s.profile.Subject) {
				return nil, &jsonrpc.Error{Code: transport.CodeBusy, Message: fmt.Sprintf("there are %d sessions and listens already, which is the limit: end one", s.http.o.sessions)}
			}
			if _, err := s.subs.watchableOnly(ctx, params.Notifications); err != nil {
				return nil, err
			}
			s.ready()
			s.http.attach(s, listen.Session)
		case *sdk.ListResourcesParams:
			return s.resources().listResources(ctx, params, showsPanel(req))
		case *sdk.ReadResourceParams:
			if params.URI != panelURI || !showsPanel(req) {
				return s.resources().readResources(ctx, req, params, next)
			}
		}
		res, err := next(ctx, method, req)
		if discovered, ok := res.(*sdk.DiscoverResult); ok && err == nil {
			discovered.Instructions = s.instructions(ctx)
			discovered.Capabilities.Logging = nil // without a session there is no level to set
			if showsPanel(req) {
				discovered.Capabilities.AddExtension(extensionUI, nil)
			}
		}
		return res, err
	}
}

// Costs of requests, charged against Limits.CallsPerSecond. A write is fsynced and kept in
// history; completions are requested with every keystroke.
const (
	callCost       = 1
	writeCost      = 4
	completionCost = 10
)

// logsPerSecond bounds the log records sent to one client; others are dropped.
const logsPerSecond = 100

// perSecond returns a limiter of n per second that allows bursts of five seconds' worth,
// since clients work in bursts. If n is 0, it returns nil, which means no limit.
func perSecond(n int) *rate.Limiter {
	const burst = 5
	if n <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n), n*burst)
}

// A busyError rejects a request that exceeds a rate limit.
type busyError struct {
	what string
	wait time.Duration
}

func (e *busyError) Error() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("too many %s: try again in %v", e.what, max(e.wait.Round(tenth), tenth))
}

// take charges cost to the limiter. It returns a *busyError if that exceeds the limit.
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
