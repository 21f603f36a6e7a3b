package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// missedPings is after how many pings without an answer a client is given up.
const missedPings = 3

// keepAlive pings the client at intervals, and ends the session of one that
// does not answer any more.
func (s *session) keepAlive(ss *sdk.ServerSession, every time.Duration) {
	s.background.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for missed := 0; missed < missedPings; {
			select {
			case <-tick.C:
			case <-s.ctx.Done():
				return
			}
			ctx, cancel := context.WithTimeout(s.ctx, every/2)
			err := ss.Ping(ctx, nil)
			cancel()
			if err == nil {
				missed = 0
			} else {
				missed++
			}
		}
		s.log.Warn("the client answers no pings; its session ends", "missed", missedPings)
		s.hangUp(ss)
	})
}

// hangUp ends the session without waiting for what is being worked on.
func (s *session) hangUp(ss *sdk.ServerSession) {
	if s.line != nil {
		s.line.out.abandon()
		go s.line.Close() // it waits for the client's streams, and the session for this goroutine
		return
	}
	go func() { _ = ss.Close() }()
}
