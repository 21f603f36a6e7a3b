package vectors

import (
	"context"
	"maps"
	"slices"
)

// The vectors of deleted texts are kept for a while, because a paragraph that was cut is often
// pasted or restored: about as many as a fifth of the chunks of the vault and at least keepUnused,
// which take 5 MB. Beyond that, any of them are deleted.
const (
	keepUnused = 4096
	pruneBatch = 64 // rows per transaction
)

// prune deletes a batch of unused vectors if there are too many, and reports whether it did.
// Rows in the store whose deletion fails stay until the cache file is built again.
func (x *worker) prune(ctx context.Context, s *space) (more bool, err error) {
	x.mu.Lock()
	var removed []slotKey
	// A text in several notes counts repeatedly, so there may be more unused ones.
	unused := s.slots.len() - s.entries.len() - len(s.entries.leads)
	if surplus := unused - max(x.opt.keepUnused, s.total/5); surplus > 0 {
		removed, err = s.removeUnused(min(surplus, pruneBatch))
	}
	x.mu.Unlock()
	if err != nil || len(removed) == 0 {
		return false, err
	}
	return true, x.store.deleteEmbeddings(ctx, s.model, removed)
}

// removeUnused removes up to n vectors of texts that no note contains from the cache file, and
// returns their keys.
func (s *space) removeUnused(n int) ([]slotKey, error) {
	used := slices.AppendSeq(slices.Clone(s.entries.slot), maps.Values(s.entries.leads))
	return s.slots.removeExcept(used, n)
}
