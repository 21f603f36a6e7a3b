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

	methodTables       = "notesd/tables"
	methodRestoreTable = "notesd/restoreTable"
)

var ownerMethods = []string{methodExport, methodForget, methodBackup, methodRescan, methodTables, methodRestoreTable}

// ownerParams are the parameters of all these methods.
type ownerParams struct {
	sdk.ParamsBase
	Note  string    `json:"note,omitempty"`
	Table string    `json:"table,omitempty"`
	Dir   string    `json:"dir,omitempty"` // absolute: the daemon has another working directory
	AsOf  time.Time `json:"as_of,omitzero"`
}

// ownerResult is what they answer.
type ownerResult struct {
	sdk.ResultBase
	Value json.RawMessage `json:"value"` // depends on the method
}

// own does what a method asks, and returns its value.
func (s *service) own(ctx context.Context, method string, p ownerParams) (any, error) {
	vault, err := s.vault.get(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.outside(p.Dir); err != nil {
		return nil, err
	}
	switch method {
	case methodExport:
		return vault.ExportAsOf(ctx, p.AsOf, p.Dir)
	case methodForget:
		return vault.Forget(ctx, p.Note, notes.Scope{ReadOnly: s.cfg.Vault.ReadOnly})
	case methodBackup:
		return s.backUp(ctx, vault, p.Dir)
	case methodRescan:
		return nil, vault.Reconcile(ctx)
	}
	tables, err := s.tables.get(ctx)
	if err != nil {
		return nil, err
	}
	if method == methodTables {
		return listTables(ctx, tables)
	}
	restored, err := restoreTable(ctx, tables, p.Table)
	if err == nil {
		s.core.TablesChanged(true)
	}
	return restored, err
}

// serveOwner serves the session of a shell command.
func (s *service) serveOwner(ctx context.Context, conn io.ReadWriteCloser, p mcp.Profile) error {
	t := &ownerTransport{LineTransport: mcp.LineTransport{In: conn, Out: conn}, own: s.own}
	return s.core.Serve(ctx, t, p)
}

// ownerTransport takes the calls of our own methods out of what a session reads.
type ownerTransport struct {
	mcp.LineTransport
	own func(context.Context, string, ownerParams) (any, error)
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
	own    func(context.Context, string, ownerParams) (any, error)
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
	if err := c.do(req, res); err != nil {
		f := failureOf(err)
		data, _ := json.Marshal(f) // of strings
		res.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message, Data: data}
	}
	_ = c.Write(c.ctx, res) // an error means that the command is gone
}

func (c *ownerConn) do(req *jsonrpc.Request, res *jsonrpc.Response) error {
	var p ownerParams
	if err := json.Unmarshal(req.Params, &p); err != nil {
		return err
	}
	value, err := c.own(c.ctx, req.Method, p)
	if err != nil {
		return err
	}
	var done ownerResult
	if done.Value, err = json.Marshal(value); err != nil {
		return err
	}
	res.Result, err = json.Marshal(done)
	return err
}

// ask calls one of our own methods and decodes its value into out.
func (c *client) ask(ctx context.Context, method string, p ownerParams, out any) error {
	res, err := sdk.CallCustomMethod[*ownerParams, *ownerResult](ctx, c.session, method, &p)
	if err != nil {
		return rpcFailure(err)
	}
	return json.Unmarshal(res.Value, out)
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
	return forShell(f)
}
