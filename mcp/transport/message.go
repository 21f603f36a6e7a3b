package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "notesd/internal/jsonrpc"
	"notesd/internal/phrase"
)

// CodeBusy is the error code for a request that exceeds a limit on concurrent requests or
// on their rate; the message says what to wait for.
const CodeBusy = -32005

// A Refusal is the error response, as a line, to input that is not an acceptable message. It is
// nil for acceptable input. The session continues.
type Refusal []byte

// unanswerable is the refusal of a response that matches no call: there is none, because
// responding to it could start an endless exchange.
var unanswerable = Refusal{}

// refuse returns a refusal with the given id, or with none if nil.
func refuse(id json.RawMessage, code int64, format string, args ...any) Refusal {
	return rpc.Failure(id, code, fmt.Sprintf(format, args...))
}

const (
	// maxDepth limits the nesting of a message. Real messages stay below ten levels, and
	// front matter adds a few.
	maxDepth = 128
	// maxIDLength limits a string id, which is echoed.
	maxIDLength = 256
)

// Decode decodes the body of a request, one message or a batch, from a client of the
// given protocol version. An empty version means the one that has batches. One
// unacceptable message rejects the whole body.
func Decode(body []byte, version string) ([]jsonrpc.Message, Refusal) {
	body = bytes.TrimSpace(body)
	if bad := tooDeep(body); bad != nil {
		return nil, bad
	}
	items, bad := split(body, cmp.Or(version, rpc.BatchVersion))
	msgs := make([]jsonrpc.Message, len(items))
	for i := 0; i < len(items) && bad == nil; i++ {
		msgs[i], bad = decodeMessage(items[i])
	}
	return msgs, bad
}

// split returns the messages in a line or a body: one, or those of a batch, a JSON array
// that clients of one protocol version may send. Each is handled and answered like a
// single message: that version lets servers choose whether to answer in a batch.
func split(data []byte, version string) ([]json.RawMessage, Refusal) {
	const most = 100
	if len(data) == 0 || data[0] != '[' {
		return []json.RawMessage{data}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, refuse(nil, jsonrpc.CodeParseError, "parse error: %v", err)
	}
	switch {
	case version != rpc.BatchVersion:
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: send one message at a time; batches exist in protocol version %s only, after initialize", rpc.BatchVersion)
	case len(items) == 0:
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: the batch is empty")
	case len(items) > most:
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: a batch may have %d messages at most", most)
	}
	return items, nil
}

// decodeMessage decodes one JSON object as a request, a notification or a response. Keys
// must match exactly.
func decodeMessage(data []byte) (jsonrpc.Message, Refusal) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		if json.Valid(data) {
			return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: a message must be a JSON object")
		}
		return nil, refuse(nil, jsonrpc.CodeParseError, "parse error: %v", err)
	}
	rawID, hasID := fields["id"]
	id, bad := decodeID(rawID, hasID)
	if bad != nil {
		if isResponse(fields) {
			bad = unanswerable
		}
		return nil, bad
	}
	if !utf8.Valid(data) {
		return nil, refuse(rawID, jsonrpc.CodeParseError, "parse error: the message is not valid UTF-8")
	}
	if v := fields["jsonrpc"]; string(v) != `"2.0"` {
		return nil, refuse(rawID, jsonrpc.CodeInvalidRequest, `invalid request: "jsonrpc" must be "2.0"`)
	}
	if method, ok := fields["method"]; ok {
		return decodeRequest(id, rawID, method, fields["params"])
	}
	return decodeResponse(id, rawID, fields)
}

func decodeRequest(id jsonrpc.ID, rawID, rawMethod, params json.RawMessage) (jsonrpc.Message, Refusal) {
	var method string
	if json.Unmarshal(rawMethod, &method) != nil || method == "" {
		return nil, refuse(rawID, jsonrpc.CodeInvalidRequest, `invalid request: "method" must be a string that names a method`)
	}
	if bytes.Equal(params, []byte("null")) {
		params = nil
	}
	if len(params) > 0 && params[0] != '{' {
		return nil, refuse(rawID, jsonrpc.CodeInvalidParams, `invalid params: "params" of %s must be an object`, phrase.Clip(method, 100))
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: params}, nil
}

