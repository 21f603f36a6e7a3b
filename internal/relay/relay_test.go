package relay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRelay_ForwardsLinesUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		for _, line := range []string{
			`{ "method" : "resources\/read", "params":{"uri":"note:///a","x":1.0e5,"big":12345678901234567890}, "id" : 1, "jsonrpc":"2.0" }`,
			`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
			`{"jsonrpc":"2.0","id":"x","method":"ping"}` + "\r",
		} {
			h.say(line)
			assert.Equal(t, line, d.get())
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"result":{"n":1.50,"s":"A"}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1e2}}`,
		} {
			d.send(line)
			assert.Equal(t, line, h.hear())
		}
	})
}

func TestRelayGivesToolCallsAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		keys := map[any]bool{}
		for id := range 3 {
			h.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`, id))
			m := d.gets("tools/call")
			assert.Equal(t, "t", m.Params.Name)
			assert.NotEmpty(t, m.Params.Meta[RequestKeyMeta])
			keys[m.Params.Meta[RequestKeyMeta]] = true
			d.answer(m, "{}")
			h.hear()
		}
		assert.Len(t, keys, 3, "keys are unique")
	})
}

func TestRelayTranslatesQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		ask := func(id string) string {
			d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{}}`)
			var m rpc
			require.NoError(t, json.Unmarshal([]byte(h.hear()), &m))
			return string(m.ID)
		}
		one := ask("1")
		h.say(`{"jsonrpc":"2.0","id":` + one + `,"result":{"action":"accept"}}`)
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, d.get())

		two := ask(`"q"`)
		d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"late"}}`)
		h.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + two + `,"reason":"late"}}`)

		three := ask("2")
		d.die()
		withdrawn := h.hear()
		assert.Contains(t, withdrawn, `"notifications/cancelled","params":{"requestId":`+three)
		d = h.handshakeReplayed()
		h.listsChanged()
		four := ask("2")
		assert.NotContains(t, []string{one, two, three}, four, "ids are unique over all daemons")
		// The late answers are dropped; in particular, they do not answer the new
		// question.
		h.say(`{"jsonrpc":"2.0","id":` + two + `,"result":{}}`)
		h.say(`{"jsonrpc":"2.0","id":` + three + `,"result":{}}`)
		h.say(`{"jsonrpc":"2.0","id":` + one + `,"result":{}}`)
		d.getsNothing()
		h.say(`{"jsonrpc":"2.0","id":` + four + `,"error":{"code":-1,"message":"no"}}`)
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}`, d.get())
	})
}

func TestRelayForgetsCancelledRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
		d.gets("tools/call")
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		assert.EqualValues(t, 1, d.gets("notifications/cancelled").Params.ReqID)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
		d.getsNothing()                                // already answered, so not cancellable
		d.send(`{"jsonrpc":"2.0","id":1,"result":{}}`) // crossed the cancellation, and is dropped
		d.die()
		d = h.daemon()
		// A request is sent and cancelled while the handshake is replayed.
		h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		synctest.Wait() // until the relay has read both
		d.answer(d.gets("initialize"), initializeReply)
		d.gets("notifications/initialized")
		h.listsChanged()
		d.getsNothing()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		d.gets("ping") // the id is free again
	})
}

func TestRelayDoesNotCancelInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		h.say(initializeLine)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
		d.answer(d.gets("initialize"), initializeReply)
		h.hears(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
	})
}

func TestRelay_RefusesLargeIDs(t *testing.T) {
	for _, id := range []string{"9007199254740993", "-123456789012345678901234567890"} {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.initialized()
			h.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"t"}}`)
			assert.Contains(t, h.hear(), `"id":`+id+`,"error":{"code":-32600`, "the client's own spelling")
			d.getsNothing()
		})
	}
}

func TestRelayRefusesReusedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
		m := d.gets("ping")
		h.say(`{"jsonrpc":"2.0","id":"\u0061","method":"tools/list"}`)
		refused := h.hear()
		assert.Contains(t, refused, `"id":null`, "under the id it would be taken for the answer to the first")
		assert.Contains(t, refused, "-32600")
		assert.Contains(t, refused, `\"\\u0061\"`, "it names the id")
		d.getsNothing()
		d.answer(m, "{}")
		h.hears(`{"jsonrpc":"2.0","id":"a","result":{}}`)
		h.say(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
		d.gets("ping")
	})
}

func TestRelay_RefusesWhatIsNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		for line, code := range map[string]string{
			`garbage`: "-32700", `{"jsonrpc":"2.0","id":1,"method":"tools/call"`: "-32700", `{"id":1,"method":"x","params":"` + "\xff" + `"}`: "-32700", "\x00": "-32700",
			strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000): "-32700",
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                     "-32600", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`: "-32600",
			`{"jsonrpc":"2.0","id":{},"method":"ping"}`: "-32600", `{"jsonrpc":"2.0","id":1,"method":7}`: "-32600", `{"jsonrpc":"2.0","id":1}`: "-32600",
			`[]`: "-32600", `3`: "-32600", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "-32600",
		} {
			h.say(line)
			refused := h.hear()
			assert.Contains(t, refused, `"id":null,"error":{"code":`+code, line)
		}
		h.say("   ")
		h.say("")
		d.getsNothing()
	})
}

// A daemon that cannot read an id answers without one.
func TestRelay_ForwardsErrorsWithoutID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		d.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		h.hears(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
	})
}

func TestRelayTakesBatchesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		h.say(initializeLine)
		d.answer(d.gets("initialize"), `{"protocolVersion":"2025-03-26","capabilities":{}}`)
		h.hear()
		h.say(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}},{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
		ping := d.gets("ping")
		d.gets("notifications/roots/list_changed")
		call := d.gets("tools/call")
		assert.NotEmpty(t, call.Params.Meta[RequestKeyMeta])
		h.hears(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"notesd: the id of this request belongs to one that is still in progress: 1"}}`)
		d.gets("ping")
		d.answer(call, `{"n":2}`)
		h.hears(`{"jsonrpc":"2.0","id":2,"result":{"n":2}}`)
		d.die()
		d = h.daemon()
		d.answer(d.gets("initialize"), `{"protocolVersion":"2025-03-26","capabilities":{}}`)
		assert.Equal(t, ping, d.gets("ping"), "what was answered is not sent again")
		d.gets("ping")
		d.answer(ping, `{}`)
		h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		d.gets("notifications/cancelled")
		h.say(`[]`)
		assert.Contains(t, h.hear(), "-32600")
		h.say(`[{"jsonrpc":"2.0","method":"notifications/x"}]`)
		d.gets("notifications/x")
	})
}
