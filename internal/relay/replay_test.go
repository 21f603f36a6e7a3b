package relay

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
)

func TestRelayReplaysTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		for i, line := range []string{
			`"logging/setLevel","params":{"level":"debug"}`,
			`"logging/setLevel","params":{"level":"warning"}`,
			`"resources/subscribe","params":{"uri":"note:///a.md"}`,
			`"resources/subscribe","params":{"uri":"note:///gone.md"}`,
			`"resources/subscribe","params":{"uri":"note:///b.md"}`,
			`"resources/unsubscribe","params":{"uri":"note:\/\/\/gone.md"}`,
		} {
			h.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+1, line))
			d.answer(d.gets(strings.Split(line, `"`)[1]), "{}")
			h.hear()
		}
		h.say(`{"jsonrpc":"2.0","id":10,"method":"resources/subscribe","params":{"uri":"note:///refused.md"}}`)
		m := d.gets("resources/subscribe")
		d.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32002,"message":"no"}}`)
		h.hear()

		h.say(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"create_note"}}`)
		first := d.gets("tools/call")
		d.die()

		d = h.daemon()
		replayed := d.gets("initialize")
		// Meanwhile, the client sends another line, which is queued.
		h.say(`{"jsonrpc":"2.0","id":11,"method":"ping"}`)
		d.getsNothing()
		d.answer(replayed, initializeReply)
		d.gets("notifications/initialized")
		level := d.gets("logging/setLevel")
		assert.Equal(t, "warning", level.Params.Level)
		a, b := d.gets("resources/subscribe"), d.gets("resources/subscribe") // at once, not one after the other
		assert.Equal(t, []string{"note:///a.md", "note:///b.md"}, []string{a.Params.URI, b.Params.URI})
		d.answer(b, "{}")
		d.answer(level, "{}")
		d.getsNothing()
		d.answer(a, "{}")
		again := d.gets("tools/call")
		assert.Equal(t, first, again, "the same id under the same key")
		d.gets("ping")
		h.hears(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note:///a.md"}}`)
		h.hears(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"note:///b.md"}}`)
		h.listsChanged()
		d.answer(again, `{"done":true}`)
		h.hears(`{"jsonrpc":"2.0","id":"w","result":{"done":true}}`)
	})
}

func TestRelaySendsAnUnansweredHandshakeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		h.say(initializeLine)
		h.say(initializedLine)
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		d.gets("initialize")
		d.die()
		d = h.daemon()
		assert.Equal(t, initializeLine, d.get(), "it is the client's own request, to be answered to the client") //nolint:testifylint // byte for byte
		d.gets("notifications/initialized")
		d.gets("tools/list")
		d.send(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
		h.hears(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
		d.getsNothing()
	})
}

// notifications/initialized that arrives during a replay is sent once, before the requests.
func TestRelay_InitializedDuringReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		h.say(initializeLine)
		d.answer(d.gets("initialize"), initializeReply)
		h.hear()
		d.die()
		d = h.daemon()
		replayed := d.gets("initialize")
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		h.say(initializedLine)
		synctest.Wait()
		d.answer(replayed, initializeReply)
		d.gets("notifications/initialized")
		d.gets("tools/list")
		h.listsChanged()
		d.getsNothing()
	})
}

func TestRelaySendsListensAgain(t *testing.T) {
	for _, id := range []string{"7", `"l"`} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startRelay(t)
				d := h.daemon()
				ack := func(m rpc) string {
					return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"` + metaSubscription + `":` +
						string(m.ID) + `},"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["note:///a"]}}}`
				}
				h.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`)
				m := d.gets("subscriptions/listen")
				d.send(ack(m))
				assert.Contains(t, h.hear(), `"`+metaSubscription+`":`+id+`}`)
				d.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"` + metaSubscription + `":` + string(m.ID) + `},"uri":"note:///a"}}`)
				assert.Contains(t, h.hear(), `"`+metaSubscription+`":`+id+`}`)
				d.die()

				d = h.daemon()
				again := d.gets("subscriptions/listen")
				assert.Equal(t, m, again)
				d.send(ack(again))
				meta := `"_meta":{"` + metaSubscription + `":` + id + `}`
				h.hears(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + meta + `,"uri":"note:///a"}}`)
				h.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta + `}}`)
				h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				d.gets("notifications/cancelled")
				d.die()
				h.daemon().getsNothing()
			})
		})
	}
}

func TestRelayLetsAClosingDaemonFinish(t *testing.T) {
	for _, reason := range []string{daemon.ReasonStopping, daemon.ReasonReplaced} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startRelay(t)
				old := h.initialized()
				h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
				slow := old.gets("tools/call")
				h.say(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}`)
				old.gets("subscriptions/listen")
				old.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"` + reason + `"}}`)
				synctest.Wait()
				h.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
				old.getsNothing()
				require.Empty(t, h.dialed)
				old.answer(slow, "{}")
				h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				old.hungUp()

				start := time.Now()
				d := h.handshakeReplayed()
				d.gets("subscriptions/listen")
				d.gets("ping")
				h.listsChanged()
				if reason == daemon.ReasonReplaced {
					assert.GreaterOrEqual(t, time.Since(start), replacedPause, "the newer relay starts its daemon first")
				}
			})
		})
	}
}

// A closing daemon is not waited for while all that it has left to do is to ask the user. The next
// daemon asks, and the question of the first is withdrawn.
func TestRelay_QuestionWhileClosing(t *testing.T) {
	for _, asks := range []string{"before", "after"} {
		t.Run(asks, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startRelay(t)
				old := h.initialized()
				h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_note"}}`)
				h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}`)
				first, slow := old.gets("tools/call"), old.gets("tools/call")
				ask := func() { old.send(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}`); h.hear() }
				if asks == "before" {
					ask()
				}
				old.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"stopping"}}`)
				synctest.Wait()
				require.Empty(t, h.dialed, "the other call is not answered yet")
				old.answer(slow, "{}")
				h.hears(`{"jsonrpc":"2.0","id":2,"result":{}}`)
				if asks == "after" {
					synctest.Wait()
					require.Empty(t, h.dialed)
					ask()
				}
				old.hungUp()
				assert.Contains(t, h.hear(), "notifications/cancelled")
				d := h.handshakeReplayed()
				assert.Equal(t, first.Params, d.gets("tools/call").Params, "with the same key")
				h.listsChanged()
			})
		})
	}
}

func TestRelayDropsProgressThatDoesNotRise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}`)
		progress := func(n string) string {
			return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":` + n + `}}`
		}
		d.gets("tools/call")
		d.send(progress("1"))
		h.hears(progress("1"))
		d.send(progress("2.5"))
		h.hears(progress("2.5"))
		d.die()
		d = h.handshakeReplayed()
		d.gets("tools/call")
		h.listsChanged()
		for _, n := range []string{"1", "2", "2.5", "3"} {
			d.send(progress(n))
		}
		h.hears(progress("3"))
	})
}

func TestRelayDropsALineThatWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		d.gets("ping")
		_, err := io.WriteString(d.conn, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		require.NoError(t, err)
		d.die()
		d = h.handshakeReplayed()
		h.listsChanged()
		d.answer(d.gets("ping"), `{"whole":true}`)
		h.hears(`{"jsonrpc":"2.0","id":1,"result":{"whole":true}}`)
	})
}
