package notes

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"notesd/internal/markdown"
)

// operation is a change to files that notesd makes. It is written to the
// journal, with everything needed to finish it, before the first file changes;
// so a crash at any instant is finished at the next start, a request that is
// sent again gets the answer it would have had, and every step can be undone.
type operation struct {
	id         int64
	requestKey string
	kind       string // create, edit, move, delete, restore
	author     Author
	files      []fileChange
	left       []string // canvases and bases that name what moves and could not be changed
	linkedFrom []string // notes with links to the one that is deleted; a recovery does not know them
	moved      []string // the notes in a folder that moves, by their new paths; nor these
}

// fileChange is one file of an operation.
type fileChange struct {
	note     int64  // the store's note; 0 for a new one
	oldPath  string // "" for a new note
	newPath  string // "" for one that is deleted
	oldDisk  string // the paths as the file system spells them
	newDisk  string
	folder   bool   // a folder with all that is in it; it has no text
	before   string // where the file lies until a folder of the operation has moved; "" when it does not lie in one
	link     string // the symlink by which the note is known, when the paths are its target's
	old, new []byte
	temp     string // the name beside newDisk (beside oldDisk for a delete)
	state    string
	conflict error // set when somebody else changed the file first
}

// States of operations and of their files.
const (
	statePending  = "pending"
	stateDone     = "done"
	stateFailed   = "failed"
	stateConflict = "conflict"
)

// isNote reports whether the file is a note, and not a canvas or base that
// names one: those have no history.
func (f *fileChange) isNote() bool { return IsNoteName(f.newPath) || IsNoteName(f.oldPath) }

func (f *fileChange) dir() string { return path.Dir(f.place()) }

// stageDir is where the temp file is written.
func (f *fileChange) stageDir() string {
	if f.before != "" {
		return path.Dir(f.before)
	}
	return f.dir()
}

// source is where the old text is until the first name has changed.
func (f *fileChange) source() string {
	if f.before != "" {
		return f.before
	}
	return f.oldDisk
}

func (f *fileChange) place() string {
	if f.newDisk == "" {
		return f.oldDisk
	}
	return f.newDisk
}

// tempPrefix starts the names of temp files; being hidden they are never notes.
const tempPrefix = ".notesd-"

func tempName() string { return tempPrefix + rand.Text()[:12] + ".tmp" }

var tempNames = regexp.MustCompile(`^` + regexp.QuoteMeta(tempPrefix) + `[A-Z2-7]{12}\.tmp(\.old|\.part)?$`)

// isTempName reports whether an operation made the name.
func isTempName(name string) bool { return tempNames.MatchString(name) }

