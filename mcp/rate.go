package mcp

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// What a request costs of Limits.CallsPerSecond. A call of a tool that writes is
// fsynced and kept in history; completions come with every key that is typed.
const (
	callCost       = 1
	writeCost      = 4
	completionCost = 10
)

// logsPerSecond bounds the log records that one client is sent; others are
// dropped.
const logsPerSecond = 100

// perSecond allows n a second, and those of five seconds at once: clients work
// in bursts. It returns nil, no limit, for 0.
func perSecond(n int) *rate.Limiter {
	const burst = 5
	if n <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n), n*burst)
}

// A busyError refuses something that was asked too often.
type busyError struct {
	what string
	wait time.Duration
}

func (e *busyError) Error() string {
	const tenth = 100 * time.Millisecond
	return fmt.Sprintf("too many %s: try again in %v", e.what, max(e.wait.Round(tenth), tenth))
}

// take uses what a limiter allows, as often as cost says.
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
