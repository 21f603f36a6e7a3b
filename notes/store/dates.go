package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"notesd/notes"
)

// loadDates makes the rules of the store those that its dates were made with.
func (s *Store) loadDates(ctx context.Context) error {
	r := &notes.DateRules{}
	if err := s.Setting(ctx, datesSetting, r); err != nil {
		return err
	}
	r.Compile()
	s.dates.Store(r)
	return nil
}

// SetDates makes these the rules, and dates the notes by them, if they are
// other ones than before. The caller holds the vault's lock.
func (s *Store) SetDates(ctx context.Context, r *notes.DateRules) error {
	if s.dates.Load().Equal(r) {
		return nil
	}
	err := s.notes.Write(ctx, func(tx *sql.Tx) error {
		type dated struct{ id, date, created int64 }
		var changed []dated
		err := forEach(ctx, tx, `SELECT id, path, mtime, date, created, front_matter FROM notes`, nil, func(rows *sql.Rows) error {
			var d dated
			var p string
			var mtime, date, created int64
			var text sql.RawBytes
			if err := rows.Scan(&d.id, &p, &mtime, &date, &created, &text); err != nil {
				return err
			}
			var values map[string]any
			if text != nil {
				if err := json.Unmarshal(text, &values); err != nil {
					return err
				}
			}
			on, since := r.Of(p, values, time.Unix(0, mtime))
			if d.date, d.created = on.UnixNano(), created; !since.IsZero() {
				d.created = min(created, since.UnixNano())
			}
			if d.date != date || d.created != created {
				changed = append(changed, d)
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
		return SetSetting(ctx, tx, datesSetting, r)
	})
	if err == nil {
		s.dates.Store(r)
	}
	return err
}

// datesSetting is where the store keeps its dateRules.
const datesSetting = "dates"
