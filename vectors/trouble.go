package vectors

import (
	"context"
	"errors"
	"time"
)

// How long to wait before embedding is tried again after an error, such as a
// server that is not there: twice as long each time.
const (
	firstPause = time.Second
	longPause  = time.Minute
)

// backOff is the pauses between attempts that fail. The zero value is its
// beginning.
type backOff struct{ last time.Duration }

// after returns how long to wait after err, which may say itself how long.
func (b *backOff) after(err error) time.Duration {
	b.last = min(max(firstPause, 2*b.last), longPause)
	var asks interface {
		error
		Wait() time.Duration
	}
	if errors.As(err, &asks) {
		return max(b.last, asks.Wait())
	}
	return b.last
}

// report remembers what keeps the index from its work, for its status, and logs
// it when it begins and when it is over.
func (x *Index) report(err error) {
	x.mu.Lock()
	before := x.trouble
	x.trouble = err
	x.mu.Unlock()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		x.opt.Log.Warn("embedding is interrupted; it will be tried again", "err", err)
	case err == nil && before != nil:
		x.opt.Log.Info("embedding goes on")
	}
}

// reportQuery does the same with the outcome of a query, unless it is only that
// nobody wants to know any more.
func (x *Index) reportQuery(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	x.mu.RLock()
	same := err == nil && x.trouble == nil
	x.mu.RUnlock()
	if !same {
		x.report(err)
	}
}
