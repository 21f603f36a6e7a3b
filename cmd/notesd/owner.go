package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp"
	"notesd/notes"
)

// Some commands do what no assistant should: they take every version of a note
// away, or write outside the vault. Their methods exist in the sessions of shell
// commands only, beside the protocol's own.
const (
	methodExport = "notesd/export"
	methodForget = "notesd/forget"
	methodBackup = "notesd/backup"
	methodRescan = "notesd/rescan"
)

var ownerMethods = []string{methodExport, methodForget, methodBackup, methodRescan}

// ownerParams are the parameters of all these methods.
type ownerParams struct {
	sdk.ParamsBase
	Note string    `json:"note,omitempty"`
	Dir  string    `json:"dir,omitempty"` // absolute: the daemon has another working directory
	AsOf time.Time `json:"as_of,omitzero"`
}

// ownerResult is what they answer.
type ownerResult struct {
	sdk.ResultBase
	Count int `json:"count"` // of notes or versions
}

// own does what a method asks.
func (s *service) own(ctx context.Context, method string, p ownerParams) (ownerResult, error) {
	vault, err := s.vault.get(ctx)
	if err != nil {
		return ownerResult{}, err
	}
	var n int
	switch method {
	case methodExport:
		n, err = vault.ExportAsOf(ctx, p.AsOf, p.Dir)
	case methodForget:
		n, err = vault.Forget(ctx, p.Note, notes.Scope{ReadOnly: s.cfg.Vault.ReadOnly})
	case methodBackup:
		err = s.backUp(ctx, vault, p.Dir)
	case methodRescan:
		err = vault.Reconcile(ctx)
	}
	return ownerResult{Count: n}, err
}

// serveOwner serves the session of a shell command.
func (s *service) serveOwner(ctx context.Context, conn io.ReadWriteCloser, p mcp.Profile) error {
	t := &ownerTransport{LineTransport: mcp.LineTransport{In: conn, Out: conn}, own: s.own}
	return s.core.Serve(ctx, t, p)
}

// ownerTransport takes the calls of our own methods out of what a session reads.
type ownerTransport struct {
	mcp.LineTransport
	own func(context.Context, string, ownerParams) (ownerResult, error)
}

// Connect returns the session's connection.
func (t *ownerTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.LineTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &ownerConn{Connection: conn, own: t.own}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx)) // a session outlives its Connect
	return c, nil
}

type ownerConn struct {
	sdk.Connection
	own    func(context.Context, string, ownerParams) (ownerResult, error)
	ctx    context.Context //nolint:containedctx // the connection is the scope of the calls that it carries
	cancel context.CancelFunc
	calls  sync.WaitGroup
}

// Read returns the next message that is for the session.
func (c *ownerConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		req, ok := m.(*jsonrpc.Request)
		if !ok || !req.IsCall() || !slices.Contains(ownerMethods, req.Method) {
			return m, nil
		}
		c.calls.Go(func() { c.answer(req) })
	}
}

// Close waits for the calls under way, which it cancels.
func (c *ownerConn) Close() error {
	c.cancel()
	err := c.Connection.Close()
	c.calls.Wait()
	return err
}

func (c *ownerConn) answer(req *jsonrpc.Request) {
	res := &jsonrpc.Response{ID: req.ID}
	var p ownerParams
	err := json.Unmarshal(req.Params, &p)
	if err == nil {
		var done ownerResult
		if done, err = c.own(c.ctx, req.Method, p); err == nil {
			res.Result, err = json.Marshal(done)
		}
	}
	if err != nil {
		f := failureOf(err)
		data, _ := json.Marshal(f) // of strings
		res.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message, Data: data}
	}
	_ = c.Write(c.ctx, res) // an error means that the command is gone
}

// ask calls one of our own methods.
func (c *client) ask(ctx context.Context, method string, p ownerParams) (int, error) {
	res, err := sdk.CallCustomMethod[*ownerParams, *ownerResult](ctx, c.session, method, &p)
	if err != nil {
		return 0, rpcFailure(err)
	}
	return res.Count, nil
}

// rpcFailure finds the failure in a protocol error.
func rpcFailure(err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return err
	}
	f := &failure{}
	if json.Unmarshal(wire.Data, f) != nil || f.Message == "" {
		f = &failure{Code: "failed", Message: wire.Message}
	}
	return f
}
