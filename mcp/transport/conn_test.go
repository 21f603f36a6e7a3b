package transport_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	rpc "notesd/internal/jsonrpc"
	"notesd/mcp/transport"
)

// session is a client and a server at the two ends of a Conn. The server answers each call
// with an empty result, except those that hold returns true for.
type session struct {
	t    *testing.T
	conn *transport.Conn
	in   *io.PipeWriter // the client's output
	hold func(*jsonrpc.Request) bool

	mu        sync.Mutex
	lines     []string          // to the client
	delivered []jsonrpc.Message // to the server
	ended     error             // of the server's last Read
}

// connect starts a session. It must be called in a synctest bubble.
func connect(t *testing.T, limits transport.Limits) *session {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	s := &session{t: t, in: fromClient, hold: func(*jsonrpc.Request) bool { return false }}
	s.conn = transport.Open(toServer, fromServer, limits)
	go s.readLines(toClient)
	go s.serve()
	t.Cleanup(func() {
		_ = s.conn.Close()
		_ = toClient.Close()
	})
	return s
}

func (s *session) readLines(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		s.mu.Lock()
		s.lines = append(s.lines, lines.Text())
		s.mu.Unlock()
	}
}

func (s *session) serve() {
	for {
		msg, err := s.conn.Read(context.Background())
		s.mu.Lock()
		if s.ended = err; err == nil {
			s.delivered = append(s.delivered, msg)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
		if call, ok := msg.(*jsonrpc.Request); ok && call.IsCall() && !s.hold(call) {
			s.answer(call.ID)
		}
	}
}

func (s *session) answer(id jsonrpc.ID) {
	assert.NoError(s.t, s.conn.Write(context.Background(), &jsonrpc.Response{ID: id, Result: []byte("{}")}))
}

// send sends a line and returns what the client has received since the last call.
func (s *session) send(line string) []string {
	_, err := io.WriteString(s.in, line+"\n")
	require.NoError(s.t, err)
	return s.received()
}

func (s *session) received() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

// deliveredSince returns the messages that the server has received since the last call.
func (s *session) deliveredSince() []jsonrpc.Message {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := s.delivered
	s.delivered = nil
	return messages
}

// end returns the error that ended the server's reads; nil: it is still reading.
func (s *session) end() error {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func call(id, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q}`, id, method)
}

func result(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id) }

// Each of these lines is rejected, or ignored if it needs no response, and the session
// continues.
func TestConn_Refusals(t *testing.T) {
	ping := call("1", "ping")
	for _, tc := range []struct{ name, line, want string }{
		{"garbage", "garbage", `"id":null,"error":{"code":-32700`},
		{"binary garbage", "\x00\x01\xfe\xff", `"id":null,"error":{"code":-32700`},
		{"truncated JSON", ping[:25], `"id":null,"error":{"code":-32700`},
		{"two messages in a line", ping + ping, `"id":null,"error":{"code":-32700`},
		{"no object", `"ping"`, `"id":null,"error":{"code":-32600,"message":"invalid request: a message must be a JSON object"`},
		{"no JSON-RPC", `{"id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"another JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"129 levels", nested(129), `"id":1,"error":{"code":-32600,"message":"invalid request: nested more than 128 levels deep`},
		{"128 levels", nested(128), result("1")},
		{"brackets in strings", `{"jsonrpc":"2.0","method":"ping","params":{"x":"\"` + strings.Repeat("[{", 500) + `"},"id":1}`, result("1")},
		{"many arrays, none deep", `{"jsonrpc":"2.0","method":"ping","params":{"x":[` + strings.Repeat("[],", 500) + `{}]},"id":1}`, result("1")},
		{"deep JSON without an end", strings.Repeat(`{"a":`, 500), `"id":null,"error":{"code":-32600,"message":"invalid request: nested`},
		{"deep JSON with a long id", `{"id":"` + strings.Repeat("x", 300) + `","x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", `"id":null,"error":{"code":-32600,"message":"invalid request: nested`},
		{"huge JSON", `{"jsonrpc":"2.0","method":"ping","params":{"x":"` + strings.Repeat("x", 100_000) + `"},"id":1}`, `"id":null,"error":{"code":-32600,"message":"invalid request: a message may have 5000 bytes`},
		{"huge garbage", strings.Repeat("x", 100_000), `"id":null,"error":{"code":-32600`},
		{"half UTF-8 in a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + "\xf0\x9f\x8e" + `"}}`, `"id":1,"error":{"code":-32700,"message":"parse error: the message is not valid UTF-8"`},
		{"half UTF-8 in the method", `{"jsonrpc":"2.0","id":1,"method":"pi` + "\xc3" + `"}`, `"id":1,"error":{"code":-32700`},
		{"half UTF-8 in the id", `{"jsonrpc":"2.0","id":"` + "\xc3" + `","method":"ping"}`, `"error":{"code":-32700`},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, `"id":1,"error":{"code":-32600`},
		{"method that is no string", `{"jsonrpc":"2.0","id":1,"method":7}`, `"id":1,"error":{"code":-32600`},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `"id":1,"error":{"code":-32602,"message":"invalid params: \"params\" of ping must be an object"`},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, result("1")},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600,"message":"invalid request: an id must be a string or an integer, not null"`},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":null,"error":{"code":-32600,"message":"invalid request: an id must be a string or an integer, not 1.5"`},
		{"fraction that is whole", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, `"error":{"code":-32600`},
		{"id beyond what is exact", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `"error":{"code":-32600`},
		{"id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, `"error":{"code":-32600`},
		{"id of 257 bytes", call(`"`+strings.Repeat("x", 257)+`"`, "ping"), `"error":{"code":-32600,"message":"invalid request: an id may have 256 bytes at most"`},
		{"id of 256 bytes", call(`"`+strings.Repeat("x", 256)+`"`, "ping"), result(`"` + strings.Repeat("x", 256) + `"`)},
		{"response without an id", `{"jsonrpc":"2.0","result":{}}`, ""},
		{"error under a null id, as of one who could not read", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ""},
		{"response under a fraction", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, ""},
		{"neither request nor response", `{"jsonrpc":"2.0","id":99}`, `"id":99,"error":{"code":-32600`},
		{"batch of another version", "[" + ping + "]", `"id":null,"error":{"code":-32600,"message":"invalid request: send one message at a time`},
		{"nothing but blanks", " \t ", ""},
		{"a line that ends as on Windows", ping + "\r", result("1")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := connect(t, transport.Limits{MessageBytes: 5000})
				s.conn.Negotiated("2025-06-18")
				got := s.send(tc.line)
				if tc.want == "" {
					assert.Empty(t, got)
					assert.Empty(t, s.deliveredSince())
				} else {
					require.Len(t, got, 1)
					assert.Contains(t, got[0], tc.want)
				}
				assert.Equal(t, []string{result(`"alive?"`)}, s.send(call(`"alive?"`, "ping")))
			})
		})
	}
}

// nested returns a call with objects and arrays on so many levels.
func nested(levels int) string {
	arrays := levels - 2
	return `{"jsonrpc":"2.0","method":"ping","params":{"x":` + strings.Repeat("[", arrays) + strings.Repeat("]", arrays) + `},"id":1}`
}

// A response of the client reaches the server, and one that is invalid does as an error, since
// a caller waits for it.
func TestConn_ClientResponses(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":99,"result":{"a":1}}`:                                      `{"jsonrpc":"2.0","id":99,"result":{"a":1}}`,
		`{"jsonrpc":"2.0","id":99,"error":{"code":5,"message":"no"}}`:                     `{"jsonrpc":"2.0","id":99,"error":{"code":5,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}`:          `neither a`,
		`{"jsonrpc":"2.0","id":99,"error":"x"}`:                                           `neither a`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5}}`:   `"params":{"progress":0.5}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`:  "", // not in flight
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9.5}}`: "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`:                "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`:                            "",
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := connect(t, transport.Limits{})
				assert.Empty(t, s.send(line))
				got := s.deliveredSince()
				if want == "" {
					assert.Empty(t, got)
					return
				}
				require.Len(t, got, 1)
				text, err := jsonrpc.EncodeMessage(got[0])
				require.NoError(t, err)
				assert.Contains(t, string(text), want)
			})
		})
	}
}

// The id of a call in flight is rejected, with a response that cannot be mistaken for that
// call's; later it can be used again.
func TestConn_ReusedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{})
		s.hold = func(r *jsonrpc.Request) bool { return r.Method == "slow" }
		assert.Empty(t, s.send(call("7", "slow")))
		got := s.send(call("7", "ping"))
		require.Len(t, got, 1)
		assert.Contains(t, got[0], `"id":null,"error":{"code":-32600,"message":"invalid request: the id 7 belongs to a call that is still being answered"`)
		assert.Equal(t, []string{result(`"7"`)}, s.send(call(`"7"`, "ping")), "another id")
		s.answer(s.deliveredSince()[0].(*jsonrpc.Request).ID)
		assert.Equal(t, []string{result("7")}, s.received())
		assert.Equal(t, []string{result("7")}, s.send(call("7", "ping")))
	})
}

func TestConn_CallsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{InFlight: 2})
		s.hold = func(r *jsonrpc.Request) bool { return r.Method == "slow" }
		s.send(call("1", "slow"))
		s.send(call("2", "slow"))
		got := s.send(call("3", "ping"))
		require.Len(t, got, 1)
		assert.Contains(t, got[0], `"id":3,"error":{"code":-32005,"message":"too many calls at a time (2)`)
		s.answer(s.deliveredSince()[0].(*jsonrpc.Request).ID)
		s.received()
		assert.Equal(t, []string{result("3")}, s.send(call("3", "ping")))
	})
}

// A cancelled call gets no response, and the server receives the cancellation. Initialize
// cannot be cancelled.
func TestConn_CancelledCalls(t *testing.T) {
	for _, method := range []string{"slow", transport.MethodInitialize} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := connect(t, transport.Limits{})
				s.hold = func(r *jsonrpc.Request) bool { return r.Method == method }
				s.send(call("1", method))
				held := s.deliveredSince()[0].(*jsonrpc.Request)
				s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
				delivered := len(s.deliveredSince()) == 1
				s.answer(held.ID)
				assert.Equal(t, method == "slow", delivered)
				assert.Equal(t, method != "slow", len(s.received()) == 1)
				s.hold = func(*jsonrpc.Request) bool { return false }
				assert.Equal(t, []string{result("1")}, s.send(call("1", "ping")), "the id is free")
			})
		})
	}
}

// The version that has batches answers each of their messages, also beside invalid ones.
func TestConn_Batches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{})
		s.conn.Negotiated(rpc.BatchVersion)
		got := s.send("[" + call("1", "ping") + `,7,{"jsonrpc":"2.0","method":"notifications/progress"},` + call("2", "ping") + "]")
		require.Len(t, got, 3)
		text := strings.Join(got, "\n")
		for _, want := range []string{result("1"), result("2"), `"id":null,"error":{"code":-32600`} {
			assert.Contains(t, text, want)
		}
		assert.Len(t, s.deliveredSince(), 3)
		for batch, want := range map[string]string{
			"[]": "the batch is empty",
			"[":  "parse error",
			"[" + strings.Repeat(call("1", "ping")+",", 100) + call("2", "ping") + "]": "a batch may have 100 messages at most",
		} {
			got := s.send(batch)
			require.Len(t, got, 1)
			assert.Contains(t, got[0], want)
		}
	})
}

