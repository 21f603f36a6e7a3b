package daemon

import (
	"sync"
	"time"
)

// use counts what uses the daemon and says when nothing has for a while. The
// zero value counts; start adds the timer.
type use struct {
	mu    sync.Mutex
	count int
	after time.Duration
	timer *time.Timer // nil: never idle
	idle  chan struct{}
}

// start begins to watch for idleness. The returned channel is closed when
// nothing used the daemon for after; never if after is 0.
func (u *use) start(after time.Duration) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.after = after
	idle := make(chan struct{})
	u.idle = idle
	if after > 0 {
		u.timer = time.AfterFunc(after, func() { u.fired(idle) })
		if u.count > 0 {
			u.timer.Stop()
		}
	}
	return idle
}

// fired ends the wait unless someone came while the timer was about to fire.
func (u *use) fired(idle chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count == 0 && u.idle == idle {
		u.idle = nil
		close(idle)
	}
}

func (u *use) stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.timer != nil {
		u.timer.Stop()
		u.timer = nil
	}
	u.idle = nil
}

func (u *use) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
	if u.timer != nil {
		u.timer.Stop()
	}
}

func (u *use) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	if u.count == 0 && u.timer != nil {
		u.timer.Reset(u.after)
	}
}
