package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"notesd/internal/fsid"
	"notesd/mcp"
	"notesd/notes"
	"notesd/search"
	"notesd/vectors/table"
)

// Methods of shell commands that no assistant may call, because they remove every
// version of a note or write outside the vault. Only sessions of shell commands have
// them. vault.allow, which restricts what clients see, does not apply to them.
const (
	MethodExport = "notesd/export" // result: Exported
	MethodForget = "notesd/forget" // result: Forgotten
	MethodBackup = "notesd/backup" // result: Manifest
	MethodRescan = "notesd/rescan"
	MethodTags   = "notesd/tags" // result: Tags, from notes in vault.allow

	MethodTables       = "notesd/tables"       // result: Tables
	MethodRestoreTable = "notesd/restoreTable" // result: TableLine

	MethodWeb = "notesd/web" // result: Link
)

// OwnerMethods lists these methods.
var OwnerMethods = []string{MethodExport, MethodForget, MethodBackup, MethodRescan, MethodTags, MethodTables, MethodRestoreTable, MethodWeb}

// OwnerParams are the parameters of all these methods.
type OwnerParams struct {
	Note  string `json:"note,omitempty"`
	Table string `json:"table,omitempty"`
	Dir   string `json:"dir,omitempty"`   // absolute: the daemon's working directory differs
	AsOf  string `json:"as_of,omitempty"` // a point in time, as the user typed it
}

// WhyParams are the parameters of [mcp.MethodWhy].
type WhyParams struct {
	Note  string      `json:"note"`
	Query string      `json:"query"`
	Mode  search.Mode `json:"mode,omitempty"`
}

// WhyResult is the result of [mcp.MethodWhy].
type WhyResult struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	search.Explanation
}

// ownMethods returns notesd's own methods.
func (s *Service) ownMethods() map[string]mcp.Method {
	methods := map[string]mcp.Method{
		mcp.MethodStatus: {Call: func(ctx context.Context, _ notes.Scope, _ json.RawMessage) (any, error) { return s.status(ctx) }},
		mcp.MethodGraph: {Call: func(ctx context.Context, scope notes.Scope, _ json.RawMessage) (any, error) {
			return s.vault.Store().Graph(ctx, scope)
		}},
		mcp.MethodWhy: {Call: decoded(s.why)},
		mcp.MethodTargets: {Call: decoded(func(ctx context.Context, scope notes.Scope, p OwnerParams) (any, error) {
			return s.vault.Store().Targets(ctx, p.Note, scope)
		})},
	}
	for _, name := range OwnerMethods {
		methods[name] = mcp.Method{Owner: true, Call: decoded(func(ctx context.Context, _ notes.Scope, p OwnerParams) (any, error) {
			result, err := s.own(ctx, name, p)
			if err != nil {
				err = asRPC(err)
			}
			return result, err
		})}
	}
	return methods
}

// decoded returns the Call of a method with the parameters P.
func decoded[P any](call func(context.Context, notes.Scope, P) (any, error)) func(context.Context, notes.Scope, json.RawMessage) (any, error) {
	return func(ctx context.Context, scope notes.Scope, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: " + err.Error()}
		}
		return call(ctx, scope, p)
	}
}

func (s *Service) why(ctx context.Context, scope notes.Scope, p WhyParams) (any, error) {
	meta, err := s.vault.Lookup(ctx, p.Note, scope)
	if err != nil {
		return nil, err
	}
	why, err := s.engine.Why(ctx, search.Query{Text: p.Query, Mode: p.Mode, Filter: notes.Filter{Scope: scope.Read}}, meta)
	return &WhyResult{Path: meta.Path, Title: meta.Title, Explanation: why}, err
}

// asRPC converts an error to a JSON-RPC error that carries its failure.
func asRPC(err error) error {
	f := FailureOf(err)
	data, _ := json.Marshal(f) // cannot fail: strings only
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message, Data: data}
}

// own executes a method and returns its result.
func (s *Service) own(ctx context.Context, method string, p OwnerParams) (any, error) {
	if err := s.outside(p.Dir); err != nil {
		return nil, err
	}
	switch method {
	case MethodExport:
		at, ok := s.vault.Moment(p.AsOf, time.Now(), true)
		if !ok {
			return nil, Usagef(`Write 2026-01-31, "2026-01-31 18:00", "last week" or 36h.`, "--as-of %q is not a time", p.AsOf)
		}
		n, err := s.history.ExportAsOf(ctx, at, p.Dir)
		return Exported{Notes: n, Dir: p.Dir, AsOf: at}, err
	case MethodForget:
		forget := s.history.Forget
		if s.mirror.Mirror != nil {
			forget = s.mirror.Forget
		}
		done, err := forget(ctx, p.Note, notes.Scope{ReadOnly: s.cfg.Vault.ReadOnly})
		done.SetAside = append([]string{}, done.SetAside...) // [] rather than null
		return Forgotten{p.Note, done}, err
	case MethodBackup:
		return s.backUp(ctx, p.Dir)
	case MethodRescan:
		err := s.vault.Reconcile(ctx)
		if err == nil && s.mirror.Mirror != nil {
			err = s.mirror.InStep(ctx)
		}
		return struct{}{}, err
	case MethodTags:
		tags, err := s.vault.Tags(ctx, notes.Scope{Read: readable(s.cfg.Vault.Allow)})
		return Tags{tags}, err
	case MethodWeb:
		if l := s.page.Load(); l != nil {
			return Link{l.origin() + l.page.Link()}, nil
		}
		return Link{}, nil
	case MethodTables:
		return listTables(ctx, s.tables.Tables)
	}
	restored, err := s.tables.Restore(ctx, p.Table)
	if err == nil {
		s.core.TablesChanged(true)
	}
	return lineOf(restored), err
}

// Link is the result of MethodWeb.
type Link struct {
	URL string `json:"url"` // of the web page, works once; "" without HTTP
}

// Tags is the result of MethodTags.
type Tags struct {
	Tags []notes.TagCount `json:"tags"`
}

// Forgotten is the result of MethodForget.
type Forgotten struct {
	Note string `json:"note"` // as named in the request
	notes.Forgotten
}

// Exported is the result of MethodExport.
type Exported struct {
	Notes int       `json:"notes"`
	Dir   string    `json:"dir"`
	AsOf  time.Time `json:"as_of"`
}

// outside returns an error for a folder inside the vault, where exported notes would
// become notes and a sync service would copy backups.
func (s *Service) outside(dir string) error {
	if dir == "" {
		return nil
	}
	for _, folder := range s.cfg.Vault.Dirs() {
		if _, in := fsid.Below(folder, dir); in {
			return Usagef("Name one that is outside.", "%s is in the vault", dir)
		}
	}
	return nil
}

// TableLine describes a table in a list.
type TableLine struct {
	table.Info
	RestorableUntil time.Time `json:"restorable_until,omitzero"` // of a dropped table
}

func lineOf(i table.Info) TableLine {
	l := TableLine{Info: i}
	if !i.Dropped.IsZero() {
		l.RestorableUntil = i.RestorableUntil()
	}
	return l
}

// Tables is the result of MethodTables: the tables in use, then those that can be
// restored.
type Tables struct {
	Tables []TableLine `json:"tables"`
}

func listTables(ctx context.Context, tables *table.Tables) (Tables, error) {
	all := Tables{[]TableLine{}}
	for _, list := range []func(context.Context) ([]table.Info, error){tables.List, tables.Dropped} {
		infos, err := list(ctx)
		if err != nil {
			return all, err
		}
		for _, i := range infos {
			all.Tables = append(all.Tables, lineOf(i))
		}
	}
	return all, nil
}
