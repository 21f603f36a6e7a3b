package mcp

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/mcp/transport"
)

// Each of these lines is rejected, or ignored if it needs no response, and the session
// continues.
func TestLineRefusals(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, tc := range []struct{ name, line, want string }{
		{"garbage", "garbage", `"id":null,"error":{"code":-32700`},
		{"binary garbage", "\x00\x01\xfe\xff", `"id":null,"error":{"code":-32700`},
		{"truncated JSON", ping[:25], `"id":null,"error":{"code":-32700`},
		{"two messages in a line", ping + ping, `"id":null,"error":{"code":-32700`},
		{"no object", `"ping"`, `"id":null,"error":{"code":-32600`},
		{"no JSON-RPC", `{"id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"another JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"id":1,"error":{"code":-32600`},
		{"deep JSON", `{"jsonrpc":"2.0","method":"ping","params":{"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `},"id":1}`, `"id":1,"error":{"code":-32600,"message":"invalid request: nested`},
		{"deep JSON without an end", strings.Repeat(`{"a":`, 500), `"id":null,"error":{"code":-32600,"message":"invalid request: nested`},
		{"huge JSON", `{"jsonrpc":"2.0","method":"ping","params":{"x":"` + strings.Repeat("x", 100_000) + `"},"id":1}`, `"id":null,"error":{"code":-32600,"message":"invalid request: a message may have 5000 bytes`},
		{"huge garbage", strings.Repeat("x", 100_000), `"id":null,"error":{"code":-32600`},
		{"half UTF-8 in a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + "\xf0\x9f\x8e" + `"}}`, `"id":1,"error":{"code":-32700,"message":"parse error: the message is not valid UTF-8"`},
		{"half UTF-8 in the method", `{"jsonrpc":"2.0","id":1,"method":"pi` + "\xc3" + `"}`, `"id":1,"error":{"code":-32700`},
		{"half UTF-8 in the id", `{"jsonrpc":"2.0","id":"` + "\xc3" + `","method":"ping"}`, `"error":{"code":-32700`},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `"id":1,"error":{"code":-32601`},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no/such"}`, ""},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, `"id":1,"error":{"code":-32600`},
		{"method that is no string", `{"jsonrpc":"2.0","id":1,"method":7}`, `"id":1,"error":{"code":-32600`},
		{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `"id":1,"error":{"code":-32602`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `"id":null,"error":{"code":-32600,"message":"invalid request: an id must be a string or an integer, not null"`},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":null,"error":{"code":-32600,"message":"invalid request: an id must be a string or an integer, not 1.5"`},
		{"fraction that is whole", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, `"error":{"code":-32600`},
		{"id beyond what is exact", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `"error":{"code":-32600`},
		{"id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, `"error":{"code":-32600`},
		{"id that is long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`, `"error":{"code":-32600,"message":"invalid request: an id may have 256 bytes at most"`},
		{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
		{"answer of two kinds", `{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}`, ""},
		{"answer under a null id, as of one who could not read", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ""},
		{"answer under no id", `{"jsonrpc":"2.0","result":{}}`, ""},
		{"answer under a fraction", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, ""},
		{"answer with a broken error", `{"jsonrpc":"2.0","id":99,"error":"x"}`, ""},
		{"neither request nor answer", `{"jsonrpc":"2.0","id":99}`, `"id":99,"error":{"code":-32600`},
		{"cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, ""},
		{"cancellation of a fraction", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9.5}}`, ""},
		{"second initialize", strings.Split(handshake, "\n")[0], `"id":"init","error":{"code":-32600`},
		{"batch of another version", "[" + ping + "]", `"id":null,"error":{"code":-32600`},
		{"nothing but blanks", " \t ", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sampleVault, Limits{Line: transport.Limits{MessageBytes: 5000}})
				client := w.connect(t, Profile{})
				defer client.close()
				client.send(strings.TrimSuffix(handshake, "\n"))
				synctest.Wait()
				client.received()
				client.send(tc.line)
				synctest.Wait()
				got := client.received()
				if tc.want == "" {
					assert.Empty(t, got)
				} else {
					require.Len(t, got, 1)
					assert.Contains(t, got[0], tc.want)
				}
				client.send(`{"jsonrpc":"2.0","id":"alive?","method":"ping"}`)
				synctest.Wait()
				assert.Equal(t, []string{`{"jsonrpc":"2.0","id":"alive?","result":{}}`}, client.received())
			})
		})
	}
}

// The id of a call in flight is rejected, with a response that cannot be mistaken for that
// call's; later it can be used again.
func TestLineRefusesReusedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{})
		release := make(chan struct{})
		w.vault.read = func(context.Context, string) error { <-release; return nil }
		client := w.connect(t, Profile{})
		defer client.close()
		client.send(strings.TrimSuffix(handshake, "\n"))
		client.send(reads7)
		synctest.Wait()
		client.received()
		client.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		client.send(`{"jsonrpc":"2.0","id":"7","method":"ping"}`) // another id
		synctest.Wait()
		got := client.received()
		require.Len(t, got, 2)
		assert.Contains(t, got[0], `"id":null,"error":{"code":-32600,"message":"invalid request: the id 7 belongs to a call that is still being answered"`)
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":"7","result":{}}`, got[1])
		close(release)
		synctest.Wait()
		got = client.received()
		require.Len(t, got, 1)
		assert.Contains(t, got[0], `"id":7,"result":`)
		client.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		synctest.Wait()
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":7,"result":{}}`}, client.received())
	})
}
