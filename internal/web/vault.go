package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods of notesd that the page calls besides tools; see package service.
const (
	methodStatus = "notesd/status"
	methodGraph  = "notesd/graph"
	methodWhy    = "notesd/why"
)

// protocolVersion is the MCP version that the page requests.
const protocolVersion = "2025-11-25"

// A vault is the page's MCP session. It is opened on first use and reopened after it is
// lost.
type vault struct {
	dial    func(context.Context) (io.ReadWriteCloser, error)
	version string
	changed func() // called when something in the vault changes

	mu      sync.Mutex
	session *sdk.ClientSession
	watched []string // subscribed URIs of notes, oldest first
}

// maxWatched bounds the number of subscribed notes.
const maxWatched = 200

// A refusal is the error result of a tool or method.
type refusal struct {
	text string
	code string // error code of package mcp
}

func (r *refusal) Error() string { return r.text }

// metaFailure is the key of the failure in the _meta of an error result; see package mcp.
const metaFailure = "notesd/error"

// codeResourceNotFound is the JSON-RPC error code for a missing resource.
const codeResourceNotFound = -32002

// refusalOf converts a protocol error to a refusal and returns other errors unchanged.
func refusalOf(err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return err
	}
	var failure struct{ Code string }
	_ = json.Unmarshal(wire.Data, &failure) // most errors have no data
	if wire.Code == codeResourceNotFound {
		failure.Code = "not_found"
	}
	return &refusal{wire.Message, cmp.Or(failure.Code, "invalid")}
}

// methodParams and methodResult pass JSON through.
type methodParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

func (p *methodParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

type methodResult struct {
	sdk.ResultBase
	raw json.RawMessage
}

func (r *methodResult) UnmarshalJSON(data []byte) error {
	r.raw = append(json.RawMessage(nil), data...)
	return nil
}

// open returns the session, after opening it if necessary.
func (v *vault) open(ctx context.Context) (*sdk.ClientSession, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session != nil {
		return v.session, nil
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "notesd web", Version: v.version}, &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(context.Context, *sdk.ResourceUpdatedNotificationRequest) { v.changed() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { v.changed() },
	})
	for _, method := range []string{methodStatus, methodGraph, methodWhy} {
		if err := sdk.AddSendingCustomMethod[*methodParams, *methodResult](client, method); err != nil {
			return nil, err
		}
	}
	conn, err := v.dial(ctx)
	if err != nil {
		return nil, err
	}
	// The SDK closes both ends, which are the same connection. Notes may be longer than
	// its default limit on lines.
	transport := &sdk.IOTransport{Reader: conn, Writer: struct {
		io.Writer
		io.Closer
	}{conn, io.NopCloser(nil)}, MaxLineLength: -1}
	session, err := client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a session: %w", err), conn.Close())
	}
	if err := session.Subscribe(ctx, &sdk.SubscribeParams{URI: "notes://recent"}); err != nil {
		return nil, errors.Join(fmt.Errorf("subscribe to changes: %w", err), session.Close())
	}
	v.session, v.watched = session, nil
	go func() { // ends with the session
		_ = session.Wait()
		v.mu.Lock()
		lost := v.session == session
		if lost {
			v.session = nil
		}
		v.mu.Unlock()
		if lost {
			v.changed() // the pages reload and thereby open a new session
		}
	}()
	return session, nil
}

// watch subscribes to changes of a note. The subscription to notes://recent is not
// enough, because its content is the same if a note changes twice in a second.
func (v *vault) watch(ctx context.Context, uri string) error {
	session, err := v.open(ctx)
	if err != nil {
		return err
	}
	v.mu.Lock()
	known := slices.Contains(v.watched, uri)
	oldest := ""
	if !known {
		v.watched = append(v.watched, uri)
		if len(v.watched) > maxWatched {
			oldest, v.watched = v.watched[0], v.watched[1:]
		}
	}
	v.mu.Unlock()
	if known {
		return nil
	}
	if oldest != "" {
		err = session.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: oldest})
	}
	return errors.Join(err, session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}))
}

// close ends the session.
func (v *vault) close() error {
	v.mu.Lock()
	session := v.session
	v.session = nil
	v.mu.Unlock()
	if session == nil {
		return nil
	}
	return session.Close()
}

// call calls a tool and decodes its structured result into out.
func (v *vault) call(ctx context.Context, tool string, args map[string]any, out any) error {
	session, err := v.open(ctx)
	if err != nil {
		return err
	}
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return refusalOf(fmt.Errorf("%s: %w", tool, err))
	}
	if res.IsError {
		var text []string
		for _, content := range res.Content {
			if t, ok := content.(*sdk.TextContent); ok {
				text = append(text, t.Text)
			}
		}
		failure, _ := res.Meta[metaFailure].(map[string]any)
		code, _ := failure["code"].(string)
		return &refusal{strings.Join(text, "\n"), code}
	}
	encoded, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if err := json.Unmarshal(encoded, out); err != nil {
		return fmt.Errorf("%s: decode the result: %w", tool, err)
	}
	return nil
}

// method calls a method of notesd that is not a tool.
func (v *vault) method(ctx context.Context, name string, params any) (json.RawMessage, error) {
	session, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	res, err := sdk.CallCustomMethod[*methodParams, *methodResult](ctx, session, name, &methodParams{raw: encoded})
	if err != nil {
		return nil, refusalOf(fmt.Errorf("%s: %w", name, err))
	}
	return res.raw, nil
}

// resource reads a file of the vault.
func (v *vault) resource(ctx context.Context, uri string) (*sdk.ResourceContents, error) {
	session, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	res, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, refusalOf(err)
	}
	if len(res.Contents) == 0 {
		return nil, fmt.Errorf("read %s: there are no contents", uri)
	}
	return res.Contents[0], nil
}

// The parts of tool results that the page uses.
type (
	hit struct {
		Path, Title, Heading, Snippet string
		LineStart                     int `json:"line_start"`
		LineEnd                       int `json:"line_end"`
		Why                           why
	}
	why struct {
		TextRank    int     `json:"text_rank"`
		VectorRank  int     `json:"vector_rank"`
		VectorScore float64 `json:"vector_score"`
		Terms       []string
	}
	searchResult struct {
		Results    []hit
		Total      int
		NextCursor string `json:"next_cursor"`
		Notes      []string
		Read       reading
	}
	reading  struct{ Words, Phrases, Without, Filters []string }
	noteMeta struct {
		Path, Title, Content string
		Tags                 []string
		FrontMatter          map[string]any `json:"front_matter"`
		Modified             time.Time
		Truncated            bool
		Attachments          []struct{ URI string }
	}
	link struct {
		Path, URI, Target, Context string // URI is set for attachments
		Line                       int
	}
	linkResult struct{ Outgoing, Backlinks, Unresolved []link }
	related    struct{ Path, Title string }
)
