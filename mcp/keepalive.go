package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// missedPings is after how many pings without an answer a client is given up.
const missedPings = 3

// keepAlive pings the client at intervals, and ends the session of one that
// does not answer any more.
func (s *session) keepAlive(ss *sdk.ServerSession, every time.Duration) {
	hangUp := sync.OnceFunc(func() { s.hangUp(ss) })
	s.background.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for missed := 0; missed < missedPings; {
			select {
			case <-tick.C:
			case <-s.ctx.Done():
				return
			}
			if !s.reachable() {
				missed = 0
				continue
			}
			ctx, cancel := context.WithTimeout(s.ctx, every/2)
			if missed == missedPings-1 {
				ctx, cancel = afterwards(s.ctx, every/2, hangUp)
			}
			err := ss.Ping(ctx, nil)
			cancel()
			if err == nil {
				missed = 0
			} else {
				missed++
			}
		}
		hangUp()
	})
}

// afterwards returns a context that ends after a time, once do has returned: the
// SDK withdraws a ping from a goroutine of its own, and a client is to be given
// up either before all of that or after it.
func afterwards(ctx context.Context, d time.Duration, do func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(d, func() {
		do()
		cancel()
	})
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// reachable reports whether the client can be asked anything. One over Streamable
// HTTP need not hold a stream open for that; it is given up when it is idle for
// too long.
func (s *session) reachable() bool { return s.http == nil || s.streams.Load() > 0 }

// hangUp ends the session of a client that does not answer, without waiting for
// what is being worked on. It does not wait for the end either: that waits for
// the client's streams, and the session for the goroutine of the pings.
func (s *session) hangUp(ss *sdk.ServerSession) {
	if s.line != nil {
		s.line.giveUp()
		return
	}
	s.log.Warn("a session over HTTP ends", "reason", errSilentClient)
	go func() { _ = ss.Close() }()
}
