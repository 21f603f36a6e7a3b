package store

import (
	"bytes"
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

// Versions saved by other programs are thinned. Each version is either "passing" or
// not, and is appended when the next one replaces it. Appending a version drops a
// passing predecessor that was made within seenEvery of the version before it. If an
// editor saves every few seconds, history therefore keeps the first version, one per
// seenEvery, the newest, and the one before it.
//
// A version is not passing if the next one lacks more of its text than typing removes
// between two saves, or equals an earlier version, as after an undo or a checkout. Such
// versions are kept, but at most lossyKept of them within seenEvery, because a program
// may rewrite a file every second.
const (
	seenEvery = 10 * time.Minute
	lossyKept = 10
)

// Operations of versions found on disk.
const (
	opFound = "found" // the first version of a note
	opEdit  = "edit"
)

// Version is a version of a note to be stored in the history.
type Version struct {
	Path, oldPath  string
	time           int64
	author         notes.Author
	operation      string
	Hash           []byte // nil: deleted
	codec          int
	data           []byte // packed; nil if the blob is known to exist
	size           int64
	added, removed int
	passing        bool  // the next outside version may replace it
	change         int64 // the operation that wrote it; 0 for another program
}

// textsAtOnce is the number of note texts held in memory at a time.
const textsAtOnce = 200

// KeepOverwritten records the versions replaced by outside changes, whose last texts
// are still in notes.db, before the store discards them. The caller must hold the
// vault's lock.
func (s *Versions) KeepOverwritten(ctx context.Context, entries []Entry) error {
	var ids []int64
	var created []string
	byID := map[int64]Entry{}
	for _, e := range entries {
		if e.Kind == notes.Created {
			created = append(created, e.Path)
			continue
		}
		ids = append(ids, e.ID)
		byID[e.ID] = e
	}
	for part := range slices.Chunk(ids, textsAtOnce) {
		if err := s.keepSome(ctx, part, byID); err != nil {
			return err
		}
	}
	if len(created) == 0 {
		return nil
	}
	return s.history.Write(ctx, func(tx *sql.Tx) error { // a file reappeared under the path of a deleted note
		return execAll(ctx, tx, `UPDATE documents SET live = 1 WHERE live = 0 AND id IN
			(SELECT (SELECT id FROM documents WHERE path = j.value ORDER BY live DESC, id DESC LIMIT 1) FROM json_each(?) j)`, sqlite.List(created))
	})
}

func (s *Versions) keepSome(ctx context.Context, ids []int64, byID map[int64]Entry) error {
	replaced, err := s.StoredVersions(ctx, ids)
	if err != nil {
		return err
	}
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		for _, id := range ids { // in batch order, so that revisions are too
			old, ok := replaced[id]
			if !ok {
				continue
			}
			if err := h.outside(old, byID[id], s.Now(), len(byID) <= fewMoved); err != nil {
				return err
			}
		}
		return nil
	})
}

// StoredVersions returns the versions of these notes stored in notes.db.
func (s *Versions) StoredVersions(ctx context.Context, ids []int64) (map[int64]Version, error) {
	out := map[int64]Version{}
	err := sqlite.ForEach(ctx, s.notes.Reader(), `SELECT n.id, n.path, n.first_seen, n.hash, n.size, c.codec, c.data
		FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value JOIN contents c ON c.note = n.id`, []any{sqlite.List(ids)}, func(rows *sql.Rows) error {
		var id int64
		v := Version{author: notes.Outside}
		err := rows.Scan(&id, &v.Path, &v.time, &v.Hash, &v.size, &v.codec, &v.data)
		v.data = nonNil(v.data) // nil for an empty note
		out[id] = v
		return err
	})
	return out, err
}

// historyWriter writes history within one transaction.
type historyWriter struct{ *statements }

// newHistoryWriter returns a writer within the transaction.
func newHistoryWriter(ctx context.Context, tx *sql.Tx) historyWriter {
	return historyWriter{newStatements(ctx, tx)}
}

