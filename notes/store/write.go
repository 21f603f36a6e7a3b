package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"notesd/internal/markdown/tasks"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Apply commits the entries in one transaction and returns the changes, which are then
// in the feed. Links are resolved in the same transaction, or, if deferLinks is set, by
// [Store.FinishLinks] after a scan of the whole vault: in a first scan, most notes are
// stored after those that link to them. The caller must hold the vault's lock.
func (s *Store) Apply(ctx context.Context, entries []Entry, touches []Touch, deferLinks bool) ([]notes.Change, error) {
	changes := make([]notes.Change, 0, len(entries))
	var head int64
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		w := &writer{statements: newStatements(ctx, tx), dates: s.dates.Load(), tasksOf: s.tasksOf}
		var err error
		if w.head, err = sequence(ctx, tx, "changes"); err != nil {
			return err
		}
		if w.lastID, err = sequence(ctx, tx, "notes"); err != nil {
			return err
		}
		were, err := s.namesIn(ctx, tx, entries)
		if err != nil {
			return err
		}
		for i := range entries {
			change, err := w.write(&entries[i], s.Now().UnixNano())
			if err != nil {
				return fmt.Errorf("store %s: %w", entries[i].Path, err)
			}
			changes = append(changes, change)
		}
		for _, t := range touches {
			if err := w.exec(`UPDATE notes SET date = iif(date = mtime, ?3, date), disk_path = ?1, size = ?2, mtime = ?3, ctime = ?4, inode = ?5, hashed_at = ?6 WHERE id = ?7`,
				t.DiskPath, t.Stat.Size, t.Stat.Mtime, t.Stat.Ctime, t.Stat.Inode, t.HashedAt, t.ID); err != nil {
				return err
			}
		}
		head = w.head
		if deferLinks {
			return setSetting(ctx, tx, LinksStale, true)
		}
		return s.resolveChanged(ctx, tx, entries, w.linked, were)
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
	dates   *notes.DateRules
	tasksOf func(path string) *tasks.Settings
	head    int64 // seq of the last change
	lastID  int64
	linked  [][2]int64 // links written: note and ordinal
}

func (w *writer) write(e *Entry, now int64) (notes.Change, error) {
	w.head++
	if e.Kind == notes.Created {
		w.lastID++
		e.ID = w.lastID
	}
	change := notes.Change{Seq: uint64(w.head), Kind: e.Kind, NoteID: e.ID, Path: e.Path, OldPath: e.OldPath, Parsed: e.Note}
	if err := w.exec(`INSERT INTO changes (seq, kind, note, path, old_path) VALUES (?, ?, ?, ?, ?)`,
		w.head, string(e.Kind), e.ID, e.Path, e.OldPath); err != nil {
		return change, err
	}
	if e.Kind == notes.Deleted {
		return change, w.exec(`DELETE FROM notes WHERE id = ?`, e.ID)
	}
	e.Note.ID, e.Note.Seq = e.ID, uint64(w.head)
	e.Note.SetTasks(w.tasksOf(e.Path))
	if err := w.row(e, now); err != nil {
		return change, err
	}
	return change, w.parts(e)
}

