package mcp

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Costs of requests, charged against Limits.CallsPerSecond. A write is fsynced and kept in
// history; completions are requested with every keystroke.
const (
	callCost       = 1
	writeCost      = 4
	completionCost = 10
)

// logsPerSecond bounds the log records sent to one client; others are dropped.
const logsPerSecond = 100

// perSecond returns a limiter of n per second that allows bursts of five seconds' worth,
// since clients work in bursts. If n is 0, it returns nil, which means no limit.
func perSecond(n int) *rate.Limiter {
	const burst = 5
	if n <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n), n*burst)
}

// A busyError rejects a request that exceeds a rate limit.
type busyError struct {
	what string
	wait time.Duration
}

func (e *busyError) Error() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("too many %s: try again in %v", e.what, max(e.wait.Round(tenth), tenth))
}

// take charges cost to the limiter. It returns a *busyError if that exceeds the limit.
func take(l *rate.Limiter, cost int, what string) error {
	if l == nil {
		return nil
	}
	now := time.Now()
	r := l.ReserveN(now, min(cost, l.Burst()))
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return &busyError{what: what, wait: wait}
	}
	return nil
}