// outside records that an outside change replaced the version old.
func (h historyWriter) outside(old Version, e Entry, now time.Time, few bool) error {
	doc, err := h.document(old.Path)
	if err != nil {
		return err
	}
	switch {
	case e.Kind == notes.Moved:
		return h.movedOutside(doc, old, e, now, few)
	case e.Kind != notes.Deleted && old.hasHash(e.Note.Hash):
		return nil
	}
	text, err := Unpack(old.codec, old.data)
	if err != nil {
		return err
	}
	if e.Kind == notes.Deleted {
		if err := h.keepOutside(doc, old); err != nil {
			return err
		}
		return h.addDeletion(doc, old.Path, text, now)
	}
	if old.passing = !losesText(text, []byte(e.Note.Content)); old.passing {
		reverted, err := h.knows(doc, e.Note.Hash)
		if err != nil {
			return err
		}
		old.passing = !reverted
	}
	return h.keepOutside(doc, old)
}

// knows reports whether the document has had this text before: an undo, or a checkout
// in a version control system.
func (h historyWriter) knows(doc int64, hash string) (known bool, err error) {
	err = h.row(`SELECT EXISTS (SELECT 1 FROM revisions WHERE document = ? AND hash = unhex(?))`, []any{doc, hash}, &known)
	return known, err
}

// addDeletion records the deletion of a note that had this text.
func (h historyWriter) addDeletion(doc int64, path string, text []byte, now time.Time) error {
	gone := Version{Path: path, time: now.UnixNano(), author: notes.Outside, operation: "delete"}
	_, gone.removed = textdiff.Count(text, nil)
	if _, err := h.add(doc, gone); err != nil {
		return err
	}
	return h.setDocument(doc, path, false)
}

// fewMoved is the largest number of notes moved at once for which each move is recorded
// even if the note has no history yet.
const fewMoved = 200

// movedOutside records the move of a note that has a history or whose text changed, and
// of any other note if few have moved: renaming a large folder must not copy all of its
// texts into history. For notes that are skipped, the previous path is lost.
func (h historyWriter) movedOutside(doc int64, old Version, e Entry, now time.Time, few bool) error {
	newest, err := h.newest(doc, 1)
	if err != nil {
		return err
	}
	if few || len(newest) > 0 || !old.hasHash(e.Note.Hash) {
		if err := h.keepOutside(doc, old); err != nil {
			return err
		}
		moved := Version{Path: e.Path, oldPath: old.Path, time: now.UnixNano(), author: notes.Outside, operation: "move", Hash: old.Hash, size: old.size}
		if _, err := h.add(doc, moved); err != nil {
			return err
		}
	}
	return h.setDocument(doc, e.Path, true)
}

func (v Version) hasHash(hash string) bool { return hex.EncodeToString(v.Hash) == hash }

// keepOutside appends a version found on disk, unless it equals the newest. It replaces
// the newest if that one is passing and was made shortly after its predecessor. Times
// may run backwards: after a clock that was ahead is corrected, later versions must not
// be thinned.
func (h historyWriter) keepOutside(doc int64, v Version) error {
	newest, err := h.newest(doc, 2)
	if err != nil || len(newest) > 0 && bytes.Equal(newest[0].hash, v.Hash) {
		return err
	}
	if len(newest) == 2 && newest[0].passing {
		if gap := newest[0].time - newest[1].time; 0 <= gap && gap < int64(seenEvery) {
			if err := h.drop(newest[0]); err != nil {
				return err
			}
			newest = newest[1:]
		}
	}
	if !v.passing {
		if v.passing, err = h.manyBefore(doc, v.time); err != nil {
			return err
		}
	}
	return h.addFound(doc, newest, v)
}

