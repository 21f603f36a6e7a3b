package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// HistoryBegins returns the time of the first known version; the zero time if there is
// none.
func (s *Versions) HistoryBegins(ctx context.Context) (time.Time, error) {
	seen, err := sqlite.First[int64](ctx, s.notes.Reader(), `SELECT first_seen FROM notes ORDER BY first_seen LIMIT 1`)
	if err != nil {
		return time.Time{}, err
	}
	made, err := sqlite.First[int64](ctx, s.history.Reader(), `SELECT time FROM revisions ORDER BY time LIMIT 1`)
	if first := min(cmp.Or(seen, made), cmp.Or(made, seen)); first != 0 {
		return time.Unix(0, first), err
	}
	return time.Time{}, err
}

// Moment is the state of the vault at a time in the past, as far as it is known.
type Moment struct {
	store *Store
	at    time.Time
	lock  sync.Locker
	past  map[string]versionAt // by path
}

// versionAt is the version of a note at a [Moment].
type versionAt struct {
	path     string
	time     time.Time // when it was written, or first seen
	hash     []byte
	note     int64 // the note whose current version this is; 0, the id of none, for one in history only
	document int64 // 0 for a note without history
}

// AsOf returns the vault as it was at a time. A note of which only the current version
// is known is assumed to have existed then if its file has not been modified since. lock
// is the vault's, which AsOf takes: a write adds to the history after it has changed the
// notes.
func (s *Store) AsOf(ctx context.Context, at time.Time, lock sync.Locker) (*Moment, error) {
	lock.Lock()
	defer lock.Unlock()
	m := &Moment{store: s, at: at, lock: lock, past: map[string]versionAt{}}
	var documents map[string]int64 // of current notes with a history, by path
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := sqlite.ForEach(ctx, tx, `SELECT r.document, r.path, r.hash, r.time FROM documents d
			JOIN revisions r ON r.id = (SELECT id FROM revisions WHERE document = d.id AND time <= ? ORDER BY id DESC LIMIT 1)
			WHERE r.hash IS NOT NULL ORDER BY r.time, r.id`, []any{bound(at)}, func(rows *sql.Rows) error {
			var p versionAt
			var made int64
			err := rows.Scan(&p.document, &p.path, &p.hash, &made)
			p.time = time.Unix(0, made)
			m.past[p.path] = p
			return err
		})
		if err != nil {
			return err
		}
		documents, err = sqlite.Map[string, int64](ctx, tx, `SELECT path, id FROM documents WHERE live = 1 AND EXISTS (SELECT 1 FROM revisions WHERE document = documents.id)`)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, s.notes.Read(ctx, func(tx *sql.Tx) error {
		return sqlite.ForEach(ctx, tx, `SELECT id, path, hash, first_seen, mtime FROM notes`, nil, func(rows *sql.Rows) error {
			var p versionAt
			var firstSeen, mtime int64
			if err := rows.Scan(&p.note, &p.path, &p.hash, &firstSeen, &mtime); err != nil {
				return err
			}
			p.document = documents[p.path]
			p.time = time.Unix(0, min(firstSeen, mtime))
			if firstSeen <= bound(at) || p.document == 0 && mtime <= bound(at) {
				m.past[p.path] = p
			}
			return nil
		})
	})
}

// Paths returns the paths of the notes, sorted.
func (m *Moment) Paths() []string { return slices.Sorted(maps.Keys(m.past)) }

