package notes

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Author is who made a version: a client by its name and version.
type Author struct {
	Name    string
	Version string
}

// Outside is whoever changed a file other than through notesd: an editor, a
// sync tool, git.
var Outside = Author{Name: "outside"}

// Revision is one version of a note in its history.
type Revision struct {
	Revision  int64 // what RestoreRequest takes; grows with time
	Time      time.Time
	Author    Author
	Operation string // create, edit, move, delete, restore; seen: found as such on disk
	Path      string // the note's path after it
	OldPath   string // where it was, for a move
	Hash      string // "" where the note was deleted
	Size      int64
	Added     int // lines, against the revision before
	Removed   int
}

// seenEvery thins out what is kept of an editor that saves every few seconds.
const seenEvery = 10 * time.Minute

// opSeen marks a version that was found on disk.
const opSeen = "seen"

// version is a text that history is to keep.
type version struct {
	path, oldPath  string
	time           int64
	author         Author
	operation      string
	hash           []byte // nil: deleted
	codec          int
	data           []byte // packed; nil when the blob is known to be there
	size           int64
	added, removed int
}

// keepOverwritten records, before the store forgets them, the versions that
// changes from outside have replaced: notes.db has the last text of each. The
// caller holds the vault's lock.
func (s *Store) keepOverwritten(ctx context.Context, entries []entry) error {
	var ids []int64
	byID := map[int64]entry{}
	for _, e := range entries {
		if e.kind != Created {
			ids = append(ids, e.id)
			byID[e.id] = e
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), 200) // bounds the memory that the old texts take
		if err := s.keepSome(ctx, ids[:n], byID); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

func (s *Store) keepSome(ctx context.Context, ids []int64, byID map[int64]entry) error {
	replaced, err := s.storedVersions(ctx, ids)
	if err != nil {
		return err
	}
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		h := historyWriter{newStatements(ctx, tx)}
		for id, old := range replaced {
			if err := h.outside(old, byID[id], s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// storedVersions returns the texts that notes.db has of these notes.
func (s *Store) storedVersions(ctx context.Context, ids []int64) (map[int64]version, error) {
	out := map[int64]version{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT n.id, n.path, n.first_seen, n.hash, n.size, c.codec, c.data
			FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value JOIN contents c ON c.note = n.id`, []any{jsonArg(ids)}, func(rows *sql.Rows) error {
			var id int64
			v := version{author: Outside, operation: opSeen}
			err := rows.Scan(&id, &v.path, &v.time, &v.hash, &v.size, &v.codec, &v.data)
			out[id] = v
			return err
		})
	})
	return out, err
}

// historyWriter writes history within one transaction.
type historyWriter struct{ *statements }

// outside records that a change from outside replaced the version old.
func (h historyWriter) outside(old version, e entry, now time.Time) error {
	doc, err := h.document(old.path)
	if err != nil {
		return err
	}
	if e.note == nil || hex.EncodeToString(old.hash) != e.note.Hash {
		if err := h.keepSeen(doc, old); err != nil {
			return err
		}
	}
	switch e.kind {
	case Deleted:
		gone := version{path: old.path, time: now.UnixNano(), author: Outside, operation: "delete"}
		if err := h.add(doc, gone); err != nil {
			return err
		}
		return h.setDocument(doc, old.path, false)
	case Moved:
		return h.setDocument(doc, e.path, true)
	}
	return nil
}

// keepSeen keeps a version that was found on disk, unless it is kept already
// or another was kept within [seenEvery] before it.
func (h historyWriter) keepSeen(doc int64, v version) error {
	last, err := h.last(doc)
	if err != nil {
		return err
	}
	known := last.exists && last.hash == string(v.hash)
	recent := last.exists && last.operation == opSeen && v.time-last.time < int64(seenEvery)
	if known || recent {
		return nil
	}
	return h.add(doc, v)
}

type lastRevision struct {
	exists    bool
	id        int64
	time      int64
	operation string
	hash      string // the raw bytes
}

func (h historyWriter) last(doc int64) (lastRevision, error) {
	var l lastRevision
	var hash []byte
	err := h.row(`SELECT id, time, operation, hash FROM revisions WHERE document = ? ORDER BY id DESC LIMIT 1`, []any{doc},
		&l.id, &l.time, &l.operation, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	l.exists, l.hash = true, string(hash)
	return l, err
}

// document returns the identity of the note at path, or of the one that was
// there last, minting one for a note without history.
func (h historyWriter) document(path string) (int64, error) {
	var id int64
	err := h.row(`SELECT id FROM documents WHERE path = ? ORDER BY live DESC, id DESC LIMIT 1`, []any{path}, &id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	result, err := h.result(`INSERT INTO documents (path, live) VALUES (?, 1)`, path)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (h historyWriter) setDocument(id int64, path string, live bool) error {
	return h.exec(`UPDATE documents SET path = ?, live = ? WHERE id = ?`, path, live, id)
}

// add appends a revision and returns nothing but the error; its number is
// what last returns next.
func (h historyWriter) add(doc int64, v version) error {
	if v.data != nil {
		if err := h.blob(v.hash, v.size, v.codec, v.data); err != nil {
			return err
		}
	}
	return h.exec(`INSERT INTO revisions (document, time, author, author_version, operation, path, old_path, hash, size, added, removed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, doc, v.time, v.author.Name, v.author.Version, v.operation, v.path, v.oldPath, v.hash, v.size, v.added, v.removed)
}

func (h historyWriter) blob(hash []byte, size int64, codec int, data []byte) error {
	return h.exec(`INSERT OR IGNORE INTO blobs (hash, size, codec, data) VALUES (?, ?, ?, ?)`, hash, size, codec, nonNil(data))
}

// keep stores a text under its hash and returns the hash.
func (h historyWriter) keep(data []byte) ([]byte, error) {
	hash, err := hex.DecodeString(hashOf(data))
	if err != nil {
		return nil, err
	}
	codec, packed := pack(data)
	return hash, h.blob(hash, int64(len(data)), codec, packed)
}

// HistoryPage is part of a note's history, newest first.
type HistoryPage struct {
	Revisions []Revision
	Next      string // "" at the end
}

// HistoryQuery asks for the history of a note, also of a deleted one by the
// path that it had.
type HistoryQuery struct {
	Note   string
	Limit  int // 0 is 20
	Cursor string
	Scope  Scope
}

// History returns the versions of a note, newest first. The note's present
// version is always among them.
func (v *Vault) History(ctx context.Context, q HistoryQuery) (HistoryPage, error) {
	path, err := v.historyPath(ctx, q.Note, q.Scope)
	if err != nil {
		return HistoryPage{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	before, err := parseRevisionCursor(q.Cursor)
	if err != nil {
		return HistoryPage{}, err
	}
	page := HistoryPage{Revisions: []Revision{}}
	err = v.store.history.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT r.id, r.time, r.author, r.author_version, r.operation, r.path, r.old_path, r.hash, r.size, r.added, r.removed
			FROM revisions r WHERE r.document = (SELECT id FROM documents WHERE path = ? ORDER BY live DESC, id DESC LIMIT 1) AND r.id < ?
			ORDER BY r.id DESC LIMIT ?`, []any{path, before, q.Limit + 1}, func(rows *sql.Rows) error {
			r, err := scanRevision(rows)
			page.Revisions = append(page.Revisions, r)
			return err
		})
	})
	if err != nil {
		return HistoryPage{}, err
	}
	if len(page.Revisions) > q.Limit {
		page.Revisions = page.Revisions[:q.Limit]
		page.Next = fmt.Sprintf("r%d", page.Revisions[q.Limit-1].Revision)
	}
	return page, nil
}

func parseRevisionCursor(s string) (int64, error) {
	if s == "" {
		return 1<<62 - 1, nil
	}
	var n int64
	if _, err := fmt.Sscanf(s, "r%d", &n); err != nil {
		return 0, &Error{Op: "history", Err: ErrBadCursor, Detail: "the cursor is not one that note_history returned", Hint: "Leave the cursor out to start from the newest."}
	}
	return n, nil
}

func scanRevision(rows *sql.Rows) (Revision, error) {
	var r Revision
	var at int64
	var hash []byte
	err := rows.Scan(&r.Revision, &at, &r.Author.Name, &r.Author.Version, &r.Operation, &r.Path, &r.OldPath, &hash, &r.Size, &r.Added, &r.Removed)
	r.Time, r.Hash = time.Unix(0, at), hex.EncodeToString(hash)
	return r, err
}

// historyPath returns the path under which history knows the note: the note's
// own, or the one that a deleted note had. The present version of a living
// note is put into history first.
func (v *Vault) historyPath(ctx context.Context, ref string, scope Scope) (string, error) {
	meta, err := v.store.Lookup(ctx, ref, scope)
	if err == nil {
		return meta.Path, v.keepPresent(ctx, meta.ID)
	}
	if !errors.Is(err, ErrNotFound) {
		return "", err
	}
	deleted, findErr := v.store.deletedPath(ctx, ref)
	if findErr != nil {
		return "", findErr
	}
	if deleted == "" || !scope.CanRead(deleted) {
		return "", err
	}
	return deleted, nil
}

func (v *Vault) keepPresent(ctx context.Context, id int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	present, err := v.store.storedVersions(ctx, []int64{id})
	if err != nil || len(present) == 0 {
		return err
	}
	return v.store.history.Write(ctx, func(tx *sql.Tx) error {
		h := historyWriter{newStatements(ctx, tx)}
		doc, err := h.document(present[id].path)
		if err != nil {
			return err
		}
		if last, err := h.last(doc); err != nil || last.exists && last.hash == string(present[id].hash) {
			return err
		}
		return h.add(doc, present[id])
	})
}

// deletedPath returns the path of the deleted note that ref names, or "".
func (s *Store) deletedPath(ctx context.Context, ref string) (string, error) {
	name, err := cleanRef(ref)
	if err != nil {
		return "", err
	}
	var paths []string
	err = s.history.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT path FROM documents WHERE live = 0 AND (path IN (?, ? || '.md') OR path LIKE '%/' || ? || '.md' ESCAPE '\')`,
			[]any{name, name, escapeLike(name)}, func(rows *sql.Rows) error {
				var p string
				err := rows.Scan(&p)
				if p == name || p == name+".md" {
					paths = append([]string{p}, paths...)
				} else {
					paths = append(paths, p)
				}
				return err
			})
	})
	if err != nil || len(paths) == 0 {
		return "", err
	}
	return paths[0], nil
}

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// keepText puts a text into a note's history as a version found on disk.
func (s *Store) keepText(ctx context.Context, path string, data []byte, at time.Time) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		h := historyWriter{newStatements(ctx, tx)}
		doc, err := h.document(path)
		if err != nil {
			return err
		}
		hash, err := h.keep(data)
		if err != nil {
			return err
		}
		return h.add(doc, version{path: path, time: at.UnixNano(), author: Outside, operation: opSeen, hash: hash, size: int64(len(data))})
	})
}