func isResponse(fields map[string]json.RawMessage) bool {
	return fields["method"] == nil && (fields["result"] != nil || fields["error"] != nil)
}

// decodeResponse turns a response with neither or both of a result and an error into an
// error for the waiting caller.
func decodeResponse(id jsonrpc.ID, rawID json.RawMessage, fields map[string]json.RawMessage) (jsonrpc.Message, Refusal) {
	result, hasResult := fields["result"]
	rawErr, hasErr := fields["error"]
	switch {
	case !hasResult && !hasErr:
		return nil, refuse(rawID, jsonrpc.CodeInvalidRequest, `invalid request: a message needs a "method", or an "id" with a "result" or an "error"`)
	case !id.IsValid():
		return nil, unanswerable
	case !hasErr:
		return &jsonrpc.Response{ID: id, Result: result}, nil
	}
	wire := new(jsonrpc.Error)
	if err := json.Unmarshal(rawErr, wire); err != nil || hasResult {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: `the client's answer has neither a "result" nor an "error" with code and message`}
	}
	return &jsonrpc.Response{ID: id, Error: wire}, nil
}

// cancelledID returns the id of the call that a cancellation refers to.
func cancelledID(req *jsonrpc.Request) (jsonrpc.ID, bool) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &params) != nil {
		return jsonrpc.ID{}, false
	}
	id, bad := decodeID(params.RequestID, len(params.RequestID) > 0)
	return id, bad == nil && id.IsValid()
}

// decodeID accepts a string or an integer. Null and fractions are valid in JSON-RPC but
// not in MCP, and would be mistaken for a notification or rounded to another request's
// id.
func decodeID(raw json.RawMessage, present bool) (jsonrpc.ID, Refusal) {
	if !present {
		return jsonrpc.ID{}, nil
	}
	var v any
	parsed, ok := rpc.ParseID(raw)
	switch n, exact := parsed.Exact(); {
	case exact:
		v = float64(n)
	case !ok || parsed.Numeric:
		return jsonrpc.ID{}, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: an id must be a string or an integer, not %s", phrase.Clip(string(raw), 40))
	case len(parsed.Text) > maxIDLength:
		return jsonrpc.ID{}, refuse(nil, jsonrpc.CodeInvalidRequest, "invalid request: an id may have %d bytes at most", maxIDLength)
	default:
		v = parsed.Text
	}
	id, _ := jsonrpc.MakeID(v) // cannot fail for a string or a number
	return id, nil
}

// idOf returns the id of a request that cannot be decoded, or nil.
func idOf(data []byte) json.RawMessage {
	m, _ := rpc.Scan(data)
	raw := m.ID.Of(data)
	if _, ok := rpc.ParseID(raw); !ok || len(raw) > maxIDLength {
		return nil
	}
	return raw
}

// tooDeep rejects JSON text with objects and arrays nested more than maxDepth levels
// deep. It runs before any recursive parser.
func tooDeep(data []byte) Refusal {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return refuse(idOf(data), jsonrpc.CodeInvalidRequest, "invalid request: nested more than %d levels deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// headerRequestID passes a listen request's id to its handler, because the SDK does not.
const headerRequestID = "Notesd-Request-Id"

// withRequestID attaches the request's own id for its handler.
func withRequestID(req *jsonrpc.Request, raw string) {
	req.Extra = &sdk.RequestExtra{Header: http.Header{headerRequestID: {raw}}}
}

// RequestID returns the id of a listen request of a Conn, as a value that marshals as the
// client wrote it.
func RequestID(req sdk.Request) any {
	return json.RawMessage(req.GetExtra().Header.Get(headerRequestID))
}
