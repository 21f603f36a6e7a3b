package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/transport"
	"notesd/notes"
)

const handshake = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// Piped input is answered even though it ends at once.
func TestAnswersAreNotLostAtTheEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		var in strings.Builder
		in.WriteString(handshake)
		for i := range 50 {
			fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Plan.md"}}}`+"\r\n", i)
		}
		fmt.Fprint(&in, `{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without a newline
		out := new(lockedBuffer)
		err := w.core.ServeLines(t.Context(), io.NopCloser(strings.NewReader(in.String())), nopCloser{out}, Profile{})
		require.NoError(t, err)
		assert.Equal(t, 52, strings.Count(out.String(), "\n"))
		assert.Contains(t, out.String(), `"id":"last"`)
		assert.Zero(t, w.core.Sessions())
	})
}

// A call that does not end does not keep the session of a client that has left.
func TestEndOfInput_GraceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		stopped := make(chan struct{})
		w.vault.read = func(ctx context.Context, _ string) error {
			defer close(stopped)
			<-ctx.Done()
			return ctx.Err()
		}
		in := handshake + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"x"}}}` + "\n"
		began := time.Now()
		require.NoError(t, w.core.ServeLines(t.Context(), io.NopCloser(strings.NewReader(in)), nopCloser{new(lockedBuffer)}, Profile{}))
		assert.Equal(t, 2*time.Second, time.Since(began))
		<-stopped
	})
}

// A client that stops reading is disconnected, and meanwhile delays no other client.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{Line: transport.Limits{QueueFrames: 20}})
		fast := w.connect(t, Profile{})
		fast.send(strings.TrimSuffix(handshake, "\n"))
		fast.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}}`)
		synctest.Wait()
		fast.received()

		toServer, fromClient := io.Pipe()
		_, fromServer := io.Pipe() // never read
		done := make(chan error, 1)
		go func() { done <- w.core.ServeLines(context.Background(), toServer, fromServer, Profile{}) }()
		_, _ = io.WriteString(fromClient, handshake)
		_, _ = io.WriteString(fromClient, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}}`+"\n")
		for i := range 60 {
			w.save(t, "Plan.md", fmt.Sprint(i))
			time.Sleep(updateInterval)
			synctest.Wait()
			require.Len(t, fast.received(), 1, "change %d", i)
		}
		require.ErrorIs(t, <-done, transport.ErrSlowClient)
		_, err := io.WriteString(fromClient, "more\n")
		require.ErrorIs(t, err, io.ErrClosedPipe)
		assert.Equal(t, 1, w.core.Sessions())
	})
}

// Cancelling the context ends the session and its requests.
func TestServeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		stopped := false
		w.vault.read = func(ctx context.Context, _ string) error { <-ctx.Done(); stopped = true; return ctx.Err() }
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, toClient) }()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- w.core.ServeLines(ctx, toServer, fromServer, Profile{}) }()
		_, _ = io.WriteString(fromClient, handshake)
		_, _ = io.WriteString(fromClient, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"x"}}}`+"\n")
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		synctest.Wait()
		assert.True(t, stopped)
	})
}

// Requests of a session beyond its share wait, and beyond the limit on waiting ones are
// rejected.
func TestFloodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{Concurrent: 2, Line: transport.Limits{InFlight: 10}})
		working := make(chan struct{}, 100)
		release := make(chan struct{})
		finish := sync.OnceFunc(func() { close(release) })
		defer finish()
		w.vault.read = func(context.Context, string) error { working <- struct{}{}; <-release; return nil }
		client := w.connect(t, Profile{})
		client.send(strings.TrimSuffix(handshake, "\n"))
		synctest.Wait()
		client.received()
		for i := range 12 {
			client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Empty"}}}`, i))
		}
		synctest.Wait()
		assert.Len(t, working, 2)
		refused := client.received()
		require.Len(t, refused, 2)
		assert.Contains(t, refused[0], `"id":10,"error":{"code":-32005,"message":"too many calls at a time (10)`)
		finish()
		synctest.Wait()
		assert.Len(t, client.received(), 10)
	})
}

func TestProfileIsValidated(t *testing.T) {
	w := newWorld(t, nil, Limits{})
	err := w.core.ServeLines(t.Context(), io.NopCloser(strings.NewReader("")), nopCloser{io.Discard}, Profile{Tools: []string{"raed_note"}})
	require.ErrorIs(t, err, notes.ErrInvalid)
	require.ErrorContains(t, err, `did you mean "read_note"?`)
}

// Notifications of 2026-07-28 carry its _meta, too, but have no result to add serverInfo
// to.
func TestModernNotifications(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, method := range []string{"cancelled", "progress", "initialized", "roots/list_changed", "message", "unheard/of"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sampleVault, Limits{})
				release := make(chan struct{})
				w.vault.read = func(ctx context.Context, _ string) error {
					select {
					case <-ctx.Done():
					case <-release:
					}
					return ctx.Err()
				}
				client := w.connect(t, Profile{})
				client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"read_note","arguments":{"note":"Plan"}}}`)
				synctest.Wait()
				client.send(`{"jsonrpc":"2.0","method":"notifications/` + method + `","params":{` + meta + `,"requestId":1,"progressToken":1,"progress":1,"level":"info","data":"x"}}`)
				synctest.Wait()
				close(release)
				client.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`)
				synctest.Wait()
				answers := strings.Join(client.received(), "\n")
				assert.Contains(t, answers, `"id":2,"result"`)
				assert.Equal(t, method != "cancelled", strings.Contains(answers, `"id":1,"result"`), answers)
			})
		})
	}
}

// notifications/initialized too early, twice, or in the era without it has no effect, and
// causes no internal error.
func TestLines_UnexpectedInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		w := newWorld(t, sampleVault, Limits{})
		client := w.connect(t, Profile{})
		client.send(initialized)
		client.send(strings.TrimSuffix(handshake, "\n"))
		for range 3 {
			client.send(initialized)
		}
		synctest.Wait()
		require.Len(t, client.received(), 1, "the answer to initialize")
		assert.NotContains(t, w.log.String(), "level=ERROR")
	})
}

// After any input from a client, its next ping is answered.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"hello", "{", "[]", "[{}]", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "\xff\xfe", strings.Repeat("[", 1000),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ping"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Plan.md","lines":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt"},"argument":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"requestId":"init"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":null}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
		`{"jsonrpc":"2.0","id":"\u0000","method":"resources/subscribe","params":{"uri":"note:///a"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, sampleVault, Limits{Line: transport.Limits{MessageBytes: 4 << 10}})
			client := w.connect(t, Profile{})
			client.send(strings.TrimSuffix(handshake, "\n"))
			client.send(string(line))
			client.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
			synctest.Wait()
			answers := strings.Join(client.received(), "\n")
			require.Contains(t, answers, `{"jsonrpc":"2.0","id":"ping","result":{}}`)
			client.close()
			if client.err != nil && !errors.Is(client.err, io.EOF) {
				require.NoError(t, client.err)
			}
		})
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