func (w *writer) row(e *Entry, now int64) error {
	n := e.Note
	hash, err := hex.DecodeString(n.Hash)
	if err != nil {
		return err
	}
	var frontMatter any
	if n.FrontMatter != nil {
		frontMatter = jsonText(n.FrontMatter)
	}
	var created any // NULL: the note does not say
	date, since := w.dates.Of(n)
	if !since.IsZero() {
		created = since.UnixNano()
	}
	n.Date = date
	args := []any{n.Path, e.DiskPath, notes.Key(n.Path), notes.Key(notes.BaseName(n.Path)), n.Title, notes.Key(n.Title), hash,
		e.Stat.Size, e.Stat.Mtime, e.Stat.Ctime, e.Stat.Inode, e.HashedAt, n.Date.UnixNano(), created, now,
		frontMatter, n.FrontMatterError, inlineText(n), n.OpenTasks, notes.ParserVersion, w.head, n.ID}
	if e.Kind == notes.Created {
		return w.exec(`INSERT INTO notes (path, disk_path, path_key, name_key, title, title_key, hash,
			size, mtime, ctime, inode, hashed_at, date, created, first_seen, front_matter, front_matter_error, inline, open_tasks, parser, seq, id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, ?15), ?15, ?, ?, ?, ?, ?, ?, ?)`, args...)
	}
	return w.exec(`UPDATE notes SET path = ?, disk_path = ?, path_key = ?, name_key = ?, title = ?, title_key = ?, hash = ?,
		size = ?, mtime = ?, ctime = ?, inode = ?, hashed_at = ?, date = ?, created = coalesce(?, created), first_seen = iif(path = ?1 AND hash = ?7, first_seen, ?),
		front_matter = ?, front_matter_error = ?, inline = ?, open_tasks = ?, parser = ?, seq = ? WHERE id = ?`, args...)
}

// inlineText returns the note's inline fields as stored in their column.
func inlineText(n *notes.Note) string {
	if len(n.Inline) == 0 {
		return ""
	}
	return jsonText(n.Inline)
}

// parts writes the text, tags, aliases, links, tasks and chunks of a note, in place of
// those stored.
func (w *writer) parts(e *Entry) error {
	n := e.Note
	if e.Kind != notes.Created {
		for _, table := range []string{"contents", "tags", "aliases", "chunks"} {
			if err := w.exec(`DELETE FROM `+table+` WHERE note = ?`, n.ID); err != nil {
				return err
			}
		}
	}
	outline, err := packOutline(n)
	if err != nil {
		return err
	}
	codec, packed := Pack([]byte(n.Content))
	if err := w.exec(`INSERT INTO contents (note, outline, codec, data) VALUES (?, ?, ?, ?)`, n.ID, outline, codec, packed); err != nil {
		return err
	}
	for i, t := range n.Tags {
		if err := w.exec(`INSERT INTO tags (note, ordinal, tag, tag_key) VALUES (?, ?, ?, ?)`, n.ID, i, t, notes.Key(t)); err != nil {
			return err
		}
	}
	for i, a := range n.Aliases {
		if err := w.exec(`INSERT INTO aliases (note, ordinal, alias, alias_key) VALUES (?, ?, ?, ?)`, n.ID, i, a, notes.Key(a)); err != nil {
			return err
		}
	}
	if err := w.links(e); err != nil {
		return err
	}
	if err := w.tasks(e); err != nil {
		return err
	}
	return w.chunks(n)
}

