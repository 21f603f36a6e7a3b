package mcp

import (
	"context"
	"reflect"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Shared is the log of a vault that several nodes share, between which sessions move.
type Shared interface {
	// Seq returns the number of the newest change that an answer may depend on.
	Seq() uint64
	// Await waits, within a bound, until the vault has all changes up to the number;
	// 0: up to the newest of any node, as far as that can be found out.
	Await(ctx context.Context, seq uint64) error
}

// MetaSeq is the key in the _meta of results that holds the number of the newest
// change of a shared vault that they may depend on. A client that sends it in its
// requests sees nothing older on another node.
const MetaSeq = "notesd/seq"

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

// setMeta adds a member to the _meta of a result.
func setMeta(res sdk.Result, key string, value any) {
	meta := res.GetMeta()
	if meta == nil {
		meta = make(map[string]any)
	}
	meta[key] = value
	res.SetMeta(meta)
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
