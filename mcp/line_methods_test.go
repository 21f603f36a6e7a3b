package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"notesd/prompts"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// methods are all methods of the protocol in any version and direction, and some that never
// existed.
var methods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
	"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get",
	"completion/complete", "logging/setLevel", "subscriptions/listen", "roots/list", "sampling/createMessage",
	"elicitation/create", "tasks/get", "notesd/closing", "no/such",
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/message",
	"notifications/roots/list_changed", "notifications/resources/updated", "notifications/tools/list_changed",
	"notifications/subscriptions/acknowledged", "notifications/no/such",
}

// metas are values that a client may send as _meta; "" means none.
var metas = []string{
	"", "null", "{}", `{"io.modelcontextprotocol/protocolVersion":7}`, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`,
	`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}`,
	`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`,
	`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}},` +
		`"io.modelcontextprotocol/clientInfo":null,"io.modelcontextprotocol/logLevel":"loud","progressToken":0}`,
}

// members are other params of some method, sent to all methods.
var members = []string{
	"", `"uri":"note:///Plan.md"`, `"uri":null`, `"name":"vault_overview","arguments":{}`, `"name":"summarize_note","arguments":{"note":"Plan"}`,
	`"name":null,"arguments":null`, `"notifications":null`, `"notifications":{}`, `"notifications":{"resourceSubscriptions":["",null]}`,
	`"requestId":1`, `"requestId":null`, `"level":"debug"`, `"level":null`, `"ref":null,"argument":null`, `"cursor":"x"`, `"cursor":null`,
	`"ref":{"type":"ref/prompt","name":"summarize_note"},"argument":{"name":"heading"},"context":null`,
	`"name":"delete_note","arguments":{"note":"Plan"},"inputResponses":{"confirm":null},"requestState":5`,
}

// Every method with all combinations of params, as a request and as a notification, leaves
// the session alive, however it began, and logs no error or warning.
func TestLines_EveryMethodInEveryForm(t *testing.T) {
	modern := fmt.Sprintf(`{"jsonrpc":"2.0","id":"first","method":"tools/list","params":{"_meta":%s}}`, metas[6])
	for name, first := range map[string]string{"with initialize": strings.TrimSuffix(handshake, "\n"), "without": modern, "before either": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sampleVault, Limits{})
				client := w.connect(t, Profile{})
				if first != "" {
					client.send(first)
				}
				id := 0
				for _, method := range methods {
					for _, params := range everyParams() {
						id++
						client.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q%s}`, method, params))
						client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, id, method, params))
					}
					synctest.Wait()
					for _, line := range client.received() {
						require.True(t, json.Valid([]byte(line)), line)
					}
					client.send(`{"jsonrpc":"2.0","id":"alive?","method":"ping"}`)
					synctest.Wait()
					require.Contains(t, strings.Join(client.received(), "\n"), `"id":"alive?"`, method)
				}
				client.close()
				assert.NotContains(t, w.log.String(), "level=ERROR")
				assert.NotContains(t, w.log.String(), "level=WARN")
			})
		})
	}
}

func everyParams() []string {
	params := []string{"", `,"params":null`}
	for _, meta := range metas {
		for _, member := range members {
			parts := []string{}
			if meta != "" {
				parts = append(parts, `"_meta":`+meta)
			}
			if member != "" {
				parts = append(parts, member)
			}
			params = append(params, `,"params":{`+strings.Join(parts, ",")+"}")
		}
	}
	return params
}

// Requests that need the notes wait until the vault is open, or its first scan has ended;
// the others are answered at once.
func TestRequestsAwaitTheVault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sampleVault, Limits{Concurrent: 10})
		opened, settled := make(chan struct{}), make(chan struct{})
		o := &w.core.opts
		vault := o.Vault
		o.Vault, o.Opened, o.Settled = nil, opened, settled // a use before the time would panic
		w.core.SetProfile(Profile{Settings: Settings{Prompts: prompts.New(prompts.Options{Notes: w.vault, Folder: "Prompts"})}})
		client := w.connect(t, Profile{})
		answered := func() (ids []string) {
			time.Sleep(2 * instructionsWait) // on the bubble's clock
			synctest.Wait()
			for _, line := range client.received() {
				var m struct{ ID, Error, Result json.RawMessage }
				require.NoError(t, json.Unmarshal([]byte(line), &m))
				if m.ID != nil {
					assert.Empty(t, m.Error, line)
					ids = append(ids, strings.Trim(string(m.ID), `"`))
				}
			}
			return ids
		}
		client.send(strings.TrimSuffix(handshake, "\n"))
		require.Equal(t, []string{"init"}, answered())
		for id, request := range map[string]string{
			"ping":      `"method":"ping"`,
			"tools":     `"method":"tools/list"`,
			"templates": `"method":"resources/templates/list"`,
			"prompts":   `"method":"prompts/list"`,
			"call":      `"method":"tools/call","params":{"name":"read_note","arguments":{"note":"Plan"}}`,
			"list":      `"method":"resources/list"`,
			"read":      `"method":"resources/read","params":{"uri":"note:///Plan.md"}`,
			"watch":     `"method":"resources/subscribe","params":{"uri":"note:///Plan.md"}`,
			"complete":  `"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"summarize_note"},"argument":{"name":"note","value":"P"}}`,
			"get":       `"method":"prompts/get","params":{"name":"summarize_note","arguments":{"note":"Plan"}}`,
		} {
			client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, id, request))
		}
		assert.ElementsMatch(t, []string{"ping", "tools", "templates"}, answered())
		o.Vault = vault
		close(opened)
		assert.ElementsMatch(t, []string{"prompts"}, answered())
		close(settled)
		assert.ElementsMatch(t, []string{"call", "list", "read", "watch", "complete", "get"}, answered())
		client.close()
		assert.NotContains(t, w.log.String(), "panicked")
	})
}