// begin writes the operation to the journal, and to history the versions that
// the store has of its notes where the files say something else by now: the
// store is about to forget them.
func (s *Store) begin(ctx context.Context, op *operation, replaced map[int64]version) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		key, request := splitRequest(op.requestKey)
		result, err := tx.ExecContext(ctx, `INSERT INTO operations (request_key, request, kind, client, client_version, started, state) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			key, request, op.kind, op.author.Name, op.author.Version, s.now().UnixNano(), statePending)
		if err != nil {
			return err
		}
		if op.id, err = result.LastInsertId(); err != nil {
			return err
		}
		for i := range op.files {
			if err := h.journalFile(op.id, i, &op.files[i]); err != nil {
				return err
			}
			if err := h.keepReplaced(&op.files[i], replaced); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h historyWriter) keepReplaced(f *fileChange, replaced map[int64]version) error {
	old, known := replaced[f.note]
	if !known || f.note == 0 || f.folder || string(old.hash) == string(rawHash(f.old)) {
		return nil
	}
	doc, err := h.document(old.path)
	if err != nil {
		return err
	}
	return h.keepAlways(doc, old)
}

// keepUnless puts the text of a note that an operation left alone into its
// history unless it is in one. The store may have forgotten it, when a recovery
// that was interrupted itself got further than the one that closes the operation.
func (h historyWriter) keepUnless(notePath string, text []byte, now int64) error {
	var kept bool
	if err := h.row(`SELECT EXISTS (SELECT 1 FROM revisions WHERE hash = ?)`, []any{rawHash(text)}, &kept); err != nil || kept {
		return err
	}
	doc, err := h.document(notePath)
	if err != nil {
		return err
	}
	return h.keepAlways(doc, foundVersion(notePath, text, now))
}

// journalEntry is what the journal says of a temp file.
type journalEntry struct {
	state            string // of the operation
	note             string // the path of the note that it displaced; "" when none
	oldHash, newHash []byte // oldHash of a note only when history has the text
}

// journalOf returns the entry that names the temp file, or nil.
func (s *Store) journalOf(ctx context.Context, temp string) (*journalEntry, error) {
	e := &journalEntry{}
	err := s.history.Reader().QueryRowContext(ctx, `SELECT o.state, iif(f.link <> '', f.link, f.path),
		CASE WHEN f.path NOT LIKE '%.md' AND f.path NOT LIKE '%.markdown' AND f.link = '' OR EXISTS (SELECT 1 FROM revisions WHERE hash = f.old_hash) THEN f.old_hash END, f.new_hash
		FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.temp = ?`, temp).Scan(&e.state, &e.note, &e.oldHash, &e.newHash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	e.note = nfc(e.note)
	return e, err
}

func (h historyWriter) journalFile(operation int64, ordinal int, f *fileChange) error {
	f.temp, f.state = tempName(), statePending
	var hashes [2]any
	for i, text := range []struct {
		path string
		data []byte
	}{{f.oldPath, f.old}, {f.newPath, f.new}} {
		if text.path == "" || f.folder {
			continue
		}
		hash, err := h.keep(text.data)
		if err != nil {
			return err
		}
		hashes[i] = hash
	}
	return h.exec(`INSERT INTO operation_files (operation, ordinal, path, new_path, temp, old_hash, new_hash, state, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		operation, ordinal, f.oldDisk, f.newDisk, f.temp, hashes[0], hashes[1], f.state, f.link)
}

// fail closes an operation that changed nothing. Its request key is given up,
// so that the same request may be tried again.
func (s *Store) fail(ctx context.Context, op *operation, state string, cause error) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `UPDATE operations SET state = ?, result = ?, request_key = '' WHERE id = ?`, state, jsonText(cause.Error()), op.id)
	})
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is passed always marshals
	}
	return string(text)
}

// finish closes an operation that is on disk and in the store: it becomes
// revisions, and its answer is kept for repeats of the request. It returns the
// revision of the first file.
func (s *Store) finish(ctx context.Context, op *operation, replaced map[int64]version, answer Written) (revision int64, err error) {
	err = s.history.Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		now := s.now().UnixNano()
		for i := range op.files {
			f := &op.files[i]
			if err := execAll(ctx, tx, `UPDATE operation_files SET state = ? WHERE operation = ? AND ordinal = ?`, f.state, op.id, i); err != nil {
				return err
			}
			if f.state != stateDone {
				if !f.isNote() {
					continue
				}
				if err := h.keepUnless(f.oldPath, f.old, now); err != nil {
					return err
				}
				continue
			}
			if f.folder {
				if err := h.moveFolder(op, f, now); err != nil {
					return err
				}
				continue
			}
			if !f.isNote() {
				continue
			}
			made, err := h.reviseFile(op, f, replaced[f.note], now)
			if err != nil {
				return err
			}
			if i == 0 {
				revision = made
			}
		}
		answer.Revision = revision
		return execAll(ctx, tx, `UPDATE operations SET state = ?, result = ? WHERE id = ?`, stateDone, jsonText(answer), op.id)
	})
	return revision, err
}

