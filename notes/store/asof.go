package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// HistoryBegins returns when the first version was seen of which anything is
// known; the zero time when nothing is.
func (s *Versions) HistoryBegins(ctx context.Context) (time.Time, error) {
	var first int64
	for _, from := range []struct {
		db    *sqlite.DB
		query string
	}{{s.notes, `SELECT min(first_seen) FROM notes`}, {s.history, `SELECT min(time) FROM revisions`}} {
		var at sql.NullInt64
		if err := from.db.Reader().QueryRowContext(ctx, from.query).Scan(&at); err != nil {
			return time.Time{}, err
		}
		if at.Valid && (first == 0 || at.Int64 < first) {
			first = at.Int64
		}
	}
	if first == 0 {
		return time.Time{}, nil
	}
	return time.Unix(0, first), nil
}

// Past is the version that a note had at a moment.
type Past struct {
	Path     string
	Time     time.Time // when it was made, or first seen
	hash     []byte
	note     int64 // the note whose present version it is; 0 for one of history alone
	document int64 // 0 for a note without history
}

// AsOf returns the versions of a moment by path. A note of which only the
// present version is known, and whose file has not changed since the moment, is
// taken to have been there.
func (s *Versions) AsOf(ctx context.Context, at time.Time) (map[string]Past, error) {
	past := map[string]Past{}
	documents := map[string]int64{} // of the present notes with a history
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := sqlite.ForEach(ctx, tx, `SELECT r.document, r.path, r.hash, r.time FROM revisions r WHERE r.hash IS NOT NULL AND
			r.id = (SELECT id FROM revisions WHERE document = r.document AND time <= ? ORDER BY time DESC, id DESC LIMIT 1) ORDER BY r.time, r.id`, []any{at.UnixNano()}, func(rows *sql.Rows) error {
			var p Past
			var made int64
			err := rows.Scan(&p.document, &p.Path, &p.hash, &made)
			p.Time = time.Unix(0, made)
			past[p.Path] = p
			return err
		})
		if err != nil {
			return err
		}
		return sqlite.ForEach(ctx, tx, `SELECT id, path FROM documents WHERE live = 1 AND EXISTS (SELECT 1 FROM revisions WHERE document = documents.id)`, nil, func(rows *sql.Rows) error {
			var id int64
			var p string
			err := rows.Scan(&id, &p)
			documents[p] = id
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return past, s.notes.Read(ctx, func(tx *sql.Tx) error {
		return sqlite.ForEach(ctx, tx, `SELECT id, path, hash, first_seen, mtime FROM notes`, nil, func(rows *sql.Rows) error {
			var p Past
			var firstSeen, mtime int64
			if err := rows.Scan(&p.note, &p.Path, &p.hash, &firstSeen, &mtime); err != nil {
				return err
			}
			p.document = documents[p.Path]
			p.Time = time.Unix(0, min(firstSeen, mtime))
			if firstSeen <= at.UnixNano() || p.document == 0 && mtime <= at.UnixNano() {
				past[p.Path] = p
			}
			return nil
		})
	})
}

// PastText returns the text of a version.
func (s *Versions) PastText(ctx context.Context, p Past) ([]byte, error) {
	if p.note == 0 {
		return s.Blob(ctx, p.hash)
	}
	note, err := s.LoadNote(ctx, p.note)
	if err != nil || note == nil {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return []byte(note.Content), nil
}

// Blob returns the text with this hash.
func (s *Versions) Blob(ctx context.Context, hash []byte) (text []byte, err error) {
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		text, err = loadBlob(ctx, tx, hash)
		return err
	})
	return text, err
}

// pastNote returns a version as the note that it was, with inline fields if they
// are asked for.
func (s *Store) pastNote(ctx context.Context, p Past, inline bool) (*notes.Note, error) {
	if p.note != 0 {
		switch n, err := s.LoadNote(ctx, p.note); {
		case err != nil:
			return nil, err
		case n != nil && n.Hash == fmt.Sprintf("%x", p.hash):
			if inline {
				n.Inline = notes.Parse(n.Path, []byte(n.Content), n.Modified).Inline
			}
			return n, nil
		}
		// It has changed in this moment, so history has the version by now.
	}
	text, err := s.Blob(ctx, p.hash)
	if err != nil {
		return nil, err
	}
	n := notes.Parse(p.Path, text, p.Time)
	n.Date, _ = s.dates.Load().Of(p.Path, n.FrontMatter, p.Time)
	return n, nil
}

// maxPastBytes bounds the texts of the past that one question reads.
const maxPastBytes = 256 << 20

// At calls each with the notes of a moment that the filter selects, in the order
// of their paths, and reports whether that was all of them: it reads and parses
// the text of every note that the filter's places select, up to a bound. What
// links said at that moment cannot be asked for.
func (s *Store) At(ctx context.Context, at time.Time, f notes.Filter, each func(*notes.Note) error) (complete bool, err error) {
	if err := f.Check(); err != nil {
		return false, err
	}
	if f.Orphans || f.BrokenLinks {
		return false, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: "the links of the past are not kept", Hint: "Leave out orphans and broken_links, or as_of."}
	}
	past, err := s.AsOf(ctx, at)
	if err != nil {
		return false, err
	}
	if err := s.dropOutside(ctx, past, notes.Scope{Read: f.Scope}); err != nil {
		return false, err
	}
	globs := notes.Alternatives(notes.Key(f.Glob))
	read := int64(0)
	for _, p := range slices.Sorted(maps.Keys(past)) {
		if !f.MatchesPath(p) {
			continue
		}
		n, err := s.pastNote(ctx, past[p], len(f.Where) > 0)
		if err != nil {
			return false, err
		}
		if read += n.Size; read > maxPastBytes {
			return false, nil
		}
		if ok, err := f.MatchesNote(globs, n, s.periods()); err != nil || !ok {
			if err != nil {
				return false, err
			}
			continue
		}
		if err := each(n); err != nil {
			return false, err
		}
	}
	return true, nil
}