// Decode accepts a body without a version as one of the version that has batches, and
// rejects a body with one unacceptable message.
func TestDecode(t *testing.T) {
	batch := " [" + call("1", "ping") + "," + call("2", "ping") + "] "
	for _, tc := range []struct {
		body, version string
		messages      int
		refusal       string
	}{
		{call("1", "ping"), "2025-06-18", 1, ""},
		{batch, "", 2, ""},
		{batch, rpc.BatchVersion, 2, ""},
		{batch, "2025-06-18", 0, "send one message at a time"},
		{"[" + call("1", "ping") + ",7]", "", 0, "a message must be a JSON object"},
		{nested(200), "", 0, "nested more than"},
		{"", "", 0, "parse error"},
	} {
		messages, bad := transport.Decode([]byte(tc.body), tc.version)
		if tc.refusal != "" {
			require.NotNil(t, bad, tc.body)
			assert.Contains(t, string(bad), tc.refusal)
			continue
		}
		require.Nil(t, bad, tc.body)
		assert.Len(t, messages, tc.messages)
	}
}

// At the end of the input, calls in flight are answered, but the server waits for them only
// for the grace, and not at all for subscriptions.
func TestConn_EndOfInput(t *testing.T) {
	for name, tc := range map[string]struct {
		method        string
		answeredAfter time.Duration
		want          time.Duration
	}{
		"answered":     {"slow", time.Second, time.Second},
		"not answered": {"slow", time.Hour, 2 * time.Second},
		"subscription": {"subscriptions/listen", time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := connect(t, transport.Limits{})
				s.hold = func(r *jsonrpc.Request) bool {
					time.AfterFunc(tc.answeredAfter, func() {
						_ = s.conn.Write(context.Background(), &jsonrpc.Response{ID: r.ID, Result: []byte("{}")}) // perhaps too late
					})
					return true
				}
				s.send(call("1", tc.method))
				began := time.Now()
				require.NoError(t, s.in.Close())
				for s.end() == nil {
					time.Sleep(10 * time.Millisecond) // of the bubble's clock
				}
				require.ErrorIs(t, s.end(), io.EOF)
				assert.Equal(t, tc.want, time.Since(began))
				assert.Equal(t, name == "answered", len(s.received()) == 1)
				require.NoError(t, s.conn.Close())
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// The last line counts without a newline. Some programs on Windows begin a stream with a byte
// order mark.
func TestConn_FirstAndLastLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{})
		assert.Equal(t, []string{result("1")}, s.send("\uFEFF"+call("1", "ping")))
		got := s.send("\uFEFF" + call("1", "ping"))
		require.Len(t, got, 1)
		assert.Contains(t, got[0], "parse error", "only the first bytes can be one")
		_, err := io.WriteString(s.in, call("2", "ping"))
		require.NoError(t, err)
		require.NoError(t, s.in.Close())
		assert.Equal(t, []string{result("2")}, s.received())
	})
}

