package relay

import (
	"slices"

	"notesd/internal/jsonrpc"
)

const noteUpdated = "notifications/resources/updated"

// changingLists are the lists with change notifications: the capability in the answer to
// initialize, the member that selects them in subscriptions/listen, and the notification.
var changingLists = []struct{ capability, selector, method string }{
	{"tools", "toolsListChanged", "notifications/tools/list_changed"},
	{"resources", "resourcesListChanged", "notifications/resources/list_changed"},
	{"prompts", "promptsListChanged", "notifications/prompts/list_changed"},
}

// isTrue reports whether the value at the end of a path is true.
func isTrue(line []byte, at jsonrpc.Span, path ...string) bool {
	return string(jsonrpc.Lookup(line, at, path...).Of(line)) == "true"
}

// handshake is the state established by a session-era client, which the relay replays
// to the next daemon. It is not safe for concurrent use.
type handshake struct {
	answered      bool   // initialize has been answered
	initialize    []byte // the client's request
	initialized   []byte // the client's notification, once sent
	level         []byte // the last logging/setLevel that was accepted
	version       string // the negotiated protocol version
	lists         []string
	subscriptions []subscription
}

// subscription is an accepted resources/subscribe request.
type subscription struct {
	uri  string
	line []byte
}

func (h *handshake) clone() handshake {
	c := *h
	c.subscriptions = slices.Clone(h.subscriptions)
	return c
}

// note records the effect on the session of the successful answer in line to r.
func (h *handshake) note(r *request, line []byte, m jsonrpc.Message) {
	switch r.method {
	case methodInitialize:
		h.answered = true
		h.initialize = r.line
		h.read(line, m)
	case methodSetLevel:
		h.level = r.line
	case methodSubscribe:
		uri := subscribedURI(r.line)
		h.unsubscribe(uri)
		h.subscriptions = append(h.subscriptions, subscription{uri, r.line})
	case methodUnsubscribe:
		h.unsubscribe(subscribedURI(r.line))
	}
}

func (h *handshake) unsubscribe(uri string) {
	h.subscriptions = slices.DeleteFunc(h.subscriptions, func(s subscription) bool { return s.uri == uri })
}

func subscribedURI(line []byte) string {
	m, _ := jsonrpc.Scan(line)
	return jsonrpc.Text(jsonrpc.Lookup(line, m.Params, "uri").Of(line))
}

// read stores the negotiated version and the lists with change notifications from the
// answer to initialize.
func (h *handshake) read(line []byte, m jsonrpc.Message) {
	h.version = jsonrpc.Text(jsonrpc.Lookup(line, m.Result, "protocolVersion").Of(line))
	h.lists = nil
	for _, list := range changingLists {
		if isTrue(line, m.Result, "capabilities", list.capability, "listChanged") {
			h.lists = append(h.lists, list.method)
		}
	}
}

// everythingChanged returns notifications that make a client reload everything.
func (h *handshake) everythingChanged() [][]byte {
	uris := make([]string, len(h.subscriptions))
	for i, sub := range h.subscriptions {
		uris[i] = sub.uri
	}
	return everythingChanged(uris, h.lists, nil)
}

// everythingChanged returns notifications that the given resources and lists have
// changed, with the _meta of a subscriptions/listen request or nil.
func everythingChanged(uris, lists []string, meta any) (lines [][]byte) {
	type params struct {
		Meta any    `json:"_meta,omitempty"`
		URI  string `json:"uri,omitempty"`
	}
	for _, uri := range uris {
		lines = append(lines, jsonrpc.Notification(noteUpdated, params{meta, uri}))
	}
	var list any // no params without _meta
	if meta != nil {
		list = params{Meta: meta}
	}
	for _, method := range lists {
		lines = append(lines, jsonrpc.Notification(method, list))
	}
	return lines
}
