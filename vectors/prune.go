package vectors

import (
	"context"
	"slices"
)

// Texts that no note has any more keep their vectors for a while, because a
// paragraph that was cut is often pasted or brought back by an undo. How long
// is a matter of room and not of time: a fifth of the vault's texts, and a few
// thousand in any case, which is 5 MB. The longest unused go first. Which they
// are is known since the last start; what was unused by then counts as oldest.
const (
	keepIdle   = 4096
	pruneBatch = 64 // in one transaction
)

// prune deletes a few vectors of the longest unused texts, if there are more
// than are to be kept, and reports whether there is more to delete.
func (x *Index) prune(ctx context.Context, s *space) (more bool, err error) {
	x.mu.Lock()
	err = s.condemn(x.opt.KeepIdle)
	x.mu.Unlock()
	if err != nil || len(s.doomed) == 0 {
		return false, err
	}
	if err := x.deleteEmbeddings(ctx, s.model, s.doomed); err != nil {
		return false, err
	}
	s.doomed = s.doomed[:0]
	return len(s.surplus) > 0, nil
}

// condemn empties a few slots of texts that are not kept any longer, and notes
// whose rows are to be deleted. Of those that could not be deleted before, a
// text that has come back meanwhile, and was embedded again, is one no more.
func (s *space) condemn(keep int) error {
	if len(s.surplus) == 0 {
		s.surplus = s.entries.users.surplus(max(keep, s.total/5))
	}
	for len(s.surplus) > 0 && len(s.doomed) < pruneBatch {
		slot := s.surplus[0]
		s.surplus = s.surplus[1:]
		key := s.slots.key(slot)
		if i, holds := s.slots.find(key); s.entries.users.has(slot) || !holds || i != slot {
			continue // in use again, or emptied when a note was forgotten
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
