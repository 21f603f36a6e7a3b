package watcher

import "time"

// alarm is a timer that is set to a moment, or to none.
type alarm struct{ *time.Timer }

func newAlarm() alarm {
	a := alarm{time.NewTimer(time.Hour)}
	a.Stop()
	return a
}

// set makes the alarm go off at the given time, at once when that has passed,
// and never when it is zero.
func (a alarm) set(at time.Time) {
	if at.IsZero() {
		a.Stop()
		return
	}
	a.Reset(max(0, time.Until(at)))
}

// The bounds of the pause between two restarts for lost events: a storm that
// makes the queue overflow for minutes must not make us walk the tree all the
// while.
const (
	minRestartGap = time.Second
	maxRestartGap = time.Minute
)

// backoff spaces restarts.
type backoff struct {
	gap  time.Duration
	next time.Time // none earlier
}

// note records a restart: one that comes soon after the last doubles the gap.
func (b *backoff) note(now time.Time) {
	if b.gap > 0 && now.Before(b.next.Add(b.gap)) {
		b.gap = min(2*b.gap, maxRestartGap)
	} else {
		b.gap = minRestartGap
	}
	b.next = now.Add(b.gap)
}
