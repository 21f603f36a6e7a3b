package daemon

import (
	"slices"
	"strconv"
	"strings"
)

// RequestKeyMeta is the member of a tools/call request's params._meta under which
// the relay names the request for good, a string. The daemon's handlers record
// it with each write; a request that arrives a second time under its key is
// answered with what the first one did.
const RequestKeyMeta = "notesd/requestKey"

// replaceSpan returns a copy of line with the bytes at replaced by with.
func replaceSpan(line []byte, at span, with string) []byte {
	out := make([]byte, 0, len(line)-(at.to-at.from)+len(with))
	out = append(out, line[:at.from]...)
	out = append(out, with...)
	return append(out, line[at.to:]...)
}

// insertMember returns a copy of line with a member, given as raw JSON, added in
// front of the others of the object at.
func insertMember(line []byte, object span, name, rawValue string) []byte {
	var b strings.Builder
	b.WriteString(strconv.Quote(name))
	b.WriteByte(':')
	b.WriteString(rawValue)
	if line[skipSpace(line, object.from+1)] != '}' {
		b.WriteByte(',')
	}
	return slices.Insert(slices.Clone(line), object.from+1, []byte(b.String())...)
}

// withRequestKey returns line, a request whose params lie at params, with the
// request key in params._meta. A key that the client chose itself is kept, and
// params or _meta of a wrong type are left for the daemon to refuse.
func withRequestKey(line []byte, params span, key string) []byte {
	if !params.found() || line[params.from] != '{' {
		return line
	}
	meta := lookup(line, params, "_meta")
	switch {
	case !meta.found():
		return insertMember(line, params, "_meta", `{"`+RequestKeyMeta+`":"`+key+`"}`)
	case line[meta.from] != '{', lookup(line, meta, RequestKeyMeta).found():
		return line
	default:
		return insertMember(line, meta, RequestKeyMeta, `"`+key+`"`)
	}
}
