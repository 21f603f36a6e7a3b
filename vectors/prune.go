package vectors

import (
	"context"
	"slices"
)

// The vectors of deleted texts are kept for a while, because a paragraph that was
// cut is often pasted or restored. The number of vectors kept is a fifth of the
// chunks of the vault and at least keepIdle, which takes 5 MB. The longest unused
// are deleted first. Texts that were unused at the last start count as oldest.
const (
	keepIdle   = 4096
	pruneBatch = 64 // rows per transaction
)

// prune deletes a batch of the longest unused vectors if there are too many, and
// reports whether there are more to delete.
func (x *worker) prune(ctx context.Context, s *space) (more bool, err error) {
	x.mu.Lock()
	err = s.condemn(x.opt.keepIdle)
	x.mu.Unlock()
	if err != nil || len(s.doomed) == 0 {
		return false, err
	}
	if err := x.store.deleteEmbeddings(ctx, s.model, s.doomed); err != nil {
		return false, err
	}
	s.doomed = s.doomed[:0]
	return len(s.surplus) > 0, nil
}

// condemn empties a batch of surplus slots and adds their keys to doomed, whose
// rows in the store are then deleted. It removes a key from doomed if its deletion
// failed before and the text was embedded again since.
func (s *space) condemn(keep int) error {
	if len(s.surplus) == 0 {
		s.surplus = s.entries.users.surplus(max(keep, s.total/5))
	}
	for len(s.surplus) > 0 && len(s.doomed) < pruneBatch {
		slot := s.surplus[0]
		s.surplus = s.surplus[1:]
		key := s.slots.key(slot)
		if i, holds := s.slots.find(key); s.entries.users.has(slot) || !holds || i != slot {
			continue // used again, or emptied by Reset
		}
		if err := s.slots.remove(key); err != nil {
			return err
		}
		s.doomed = append(s.doomed, key)
	}
	s.doomed = slices.DeleteFunc(s.doomed, func(key slotKey) bool {
		_, back := s.slots.find(key)
		return back
	})
	return nil
}