// reviseFile appends what the operation made of a file to its history, after
// the version that it replaced if history does not have that yet.
func (h historyWriter) reviseFile(op *operation, f *fileChange, stored version, now int64) (int64, error) {
	was := f.oldPath
	if was == "" {
		was = f.newPath
	}
	doc, err := h.document(was)
	if err != nil {
		return 0, err
	}
	if f.oldPath != "" {
		seen := now
		if string(stored.hash) == string(rawHash(f.old)) {
			seen = stored.time
		}
		if err := h.keepOutside(doc, foundVersion(f.oldPath, f.old, seen)); err != nil {
			return 0, err
		}
	}
	v := version{path: f.newPath, time: now, author: op.author, operation: op.kind, size: int64(len(f.new))}
	v.added, v.removed = lineChanges(f.old, f.new)
	if f.newPath == "" {
		v.path = f.oldPath
	} else {
		v.hash = rawHash(f.new)
	}
	if f.oldPath != "" && f.newPath != "" && f.oldPath != f.newPath {
		v.oldPath = f.oldPath
	}
	if err := h.add(doc, v); err != nil {
		return 0, err
	}
	newest, err := h.newest(doc, 1)
	if err != nil {
		return 0, err
	}
	return newest[0].id, h.setDocument(doc, v.path, f.newPath != "")
}

// moveFolder moves the history of every note in a folder along. Notes that
// have a history get a revision for it.
func (h historyWriter) moveFolder(op *operation, f *fileChange, now int64) error {
	const below = `documents.path > ?1 || '/' AND documents.path < ?1 || '0' AND documents.live = 1`
	err := h.exec(`INSERT INTO revisions (document, time, author, author_version, operation, path, old_path, hash, size, added, removed)
		SELECT documents.id, ?3, ?4, ?5, 'move', ?2 || substr(documents.path, length(?1) + 1), documents.path, r.hash, r.size, 0, 0
		FROM documents JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = documents.id) WHERE `+below,
		f.oldPath, f.newPath, now, op.author.Name, op.author.Version)
	if err != nil {
		return err
	}
	return h.exec(`UPDATE documents SET path = ?2 || substr(path, length(?1) + 1) WHERE `+below, f.oldPath, f.newPath)
}

func rawHash(data []byte) []byte {
	raw, err := hex.DecodeString(hashOf(data))
	if err != nil {
		panic(err) // hashOf writes hex
	}
	return raw
}

// BindRequest returns the RequestKey of a request that came with the key and
// asks for this, which marshals to JSON. When the key comes again with something
// else, the request is refused: its answer would be that of the first.
func BindRequest(key string, asks ...any) string {
	if key == "" {
		return ""
	}
	return key + "\x00" + hashOf([]byte(jsonText(asks)))
}

// splitRequest takes what BindRequest made apart; a key alone is not bound.
func splitRequest(requestKey string) (key, request string) {
	if i := strings.LastIndexByte(requestKey, 0); i >= 0 {
		return requestKey[:i], requestKey[i+1:]
	}
	return requestKey, ""
}

// Answered reports whether an earlier sending of the same request was carried
// out, and puts its answer into answer, if that is not nil. A key that was used
// for another request is [ErrInvalid].
func Answered(ctx context.Context, history interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, requestKey string, answer any) (bool, error) {
	key, request := splitRequest(requestKey)
	if key == "" {
		return false, nil
	}
	var state, result, first string
	err := history.QueryRowContext(ctx, `SELECT state, result, request FROM operations WHERE request_key = ?`, key).Scan(&state, &result, &first)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case request != "" && first != "" && request != first:
		return false, &Error{Op: "repeat a request", Err: ErrInvalid, Detail: "its request key was used for another tool or with other arguments",
			Hint: "Nothing was done. Give every request a key of its own, and repeat one with the same arguments."}
	case state != stateDone:
		return false, &Error{Op: "repeat a request", Err: ErrUnavailable, Detail: "its first sending is not finished, so that its outcome is not known yet",
			Hint: "Send it again later, with the same key."}
	case answer == nil:
		return true, nil
	}
	return true, json.Unmarshal([]byte(result), answer)
}

// RecordAnswer keeps the answer to a request that tx carries out and that
// changes no file, for repeats of it.
func RecordAnswer(ctx context.Context, tx *sql.Tx, requestKey, kind string, now time.Time, answer any) error {
	key, request := splitRequest(requestKey)
	if key == "" {
		return nil
	}
	return execAll(ctx, tx, `INSERT INTO operations (request_key, request, kind, client, client_version, started, state, result) VALUES (?, ?, ?, '', '', ?, ?, ?)`,
		key, request, kind, now.UnixNano(), stateDone, jsonText(answer))
}

