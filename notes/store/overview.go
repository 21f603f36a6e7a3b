package store

import (
	"context"
	"database/sql"
	"strings"

	"notesd/notes"
)

// Tags returns the tags of the notes in scope, the most used first.
func (s *Reader) Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	out := []notes.TagCount{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args := filterSQL(notes.Filter{Scope: scope.Read})
		return forEach(ctx, tx, `SELECT t.tag, count(*) FROM tags t JOIN notes n ON n.id = t.note WHERE `+where+`
			GROUP BY t.tag_key ORDER BY count(*) DESC, t.tag_key`, args, func(rows *sql.Rows) error {
			var t notes.TagCount
			err := rows.Scan(&t.Tag, &t.Notes)
			out = append(out, t)
			return err
		})
	})
	return out, err
}

// Folders returns the folders that hold notes in scope, by path.
func (s *Reader) Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error) {
	out := []notes.FolderCount{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args := filterSQL(notes.Filter{Scope: scope.Read})
		at := map[string]int{}
		return forEach(ctx, tx, `SELECT n.path FROM notes n WHERE `+where+` ORDER BY n.path`, args, func(rows *sql.Rows) error {
			var p string
			if err := rows.Scan(&p); err != nil {
				return err
			}
			folder := p[:max(0, strings.LastIndexByte(p, '/'))]
			i, ok := at[folder]
			if !ok {
				i = len(out)
				at[folder] = i
				out = append(out, notes.FolderCount{Folder: folder})
			}
			out[i].Notes++
			return nil
		})
	})
	return out, err
}
