package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// movedWithin is how long after another program has deleted a note a new file with its text
// can be that note. A sync client deletes the files of a moved folder seconds before it
// creates them, or minutes if they are many.
const movedWithin = 10 * time.Minute

// deleted is a note that another program has deleted.
type deleted struct {
	document int64
	Version  // the last one with a text
}

// keepCreated makes the documents of deleted notes live again: where a file with a deleted
// note's text has appeared, the note was moved there, and the entry gets its old path;
// any other file continues the note that was last at its path.
func (s *Versions) keepCreated(ctx context.Context, entries []Entry) error {
	var created []*Entry
	var removed []int64
	for i := range entries {
		switch e := &entries[i]; e.Kind {
		case notes.Created:
			created = append(created, e)
		case notes.Deleted:
			removed = append(removed, e.ID)
		}
	}
	if len(created) == 0 {
		return nil
	}
	return s.write(ctx, func(h historyWriter) error {
		gone, err := h.justDeleted(s.Now())
		if err != nil {
			return err
		}
		moved, err := s.pairDeleted(ctx, gone, created, removed)
		if err != nil {
			return err
		}
		var paths []string
		for _, e := range created {
			d := moved[e]
			if d == nil {
				paths = append(paths, e.Path)
				continue
			}
			e.OldPath = d.Path
			v := Version{Path: e.Path, oldPath: d.Path, time: s.Now().UnixNano(), author: notes.Outside, operation: "move", Hash: d.Hash, size: d.size}
			if _, err := h.add(d.document, v); err != nil {
				return err
			}
			if err := h.setDocument(d.document, e.Path, true); err != nil {
				return err
			}
		}
		return h.exec(`UPDATE documents SET live = 1 WHERE live = 0 AND id IN
			(SELECT (SELECT id FROM documents WHERE path = j.value ORDER BY live DESC, id DESC LIMIT 1) FROM json_each(?) j)`, sqlite.List(paths))
	})
}

// justDeleted returns the notes, except empty ones, that other programs have deleted within
// movedWithin, by the hash of their last text.
func (h historyWriter) justDeleted(now time.Time) (map[string][]*deleted, error) {
	gone := map[string][]*deleted{}
	err := sqlite.ForEach(h.ctx, h.tx, `SELECT d.id, d.path, last.hash, last.size FROM revisions gone CROSS JOIN documents d ON d.id = gone.document
		JOIN revisions last ON last.id = (SELECT max(id) FROM revisions WHERE document = d.id AND id < gone.id)
		WHERE gone.time >= ? AND gone.hash IS NULL AND gone.author = ? AND d.live = 0 AND last.size > 0
		AND gone.id = (SELECT max(id) FROM revisions WHERE document = d.id)`, []any{now.Add(-movedWithin).UnixNano(), notes.Outside.Name}, func(rows *sql.Rows) error {
		d := &deleted{}
		err := rows.Scan(&d.document, &d.Path, &d.Hash, &d.size)
		hash := hex.EncodeToString(d.Hash)
		gone[hash] = append(gone[hash], d)
		return err
	})
	return gone, err
}

// pairDeleted returns the deleted notes that reappear in created files. They have the same
// text, and no other note has it; otherwise, they are the only ones among those with this
// text that have this file name. removed are the rows of notes that are being deleted.
func (s *Versions) pairDeleted(ctx context.Context, gone map[string][]*deleted, created []*Entry, removed []int64) (map[*Entry]*deleted, error) {
	same := map[string][]*Entry{}
	for _, e := range created {
		if len(gone[e.Note.Hash]) > 0 {
			same[e.Note.Hash] = append(same[e.Note.Hash], e)
		}
	}
	if len(same) == 0 {
		return nil, nil
	}
	copies, err := sqlite.Map[string, bool](ctx, s.notes.Reader(), `SELECT DISTINCT lower(hex(hash)), true FROM notes
		WHERE hash IN (SELECT unhex(value) FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))`, sqlite.List(slices.Collect(maps.Keys(same))), sqlite.List(removed))
	if err != nil {
		return nil, err
	}
	moved := map[*Entry]*deleted{}
	for hash, files := range same {
		unique := len(files) == 1 && len(gone[hash]) == 1 && !copies[hash]
		name := func(p string) string {
			if unique {
				return ""
			}
			return path.Base(p)
		}
		from, to := map[string][]*deleted{}, map[string][]*Entry{}
		for _, d := range gone[hash] {
			from[name(d.Path)] = append(from[name(d.Path)], d)
		}
		for _, f := range files {
			to[name(f.Path)] = append(to[name(f.Path)], f)
		}
		for name, files := range to {
			if d := from[name]; len(d) == 1 && len(files) == 1 && d[0].Path != files[0].Path {
				moved[files[0]] = d[0]
			}
		}
	}
	return moved, nil
}
