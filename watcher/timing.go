package watcher

import "time"

// alarm is a timer that fires at an absolute time.
type alarm struct{ *time.Timer }

func newAlarm() alarm {
	a := alarm{time.NewTimer(time.Hour)}
	a.Stop()
	return a
}

// set makes the alarm fire at the given time, at once if that is past, and never
// if it is zero.
func (a alarm) set(at time.Time) {
	if at.IsZero() {
		a.Stop()
		return
	}
	a.Reset(max(0, time.Until(at)))
}

// Bounds of the pause between two restarts for lost events, so that a storm that
// overflows the queue for minutes does not cause a continuous walk of the tree.
const (
	minRestartGap = time.Second
	maxRestartGap = time.Minute
)

// backoff spaces restarts.
type backoff struct {
	gap  time.Duration
	next time.Time // earliest time of the next restart
}

// note records a restart. It doubles the gap if the last restart was recent and
// resets it otherwise.
func (b *backoff) note(now time.Time) {
	if b.gap > 0 && now.Before(b.next.Add(b.gap)) {
		b.gap = min(2*b.gap, maxRestartGap)
	} else {
		b.gap = minRestartGap
	}
	b.next = now.Add(b.gap)
}
