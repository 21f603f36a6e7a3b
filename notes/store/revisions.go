package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"notesd/internal/sqlite"
	"notesd/internal/textdiff"
	"notesd/notes"
)

// Page returns the versions of all notes that have, or ever had, the path, newest
// first, limited to those that the query's scope may read.
func (s *Versions) Page(ctx context.Context, path string, q notes.HistoryQuery) (notes.HistoryPage, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	before := int64(math.MaxInt64)
	if err := decodeCursor("history", q.Cursor, &before, func() bool { return true }); err != nil {
		return notes.HistoryPage{}, err
	}
	page := notes.HistoryPage{Revisions: []notes.Revision{}}
	canRead, err := s.ReadableEver(ctx, q.Scope)
	if err != nil {
		return page, err
	}
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		return eachRevision(ctx, tx, canRead, func(r notes.Revision) error {
			if len(page.Revisions) == q.Limit {
				page.Next = encodeCursor(page.Revisions[q.Limit-1].Revision)
				return sqlite.ErrEnough
			}
			page.Revisions = append(page.Revisions, r)
			return nil
		}, `r.document IN (`+everHad+`) AND r.id < ?2 AND r.time >= ?3 ORDER BY r.id DESC`, path, before, bound(q.Since))
	})
	return page, err
}

// everHad selects the documents of all notes that have, or ever had, the path ?1, so
// that when another note takes over a path, both histories remain visible.
const everHad = `SELECT id FROM documents WHERE path = ?1 UNION SELECT document FROM revisions WHERE path = ?1
	UNION SELECT document FROM revisions WHERE old_path = ?1 AND old_path <> ''`

// changeCursor is a position in the changes of all notes, which are ordered by time,
// then current versions before those of history, then by ID.
type changeCursor struct {
	Time    int64 `json:"t"`
	Present int64 `json:"p"`
	ID      int64 `json:"id"`
}

type change struct {
	notes.Revision
	at changeCursor
}

// Changes returns the newest changes of all notes or, if the query has one, of a folder: the
// revisions of history, and the current versions saved by other programs that are not in
// history yet.
func (s *Versions) Changes(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	before := changeCursor{math.MaxInt64, 0, 0}
	if err := decodeCursor("history", q.Cursor, &before, func() bool { return before.ID != 0 }); err != nil {
		return notes.HistoryPage{}, err
	}
	canRead, err := s.ReadableEver(ctx, q.Scope)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	folder := notes.FolderKey(q.Folder)
	in := func(p string) bool { return notes.Under(notes.Key(p), folder) }
	var all []change
	var newest map[string]string // path → hash of the newest revision of the note there
	err = s.history.Read(ctx, func(tx *sql.Tx) (err error) {
		newest, err = sqlite.Map[string, string](ctx, tx, `SELECT d.path, lower(hex(r.hash)) FROM documents d JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = d.id) WHERE d.live = 1`)
		if err != nil {
			return err
		}
		return eachRevision(ctx, tx, canRead, func(r notes.Revision) error {
			if !in(r.Path) && !in(r.OldPath) {
				return nil
			}
			if all = append(all, change{r, changeCursor{r.Time.UnixNano(), 0, r.Revision}}); len(all) > q.Limit {
				return sqlite.ErrEnough
			}
			return nil
		}, `(r.time, 0, r.id) < (?1, ?2, ?3) AND r.time >= ?4 ORDER BY r.time DESC, r.id DESC`, before.Time, before.Present, before.ID, bound(q.Since))
	})
	if err != nil {
		return notes.HistoryPage{}, err
	}
	present, err := s.presentChanges(ctx, q, func(p string) bool { return in(p) && canRead(p) }, before, newest)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	all = append(all, present...)
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.at.Time, a.at.Time), cmp.Compare(b.at.Present, a.at.Present), cmp.Compare(b.at.ID, a.at.ID))
	})
	page := notes.HistoryPage{Revisions: []notes.Revision{}}
	for i, c := range all {
		if i == q.Limit {
			page.Next = encodeCursor(all[i-1].at)
			break
		}
		if c.at.Present == 1 {
			if c.Added, c.Removed, err = s.linesChanged(ctx, newest[c.Path], c.at.ID); err != nil {
				return notes.HistoryPage{}, err
			}
		}
		page.Revisions = append(page.Revisions, c.Revision)
	}
	return page, nil
}

// linesChanged counts the lines that differ between a text of history ("" for none) and
// the current text of a note.
func (s *Versions) linesChanged(ctx context.Context, hash string, note int64) (added, removed int, err error) {
	present, err := s.StoredVersions(ctx, []int64{note})
	if err != nil {
		return 0, 0, err
	}
	before, err := s.VersionText(ctx, present[note].Path, hash)
	if err != nil {
		return 0, 0, err
	}
	after, err := Unpack(present[note].codec, present[note].data)
	added, removed = textdiff.Count(before, after)
	return added, removed, err
}

