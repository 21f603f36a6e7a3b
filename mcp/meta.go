package mcp

import (
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

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