// keepAlways appends a version found on disk to the history of the note at its path,
// unless it equals the newest. The version is never thinned.
func (h historyWriter) keepAlways(v Version) error {
	doc, err := h.document(v.Path)
	if err != nil {
		return err
	}
	newest, err := h.newest(doc, 1)
	if err != nil || len(newest) > 0 && bytes.Equal(newest[0].hash, v.Hash) {
		return err
	}
	return h.addFound(doc, newest, v)
}

// addFound appends a version found on disk after the newest.
func (h historyWriter) addFound(doc int64, newest []lastRevision, v Version) error {
	text, err := Unpack(v.codec, v.data)
	if err != nil {
		return err
	}
	var before []byte
	v.author, v.operation = notes.Outside, opFound
	if len(newest) > 0 {
		v.operation = opEdit
		if before, err = h.text(newest[0].hash); err != nil {
			return err
		}
	}
	v.added, v.removed = textdiff.Count(before, text)
	_, err = h.add(doc, v)
	return err
}

// text returns the text with this hash, for counting lines; nil if it was lost, as from
// a damaged database.
func (h historyWriter) text(hash []byte) ([]byte, error) {
	text, err := loadBlob(h.ctx, h.tx, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return text, err
}

// manyBefore reports whether enough versions were kept within seenEvery before the
// given time that the next one is passing regardless of what it loses.
func (h historyWriter) manyBefore(doc, at int64) (bool, error) {
	var n int
	err := h.row(`SELECT count(*) FROM revisions WHERE document = ? AND author = 'outside' AND time BETWEEN ? AND ?`,
		[]any{doc, at - int64(seenEvery), at}, &n)
	return n >= lossyKept, err
}

// drop removes a revision, and its text if nothing else needs it.
func (h historyWriter) drop(r lastRevision) error {
	if err := h.exec(`DELETE FROM revisions WHERE id = ?`, r.id); err != nil {
		return err
	}
	return h.exec(`DELETE FROM blobs WHERE hash = ? AND `+unused, r.hash)
}

type lastRevision struct {
	id      int64
	time    int64
	hash    []byte
	passing bool
}

// newest returns the last n revisions of a document, newest first.
func (h historyWriter) newest(doc int64, n int) ([]lastRevision, error) {
	return sqlite.All(h.ctx, h.tx, func(r *lastRevision) []any { return []any{&r.id, &r.time, &r.hash, &r.passing} },
		`SELECT id, time, hash, passing FROM revisions WHERE document = ? ORDER BY id DESC LIMIT ?`, doc, n)
}

// currentDocument selects the document of the note at a path, or of the last note that
// was there.
const currentDocument = `SELECT id FROM documents WHERE path = ? ORDER BY live DESC, id DESC LIMIT 1`

// document returns the document of the note at path, or of the last note that was
// there, and creates one if there is none.
func (h historyWriter) document(path string) (int64, error) {
	var id int64
	err := h.row(currentDocument, []any{path}, &id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	return h.insert(`INSERT INTO documents (path, live) VALUES (?, 1)`, path)
}

func (h historyWriter) setDocument(id int64, path string, live bool) error {
	return h.exec(`UPDATE documents SET path = ?, live = ? WHERE id = ?`, path, live, id)
}

// add appends a revision and returns its number.
func (h historyWriter) add(doc int64, v Version) (int64, error) {
	if v.data != nil {
		if err := h.blob(v.Hash, v.size, v.codec, v.data); err != nil {
			return 0, err
		}
	}
	return h.insert(`INSERT INTO revisions (document, time, author, author_version, operation, path, old_path, hash, size, added, removed, passing, change)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))`, doc, v.time, v.author.Name, v.author.Version, v.operation, v.Path, v.oldPath, v.Hash, v.size, v.added, v.removed, v.passing, v.change)
}

func (h historyWriter) blob(hash []byte, size int64, codec int, data []byte) error {
	return h.exec(`INSERT OR IGNORE INTO blobs (hash, size, codec, data) VALUES (?, ?, ?, ?)`, hash, size, codec, data)
}

// keep stores a text under its hash and returns the hash.
func (h historyWriter) keep(data []byte) ([]byte, error) {
	hash := rawHash(data)
	codec, packed := Pack(data)
	return hash, h.blob(hash, int64(len(data)), codec, packed)
}

// MatchFiles reconciles history with the files when changes went unrecorded: notes.db
// was rebuilt, or an older copy of history.db was restored. Notes that are live in
// history but missing on disk are recorded as deleted; notes that are deleted in
// history but present become live again. exists reports whether a file exists at a
// path; paths for which unknown returns true are left unchanged.
func (s *Versions) MatchFiles(ctx context.Context, exists func(path string) bool, unknown func(path string) bool) error {
	docs, err := s.selectDocuments(ctx, `true`)
	if err != nil {
		return err
	}
	current := map[string]Document{} // chosen like currentDocument
	for _, d := range docs {
		if before, ok := current[d.Path]; !ok || d.Live || !before.Live {
			current[d.Path] = d
		}
	}
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		for _, d := range current {
			is := exists(d.Path)
			if d.Live == is || unknown(d.Path) {
				continue
			}
			newest, err := h.newest(d.id, 1)
			if err != nil {
				return err
			}
			if !is && len(newest) > 0 && newest[0].hash != nil {
				text, err := h.text(newest[0].hash)
				if err == nil {
					err = h.addDeletion(d.id, d.Path, text, s.Now())
				}
				if err != nil {
					return err
				}
			} else if err := h.setDocument(d.id, d.Path, is); err != nil {
				return err
			}
		}
		return nil
	})
}

