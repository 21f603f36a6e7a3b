package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"notesd/notes"
)

// Seen records, for each note, the version that a session saw last: one that it read, one
// that it wrote over a version it had seen, or else the first one that it was shown a part
// of, as by a dry run. If the client names no version, changes that replace or remove text
// without quoting it are conditional on the recorded one. Line numbers stay those of the version
// that was read, whatever the session has written since. Seen ends with the session:
// nothing is known after a relay has started another daemon, or over HTTP without sessions.
type Seen struct {
	texts versions // to which changes of unread text are conditional
	tasks versions // to which changes of tasks by line are: list_tasks shows lines of newer ones
}

type versions struct {
	mu    sync.Mutex
	notes map[string]seen // by path
}

// seen is what is recorded of one note.
type seen struct {
	hash  string // of the version
	lines string // of the version whose line numbers the session knows, if its own changes came since
	only  []int  // if not nil: of the lines, the session knows only these
	part  bool   // only passages of it were shown
	left  bool   // the note has moved away
}

// Read records that the session was shown this version.
func (s *Seen) Read(path, hash string) {
	s.texts.put(path, seen{hash: hash})
	s.tasks.put(path, seen{hash: hash})
}

// gathered records the version of which the session was shown a passage, unless it has read another.
func (s *Seen) gathered(path, hash string) {
	for _, v := range []*versions{&s.texts, &s.tasks} {
		if known := v.of(path); known.hash == "" || known.part {
			v.put(path, seen{hash: hash, part: true})
		}
	}
}

// shown records the version of which the session was shown a part, unless it has seen
// another: changes that are conditional on that one must still be rejected. hash may be "".
func (s *Seen) shown(path, hash string) {
	for _, v := range []*versions{&s.texts, &s.tasks} {
		if v.of(path).hash == "" {
			v.put(path, seen{hash: hash})
		}
	}
}

// listed records the version of which the session was shown a task on this line.
func (s *Seen) listed(path, hash string, line int) {
	if s.texts.of(path).hash == "" {
		s.texts.put(path, seen{hash: hash})
	}
	note := s.tasks.of(path)
	if note.hash != hash || note.lines != "" {
		note = seen{hash: hash, only: []int{}}
	}
	if i, known := slices.BinarySearch(note.only, line); note.only != nil && !known {
		note.only = slices.Insert(slices.Clone(note.only), i, line) // calls may run in parallel
	}
	s.tasks.put(path, note)
}

// wrote records the versions that a change by this session replaced. If the session had
// last seen another version of a note than the change did, that one stays recorded: it has
// not seen what others wrote in between. Of the notes whose links were updated, only those
// that it had seen are recorded.
func (s *Seen) wrote(w notes.Written) {
	s.texts.wrote(w)
	s.tasks.wrote(w)
}

func (s *versions) wrote(w notes.Written) {
	if w.Hash != "" { // not a folder
		from := cmp.Or(w.OldPath, w.Path)
		known := s.of(from)
		if known.hash == "" || known.hash == w.Was {
			known.hash, known.lines = w.Hash, cmp.Or(known.lines, w.Was)
		}
		s.moved(from, w.Path, known)
	}
	for _, other := range w.Others {
		known := s.of(other.OldPath)
		if known.hash == notes.Hash(other.Old) {
			known.hash, known.lines = notes.Hash(other.New), cmp.Or(known.lines, known.hash)
		}
		s.moved(other.OldPath, other.Path, known)
	}
	for i, p := range w.Moved { // those of w.From that are in Others are done
		from := w.OldPath + strings.TrimPrefix(p, w.Path)
		if len(w.From) > 0 {
			from = w.From[i]
		}
		s.moved(from, p, s.of(from))
	}
}

// Moved records that a note has another path, whichever program moved it. The old path keeps
// its version, until a note is moved there: the session may not know about the move, and use that
// path for a new note there.
func (s *Seen) Moved(from, to string) {
	s.texts.left(from, to)
	s.tasks.left(from, to)
}

func (s *versions) left(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	note, ok := s.notes[from]
	if had := s.notes[to]; ok && (had.hash == "" || had.left) {
		s.notes[to], s.notes[from] = seen{hash: note.hash, lines: note.lines, only: note.only}, seen{hash: note.hash, left: true}
	}
}

// moved records the version that the session has seen of a note under its new path, if it has
// seen any.
func (s *versions) moved(from, to string, note seen) {
	s.forget(from)
	if to != "" {
		note.left = false
		s.put(to, note)
	}
}

func (s *versions) put(path string, note seen) {
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
	s.texts.forget(path)
	s.tasks.forget(path)
}

func (s *versions) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.notes, path)
}

func (s *versions) of(path string) seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes[path]
}

// lastSeen returns what is recorded of a note that edits would change, if anything.
func (in *invocation) lastSeen(ctx context.Context, ref string, edits []notes.Edit) seen {
	p := ref // the change finds a new file by its path, or reports the error
	if meta, err := in.Vault.Lookup(ctx, ref, in.Scope); err == nil {
		p = meta.Path
	}
	listed := in.Seen.tasks.of(p)
	if slices.ContainsFunc(edits, func(e notes.Edit) bool {
		return e.ReplacesUnread() && (e.Line == 0 || listed.only != nil && !slices.Contains(listed.only, e.Line))
	}) {
		return in.Seen.texts.of(p)
	}
	return listed
}

// sameLines returns an error if an edit names a line by a number that is no longer right since the
// session's own changes: it cannot be known whether the client has taken that into account.
func (in *invocation) sameLines(ctx context.Context, ref string, edits []notes.Edit, known seen) error {
	if known.lines == "" || !slices.ContainsFunc(edits, func(e notes.Edit) bool { return e.Line > 0 && e.ReplacesUnread() }) {
		return nil
	}
	repeated, err := in.Vault.Repeated(ctx, in.RequestKey)
	if err != nil || repeated {
		return err
	}
	before, err := in.History.Version(ctx, ref, known.lines, in.Scope)
	if err != nil {
		return err
	}
	after, err := in.History.Version(ctx, ref, known.hash, in.Scope)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if e.ReplacesUnread() && !notes.SameLine(before, after, e.Line) {
			return &notes.Error{Op: "edit", Path: ref, Err: notes.ErrConflict, Hash: known.hash,
				Detail: fmt.Sprintf("line %d may be another one since this session's last change to the note; nothing was written", e.Line),
				Hint:   "Give the task's text instead of its line, or list the tasks again."}
		}
	}
	return nil
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
