package mcp

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each of these lines is rejected, or ignored if it needs no response, and the session
// continues. Package transport tests the lines that do not reach the session.
func TestLineRefusals(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"garbage", "garbage", `"id":null,"error":{"code":-32700`},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `"id":1,"error":{"code":-32601`},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no/such"}`, ""},
		{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, ""},
		{"answer of two kinds", `{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}`, ""},
		{"answer with a broken error", `{"jsonrpc":"2.0","id":99,"error":"x"}`, ""},
		{"second initialize", strings.Split(handshake, "\n")[0], `"id":"init","error":{"code":-32600`},
		{"batch of another version", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"id":null,"error":{"code":-32600`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sampleVault, Limits{})
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
