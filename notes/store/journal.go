package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"notesd/internal/sqlite"
	"notesd/internal/textdiff"
	"notesd/notes"
)

// Begin writes the operation to the journal. Where a file differs from the version in
// the store, that version is added to history, because the store is about to replace
// it.
func (s *Journal) Begin(ctx context.Context, op *Operation, replaced map[int64]Version) error {
	return s.write(ctx, func(h historyWriter) error {
		key, request := splitRequest(op.RequestKey)
		mark := ""
		if op.Shared {
			mark = sharedMark
		}
		var err error
		if op.id, err = h.insert(`INSERT INTO operations (request_key, request, kind, client, client_version, started, state, result, part_of) VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))`,
			key, request, op.Kind, op.Author.Name, op.Author.Version, s.Now().UnixNano(), StatePending, mark, op.PartOf); err != nil {
			return err
		}
		for i := range op.Files {
			f := &op.Files[i]
			if err := h.journalFile(op.id, i, f); err != nil {
				return err
			}
			if old, known := replaced[f.Note]; known && !bytes.Equal(old.Hash, rawHash(f.Old)) {
				if err := h.keepAlways(old); err != nil {
					return err
				}
			}
			if f.Folder {
				if err := s.keepMoving(h, f.OldPath); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// sharedMark is the result column of a shared operation that has no result yet.
const sharedMark = "shared"

// placedPaths selects the paths of the files of an operation with a state. CROSS JOIN makes
// SQLite find the operation before its files.
const placedPaths = `SELECT g.path, g.new_path FROM operation_files f CROSS JOIN operation_files g ON g.operation = f.operation
	WHERE f.temp = ? AND f.ordinal = 0 AND g.state = ?`

// Placed returns the paths of the files that the operation with this ID has put in
// place or removed, both before and after the operation.
func (s *Journal) Placed(ctx context.Context, id string) (map[string]bool, error) {
	paths := map[string]bool{}
	err := sqlite.ForEach(ctx, s.history.Reader(), placedPaths, []any{id, StateDone}, func(rows *sql.Rows) error {
		var old, path string
		err := rows.Scan(&old, &path)
		paths[notes.Nfc(old)], paths[notes.Nfc(path)] = true, true
		return err
	})
	return paths, err
}

// keepMoving adds the current versions of notes in a folder about to move to history,
// if they are missing there: for notes that have a history, and for all notes if they
// are few, as in a move by another program; otherwise for one more, so that the change
// can be found.
func (s *Journal) keepMoving(h historyWriter, folder string) error {
	known, err := sqlite.Map[string, string](h.ctx, h.tx, `SELECT documents.path, lower(hex(r.hash))
		FROM documents JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = documents.id) WHERE `+liveBelow, folder)
	if err != nil {
		return err
	}
	var changed, unknown []int64
	err = sqlite.ForEach(h.ctx, s.notes.Reader(), `SELECT id, path, lower(hex(hash)) FROM notes WHERE path > ?1 || '/' AND path < ?1 || '0'`, []any{folder}, func(rows *sql.Rows) error {
		var id int64
		var path, hash string
		err := rows.Scan(&id, &path, &hash)
		if last, ok := known[path]; !ok {
			unknown = append(unknown, id)
		} else if last != hash {
			changed = append(changed, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(known)+len(unknown) > fewMoved {
		unknown = unknown[:min(1, len(unknown))]
	}
	for part := range slices.Chunk(append(changed, unknown...), textsAtOnce) {
		stored, err := s.StoredVersions(h.ctx, part)
		if err != nil {
			return err
		}
		for _, id := range part {
			doc, err := h.document(stored[id].Path)
			if err != nil {
				return err
			}
			if err := h.keepOutside(doc, stored[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepUnless adds the text of a note that an operation left unchanged to its history,
// unless history has this text. The store may lack it: a recovery that was itself
// interrupted can get further than the one that closes the operation.
func (h historyWriter) keepUnless(notePath string, text []byte, now int64) error {
	var kept bool
	if err := h.row(`SELECT EXISTS (SELECT 1 FROM revisions WHERE hash = ?)`, []any{rawHash(text)}, &kept); err != nil || kept {
		return err
	}
	return h.keepAlways(foundVersion(notePath, text, now))
}

// journalEntry is what the journal records about a temp file.
type journalEntry struct {
	State            string // of the operation
	Note             string // path of the displaced note, after a move; "" if none
	OldHash, NewHash []byte // OldHash is set for a note only if history has the text
}

// JournalOf returns the entry for a temp file, or nil.
func (s *Journal) JournalOf(ctx context.Context, temp string) (*journalEntry, error) {
	e := &journalEntry{}
	err := s.history.Reader().QueryRowContext(ctx, `SELECT o.state, CASE WHEN f.link <> '' THEN f.link WHEN f.state = 'done' AND f.path <> '' AND f.new_path <> '' THEN f.new_path ELSE f.path END,
		CASE WHEN `+notNote+` OR EXISTS (SELECT 1 FROM revisions WHERE hash = f.old_hash) THEN f.old_hash END, f.new_hash
		FROM operation_files f JOIN operations o ON o.id = f.operation WHERE f.temp = ?`, temp).Scan(&e.State, &e.Note, &e.OldHash, &e.NewHash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	e.Note = notes.Nfc(e.Note)
	return e, err
}

func (h historyWriter) journalFile(operation int64, ordinal int, f *FileChange) error {
	f.Temp, f.State = TempName(), StatePending
	var hashes [2]any
	for i, text := range []struct {
		path string
		data []byte
	}{{f.OldPath, f.Old}, {f.NewPath, f.New}} {
		if text.path == "" || f.Folder {
			continue
		}
		hash, err := h.keep(text.data)
		if err != nil {
			return err
		}
		hashes[i] = hash
	}
	return h.exec(`INSERT INTO operation_files (operation, ordinal, path, new_path, temp, old_hash, new_hash, state, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		operation, ordinal, f.OldDisk, f.NewDisk, f.Temp, hashes[0], hashes[1], f.State, f.Link)
}

// Fail closes an operation that changed nothing, and releases its request key so that
// the request can be retried.
func (s *Journal) Fail(ctx context.Context, op *Operation, state string, cause error) error {
	return s.history.Write(ctx, func(tx *sql.Tx) error {
		if err := execAll(ctx, tx, `UPDATE operations SET state = ?, result = ?, request_key = '' WHERE id = ?`, state, jsonText(cause.Error()), op.id); err != nil {
			return err
		}
		return releaseTexts(ctx, tx, op.id)
	})
}

// releaseTexts removes the texts of a finished operation that nothing uses: those that it
// did not write.
func releaseTexts(ctx context.Context, tx *sql.Tx, operation int64) error {
	hashes, err := sqlite.Column[string](ctx, tx, operationRows.texts, sqlite.List([]int64{operation}))
	if err != nil {
		return err
	}
	return removeUnused(ctx, tx, hashes)
}

// Finish closes an operation that is complete on disk and in the store: it adds the
// revisions, and stores the answer for repeated requests. It returns the revision of
// the first file.
func (s *Journal) Finish(ctx context.Context, op *Operation, replaced map[int64]Version, answer notes.Written) (revision int64, err error) {
	err = s.write(ctx, func(h historyWriter) error {
		now := s.Now().UnixNano()
		for n := range op.Files {
			i := n
			if op.Files[0].Folder {
				// The folder comes last: until then, notes in it whose links changed are found
				// by their old paths, and they get one revision for both.
				i = (n + 1) % len(op.Files)
			}
			f := &op.Files[i]
			if err := h.exec(`UPDATE operation_files SET state = ? WHERE operation = ? AND ordinal = ?`, f.State, op.id, i); err != nil {
				return err
			}
			var made int64
			switch {
			case f.State == StateDone && f.Folder:
				err = h.moveFolder(op, f, now)
			case f.State == StateDone && f.IsNote():
				if f.Conflict != nil { // moved with a text that is not in the journal
					_, err = h.keep(f.New)
				}
				if err == nil {
					made, err = h.reviseFile(op, f, replaced[f.Note], now)
				}
			case f.State != StateDone && f.IsNote() && f.OldPath != "":
				err = h.keepUnless(f.OldPath, f.Old, now)
			}
			if err != nil {
				return err
			}
			if i == 0 {
				revision = made
			}
		}
		answer.Revision = revision
		if err := h.exec(`UPDATE operations SET state = ?, result = ? WHERE id = ?`, StateDone, jsonText(answer), op.id); err != nil {
			return err
		}
		return releaseTexts(ctx, h.tx, op.id)
	})
	return revision, err
}

// reviseFile appends the operation's version of a file to its history, after the
// replaced version if history lacks that.
func (h historyWriter) reviseFile(op *Operation, f *FileChange, stored Version, now int64) (int64, error) {
	find := h.document
	if op.Kind == "restore" && f.OldPath == "" {
		find = h.restored
	}
	doc, err := find(cmp.Or(f.OldPath, f.NewPath))
	if err != nil {
		return 0, err
	}
	if f.OldPath != "" {
		seen := now
		if string(stored.Hash) == string(rawHash(f.Old)) {
			seen = stored.time
		}
		if err := h.keepOutside(doc, foundVersion(f.OldPath, f.Old, seen)); err != nil {
			return 0, err
		}
	}
	v := Version{Path: f.NewPath, time: now, author: cmp.Or(f.Author, op.Author), operation: op.on(f), size: int64(len(f.New)), change: op.change()}
	v.added, v.removed = textdiff.Count(f.Old, f.New)
	if f.NewPath == "" {
		v.Path = f.OldPath
	} else {
		v.Hash = rawHash(f.New)
	}
	if f.Moves() {
		v.oldPath = f.OldPath
	}
	revision, err := h.add(doc, v)
	if err != nil {
		return 0, err
	}
	return revision, h.setDocument(doc, v.Path, f.NewPath != "")
}

// on returns what the operation does to one of its files. What was done in another node's
// folder at about the same time arrives as one edit of all these files.
func (op *Operation) on(f *FileChange) string {
	switch {
	case op.Kind != opEdit || f.OldPath == f.NewPath:
		return op.Kind
	case f.OldPath == "":
		return "create"
	case f.NewPath == "":
		return "delete"
	}
	return "move"
}

// liveBelow selects the live documents in the folder ?1.
const liveBelow = `documents.path > ?1 || '/' AND documents.path < ?1 || '0' AND documents.live = 1`

// moveFolder updates the history of every note in a moved folder. Notes that have a
// history get a revision for the move.
func (h historyWriter) moveFolder(op *Operation, f *FileChange, now int64) error {
	err := h.exec(`INSERT INTO revisions (document, time, author, author_version, operation, path, old_path, hash, size, added, removed, change)
		SELECT documents.id, ?3, ?4, ?5, 'move', ?2 || substr(documents.path, length(?1) + 1), documents.path, r.hash, r.size, 0, 0, ?6
		FROM documents JOIN revisions r ON r.id = (SELECT max(id) FROM revisions WHERE document = documents.id) WHERE `+liveBelow,
		f.OldPath, f.NewPath, now, op.Author.Name, op.Author.Version, op.change())
	if err != nil {
		return err
	}
	return h.exec(`UPDATE documents SET path = ?2 || substr(path, length(?1) + 1) WHERE `+liveBelow, f.OldPath, f.NewPath)
}

// splitRequest splits what [notes.BindRequest] joined into the key and the hash of the
// request; the hash is "" for a key that is not bound to a request.
func splitRequest(requestKey string) (key, request string) {
	if i := strings.LastIndexByte(requestKey, 0); i >= 0 {
		return requestKey[:i], requestKey[i+1:]
	}
	return requestKey, ""
}

// Answered reports whether this request was already carried out, and if so unmarshals
// the stored answer into answer unless that is nil. A key used for a different request
// is [notes.ErrInvalid].
func Answered(ctx context.Context, history interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, requestKey string, answer any) (bool, error) {
	key, request := splitRequest(requestKey)
	if key == "" {
		return false, nil
	}
	var state, result, first string
	// Without the second condition, SQLite would not use the partial index.
	err := history.QueryRowContext(ctx, `SELECT state, result, request FROM operations WHERE request_key = ? AND request_key <> ''`, key).Scan(&state, &result, &first)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case request != "" && first != "" && request != first:
		return false, &notes.Error{Op: "repeat a request", Err: notes.ErrInvalid, Detail: "its request key was already used with another tool or other arguments",
			Hint: "Nothing was done. Use a new key for each request, and repeat a request with the same arguments."}
	case state != StateDone:
		return false, &notes.Error{Op: "repeat a request", Err: notes.ErrUnavailable, Detail: "the original request is still in progress, so its outcome is not known yet",
			Hint: "Try again later with the same key."}
	case answer == nil:
		return true, nil
	}
	return true, json.Unmarshal([]byte(result), answer)
}

// RecordAnswer stores the answer, for repeats, of a request that is carried out within
// tx and changes no files.
func RecordAnswer(ctx context.Context, tx *sql.Tx, requestKey, kind string, now time.Time, answer any) error {
	key, request := splitRequest(requestKey)
	if key == "" {
		return nil
	}
	return execAll(ctx, tx, `INSERT INTO operations (request_key, request, kind, client, client_version, started, state, result) VALUES (?, ?, ?, '', '', ?, ?, ?)`,
		key, request, kind, now.UnixNano(), StateDone, jsonText(answer))
}

// failPending, after UPDATE, closes the operations of a copied or salvaged history that are
// pending, as [Journal.Fail] does.
const failPending = `operations SET state = 'failed', request_key = '' WHERE state = 'pending'`

// incomplete selects the operations that cannot be recovered because their first file or one of
// their texts was lost with a damaged page.
const incomplete = `(NOT EXISTS (SELECT 1 FROM operation_files WHERE operation = operations.id AND ordinal = 0)
	OR EXISTS (SELECT 1 FROM operation_files f WHERE f.operation = operations.id AND (
		f.old_hash IS NOT NULL AND f.old_hash NOT IN (SELECT hash FROM blobs) OR
		f.new_hash IS NOT NULL AND f.new_hash NOT IN (SELECT hash FROM blobs))))`

// PendingOperations returns the operations interrupted by a crash, oldest first.
func (s *Journal) PendingOperations(ctx context.Context) ([]*Operation, error) {
	var ops []*Operation
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		err := sqlite.ForEach(ctx, tx, `SELECT id, coalesce(part_of, 0), request_key, kind, client, client_version, result FROM operations WHERE state = 'pending' ORDER BY id`, nil, func(rows *sql.Rows) error {
			op := &Operation{}
			var mark string
			err := rows.Scan(&op.id, &op.PartOf, &op.RequestKey, &op.Kind, &op.Author.Name, &op.Author.Version, &mark)
			op.Shared = mark == sharedMark
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

// Change returns a completed change as one operation with its files, or
// [notes.ErrNotFound]. A file whose old or new text is no longer kept, or which another
// program changed between two parts of the change, has the state StateFailed.
func (s *Journal) Change(ctx context.Context, id int64) (*Operation, error) {
	op := &Operation{id: id}
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		type part struct {
			Operation
			answer []byte
		}
		parts, err := sqlite.All(ctx, tx, func(p *part) []any { return []any{&p.id, &p.Kind, &p.answer} },
			`SELECT id, kind, result FROM operations WHERE (id = ?1 OR part_of = ?1) AND state = 'done' ORDER BY id`, id)
		if err != nil {
			return err
		}
		for i := range parts {
			p := &parts[i]
			if err := loadOperationFiles(ctx, tx, &p.Operation); err != nil {
				return err
			}
			if len(p.Files) == 0 { // of a vector table
				continue
			}
			var was notes.Written
			if err := json.Unmarshal(p.answer, &was); err != nil {
				return err
			}
			op.Kind, op.Made = p.Kind, append(op.Made, was.Made...)
			op.followWith(p.Files)
		}
		if len(op.Files) == 0 {
			return NoChange(id)
		}
		return nil
	})
	return op, err
}

// MadeFolder reports whether an operation in the journal created the folder.
func (s *Journal) MadeFolder(ctx context.Context, diskPath string) (bool, error) {
	return sqlite.First[bool](ctx, s.history.Reader(), `SELECT EXISTS (SELECT 1 FROM operations o, json_each(o.result, '$.Made') made
		WHERE o.state = ? AND o.result LIKE '%"Made":[%' AND made.value = ?)`, StateDone, diskPath)
}

// NoChange returns the error for a change that cannot be undone because it is not
// known.
func NoChange(id int64) error {
	return &notes.Error{Op: "restore", Err: notes.ErrNotFound, Detail: fmt.Sprintf("there is no change %d, it is older than %d days, or one of its notes was forgotten or is not visible here", id, int(JournalAge.Hours()/24)),
		Hint: "note_history lists changes; each note can be restored by its revision."}
}

func loadOperationFiles(ctx context.Context, tx *sql.Tx, op *Operation) error {
	var hashes [][2][]byte
	err := sqlite.ForEach(ctx, tx, `SELECT path, new_path, temp, old_hash, new_hash, state, link FROM operation_files WHERE operation = ? ORDER BY ordinal`, []any{op.id}, func(rows *sql.Rows) error {
		var f FileChange
		var pair [2][]byte
		err := rows.Scan(&f.OldDisk, &f.NewDisk, &f.Temp, &pair[0], &pair[1], &f.State, &f.Link)
		f.OldPath, f.NewPath = notes.Nfc(f.OldDisk), notes.Nfc(f.NewDisk)
		if f.Link != "" {
			f.OldPath, f.NewPath = notes.Nfc(f.Link), notes.Nfc(f.Link)
		}
		f.Folder = f.OldDisk != "" && f.NewDisk != "" && pair[0] == nil && pair[1] == nil
		op.Files, hashes = append(op.Files, f), append(hashes, pair)
		return err
	})
	if err != nil {
		return err
	}
	for i := range op.Files {
		f := &op.Files[i]
		op.followFolder(f)
		f.Old, err = loadBlob(ctx, tx, hashes[i][0])
		if err == nil {
			f.New, err = loadBlob(ctx, tx, hashes[i][1])
		}
		if errors.Is(err, sql.ErrNoRows) && f.State != StatePending {
			err = nil
			if f.State == StateDone {
				f.State = StateFailed // pruned by the history limits
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
