package vault

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// progress tracks how many files the current scans have read, for status.
type progress struct {
	ready    atomic.Bool
	first    chan struct{} // see FirstScan
	endFirst func()        // closes first, once
	whole    chan struct{} // closed by the first scan that succeeds
	endWhole func()        // closes whole, once
	toScan   atomic.Int64
	done     atomic.Int64
	active   atomic.Int64

	differing atomic.Int64 // files known to differ from the store, in unfinished scans
}

func (p *progress) begin(n int) {
	if p.active.Add(1) == 1 {
		p.toScan.Store(0)
		p.done.Store(0)
	}
	p.toScan.Add(int64(n))
}

func (p *progress) end() { p.active.Add(-1) }

// awaitWhole waits until a scan of the whole vault has succeeded, and returns errScanning if
// that takes longer than patience.
func (p *progress) awaitWhole(ctx context.Context, patience time.Duration) error {
	select {
	case <-p.whole:
		return nil
	default:
	}
	select {
	case <-p.whole:
		return nil
	case <-time.After(patience):
		return errScanning
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errScanning means that an operation needs all notes, and a scan is still reading them.
var errScanning = errors.New("the vault is being scanned")

// scanPatience bounds how long an operation waits for a scan. It is shorter than the time
// after which clients give up.
const scanPatience = 10 * time.Second