// pendingOperations returns what a crash has interrupted, oldest first.
func (s *Store) pendingOperations(ctx context.Context) ([]*operation, error) {
	var ops []*operation
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := forEach(ctx, tx, `SELECT id, request_key, kind, client, client_version FROM operations WHERE state = 'pending' ORDER BY id`, nil, func(rows *sql.Rows) error {
			op := &operation{}
			err := rows.Scan(&op.id, &op.requestKey, &op.kind, &op.author.Name, &op.author.Version)
			ops = append(ops, op)
			return err
		})
		if err != nil {
			return err
		}
		for _, op := range ops {
			if err := loadOperationFiles(ctx, tx, op); err != nil {
				return fmt.Errorf("journal entry %d: %w", op.id, err)
			}
		}
		return nil
	})
	return ops, err
}

func loadOperationFiles(ctx context.Context, tx *sql.Tx, op *operation) error {
	var hashes [][2][]byte
	err := forEach(ctx, tx, `SELECT path, new_path, temp, old_hash, new_hash, state, link FROM operation_files WHERE operation = ? ORDER BY ordinal`, []any{op.id}, func(rows *sql.Rows) error {
		var f fileChange
		var pair [2][]byte
		err := rows.Scan(&f.oldDisk, &f.newDisk, &f.temp, &pair[0], &pair[1], &f.state, &f.link)
		f.oldPath, f.newPath = nfc(f.oldDisk), nfc(f.newDisk)
		if f.link != "" {
			f.oldPath, f.newPath = nfc(f.link), nfc(f.link)
		}
		f.folder = f.oldDisk != "" && f.newDisk != "" && pair[0] == nil && pair[1] == nil
		op.files, hashes = append(op.files, f), append(hashes, pair)
		return err
	})
	if err != nil {
		return err
	}
	for i := range op.files {
		if op.files[i].old, err = loadBlob(ctx, tx, hashes[i][0]); err != nil {
			return err
		}
		if op.files[i].new, err = loadBlob(ctx, tx, hashes[i][1]); err != nil {
			return err
		}
	}
	return nil
}

// loadBlob returns the text with this hash; a nil hash stands for no text.
func loadBlob(ctx context.Context, tx *sql.Tx, hash []byte) ([]byte, error) {
	if hash == nil {
		return nil, nil
	}
	var codec int
	var packed []byte
	if err := tx.QueryRowContext(ctx, `SELECT codec, data FROM blobs WHERE hash = ?`, hash).Scan(&codec, &packed); err != nil {
		return nil, err
	}
	return unpack(codec, packed)
}

// written describes the operation's outcome; its revision is not known yet.
func (op *operation) written() Written {
	f := &op.files[0]
	w := Written{Path: f.newPath, Diff: shortDiff(f.old, f.new, f.newPath), Moved: op.moved, Conflicts: op.conflicts(), Left: op.left}
	if f.oldPath != "" && !f.folder {
		w.Was = hashOf(f.old)
	}
	if f.newPath == "" {
		w.Path, w.LinkedFrom = f.oldPath, op.linkedFrom
		return w
	}
	if !f.folder {
		w.Title, w.Hash = titleOf(f.newPath, markdown.Parse(f.new)), hashOf(f.new)
	}
	if f.oldPath != "" && f.oldPath != f.newPath {
		w.OldPath = f.oldPath
	}
	for _, other := range op.files[1:] {
		if other.conflict == nil && !bytes.Equal(other.old, other.new) {
			w.Relinked = append(w.Relinked, other.newPath)
		}
	}
	return w
}

func (op *operation) conflicts() []string {
	var paths []string
	for _, f := range op.files {
		if f.conflict != nil {
			paths = append(paths, f.oldPath)
		}
	}
	return paths
}

func (f *fileChange) isPureMove() bool {
	return f.oldPath != "" && f.newPath != "" && f.oldDisk != f.newDisk && string(f.old) == string(f.new)
}