// presentChanges returns the newest current versions that differ from the newest
// revision of their note. newest maps paths to the hashes of those revisions.
func (s *Versions) presentChanges(ctx context.Context, q notes.HistoryQuery, canRead func(p string) bool, before changeCursor, newest map[string]string) (all []change, err error) {
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return sqlite.ForEach(ctx, tx, `SELECT id, path, lower(hex(hash)), size, first_seen FROM notes WHERE (first_seen, 1, id) < (?1, ?2, ?3) AND first_seen >= ?4 ORDER BY first_seen DESC, id DESC`,
			[]any{before.Time, before.Present, before.ID, bound(q.Since)}, func(rows *sql.Rows) error {
				var id, seen int64
				c := change{Revision: notes.Revision{Author: notes.Outside, Operation: opFound}}
				if err := rows.Scan(&id, &c.Path, &c.Hash, &c.Size, &seen); err != nil {
					return err
				}
				known := newest[c.Path] // "" also after the note's deletion
				if known == c.Hash || !canRead(c.Path) {
					return nil
				}
				if known != "" {
					c.Operation = opEdit
				}
				c.Time, c.at = time.Unix(0, seen), changeCursor{seen, 1, id}
				if all = append(all, c); len(all) > q.Limit {
					return sqlite.ErrEnough
				}
				return nil
			})
	})
	return all, err
}

// eachRevision calls do with each revision r that matches the condition and that the
// caller may read. It clears old paths that the caller may not read.
func eachRevision(ctx context.Context, tx *sql.Tx, canRead func(p string) bool, do func(notes.Revision) error, where string, args ...any) error {
	return sqlite.ForEach(ctx, tx, `SELECT r.id, r.time, r.author, r.author_version, r.operation, r.path, r.old_path, r.hash, r.size, r.added, r.removed, coalesce(r.change, 0)
		FROM revisions r WHERE `+where, args, func(rows *sql.Rows) error {
		var r notes.Revision
		var at int64
		var hash []byte
		err := rows.Scan(&r.Revision, &at, &r.Author.Name, &r.Author.Version, &r.Operation, &r.Path, &r.OldPath, &hash, &r.Size, &r.Added, &r.Removed, &r.Change)
		if err != nil || !canRead(r.Path) {
			return err
		}
		r.Time, r.Hash = time.Unix(0, at), hex.EncodeToString(hash)
		// All revisions of a move or a deletion have its kind; those of notes whose links it
		// updated are shown as "relink".
		if r.Operation == "move" && r.OldPath == "" || r.Operation == "delete" && r.Hash != "" {
			r.Operation = "relink"
		}
		if !canRead(r.OldPath) {
			r.OldPath = ""
		}
		return do(r)
	})
}

// Document is a note's identity in history.
type Document struct {
	id   int64
	Path string // last known
	Live bool   // according to history
}

// Documents returns the documents of all notes that have, or ever had, the path.
func (s *Versions) Documents(ctx context.Context, path string) ([]Document, error) {
	return s.selectDocuments(ctx, `id IN (`+everHad+`)`, path)
}

// selectDocuments returns the documents that match the condition.
func (s *Versions) selectDocuments(ctx context.Context, where string, args ...any) ([]Document, error) {
	return sqlite.All(ctx, s.history.Reader(), func(d *Document) []any { return []any{&d.id, &d.Path, &d.Live} },
		`SELECT id, path, live FROM documents WHERE `+where+` ORDER BY path, id`, args...)
}

// deletedNames selects the paths of deleted notes, each with "" and with the paths from which
// the note was moved. SQLite uses the partial index only because of the last condition.
const deletedNames = `SELECT path, '' FROM documents WHERE live = 0 UNION
	SELECT d.path, r.old_path FROM revisions r JOIN documents d ON d.id = r.document AND d.live = 0 WHERE r.old_path <> '' ORDER BY 1`

