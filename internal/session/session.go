// Package session is the MCP client of notesd's own programs: the shell commands and the
// web page. A [Session] is a connection to a vault's server. It is safe for concurrent use.
package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/mcp"
)

// Failure is the error of a tool or method, as opposed to one of the connection.
type Failure = mcp.Failure

// A Session is an MCP session that can also call notesd's own methods.
type Session struct{ *sdk.ClientSession }

// Open opens a session over a connection, which it closes in the end. methods names those
// of notesd's own methods that will be called.
func Open(ctx context.Context, conn io.ReadWriteCloser, name, version string, options *sdk.ClientOptions, methods ...string) (*Session, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: name, Version: version}, options)
	for _, method := range methods {
		if err := sdk.AddSendingCustomMethod[*mcp.RawParams, *mcp.RawResult](client, method); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	// The SDK closes reader and writer separately, but they are one connection. Notes may
	// exceed its line limit.
	transport := &sdk.IOTransport{Reader: conn, Writer: struct {
		io.Writer
		io.Closer
	}{conn, io.NopCloser(nil)}, MaxLineLength: -1}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the SDK does not stop a write that blocks
	s, err := client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		_ = conn.Close() // the SDK may have closed it
		return nil, fmt.Errorf("open a session: %w", cmp.Or(ctx.Err(), err))
	}
	return &Session{s}, nil
}

// Call calls a tool and decodes its structured result into out.
func (s *Session) Call(ctx context.Context, tool string, args map[string]any, out any) error {
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return FailureOf(err)
	}
	if res.IsError {
		f := &Failure{Code: "failed", Message: "the call failed"}
		_ = convert(res.Meta[mcp.MetaFailure], f) // each failed result of the service has one
		return f
	}
	return convert(res.StructuredContent, out)
}

func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// Method calls one of notesd's own methods and decodes its result into out.
func (s *Session) Method(ctx context.Context, name string, arguments, out any) error {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	res, err := sdk.CallCustomMethod[*mcp.RawParams, *mcp.RawResult](ctx, s.ClientSession, name, &mcp.RawParams{RawMessage: raw})
	if err != nil {
		return FailureOf(err)
	}
	return json.Unmarshal(res.RawMessage, out)
}

// FailureOf converts a protocol error to a [*Failure] and returns other errors unchanged.
func FailureOf(err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return err
	}
	f := &Failure{}
	if json.Unmarshal(wire.Data, f) == nil && f.Message != "" {
		return f
	}
	return &Failure{Code: "failed", Message: wire.Message}
}