// A client that does not read is disconnected when the queue overflows, by number or by size.
func TestConn_SlowClient(t *testing.T) {
	for name, frame := range map[string]string{"many": "x", "large": strings.Repeat("x", 20<<20)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				toServer, fromClient := io.Pipe()
				_, fromServer := io.Pipe() // never read
				conn := transport.Open(toServer, fromServer, transport.Limits{QueueFrames: 20})
				sent, err := 0, error(nil)
				for ; err == nil && sent < 100; sent++ {
					synctest.Wait() // the writer takes the first
					err = conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/" + frame})
				}
				require.ErrorIs(t, err, transport.ErrSlowClient)
				assert.Equal(t, map[string]int{"many": 22, "large": 5}[name], sent)
				synctest.Wait()
				_, err = io.WriteString(fromClient, "more\n")
				require.ErrorIs(t, err, io.ErrClosedPipe)
				require.ErrorIs(t, conn.Close(), transport.ErrSlowClient)
				_, err = conn.Read(t.Context())
				require.ErrorIs(t, err, io.EOF)
			})
		})
	}
}

// Close writes what is queued, within the grace, and interrupts a write that takes longer.
func TestConn_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{})
		for id := range 5 {
			s.answer(must(jsonrpc.MakeID(float64(id))))
		}
		require.NoError(t, s.conn.Close())
		assert.Len(t, s.received(), 5)
		require.ErrorIs(t, s.end(), io.EOF)
		err := s.conn.Write(t.Context(), &jsonrpc.Request{Method: "late"})
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NoError(t, s.conn.Close(), "again")

		toServer, _ := io.Pipe()
		_, fromServer := io.Pipe() // never read
		conn := transport.Open(toServer, fromServer, transport.Limits{})
		require.NoError(t, conn.Write(t.Context(), &jsonrpc.Request{Method: "unread"}))
		began := time.Now()
		require.NoError(t, conn.Close())
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
}

