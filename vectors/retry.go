package vectors

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of the pause before embedding is tried again after an error, such as an
// unreachable server. Each pause is twice as long as the one before.
const (
	firstPause = time.Second
	longPause  = time.Minute
)

// backOff computes the pauses between failing attempts. The zero value starts with
// the shortest.
type backOff struct{ last time.Duration }

// after returns the pause after err, which may request a longer one with a method Wait.
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

// report stores an error of the embedder for the status, and logs its first
// occurrence and its end.
func (x *Index) report(err error) {
	x.mu.Lock()
	before := x.trouble
	x.trouble = err
	x.mu.Unlock()
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		x.opt.Log.Warn("embedding is interrupted; it will be tried again", "err", err)
	case err == nil && before != nil:
		x.opt.Log.Info("embedding continues")
	}
}

// reportQuery reports the outcome of a query to a space like report, unless the query was
// cancelled. That its time passed counts as a failure, but is reported only if no query has
// succeeded for longPause. The success of an earlier model is not reported unless its failure
// was: the reported error is of another.
func (x *Index) reportQuery(s *space, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	x.mu.RLock()
	same := err == nil && x.trouble == nil && x.failing == nil
	x.mu.RUnlock()
	if same {
		return
	}
	x.mu.Lock()
	ended := s == x.wanted() || x.failing == s && x.reported
	switch {
	case err == nil:
		x.failing = nil
	case x.failing != s:
		x.failing, x.failed, x.reported = s, x.opt.Now(), false
	case errors.Is(err, context.DeadlineExceeded) && x.opt.Now().Sub(x.failed) >= longPause:
		err = fmt.Errorf("waiting for %s: it has not answered a query in time for over a minute", s.embedder.ID())
	}
	reports := err != nil && !errors.Is(err, context.DeadlineExceeded)
	x.reported = x.reported || reports
	x.mu.Unlock()
	if err == nil && ended || reports {
		x.report(err)
	}
}