// dropOutside removes what the scope may not read.
func (s *Reader) dropOutside(ctx context.Context, past map[string]Past, scope notes.Scope) error {
	return s.notes.Read(ctx, func(tx *sql.Tx) error {
		outside, err := symlinksOutside(ctx, tx, scope)
		maps.DeleteFunc(past, func(p string, _ Past) bool { return outside[p] || !scope.CanRead(p) })
		return err
	})
}

// ReadAt returns the note that ref named at a moment: by its path or name then,
// else the version that the note called so now had then.
func (s *Store) ReadAt(ctx context.Context, ref string, at time.Time, scope notes.Scope) (*notes.Note, error) {
	past, err := s.AsOf(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := s.dropOutside(ctx, past, scope); err != nil {
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
			func(p string) bool { return samePathFolded(p, name) },
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
				return s.pastNote(ctx, past[found[0]], false)
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
	for _, v := range past {
		if slices.ContainsFunc(docs, func(d Document) bool { return d.id == v.document && d.Live && d.Path == meta.Path }) {
			return s.pastNote(ctx, v, false)
		}
	}
	return nil, &notes.Error{Op: "read", Path: meta.Path, Err: notes.ErrNotFound, Detail: "the note was not there at " + at.Local().Format(time.DateTime), Hint: "note_history shows since when it exists."}
}

// Revision returns a version of a note that has, or ever had, the path, as the
// note that it was.
func (s *Store) Revision(ctx context.Context, notePath string, revision int64, scope notes.Scope) (*notes.Note, error) {
	text, r, err := s.revision(ctx, "read", notePath, revision, scope)
	if err != nil {
		return nil, err
	}
	n := notes.Parse(r.Path, text, r.Time)
	n.Date, _ = s.dates.Load().Of(r.Path, n.FrontMatter, r.Time)
	return n, nil
}
