package relay

import "notesd/internal/jsonrpc"

// withRequestKey returns line, a request whose params lie at params, with the
// request key in params._meta. A key that the client chose itself is kept, and
// params or _meta of a wrong type are left for the daemon to refuse.
func withRequestKey(line []byte, params jsonrpc.Span, key string) []byte {
	if !params.Found() || line[params.From] != '{' {
		return line
	}
	meta := jsonrpc.Lookup(line, params, "_meta")
	switch {
	case !meta.Found():
		return jsonrpc.Insert(line, params, "_meta", `{"`+RequestKeyMeta+`":"`+key+`"}`)
	case line[meta.From] != '{', jsonrpc.Lookup(line, meta, RequestKeyMeta).Found():
		return line
	default:
		return jsonrpc.Insert(line, meta, RequestKeyMeta, `"`+key+`"`)
	}
}

// RequestKeyMeta is the member of a tools/call request's params._meta that
// identifies the request, a string. The daemon records it with each write; a
// request that arrives again under its key gets the first result.
const RequestKeyMeta = "notesd/requestKey"
