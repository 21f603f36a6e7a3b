package vault

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes/store"
)

// removeTemps removes temp files that belong to no unfinished operation. Recovery has
// already finished the interrupted operations that it could, and the lock prevents new
// ones.
func (s *scan) removeTemps(ctx context.Context, temps []string) error {
	if len(temps) == 0 {
		return nil
	}
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	for _, temp := range temps {
		if err := s.removeTemp(ctx, temp); errors.Is(err, errKilled) {
			return err
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.v.opt.Log.Warn("a temp file could not be removed", "file", temp, "err", err)
		}
	}
	return nil
}

// strangerAge is the minimum age at which a temp file without a journal entry is removed. A
// younger one may be in use by another notesd on the same vault.
const strangerAge = 10 * time.Minute

// removeTemp removes a temp file, unless its operation is pending or it may be another notesd's.
// If it may have a text that another program saved, the text is added to the note's history
// first.
func (s *scan) removeTemp(ctx context.Context, temp string) error {
	name := path.Base(temp)
	staged, _, _ := strings.Cut(name, ".tmp")
	entry, err := s.v.store.JournalOf(ctx, staged+".tmp")
	if err != nil {
		return err
	}
	switch {
	case entry == nil:
		info, err := s.root.Lstat(temp)
		if err != nil {
			return err
		}
		if sinceChange(fsid.StatOf(info), s.v.opt.Now()) < strangerAge {
			return nil
		}
	case entry.State == store.StatePending:
		return nil
	case path.Ext(name) != atomicfile.Part && entry.Note != "":
		late, err := s.v.late.rescue(ctx, s.root, temp, entry.Note, hex.EncodeToString(entry.OldHash), hex.EncodeToString(entry.NewHash))
		if err != nil {
			s.v.left.Store(temp, entry.Note)
			return err
		}
		s.v.left.Delete(temp)
		_ = late.close() // nothing to watch: programs that opened it before the start are unknown
	}
	if err := s.v.step("remove"); err != nil {
		return err
	}
	return s.root.Remove(temp)
}
