package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
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
// are still in notes.db, before the store discards them. A created note that was deleted
// elsewhere a moment ago gets its old path. moving is the number of notes moved at once, of
// which the entries may be a part. The caller must hold the vault's lock.
func (s *Versions) KeepOverwritten(ctx context.Context, entries []Entry, moving int) error {
	var ids []int64
	byID := map[int64]Entry{}
	for _, e := range entries {
		if e.Kind != notes.Created && !e.Reparsed { // a reparsed note has the same text
			ids = append(ids, e.ID)
			byID[e.ID] = e
		}
	}
	for part := range slices.Chunk(ids, textsAtOnce) {
		if err := s.keepSome(ctx, part, byID, moving <= fewMoved); err != nil {
			return err
		}
	}
	return s.keepCreated(ctx, entries)
}

func (s *Versions) keepSome(ctx context.Context, ids []int64, byID map[int64]Entry, few bool) error {
	replaced, err := s.StoredVersions(ctx, ids)
	if err != nil {
		return err
	}
	return s.write(ctx, func(h historyWriter) error {
		for _, id := range ids { // in batch order, so that revisions are too
			old, ok := replaced[id]
			if !ok {
				continue
			}
			if err := h.outside(old, byID[id], s.Now(), few); err != nil {
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

// write runs do in a write transaction of history.db.
func (s *Versions) write(ctx context.Context, do func(h historyWriter) error) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error { return do(historyWriter{newStatements(ctx, tx)}) })
}

// outside records that an outside change replaced the version old.
func (h historyWriter) outside(old Version, e Entry, now time.Time, few bool) error {
	if recorded, err := h.recorded(old, e); err != nil || recorded {
		return err
	}
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
		if err := h.row(`SELECT NOT `+hadText, []any{doc, rawHash([]byte(e.Note.Content))}, &old.passing); err != nil { // otherwise an undo, or a checkout in a version control system
			return err
		}
	}
	return h.keepOutside(doc, old)
}

// recorded reports whether history has the move or deletion already: a crash, or a failure of
// notes.db, has left the stored version as it was.
func (h historyWriter) recorded(old Version, e Entry) (recorded bool, err error) {
	switch e.Kind {
	case notes.Moved:
		err = h.row(`SELECT EXISTS (SELECT 1 FROM documents WHERE path = ? AND live = 1) AND NOT EXISTS (SELECT 1 FROM documents WHERE path = ? AND live = 1)`,
			[]any{e.Path, old.Path}, &recorded)
	case notes.Deleted:
		err = h.row(`SELECT EXISTS (SELECT 1 FROM documents d WHERE id = (`+currentDocument+`) AND live = 0 AND ? =
			(SELECT hash FROM revisions WHERE document = d.id AND hash IS NOT NULL ORDER BY id DESC LIMIT 1))`, []any{old.Path, old.Hash}, &recorded)
	}
	return recorded, err
}

// hadText is the condition that a document has had the text with a hash. It is looked up by
// document (the + excludes the index of hashes): thousands of notes may have the same text.
const hadText = `EXISTS (SELECT 1 FROM revisions WHERE document = ?1 AND +hash = ?2)`

// has reports whether history has this stored version of the document, as the newest or with a
// later one by an operation: a power failure may take the last commits from notes.db, which is
// not synced at each.
func (h historyWriter) has(doc int64, newest []lastRevision, v Version) (has bool, err error) {
	if len(newest) > 0 && bytes.Equal(newest[0].hash, v.Hash) {
		return true, nil
	}
	err = h.row(`SELECT `+hadText+`
		AND EXISTS (SELECT 1 FROM revisions WHERE document = ?1 AND change IS NOT NULL AND time > ?3 AND hash IS NOT ?2)`, []any{doc, v.Hash, v.time}, &has)
	return has, err
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

// keepOutside appends a version found on disk, unless history has it. It replaces
// the newest if that one is passing and was made shortly after its predecessor. Times
// may run backwards: after a clock that was ahead is corrected, later versions must not
// be thinned.
func (h historyWriter) keepOutside(doc int64, v Version) error { return h.keepFound(doc, v, true) }

// keepAlways is keepOutside for the note at the version's path, but nothing is thinned.
func (h historyWriter) keepAlways(v Version) error {
	doc, err := h.document(v.Path)
	if err != nil {
		return err
	}
	return h.keepFound(doc, v, false)
}

// keepFound is keepOutside; thin reports whether it may drop or mark a version.
func (h historyWriter) keepFound(doc int64, v Version, thin bool) error {
	newest, err := h.newest(doc, 2)
	if err != nil {
		return err
	}
	if has, err := h.has(doc, newest, v); err != nil || has {
		return err
	}
	if thin && len(newest) == 2 && newest[0].passing {
		if gap := newest[0].time - newest[1].time; 0 <= gap && gap < int64(seenEvery) {
			if err := h.drop(newest[0]); err != nil {
				return err
			}
			newest = newest[1:]
		}
	}
	if thin && !v.passing {
		if v.passing, err = h.manyBefore(doc, v.time); err != nil {
			return err
		}
	}
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

// restored returns the document of a deleted note that is restored at path. The folder may have
// been spelled differently when the note was deleted.
func (h historyWriter) restored(path string) (id int64, err error) {
	err = sqlite.ForEach(h.ctx, h.tx, `SELECT id, path FROM documents WHERE live = 0 OR path = ?1 ORDER BY path = ?1, live, id`, []any{path}, func(rows *sql.Rows) error {
		var other int64
		var former string
		err := rows.Scan(&other, &former)
		if notes.Key(former) == notes.Key(path) {
			id = other
		}
		return err
	})
	if err != nil || id != 0 {
		return id, err
	}
	return h.document(path)
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
	return s.write(ctx, func(h historyWriter) error {
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
	return s.write(ctx, func(h historyWriter) error { return h.keepAlways(present[id]) }) // not thinned: it is about to be shown
}

// KeepText adds a text to a note's history as a version found on disk.
func (s *Versions) KeepText(ctx context.Context, path string, data []byte, at time.Time) error {
	return s.write(ctx, func(h historyWriter) error { return h.keepAlways(foundVersion(path, data, at.UnixNano())) })
}

// foundVersion returns the version for a text found on disk.
func foundVersion(path string, data []byte, at int64) Version {
	codec, packed := Pack(data)
	return Version{Path: path, time: at, Hash: rawHash(data), codec: codec, data: packed, size: int64(len(data))}
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

// ShortDiff returns a unified diff of two texts, truncated to diffMaxBytes.
func ShortDiff(old, new []byte, name string) string {
	return textdiff.Unified(old, new, name, diffContext, diffMaxBytes)
}

// Diffs in results are shortened for reading; history has the whole change.
const (
	diffContext  = 2
	diffMaxBytes = 4000
)
