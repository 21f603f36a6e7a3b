package relay

import (
	"bytes"
	"encoding/json"
	"slices"

	"notesd/internal/jsonrpc"
)

const (
	noteUpdated          = "notifications/resources/updated"
	noteToolsChanged     = "notifications/tools/list_changed"
	noteResourcesChanged = "notifications/resources/list_changed"
	notePromptsChanged   = "notifications/prompts/list_changed"
)

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
	for _, list := range []struct{ capability, method string }{
		{"tools", noteToolsChanged},
		{"resources", noteResourcesChanged},
		{"prompts", notePromptsChanged},
	} {
		announced := jsonrpc.Lookup(line, m.Result, "capabilities", list.capability, "listChanged")
		if bytes.Equal(announced.Of(line), []byte("true")) {
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

// listenFilter lists the notifications that a subscriptions/listen request
// selects.
type listenFilter struct {
	Tools     bool     `json:"toolsListChanged"`
	Prompts   bool     `json:"promptsListChanged"`
	Resources bool     `json:"resourcesListChanged"`
	URIs      []string `json:"resourceSubscriptions"`
}

// everythingChanged returns the notifications for the listen with the given raw id.
func (f listenFilter) everythingChanged(rawID []byte) [][]byte {
	var lists []string
	for method, wanted := range map[string]bool{noteToolsChanged: f.Tools, noteResourcesChanged: f.Resources, notePromptsChanged: f.Prompts} {
		if wanted {
			lists = append(lists, method)
		}
	}
	slices.Sort(lists)
	return everythingChanged(f.URIs, lists, map[string]json.RawMessage{metaSubscription: rawID})
}