// DeletedPath returns the path of the only deleted note with this name, or else of the only
// one that was moved from it. The name may be a suffix of the path and lack ".md". If there is
// none, it returns notFound.
func (s *Versions) DeletedPath(ctx context.Context, name string, scope notes.Scope, notFound error) (string, error) {
	canRead, err := s.ReadableEver(ctx, scope)
	if err != nil {
		return "", err
	}
	var paths, moved []string
	suffix := "/" + notes.Key(name)
	err = sqlite.ForEach(ctx, s.history.Reader(), deletedNames, nil, func(rows *sql.Rows) error {
		var path, old string
		err := rows.Scan(&path, &old)
		named := "/" + notes.Key(cmp.Or(old, path))
		switch {
		case err != nil || !strings.HasSuffix(named, suffix) && !strings.HasSuffix(notes.Stem(named), suffix):
		case !canRead(path) || old != "" && !canRead(old):
		case old == "":
			paths = append(paths, path)
		case !slices.Contains(moved, path):
			moved = append(moved, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if len(paths) == 0 {
		paths = moved
	}
	switch len(paths) {
	case 0:
		return "", notFound
	case 1:
		return paths[0], nil
	}
	return "", &notes.Error{Op: "find", Path: name, Err: notes.ErrAmbiguous, Detail: fmt.Sprintf("%d deleted notes have this name", len(paths)),
		Hint: "Give the path of the one you mean.", Candidates: paths[:min(len(paths), maxCandidates)]}
}

// RevisionText returns the text of a revision of a note that has, or ever had, the
// path. op is the operation named in errors.
func (s *Versions) RevisionText(ctx context.Context, op, notePath string, revision int64, scope notes.Scope) ([]byte, error) {
	text, _, err := s.revision(ctx, op, notePath, revision, scope)
	return text, err
}

// revision returns a revision and its text. It may be of any note that ever had the path.
func (s *Versions) revision(ctx context.Context, op, notePath string, revision int64, scope notes.Scope) (text []byte, r notes.Revision, err error) {
	canRead, err := s.ReadableEver(ctx, scope)
	if err != nil {
		return nil, r, err
	}
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		err := eachRevision(ctx, tx, canRead, func(found notes.Revision) error {
			r = found
			return nil
		}, `r.id = ?2 AND r.document IN (`+everHad+`)`, notePath, revision)
		switch {
		case err != nil:
			return err
		case r.Revision == 0:
			return &notes.Error{Op: op, Path: notePath, Err: notes.ErrNotFound, Detail: fmt.Sprintf("the note has no revision %d", revision), Hint: "note_history lists its revisions."}
		case r.Hash == "":
			return &notes.Error{Op: op, Path: notePath, Err: notes.ErrInvalid, Detail: fmt.Sprintf("revision %d is the note's deletion", revision), Hint: "Use the revision before it."}
		}
		hash, err := hex.DecodeString(r.Hash)
		if err == nil {
			text, err = loadBlob(ctx, tx, hash)
		}
		if errors.Is(err, sql.ErrNoRows) {
			err = &notes.Error{Op: op, Path: notePath, Err: notes.ErrNotFound, Detail: fmt.Sprintf("the text of revision %d was lost when the history was damaged", revision), Hint: "Use another revision."}
		}
		return err
	})
	return nonNil(text), r, err
}

// hashDigits matches a hash and a [notes.ShortHash].
var hashDigits = regexp.MustCompile(`^[0-9a-f]{12,64}$`)

// VersionText returns the text with this hash, of which the first digits are enough, among
// the versions of the notes that have, or ever had, the path, or nil.
func (s *Versions) VersionText(ctx context.Context, path, hash string) ([]byte, error) {
	switch {
	case hash == "":
		return nil, nil
	case !hashDigits.MatchString(hash):
		return nil, &notes.Error{Op: "compare", Err: notes.ErrInvalid, Detail: "expected_hash is not a hash", Hint: "Pass the hash that read_note returned."}
	}
	var text []byte
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		raw, err := sqlite.First[[]byte](ctx, tx, `SELECT hash FROM revisions WHERE hex(hash) LIKE ?2 || '%' AND document IN (`+everHad+`)`, path, hash)
		if raw == nil || err != nil {
			return err
		}
		if text, err = loadBlob(ctx, tx, raw); errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	})
	return text, err
}

// NewestRevision returns the number of the newest revision of the note at a path.
func (s *Versions) NewestRevision(ctx context.Context, notePath string) (int64, error) {
	return sqlite.First[int64](ctx, s.history.Reader(), `SELECT coalesce(max(id), 0) FROM revisions WHERE document = (`+currentDocument+`)`, notePath)
}

// TextRevision returns the revision whose text a note had at a revision: of a deletion, the one
// before it. If there is none, it returns the revision itself.
func (s *Versions) TextRevision(ctx context.Context, revision int64) (int64, error) {
	return sqlite.First[int64](ctx, s.history.Reader(), `SELECT coalesce(max(id), ?1) FROM revisions
		WHERE document = (SELECT document FROM revisions WHERE id = ?1) AND id <= ?1 AND hash IS NOT NULL`, revision)
}

// LastText returns the number of the last text of the note that was last at a path, or 0 if
// every note that was there has moved.
func (s *Versions) LastText(ctx context.Context, notePath string) (int64, error) {
	return sqlite.First[int64](ctx, s.history.Reader(), `SELECT coalesce((SELECT max(id) FROM revisions WHERE document = d.id AND hash IS NOT NULL), 0)
		FROM documents d WHERE path = ? ORDER BY live DESC, (SELECT max(id) FROM revisions WHERE document = d.id) DESC LIMIT 1`, notePath)
}