// Note returns the note at a path that Paths returned.
func (m *Moment) Note(ctx context.Context, p string) (*notes.Note, error) {
	v := m.past[p]
	n, err := m.store.LoadNote(ctx, v.note)
	if err != nil || n != nil && n.Hash == hex.EncodeToString(v.hash) {
		return n, err
	}
	text, err := m.store.Blob(ctx, v.hash) // from history, also if the note has changed since AsOf
	if errors.Is(err, sql.ErrNoRows) {
		return m.kept(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	live := n
	n = notes.Parse(p, text, v.time)
	if n.Date, n.Created = m.store.dates.Load().Of(n); n.Created.IsZero() {
		first, err := sqlite.First[int64](ctx, m.store.history.Reader(), `SELECT time FROM revisions WHERE document = ? ORDER BY id LIMIT 1`, v.document)
		if err != nil {
			return nil, err
		}
		n.Created = time.Unix(0, cmp.Or(first, v.time.UnixNano()))
		if live != nil && live.Created.Before(n.Created) { // the note is older than its history
			n.Created = live.Created
		}
	}
	return n, nil
}

// kept returns the version that history has kept instead of one that it has dropped since
// AsOf because of later saves.
func (m *Moment) kept(ctx context.Context, p string) (*notes.Note, error) {
	later, err := m.store.AsOf(ctx, m.at, m.lock)
	if err != nil {
		return nil, err
	}
	if hash := later.past[p].hash; hash == nil || bytes.Equal(hash, m.past[p].hash) {
		return nil, &notes.Error{Op: "read", Path: p, Err: notes.ErrNotFound, Detail: "the text of this version is no longer in the history"}
	}
	return later.Note(ctx, p)
}

// maxPastBytes is the limit for the size of past texts read by one query.
const maxPastBytes = 256 << 20

// Notes calls each with the notes that match the filter, in path order, and reports
// whether those were all. It reads and parses every note in the filter's places, up to
// maxPastBytes. Filters on links are rejected, because past links are not recorded.
func (m *Moment) Notes(ctx context.Context, f notes.Filter, each func(*notes.Note) error) (complete bool, err error) {
	if err := f.Check(); err != nil {
		return false, err
	}
	if f.Orphans || f.BrokenLinks {
		return false, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: "past links are not recorded", Hint: "Omit orphans and broken_links, or as_of."}
	}
	past, err := m.within(ctx, notes.Scope{Read: f.Scope})
	if err != nil {
		return false, err
	}
	read, periods := int64(0), m.store.periods()
	for _, p := range slices.Sorted(maps.Keys(past)) {
		if !f.MatchesPath(p) {
			continue
		}
		n, err := m.Note(ctx, p)
		if err != nil {
			return false, err
		}
		if read += n.Size; read > maxPastBytes {
			return false, nil
		}
		if f.MatchesNote(n, periods) {
			if err := each(n); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// within returns the versions that the scope may read.
func (m *Moment) within(ctx context.Context, scope notes.Scope) (map[string]versionAt, error) {
	canRead, err := m.store.ReadableEver(ctx, scope)
	past := maps.Clone(m.past)
	maps.DeleteFunc(past, func(p string, _ versionAt) bool { return err != nil || !canRead(p) })
	return past, err
}

// Read returns the note that ref named at that time, by its path or name then;
// otherwise, the version at that time of the note that ref names now.
func (m *Moment) Read(ctx context.Context, ref string, scope notes.Scope) (*notes.Note, error) {
	s := m.store
	past, err := m.within(ctx, scope)
	if err != nil {
		return nil, err
	}
	base, _ := notes.SplitAnchor(ref)
	periodic, _, err := s.PeriodicPath(ctx, base, scope)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Compact([]string{ref, base, periodic}) {
		name, err := CleanRef(s.InVault(name))
		if err != nil {
			continue
		}
		for _, same := range []func(p string) bool{
			func(p string) bool { return p == name || p == name+".md" },
			func(p string) bool { return SamePath(notes.Key(p), notes.Key(name)) },
			func(p string) bool { return path.Base(name) == name && LinkKey(p) == LinkKey(name) },
		} {
			var found []string
			for p := range past {
				if same(p) {
					found = append(found, p)
				}
			}
			switch slices.Sort(found); len(found) {
			case 0:
				continue
			case 1:
				return m.Note(ctx, found[0])
			}
			return nil, &notes.Error{Op: "read", Path: ref, Err: notes.ErrAmbiguous, Detail: fmt.Sprintf("%d notes had this name then", len(found)),
				Hint: "Give the path of the one you mean.", Candidates: found[:min(len(found), maxCandidates)]}
		}
	}
	meta, err := s.Lookup(ctx, base, scope)
	if err != nil {
		return nil, err
	}
	docs, err := s.Documents(ctx, meta.Path)
	if err != nil {
		return nil, err
	}
	for p, v := range past {
		if slices.ContainsFunc(docs, func(d Document) bool { return d.id == v.document && d.Live && d.Path == meta.Path }) {
			return m.Note(ctx, p)
		}
	}
	return nil, &notes.Error{Op: "read", Path: meta.Path, Err: notes.ErrNotFound, Detail: "the note did not exist at " + m.at.Local().Format(time.DateTime), Hint: "note_history shows when it was created."}
}

// Blob returns the text with this hash.
func (s *Versions) Blob(ctx context.Context, hash []byte) (text []byte, err error) {
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		text, err = loadBlob(ctx, tx, hash)
		return err
	})
	return text, err
}

// Revision returns a revision of a note that has, or ever had, the path, as a note.
func (s *Store) Revision(ctx context.Context, notePath string, revision int64, scope notes.Scope) (*notes.Note, error) {
	text, r, err := s.revision(ctx, "read", notePath, revision, scope)
	if err != nil {
		return nil, err
	}
	n := notes.Parse(r.Path, text, r.Time)
	n.Date, _ = s.dates.Load().Of(n)
	return n, nil
}
