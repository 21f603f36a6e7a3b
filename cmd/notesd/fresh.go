package main

import (
	"context"
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// The progress of a scan is asked for after freshPoll, then less and less often:
// most take no time, and the asking should not make the others longer.
const (
	freshPoll    = 2 * time.Millisecond
	maxFreshPoll = 100 * time.Millisecond
)

// barAfter is how long something takes before it gets a progress bar.
const barAfter = 300 * time.Millisecond

// untilIndexed waits until everything is indexed or cannot be, or done says that
// it is enough, and returns the last report. On a terminal it shows a bar.
func (a *app) untilIndexed(ctx context.Context, c *client, done func(report) bool) (report, error) {
	began := time.Now()
	wait := freshPoll
	bar := &meter{screen: a.err, label: "Indexing"}
	defer bar.clear()
	for {
		r, err := c.status(ctx)
		if err != nil {
			return r, err
		}
		if r.Index.Ready || r.unavailable() || r.Trouble != "" || done != nil && done(r) {
			return r, nil
		}
		if time.Since(began) > barAfter {
			// Reading and indexing take about as long, and one follows the other.
			bar.show((r.Index.Scanned+min(r.Index.Notes, r.Index.ToScan))/2, r.Index.ToScan)
		}
		select {
		case <-time.After(wait):
			wait = min(wait*3/2, maxFreshPoll)
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// meter is a progress bar that is there only while it is needed, and only on a
// terminal.
type meter struct {
	screen *screen
	label  string
	bar    *progressbar.ProgressBar
}

func (m *meter) show(done, total int) {
	if !m.screen.terminal || total <= 0 {
		return
	}
	if m.bar == nil {
		m.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(m.screen),
			progressbar.OptionSetDescription(m.label),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(true),
		)
	}
	m.bar.ChangeMax(total)
	_ = m.bar.Set(min(done, total-1)) // clear finishes it; a bar that cannot be drawn is no loss
}

func (m *meter) clear() {
	if m.bar != nil {
		_ = m.bar.Finish()
		fmt.Fprint(m.screen, "\r\x1b[K")
		m.bar = nil
	}
}
