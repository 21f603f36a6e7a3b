package index

import (
	"context"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
	index "github.com/blevesearch/bleve_index_api"
)

// flushTimeout bounds how long a flush waits for the disk, and flushWake is how
// often it wakes who writes to it.
const (
	flushTimeout = 5 * time.Second
	flushWake    = 5 * time.Millisecond
)

// Flush waits until everything that was applied is on disk, or cannot be saved.
// The caller holds x.mu.
func (x *Index) Flush() {
	saved := make(chan struct{})
	b := index.NewBatch()
	b.SetPersistedCallback(func(error) { close(saved) })
	if x.Bleve.Batch(b) != nil {
		return
	}
	timeout := time.NewTimer(flushTimeout)
	defer timeout.Stop()
	again := time.NewTicker(flushWake)
	defer again.Stop()
	for x.asyncErr.Load() == nil {
		wakePersister(x.Bleve)
		select {
		case <-saved:
			return
		case <-timeout.C:
			return
		case <-again.C:
		}
	}
}

// nothing has the merger merge nothing: no segment is small enough for it.
var nothing = mergeplan.MergePlanOptions{MaxSegmentSize: 1, MaxSegmentsPerTier: 1, SegmentsPerMergeTask: 2, TierGrowth: 1}

// wakePersister ends Bleve's nap before it saves, persistNap. Bleve has no call
// for that, but the merger ends it when it is done, also with nothing. A persister
// that was about to begin its nap misses the word, so it has to be woken again.
func wakePersister(s *scorch.Scorch) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = s.ForceMerge(ctx, &nothing) // in progress already is as good
}
