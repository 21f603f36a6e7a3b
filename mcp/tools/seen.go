package tools

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"notesd/notes"
)

// Seen records, for each note, the version that a session saw last: one that it read, one
// that it wrote over a version it had seen, or else the first one that it was shown a part
// of, as by a dry run. If the client names no version, changes that replace or remove text
// without quoting it are conditional on the recorded one. Seen ends with the session:
// nothing is known after a relay has started another daemon, or over HTTP without sessions.
type Seen struct {
	mu    sync.Mutex
	notes map[string]seen // by path
}

// seen is what is recorded of one note.
type seen struct {
	hash string // of the version
	left bool   // the note has moved away
}

// Read records that the session was shown this version.
func (s *Seen) Read(path, hash string) { s.put(path, seen{hash: hash}) }

// shown records the version of which the session was shown a part, unless it has seen
// another: changes that are conditional on that one must still be rejected. hash may be "".
func (s *Seen) shown(path, hash string) {
	if s.of(path).hash == "" {
		s.put(path, seen{hash: hash})
	}
}

// wrote records the versions that a change by this session replaced. If the session had
// last seen another version of a note than the change did, that one stays recorded: it has
// not seen what others wrote in between. Of the notes whose links were updated, only those
// that it had seen are recorded.
func (s *Seen) wrote(w notes.Written) {
	if w.Hash != "" { // not a folder
		from := cmp.Or(w.OldPath, w.Path)
		known := s.of(from)
		if known.hash == "" || known.hash == w.Was {
			known.hash = w.Hash
		}
		s.moved(from, w.Path, known)
	}
	for _, other := range w.Others {
		known := s.of(other.OldPath)
		if known.hash == notes.Hash(other.Old) {
			known.hash = notes.Hash(other.New)
		}
		s.moved(other.OldPath, other.Path, known)
	}
	for _, p := range w.Moved { // in a folder
		from := w.OldPath + strings.TrimPrefix(p, w.Path)
		s.moved(from, p, s.of(from))
	}
}

// Moved records that a note has another path, whichever program moved it. The old path keeps
// its version, until a note is moved there: the session may not know about the move, and use that
// path for a new note there.
func (s *Seen) Moved(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	note, ok := s.notes[from]
	if had := s.notes[to]; ok && (had.hash == "" || had.left) {
		s.notes[to], s.notes[from] = seen{hash: note.hash}, seen{hash: note.hash, left: true}
	}
}

// moved records the version that the session has seen of a note under its new path, if it has
// seen any.
func (s *Seen) moved(from, to string, note seen) {
	s.forget(from)
	if to != "" {
		note.left = false
		s.put(to, note)
	}
}

func (s *Seen) put(path string, note seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notes == nil {
		s.notes = map[string]seen{}
	}
	if note.hash != "" {
		s.notes[path] = note
	}
}

func (s *Seen) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.notes, path)
}

func (s *Seen) of(path string) seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes[path]
}

// lastSeen returns the hash of the version of a note that the session saw last, or "".
func (in *invocation) lastSeen(ctx context.Context, ref string) string {
	meta, err := in.Vault.Lookup(ctx, ref, in.Scope)
	if err != nil {
		return in.Seen.of(ref).hash // the change finds a new file by its path, or reports the error
	}
	return in.Seen.of(meta.Path).hash
}

// unseen explains, in terms of the session, a conflict of a change that was conditional on the version last seen
// because the client named none.
func unseen(err error, implied bool) error {
	var conflict *notes.Error
	if !implied || !errors.As(err, &conflict) || !errors.Is(conflict.Err, notes.ErrConflict) || conflict.Hash == "" {
		return err
	}
	e := *conflict
	e.Detail = "the note was changed since this session last saw it; nothing was written"
	e.Hint = "Read it again, or see the diff, and repeat the change on its current text; expected_hash with its present hash confirms that."
	return &e
}