// KeepPresent adds the current version of a note to its history. The caller must hold
// the vault's lock.
func (s *Versions) KeepPresent(ctx context.Context, id int64) error {
	present, err := s.StoredVersions(ctx, []int64{id})
	if err != nil || len(present) == 0 {
		return err
	}
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		return newHistoryWriter(ctx, tx).keepAlways(present[id]) // not thinned: it is about to be shown
	})
}

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
		}, `r.document IN (`+everHad+`) AND r.id < ?2 AND r.time >= ?3 ORDER BY r.id DESC`, path, before, sinceNano(q))
	})
	return page, err
}

// everHad selects the documents of all notes that have, or ever had, the path ?1, so
// that when another note takes over a path, both histories remain visible.
const everHad = `SELECT id FROM documents WHERE path = ?1 UNION SELECT document FROM revisions WHERE path = ?1
	UNION SELECT document FROM revisions WHERE old_path = ?1 AND old_path <> ''`

func sinceNano(q notes.HistoryQuery) int64 {
	if q.Since.IsZero() {
		return math.MinInt64
	}
	return q.Since.UnixNano()
}

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

// Changes returns the newest changes of all notes: the revisions of history, and the
// current versions saved by other programs that are not in history yet.
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
	var all []change
	var newest map[string]string // path → hash of the newest revision of the note there
	err = s.history.Read(ctx, func(tx *sql.Tx) (err error) {
		newest, err = sqlite.Map[string, string](ctx, tx, `SELECT d.path, lower(hex(r.hash)) FROM documents d JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = d.id) WHERE d.live = 1`)
		if err != nil {
			return err
		}
		return eachRevision(ctx, tx, canRead, func(r notes.Revision) error {
			if all = append(all, change{r, changeCursor{r.Time.UnixNano(), 0, r.Revision}}); len(all) > q.Limit {
				return sqlite.ErrEnough
			}
			return nil
		}, `(r.time, 0, r.id) < (?1, ?2, ?3) AND r.time >= ?4 ORDER BY r.time DESC, r.id DESC`, before.Time, before.Present, before.ID, sinceNano(q))
	})
	if err != nil {
		return notes.HistoryPage{}, err
	}
	present, err := s.presentChanges(ctx, q, canRead, before, newest)
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
			[]any{before.Time, before.Present, before.ID, sinceNano(q)}, func(rows *sql.Rows) error {
				var id, seen int64
				c := change{Revision: notes.Revision{Author: notes.Outside, Operation: opFound}}
				if err := rows.Scan(&id, &c.Path, &c.Hash, &c.Size, &seen); err != nil {
					return err
				}
				known, hasHistory := newest[c.Path]
				if known == c.Hash || !canRead(c.Path) {
					return nil
				}
				if hasHistory {
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
		// All revisions of an operation have its kind; those of notes whose links it
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

// DeletedPath returns the path of the only deleted note with this name, which may be a
// suffix of its path and lack ".md". If there is none, it returns notFound.
func (s *Versions) DeletedPath(ctx context.Context, name string, scope notes.Scope, notFound error) (string, error) {
	docs, err := s.selectDocuments(ctx, `live = 0 AND (path IN (?1, ?1 || '.md') OR path LIKE '%/' || ?2 ESCAPE '\' OR path LIKE '%/' || ?2 || '.md' ESCAPE '\')`,
		name, strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(name))
	if err != nil {
		return "", err
	}
	canRead, err := s.ReadableEver(ctx, scope)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, d := range docs {
		if canRead(d.Path) && !slices.Contains(paths, d.Path) {
			paths = append(paths, d.Path)
		}
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

// KeepText adds a text to a note's history as a version found on disk.
func (s *Versions) KeepText(ctx context.Context, path string, data []byte, at time.Time) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		return newHistoryWriter(ctx, tx).keepAlways(foundVersion(path, data, at.UnixNano()))
	})
}

// foundVersion returns the version for a text found on disk.
func foundVersion(path string, data []byte, at int64) Version {
	codec, packed := Pack(data)
	return Version{Path: path, time: at, Hash: rawHash(data), codec: codec, data: packed, size: int64(len(data))}
}

// RevisionText returns the text of a revision of a note that has, or ever had, the
// path. op is the operation named in errors.
func (s *Versions) RevisionText(ctx context.Context, op, notePath string, revision int64, scope notes.Scope) ([]byte, error) {
	text, _, err := s.revision(ctx, op, notePath, revision, scope)
	return text, err
}

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

// Diffs in results are shortened for reading; history has the whole change.
const (
	diffContext  = 2
	diffMaxBytes = 4000
)

// ShortDiff returns a unified diff of two texts, truncated to diffMaxBytes.
func ShortDiff(old, new []byte, name string) string {
	return textdiff.Unified(old, new, name, diffContext, diffMaxBytes)
}

// Typing between two saves removes at most typedOver bytes, and at most 1/typedOverPart
// of the text.
const (
	typedOver     = 64
	typedOverPart = 4
	window        = 8 // length in bytes of the pieces compared
)

// losesText reports whether new lacks more of the text of old than typing removes
// between two saves of an editor.
func losesText(old, new []byte) bool {
	gone, fresh := linesOnlyIn(old, new), linesOnlyIn(new, old)
	most := min(typedOver, len(old)/typedOverPart)
	if len(gone) > 1<<18 || len(fresh) > 1<<18 { // bounds memory use
		return true
	}
	has := make(map[[window]byte]bool, len(fresh))
	for i := range fresh {
		has[windowAt(fresh, i)] = true
	}
	lost := 0
	for i := range gone {
		if !has[windowAt(gone, i)] {
			lost++
		}
	}
	return lost > most
}

func windowAt(text []byte, i int) (w [window]byte) {
	copy(w[:], text[i:])
	return w
}

// linesOnlyIn returns the lines of a that are not in b.
func linesOnlyIn(a, b []byte) []byte {
	has := map[string]bool{}
	for line := range bytes.Lines(b) {
		has[string(line)] = true
	}
	var only []byte
	for line := range bytes.Lines(a) {
		if !has[string(line)] {
			only = append(only, line...)
		}
	}
	return only
}
