package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp"
	"notesd/notes"
)

// Some commands do what no assistant should: they remove every version of a note,
// or write outside the vault. Their methods exist only in the sessions of shell
// commands, and concern the whole vault: vault.allow bounds what clients see of
// it, and not what its owner keeps.
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

// methods are notesd's own methods.
func (s *service) methods() map[string]mcp.Method {
	methods := map[string]mcp.Method{
		mcp.MethodStatus: func(ctx context.Context, _ json.RawMessage) (any, error) { return s.status(ctx) },
	}
	for _, name := range ownerMethods {
		methods[name] = func(ctx context.Context, params json.RawMessage) (any, error) {
			var p ownerParams
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, err
			}
			value, err := s.own(ctx, name, p)
			if err != nil {
				f := failureOf(err)
				data, _ := json.Marshal(f) // of strings
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message, Data: data}
			}
			return map[string]any{"value": value}, nil
		}
	}
	return methods
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
