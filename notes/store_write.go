package notes

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// entry is one step of a batch that makes the store equal to the disk.
type entry struct {
	kind     ChangeKind
	id       int64  // the row it is about; 0 for Created
	path     string // where the note is, or was (Deleted)
	oldPath  string // Moved
	diskPath string
	stat     stat
	hashedAt int64 // ns
	note     *Note // nil for Deleted
}

// touch is a file whose bytes are known although its stat changed.
type touch struct {
	id       int64
	diskPath string
	stat     stat
	hashedAt int64
}

// linksStale is the setting that says that links must be resolved anew for
// the whole vault: a large batch leaves that to the end.
const linksStale = "links_stale"

// apply commits the entries as one transaction and returns the changes that
// are now in the feed. Links are resolved with them, or all when a scan of the
// whole vault is through: most notes of a first one come after those that link
// to them. The caller holds the vault's lock.
func (s *Store) apply(ctx context.Context, entries []entry, touches []touch, deferLinks bool) ([]Change, error) {
	changes := make([]Change, 0, len(entries))
	var head int64
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		w, err := newWriter(ctx, tx, s.dates.Load())
		if err != nil {
			return err
		}
		for i := range entries {
			change, err := w.write(&entries[i], s.now().UnixNano())
			if err != nil {
				return fmt.Errorf("store %s: %w", entries[i].path, err)
			}
			change.load = s.loadNote
			changes = append(changes, change)
		}
		for _, t := range touches {
			if err := w.exec(`UPDATE notes SET date = iif(date = mtime, ?3, date), disk_path = ?1, size = ?2, mtime = ?3, ctime = ?4, inode = ?5, hashed_at = ?6 WHERE id = ?7`,
				t.diskPath, t.stat.size, t.stat.mtime, t.stat.ctime, t.stat.inode, t.hashedAt, t.id); err != nil {
				return err
			}
		}
		head = w.head
		if deferLinks {
			return setSetting(ctx, tx, linksStale, true)
		}
		return resolveChanged(ctx, tx, entries)
	})
	if err != nil {
		return nil, err
	}
	s.head.Store(uint64(head))
	return changes, nil
}

// writer writes notes within one transaction.
type writer struct {
	*statements
	dates  *dateRules
	head   int64 // seq of the last change
	lastID int64
}

func newWriter(ctx context.Context, tx *sql.Tx, dates *dateRules) (*writer, error) {
	w := &writer{statements: newStatements(ctx, tx), dates: dates}
	var err error
	if w.head, err = sequence(ctx, tx, "changes"); err != nil {
		return nil, err
	}
	w.lastID, err = sequence(ctx, tx, "notes")
	return w, err
}

func (w *writer) write(e *entry, now int64) (Change, error) {
	w.head++
	if e.kind == Created {
		w.lastID++
		e.id = w.lastID
	}
	change := Change{Seq: uint64(w.head), Kind: e.kind, NoteID: e.id, Path: e.path, OldPath: e.oldPath, note: e.note}
	if err := w.exec(`INSERT INTO changes (seq, kind, note, path, old_path) VALUES (?, ?, ?, ?, ?)`,
		w.head, string(e.kind), e.id, e.path, e.oldPath); err != nil {
		return change, err
	}
	if e.kind == Deleted {
		return change, w.exec(`DELETE FROM notes WHERE id = ?`, e.id)
	}
	e.note.ID, e.note.Seq = e.id, uint64(w.head)
	if err := w.row(e, now); err != nil {
		return change, err
	}
	return change, w.parts(e.note, e.kind != Created)
}

func (w *writer) row(e *entry, now int64) error {
	n := e.note
	hash, err := hex.DecodeString(n.Hash)
	if err != nil {
		return err
	}
	var frontMatter any
	if n.FrontMatter != nil {
		text, err := json.Marshal(n.FrontMatter)
		if err != nil {
			return err
		}
		frontMatter = string(text)
	}
	created := now
	date, since := w.dates.of(n.Path, n.FrontMatter, n.Modified)
	if !since.IsZero() {
		created = since.UnixNano()
	}
	n.Date = date
	args := []any{n.Path, e.diskPath, key(n.Path), key(baseName(n.Path)), n.Title, key(n.Title), hash,
		e.stat.size, e.stat.mtime, e.stat.ctime, e.stat.inode, e.hashedAt, n.Date.UnixNano(), created, now,
		frontMatter, n.FrontMatterError, n.OpenTasks, w.head, n.ID}
	if e.kind == Created {
		return w.exec(`INSERT INTO notes (path, disk_path, path_key, name_key, title, title_key, hash,
			size, mtime, ctime, inode, hashed_at, date, created, first_seen, front_matter, front_matter_error, open_tasks, seq, id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, args...)
	}
	return w.exec(`UPDATE notes SET path = ?, disk_path = ?, path_key = ?, name_key = ?, title = ?, title_key = ?, hash = ?,
		size = ?, mtime = ?, ctime = ?, inode = ?, hashed_at = ?, date = ?, created = min(created, ?), first_seen = ?,
		front_matter = ?, front_matter_error = ?, open_tasks = ?, seq = ? WHERE id = ?`, args...)
}

// parts writes what hangs on a note, instead of what hung there before.
func (w *writer) parts(n *Note, replace bool) error {
	if replace {
		for _, table := range []string{"contents", "tags", "aliases", "links", "chunks"} {
			if err := w.exec(`DELETE FROM `+table+` WHERE note = ?`, n.ID); err != nil {
				return err
			}
		}
	}
	outline, err := packOutline(n)
	if err != nil {
		return err
	}
	codec, packed := pack([]byte(n.Content))
	if err := w.exec(`INSERT INTO contents (note, outline, codec, data) VALUES (?, ?, ?, ?)`, n.ID, outline, codec, packed); err != nil {
		return err
	}
	for i, t := range n.Tags {
		if err := w.exec(`INSERT INTO tags (note, ordinal, tag, tag_key) VALUES (?, ?, ?, ?)`, n.ID, i, t, key(t)); err != nil {
			return err
		}
	}
	for i, a := range n.Aliases {
		if err := w.exec(`INSERT INTO aliases (note, ordinal, alias, alias_key) VALUES (?, ?, ?, ?)`, n.ID, i, a, key(a)); err != nil {
			return err
		}
	}
	for i, l := range n.Links {
		if err := w.exec(`INSERT INTO links (note, ordinal, kind, target, target_key, anchor, alias, line, resolved, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)`,
			n.ID, i, string(l.Kind), l.Target, linkKey(l.Target), l.Anchor, l.Alias, l.Line); err != nil {
			return err
		}
	}
	return w.chunks(n)
}

// chunks writes all of a note's in one statement, as there are many.
func (w *writer) chunks(n *Note) error {
	if len(n.Chunks) == 0 {
		return nil
	}
	hashes := make([]string, len(n.Chunks))
	for i, c := range n.Chunks {
		hashes[i] = c.Hash
	}
	return w.exec(`INSERT INTO chunks (note, ordinal, hash) SELECT ?, key, unhex(value) FROM json_each(?)`, n.ID, jsonArg(hashes))
}