// After a failed write, as to a client that has ended, writes fail at once.
func TestConn_BrokenPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, _ := io.Pipe()
		toClient, fromServer := io.Pipe()
		require.NoError(t, toClient.Close())
		conn := transport.Open(toServer, fromServer, transport.Limits{})
		require.NoError(t, conn.Write(t.Context(), &jsonrpc.Request{Method: "first"}))
		synctest.Wait()
		require.ErrorIs(t, conn.Write(t.Context(), &jsonrpc.Request{Method: "second"}), io.ErrClosedPipe)
		began := time.Now()
		require.NoError(t, conn.Close())
		assert.Zero(t, time.Since(began))
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Read ends with its context.
func TestConn_ReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toServer, _ := io.Pipe()
		conn := transport.Open(toServer, nopCloser{io.Discard}, transport.Limits{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := conn.Read(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, conn.Close())
	})
}

// The SDK's errors become ones that a client can act upon: with a code, without the
// parameters that it quotes, and of bounded length.
func TestConn_Errors(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.New("no code"), `"error":{"code":-32600,"message":"no code"}`},
		{&jsonrpc.Error{Code: -32001, Message: "m", Data: []byte(`{"a":1}`)}, `"error":{"code":-32001,"message":"m","data":{"a":1}}`},
		{fmt.Errorf("around: %w", &jsonrpc.Error{Code: -32001, Message: "m"}), `"error":{"code":-32001,"message":"around: `},
		{&jsonrpc.Error{Code: -32602, Message: `unmarshaling {"secret":1}: bad`}, `"error":{"code":-32602,"message":"a field has the wrong type"}`},
		{errors.New(`tool: unmarshaling {"secret":1}: bad`), `"error":{"code":-32602,"message":"tool: a field has the wrong type"}`},
		{&jsonrpc.Error{Code: -32001, Message: "unmarshaling failed"}, `"message":"unmarshaling failed"}`},
		{errors.New(`method "x" is invalid during session initialization`), "session initialization: send initialize first, or in _meta what 2026-07-28 asks for"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := connect(t, transport.Limits{})
			s.hold = func(r *jsonrpc.Request) bool {
				assert.NoError(t, s.conn.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Error: tc.err}))
				return true
			}
			got := s.send(call("1", "ping"))
			require.Len(t, got, 1)
			assert.Contains(t, got[0], tc.want)
			assert.NotContains(t, got[0], "secret")
		})
	}
}

func TestConn_ErrorsAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, transport.Limits{})
		s.hold = func(r *jsonrpc.Request) bool {
			assert.NoError(t, s.conn.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Error: errors.New(strings.Repeat("x", 1<<20))}))
			return true
		}
		got := s.send(call("1", "ping"))
		require.Len(t, got, 1)
		assert.Less(t, len(got[0]), 2200)
	})
}

// RequestID returns the id of a listen request as the client wrote it.
func TestRequestID(t *testing.T) {
	for _, id := range []string{"7", `"seven"`} {
		synctest.Test(t, func(t *testing.T) {
			s := connect(t, transport.Limits{})
			s.hold = func(*jsonrpc.Request) bool { return true }
			s.send(call(id, "subscriptions/listen"))
			extra, ok := s.deliveredSince()[0].(*jsonrpc.Request).Extra.(*sdk.RequestExtra)
			require.True(t, ok)
			assert.JSONEq(t, id, fmt.Sprintf("%s", transport.RequestID(&sdk.ServerRequest[*sdk.CallToolParams]{Extra: extra})))
		})
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
