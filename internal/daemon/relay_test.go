package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRelayPassesLinesOnAsTheyAre(t *testing.T) {
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
		// Meanwhile the client goes on; its line waits.
		h.say(`{"jsonrpc":"2.0","id":11,"method":"ping"}`)
		d.getsNothing()
		d.answer(replayed, initializeReply)
		d.gets("notifications/initialized")
		level := d.gets("logging/setLevel")
		assert.Equal(t, "warning", level.Params.Level)
		d.answer(level, "{}")
		for _, uri := range []string{"note:///a.md", "note:///b.md"} {
			sub := d.gets("resources/subscribe")
			assert.Equal(t, uri, sub.Params.URI)
			d.answer(sub, "{}")
		}
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
		assert.Equal(t, initializeLine, d.get(), "it is the client's own request, to be answered to the client")
		d.gets("notifications/initialized")
		d.gets("tools/list")
		d.send(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
		h.hears(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
		d.getsNothing()
	})
}

func TestRelayEndsWhenTheVersionWouldChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		d.gets("tools/list")
		d.die()
		d = h.daemon()
		d.answer(d.gets("initialize"), strings.Replace(initializeReply, "2025-11-25", "2025-06-18", 1))
		refused := h.hear()
		assert.Contains(t, refused, `"id":1,"error"`)
		assert.Contains(t, refused, "2025-06-18")
		require.ErrorIs(t, h.result(), ErrSessionChanged)
		d.hungUp()
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
		// The late answers reach nobody; in particular not the new question.
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
		d.getsNothing() // what is answered cannot be cancelled
		d.die()
		d = h.daemon()
		// While the handshake is replayed, a request comes and goes.
		h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
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

func TestRelayExchangesIDsThatWouldNotSurvive(t *testing.T) {
	for _, id := range []string{"9007199254740993", "-123456789012345678901234567890", `"notesd:9"`} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startRelay(t)
				d := h.initialized()
				h.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"t","arguments":{"id":` + id + `}}}`)
				m := d.gets("tools/call")
				assert.NotEqual(t, id, string(m.ID))
				h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				cancel := d.gets("notifications/cancelled")
				own, _ := json.Marshal(cancel.Params.ReqID)
				assert.Equal(t, string(m.ID), string(own))

				h.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
				d.answer(d.gets("ping"), "{}")
				assert.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, h.hear())
			})
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
		assert.Contains(t, refused, `"id":"\u0061"`)
		assert.Contains(t, refused, "-32600")
		d.getsNothing()
		d.answer(m, "{}")
		h.hears(`{"jsonrpc":"2.0","id":"a","result":{}}`)
		h.say(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
		d.gets("ping")
	})
}

func TestRelayLeavesRefusalsToTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		for _, line := range []string{
			`garbage`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"`, `{"id":1,"method":"x","params":"` + "\xff" + `"}`,
			`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":7}`, `[]`, `3`, "\x00",
			`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
			strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
		} {
			h.say(line)
			assert.Equal(t, line, d.get())
		}
		h.say("   ")
		h.say("")
		d.getsNothing()
		d.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		h.hears(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		d.die()
		d = h.handshakeReplayed()
		h.listsChanged()
		d.getsNothing()
	})
}

func TestRelaySendsListensAgain(t *testing.T) {
	const huge = "9007199254740993" // an id that the daemon sees as another
	for _, id := range []string{"7", `"l"`, huge} {
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
		d.gets("ping")
		d.answer(call, `{"n":2}`)
		d.die()
		d = h.daemon()
		d.answer(d.gets("initialize"), `{"protocolVersion":"2025-03-26","capabilities":{}}`)
		assert.Equal(t, ping, d.gets("ping"), "what was answered is not sent again")
		d.gets("ping")
		d.answer(ping, `{}`)
		h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		d.gets("notifications/cancelled")
		var answers []rpc
		require.NoError(t, json.Unmarshal([]byte(h.hear()), &answers))
		require.Len(t, answers, 3, "a cancelled request has no answer, a reused id is refused")
		h.say(`[]`)
		assert.Equal(t, "[]", d.get())
		h.say(`[{"jsonrpc":"2.0","method":"notifications/x"}]`)
		d.gets("notifications/x")
	})
}

func TestRelayWithoutADaemonSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t, errors.New(`vault.path: no such folder "x"`))
		h.say(initializeLine)
		refused := h.hear()
		assert.Contains(t, refused, `"id":0,"error":{"code":-32603`)
		assert.Contains(t, refused, `vault.path: no such folder \"x\"`)
		assert.ErrorContains(t, h.result(), "vault.path")
	})
}

func TestRelaySurvivesATimeWithoutDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		d.gets("ping")
		h.refuse <- errors.New("disk full")
		d.die()
		refused := h.hear()
		assert.Contains(t, refused, `"id":1,"error"`)
		assert.Contains(t, refused, "disk full")
		// The next request makes it try again, at once.
		start := time.Now()
		h.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		d = h.handshakeReplayed()
		h.listsChanged()
		d.answer(d.gets("ping"), "{}")
		h.hears(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		assert.Zero(t, time.Since(start))
	})
}

