package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressInterval is how long a call takes before its client hears of it, and
// how often after that.
const progressInterval = time.Second

// reportProgress tells the client each second that a call is still being worked
// on, if it asked by giving a token. The numbers are the seconds so far, which
// only ever grow. The returned function ends it, and nothing is sent once it
// has returned.
func (s *session) reportProgress(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
			case <-done:
				return
			case <-ctx.Done():
				return
			}
			if take(s.rates.progress, "notifications of progress") != nil {
				continue
			}
			// An error means that the session is closing, which ctx tells too.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      float64(n) * progressInterval.Seconds(),
				Message:       "still working",
			})
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}