// links writes the links of a note that differ from the stored ones.
func (w *writer) links(e *Entry) error {
	rows := make([][]any, len(e.Note.Links))
	for i, l := range e.Note.Links {
		rows[i] = []any{int64(i), string(l.Kind), l.Target, LinkKey(l.Target), l.Anchor, l.Alias, int64(l.Line)}
	}
	changed, err := w.changed(e, "links", "ordinal, kind, target, target_key, anchor, alias, line", rows)
	if err != nil {
		return err
	}
	for _, row := range changed {
		w.linked = append(w.linked, [2]int64{e.ID, row[0].(int64)})
		if err := w.exec(`INSERT OR REPLACE INTO links (note, state, ordinal, kind, target, target_key, anchor, alias, line) VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)`, append([]any{e.ID}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

// changed returns those of a note's rows, with these columns, that differ from the stored ones
// of the same ordinal, the first column, and deletes the stored rows beyond them. A note may
// have a hundred thousand, and writing a row takes ten times as long as reading it.
func (w *writer) changed(e *Entry, table, columns string, rows [][]any) ([][]any, error) {
	if e.Kind == notes.Created {
		return rows, nil
	}
	same := map[int64]bool{}
	err := sqlite.ForEach(w.ctx, w.tx, `SELECT `+columns+` FROM `+table+` WHERE note = ? AND ordinal BETWEEN 0 AND ?`, []any{e.ID, len(rows) - 1}, func(stored *sql.Rows) error {
		values, into := make([]any, len(rows[0])), make([]any, len(rows[0]))
		for i := range values {
			into[i] = &values[i]
		}
		err := stored.Scan(into...)
		if at, ok := values[0].(int64); ok && slices.Equal(values, rows[at]) {
			same[at] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row []any) bool { return same[row[0].(int64)] })
	return rows, w.exec(`DELETE FROM `+table+` WHERE note = ? AND ordinal NOT BETWEEN 0 AND ?`, e.ID, len(rows)+len(same)-1) // earlier versions wrote other ordinals
}

// chunks writes the chunks of a note in one statement, because there are many.
func (w *writer) chunks(n *notes.Note) error {
	hashes := make([]string, len(n.Chunks))
	for i, c := range n.Chunks {
		hashes[i] = c.Hash
	}
	return w.exec(`INSERT INTO chunks (note, ordinal, hash) SELECT ?, key, unhex(value) FROM json_each(?)`, n.ID, sqlite.List(hashes))
}

// SetDates changes the date rules and updates the dates of all notes. It is a no-op if
// the rules are unchanged. The caller must hold the vault's lock.
func (s *Store) SetDates(ctx context.Context, r *notes.DateRules) error {
	if s.dates.Load().Equal(r) {
		return nil
	}
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		type dated struct{ id, date, created int64 }
		var changed []dated
		err := sqlite.ForEach(ctx, tx, `SELECT `+recordColumns(nil)+` FROM notes n`, nil, func(rows *sql.Rows) error {
			n, err := scanRecord(rows)
			if err != nil {
				return err
			}
			date, created := r.Of(n)
			if created.IsZero() {
				created = n.Created
			}
			if !date.Equal(n.Date) || !created.Equal(n.Created) {
				changed = append(changed, dated{n.ID, date.UnixNano(), created.UnixNano()})
			}
			return nil
		})
		if err != nil {
			return err
		}
		w := newStatements(ctx, tx)
		for _, d := range changed {
			if err := w.exec(`UPDATE notes SET date = ?, created = ? WHERE id = ?`, d.date, d.created, d.id); err != nil {
				return err
			}
		}
		return setSetting(ctx, tx, datesSetting, r)
	})
	if err == nil {
		s.dates.Store(r)
	}
	return err
}

// datesSetting is the setting that holds the [notes.DateRules].
const datesSetting = "dates"

// tasks writes the tasks of a note that differ from the stored ones.
func (w *writer) tasks(e *Entry) error {
	const columns = "ordinal, line, open, status, mark, due, scheduled, done, rank, text_key, tag_keys, heading, source"
	rows := make([][]any, len(e.Note.Tasks))
	for i := range e.Note.Tasks {
		t := &e.Note.Tasks[i]
		open := int64(0)
		if t.Status.IsOpen() {
			open = 1
		}
		rows[i] = []any{int64(i), int64(t.Line), open, string(t.Status), t.Mark, cmp.Or(t.Due, noDate), cmp.Or(t.Scheduled, noDate), cmp.Or(t.Done, noDate),
			int64(t.Rank()), notes.Key(t.Text), tagKeys(t), t.Heading, t.Source}
	}
	changed, err := w.changed(e, "tasks", columns, rows)
	if err != nil {
		return err
	}
	for _, row := range changed {
		if err := w.exec(`INSERT OR REPLACE INTO tasks (note, `+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append([]any{e.ID}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

// noDate represents a missing date and sorts after all dates.
const noDate = "~"

// tagKey returns the key of a tag in tag_keys, between spaces; the tag may contain some: #[[deep work]].
func tagKey(tag string) string { return strings.ReplaceAll(notes.Key(tag), " ", "\n") }

// tagKeys returns the keys of a task's tags and of their parent tags, each between spaces.
func tagKeys(t *notes.Task) string {
	keys := " "
	for _, tag := range slices.Concat(t.Tags, t.NoteTags) {
		k := tagKey(tag) + "/"
		for end := range len(k) {
			if k[end] == '/' { // a tag also selects its nested tags
				keys += k[:end] + " "
			}
		}
	}
	return keys
}
