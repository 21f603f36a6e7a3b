package relay

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/daemon"
	"notesd/internal/jsonrpc"
)

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
		assert.NotContains(t, refused, "outcome", "a ping changes nothing")
		// The next request makes it retry immediately.
		start := time.Now()
		h.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		d = h.handshakeReplayed()
		h.listsChanged()
		d.answer(d.gets("ping"), "{}")
		h.hears(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		assert.Zero(t, time.Since(start))
	})
}

// The daemon that received the call may have executed it before it died.
func TestRelaySaysThatAnOutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit_note"}}`)
		d.gets("tools/call")
		h.refuse <- errors.New("the daemon exited while starting")
		h.refuse <- errors.New("the daemon exited while starting")
		d.die()
		assert.Contains(t, h.hear(), "the outcome of this call is unknown")
		h.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"edit_note"}}`)
		assert.NotContains(t, h.hear(), "outcome", "no daemon was sent it")
	})
}

func TestRelay_ReconnectsWithoutRequest(t *testing.T) {
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
		h.refuse <- &daemon.RefusedError{Daemon: daemon.Identity{Wire: 9, Version: "9.0.0"}, Reason: daemon.RefusedWire}
		d.die()
		require.ErrorIs(t, h.result(), daemon.ErrIncompatible)
	})
}

func TestRelayEndsWithItsInput(t *testing.T) {
	t.Run("at once when nothing is unanswered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := startRelay(t)
			d := h.initialized()
			h.say(`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{}}`)
			d.gets("subscriptions/listen") // is never answered and not awaited
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
			h.say("garbage")
			assert.Contains(t, h.hear(), "-32700")
			require.NoError(t, h.in.Close())
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

// A host may end the relay with a signal, which is no failure.
func TestRelay_ContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signaled := errors.New("terminated")
		for _, greeted := range []bool{false, true} {
			h := startRelay(t)
			if greeted {
				h.initialized()
			}
			h.stop(signaled)
			require.NoError(t, h.result())
		}
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
		failed := h.hear()
		assert.Contains(t, failed, `"id":1,"error"`)
		assert.Contains(t, failed, "the outcome of this call is unknown")
		d = h.handshakeReplayed()
		h.listsChanged()
		d.getsNothing()
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
		long := strings.Repeat("x", maxIDLength+1)
		h.say(`{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`)
		assert.Contains(t, h.hear(), `"id":"`+long+`","error"`)
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

// Daemons that answered before they ended are followed by the next one at once, and an
// open listen outlives any number of them.
func TestRelayDoesNotWaitAfterADaemonThatAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		start := time.Now()
		h.say(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{}}`)
		for range maxSends + 1 {
			d := h.daemon()
			d.gets("subscriptions/listen")
			h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			d.answer(d.gets("ping"), "{}")
			h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			d.die()
		}
		h.daemon().gets("subscriptions/listen")
		assert.Zero(t, time.Since(start))
	})
}

func TestRelay_BoundsHeldBytes(t *testing.T) {
	var requests inflight
	assert.NoError(t, requests.admits(jsonrpc.ID{Text: "x"}, maxHeldBytes))
	r := &request{line: []byte("{}\n")}
	requests.add(r)
	assert.ErrorIs(t, requests.admits(jsonrpc.ID{Text: "x"}, maxHeldBytes), errTooMany)
	requests.remove(r)
	assert.NoError(t, requests.admits(jsonrpc.ID{Text: "x"}, maxHeldBytes))
}

// The handshake is replayed without the byte order mark that preceded it.
func TestRelaySkipsAByteOrderMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.daemon()
		h.say("\uFEFF" + initializeLine)
		d.answer(d.gets("initialize"), initializeReply)
		h.hears(`{"jsonrpc":"2.0","id":0,"result":` + initializeReply + `}`)
		h.say(initializedLine)
		d.gets("notifications/initialized")
		d.die()
		h.handshakeReplayed()
		h.listsChanged()
	})
}

// An answer to no request is dropped: the daemon must not respond to it.
func TestRelayDropsAnswersToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		h.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		h.say(`{"jsonrpc":"2.0","id":1.5,"result":{}}`)
		h.say(`{"jsonrpc":"2.0","id":77,"result":{}}`)
		d.getsNothing()
		require.NoError(t, h.in.Close())
		require.NoError(t, h.result())
	})
}

// A daemon that the user has stopped is started again by the next request, but not
// earlier.
func TestRelayLeavesAStoppedDaemonStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		d.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"stopped"}}`)
		d.hungUp()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Empty(t, h.dialed)
		h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		d = h.handshakeReplayed()
		h.listsChanged()
		d.answer(d.gets("ping"), "{}")
		h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

// A stop also reaches a relay that is between two daemons.
func TestRelay_StopBetweenDaemons(t *testing.T) {
	for name, lost := range map[string]func(d *fakeDaemon){
		"replaced": func(d *fakeDaemon) {
			d.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"replaced"}}`)
			d.hungUp()
		},
		"crashed": func(d *fakeDaemon) { d.die() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startRelay(t)
				d := h.initialized()
				d.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"replaced"}}`)
				d.hungUp()
				h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) // while there is no daemon
				d = h.handshakeReplayed()
				h.listsChanged()
				d.answer(d.gets("ping"), "{}")
				h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)

				h.stopped.Store(true)
				lost(d)
				time.Sleep(time.Hour)
				synctest.Wait()
				assert.Empty(t, h.dialed, "no request waits")
				assert.EqualValues(t, 3, h.dials.Load(), "it does not try again and again")
				h.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
				d = h.handshakeReplayed()
				h.listsChanged()
				d.answer(d.gets("ping"), "{}")
				h.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			})
		})
	}
}

// An unknown reason means that the daemon is stopping: a newer daemon may send new
// ones.
func TestRelayTakesAnUnknownReasonForStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startRelay(t)
		d := h.initialized()
		d.send(`{"jsonrpc":"2.0","method":"notesd/closing","params":{"reason":"to be invented"}}`)
		d.hungUp()
		h.handshakeReplayed()
		h.listsChanged()
	})
}