func TestRelayReturnsByItselfAfterATimeWithoutDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.refuse <- errors.New("disk full")
		start := time.Now()
		d.die()
		h.handshakeReplayed()
		h.listsChanged()
		assert.Equal(t, retryPause, time.Since(start))
	})
}

func TestRelayEndsAtAnIncompatibleDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.refuse <- &IncompatibleError{Daemon: Identity{Wire: 9, Version: "9.0.0"}}
		d.die()
		require.ErrorIs(t, h.result(), ErrIncompatible)
	})
}

func TestRelayEndsWithItsInput(t *testing.T) {
	t.Run("at once when nothing is unanswered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.initialized()
			h.say(`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{}}`)
			d.gets("subscriptions/listen") // is never answered and not waited for
			start := time.Now()
			require.NoError(t, h.in.Close())
			require.NoError(t, h.result())
			assert.Zero(t, time.Since(start))
			d.hungUp()
		})
	})
	t.Run("after the last answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.initialized()
			_, err := io.WriteString(h.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`) // no newline
			require.NoError(t, err)
			require.NoError(t, h.in.Close())
			m := d.gets("ping")
			time.Sleep(endGrace / 2)
			d.answer(m, "{}")
			h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			require.NoError(t, h.result())
		})
	})
	t.Run("after the refusal of garbage", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.daemon()
			h.say("garbage")
			require.NoError(t, h.in.Close())
			d.get()
			d.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
			h.hear()
			require.NoError(t, h.result())
		})
	})
	t.Run("without waiting for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.initialized()
			h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			d.gets("ping")
			start := time.Now()
			require.NoError(t, h.in.Close())
			require.NoError(t, h.result())
			assert.Equal(t, endGrace, time.Since(start))
		})
	})
}

func TestRelayEndsWhenTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		require.NoError(t, h.outPipe.Close())
		d.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		require.NoError(t, h.result())
		d.hungUp()
	})
}

func TestRelayCutsOffAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		start := time.Now()
		d.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		require.ErrorIs(t, h.result(), ErrStalled)
		assert.GreaterOrEqual(t, time.Since(start), stallTimeout)
		assert.Less(t, time.Since(start), stallTimeout+3*joinGrace)
		d.hungUp()
	})
}

func TestRelayGivesUpARequestThatKillsDaemons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"poison"}}`)
		d.gets("tools/call")
		for range maxSends - 1 {
			d.die()
			d = h.handshakeReplayed()
			h.listsChanged()
			d.gets("tools/call")
		}
		d.die()
		assert.Contains(t, h.hear(), `"id":1,"error"`)
		d = h.handshakeReplayed()
		h.listsChanged()
		d.getsNothing()
	})
}

func TestRelayLetsAClosingDaemonFinish(t *testing.T) {
	for _, reason := range []string{reasonStopping, reasonReplaced} {
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
				// What concerns the old daemon still goes there.
				old.send(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}`)
				var question rpc
				require.NoError(t, json.Unmarshal([]byte(h.hear()), &question))
				h.say(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"action":"accept"}}`)
				assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":{"action":"accept"}}`, old.get())
				require.Empty(t, h.dialed)
				old.answer(slow, "{}")
				h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				old.hungUp()

				start := time.Now()
				d := h.handshakeReplayed()
				d.gets("subscriptions/listen")
				d.gets("ping")
				h.listsChanged()
				if reason == reasonReplaced {
					assert.GreaterOrEqual(t, time.Since(start), replacedPause, "the newer relay starts its daemon first")
				}
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

func TestRelayBoundsWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		h.initialized()
		for id := range maxInFlight {
			h.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id+1))
		}
		h.say(`{"jsonrpc":"2.0","id":"more","method":"ping"}`)
		assert.Contains(t, h.hear(), `"id":"more","error"`)
	})
}

func TestRelayWaitsBetweenDaemonsThatDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		h.initialized().die()
		start := time.Now()
		for range 12 {
			h.daemon().die()
		}
		assert.Greater(t, time.Since(start), 5*time.Second)
		assert.Less(t, time.Since(start), 12*maxBackoff)
	})
}

func TestRelayBoundsWhatWaitsForADaemon(t *testing.T) {
	s := newRelaySession(io.Discard, slog.New(slog.DiscardHandler), func(error) {})
	note := []byte(`{"jsonrpc":"2.0","method":"notifications/x"}` + "\n")
	s.post(posting{line: note})
	require.Len(t, s.backlog, 1)
	assert.Equal(t, len(note), s.held)
	s.held = maxHeldBytes
	s.post(posting{line: note})
	require.Len(t, s.backlog, 1, "one more is dropped")
	assert.ErrorIs(t, s.requests.admits(requestID{text: "x"}, maxHeldBytes+1), errTooMany)
}
