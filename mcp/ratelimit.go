package mcp

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// rates are the limits on one session's costly requests. A nil limiter has no
// limit.
type rates struct {
	calls, writes, completions, logs, progress *rate.Limiter
}

func newRates(l Limits) *rates {
	return &rates{
		calls: perSecond(l.CallsPerSecond), writes: perSecond(l.WritesPerSecond),
		completions: perSecond(l.CompletionsPerSecond), logs: perSecond(l.LogsPerSecond),
		progress: perSecond(l.ProgressPerSecond),
	}
}

// admits returns an error for a request beyond the limit. invoke counts tools
// that write once more, as writes.
func (r *rates) admits(method string) error {
	if method == methodComplete {
		return take(r.completions, "completions")
	}
	return take(r.calls, "calls")
}

// perSecond allows n a second, and those of five seconds at once: clients work
// in bursts.
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

// take uses one of what a limiter allows.
func take(l *rate.Limiter, what string) error {
	if l == nil {
		return nil
	}
	r := l.Reserve()
	if wait := r.Delay(); wait > 0 {
		r.Cancel()
		return &busyError{what: what, wait: wait}
	}
	return nil
}
