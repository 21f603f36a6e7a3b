package mcp

import (
	"context"
	"reflect"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// SharedLog is the log of a vault that several nodes share. Sessions may move between them.
type SharedLog interface {
	// Seq returns the number of the newest change that a result may depend on.
	Seq() uint64
	// Await waits, up to a bound, until the vault has all changes up to seq. If seq is 0,
	// it waits for the newest change of any node, as far as it can be determined.
	Await(ctx context.Context, seq uint64) error
}

// MetaSeq is the key in a result's _meta for the number of the newest change of a shared
// vault that the result may depend on. A client that sends it in its requests sees nothing
// older on another node.
const MetaSeq = "notesd/seq"

// A consistency keeps requests of a session from reading a shared vault as it was before
// changes that its client has seen on another node.
type consistency struct {
	shared  SharedLog   // nil: the vault is not shared
	reached atomic.Bool // this node has all that the client may have seen before the session began here
}

// await waits until this node has the changes that the client has seen on another: up to
// the number in the request's _meta, or up to the newest one if the session begins here.
func (c *consistency) await(ctx context.Context, req sdk.Request) error {
	if c.shared == nil {
		return nil
	}
	if seq, ok := requestMeta(req)[MetaSeq].(float64); ok && seq >= 1 {
		return c.shared.Await(ctx, uint64(seq))
	}
	if c.reached.Load() {
		return nil
	}
	err := c.shared.Await(ctx, 0)
	c.reached.Store(err == nil)
	return err
}

// mark adds to a result the number that later requests may have to wait for on another
// node.
func (c *consistency) mark(res sdk.Result) {
	if c.shared != nil {
		setMeta(res, MetaSeq, c.shared.Seq())
	}
}

// setMeta sets a key in the _meta of a result.
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
