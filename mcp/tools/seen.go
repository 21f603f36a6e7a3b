package tools

import (
	"context"
	"errors"
	"sync"

	"notesd/notes"
)

// maxSeen bounds what a session remembers; beyond it some note is forgotten,
// which is then as one that was never read.
const maxSeen = 10_000

// Seen are the versions of notes that a session saw last: what it read, and
// what it wrote itself onto a version that it had seen. A change that replaces
// text which depends on it is conditional on that version, where the client
// names none. It ends with the session: after a relay has started another
// daemon, and over HTTP without sessions, nothing is known.
type Seen struct {
	mu     sync.Mutex
	hashes map[string]string // by path
}

// Read notes that the session was shown this version.
func (s *Seen) Read(path, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hashes == nil {
		s.hashes = make(map[string]string)
	}
	for other := range s.hashes {
		if len(s.hashes) < maxSeen {
			break
		}
		delete(s.hashes, other)
	}
	s.hashes[path] = hash
}

// wrote notes that the session has made the version was at path, or at the path
// from before a move, into the version hash. What others had written before is
// not seen by that.
func (s *Seen) wrote(from, path, was, hash string) {
	known := s.hash(from)
	s.forget(from)
	if known == "" || known == was {
		known = hash
	}
	s.Read(path, known)
}

func (s *Seen) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.hashes, path)
}

func (s *Seen) hash(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hashes[path]
}

// lastSeen returns the hash of the version of a note that the session saw last,
// or "".
func (in *invocation) lastSeen(ctx context.Context, ref string) string {
	meta, err := in.Vault.Lookup(ctx, ref, in.Scope)
	if err != nil {
		return "" // what is wrong is met again, by the change itself
	}
	return in.Seen.hash(meta.Path)
}

// unseen says, of the conflict of a change that named no version, what it is in.
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
