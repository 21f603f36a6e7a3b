package notes

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// settleHistory records, once after a start, the deletion of notes that history
// has as existing and that are gone: nothing noticed that while notes.db was
// being rebuilt, or history.db is an older copy that was put back. Notes that
// history has as deleted, and that exist, exist again.
func (v *Vault) settleHistory(ctx context.Context, p *plan) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.settled {
		return nil
	}
	there, err := v.store.passedOver(ctx) // a file that cannot be read may still be the note
	if err != nil {
		return err
	}
	rows, err := v.store.rows(ctx, nil)
	if err != nil {
		return err
	}
	for name := range rows {
		there[name] = stat{}
	}
	docs, err := v.store.selectDocuments(ctx, `true`)
	if err != nil {
		return err
	}
	current := map[string]document{} // as currentDocument selects it
	for _, d := range docs {
		if before, ok := current[d.path]; !ok || d.live || !before.live {
			current[d.path] = d
		}
	}
	err = v.store.History().Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		for _, d := range current {
			_, exists := there[d.path]
			if d.live == exists || p.isSpared(d.path) {
				continue
			}
			if err := h.settle(d, exists, v.store.now()); err != nil {
				return err
			}
		}
		return nil
	})
	v.settled = err == nil
	return err
}

// History returns the versions of a note, and of every other note that ever
// had its path, newest first. The note's present version is always among them.
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
	enough := errors.New("enough")
	err = v.store.History().Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT r.id, r.time, r.author, r.author_version, r.operation, r.path, r.old_path, r.hash, r.size, r.added, r.removed
			FROM revisions r WHERE r.document IN (`+everHad+`) AND r.id < ?2 ORDER BY r.id DESC`, []any{path, before}, func(rows *sql.Rows) error {
			r, err := scanRevision(rows)
			if err != nil || !q.Scope.CanRead(r.Path) {
				return err // the note was, or is now, where this caller may not look
			}
			if len(page.Revisions) == q.Limit {
				page.Next = fmt.Sprintf("r%d", page.Revisions[q.Limit-1].Revision)
				return enough
			}
			if !q.Scope.CanRead(r.OldPath) {
				r.OldPath = ""
			}
			page.Revisions = append(page.Revisions, r)
			return nil
		})
	})
	if err != nil && !errors.Is(err, enough) {
		return HistoryPage{}, err
	}
	return page, nil
}

// historyPath returns the path whose history ref names: the path itself, when
// it is written whole and a note has or had it, else that of the one living or
// else deleted note with the name. The present version of a living note is put
// into history first.
func (v *Vault) historyPath(ctx context.Context, ref string, scope Scope) (string, error) {
	meta, findErr := v.store.Lookup(ctx, ref, scope)
	if findErr != nil && !errors.Is(findErr, ErrNotFound) && !errors.Is(findErr, ErrAmbiguous) {
		return "", findErr
	}
	name, err := cleanRef(ref)
	if err != nil {
		return "", err
	}
	if findErr != nil || key(meta.Path) != key(name) {
		if IsNoteName(name) && scope.CanRead(name) {
			if docs, err := v.store.documents(ctx, name); err != nil || len(docs) > 0 {
				return name, err
			}
		}
	}
	if findErr == nil {
		return meta.Path, v.keepPresent(ctx, meta.ID)
	}
	if errors.Is(findErr, ErrAmbiguous) {
		return "", findErr
	}
	return v.store.deletedPath(ctx, name, scope, findErr)
}

func (v *Vault) keepPresent(ctx context.Context, id int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	present, err := v.store.storedVersions(ctx, []int64{id})
	if err != nil || len(present) == 0 {
		return err
	}
	return v.store.History().Write(ctx, func(tx *sql.Tx) error {
		h := newHistoryWriter(ctx, tx)
		doc, err := h.document(present[id].path)
		if err != nil {
			return err
		}
		newest, err := h.newest(doc, 1)
		if err != nil || len(newest) > 0 && bytes.Equal(newest[0].hash, present[id].hash) {
			return err
		}
		return h.addFound(doc, newest, present[id]) // not passing: it is about to be shown
	})
}

// Prune drops what the limits no longer let history keep, and the far end of
// the change feed.
func (v *Vault) Prune(ctx context.Context) error {
	limits := v.opt.History.withDefaults()
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.store.History().Write(ctx, func(tx *sql.Tx) error {
		now := v.opt.Now()
		for _, drop := range []struct {
			query string
			arg   any
		}{
			{`DELETE FROM operations WHERE state <> 'pending' AND started < ?`, now.Add(-journalAge).UnixNano()},
			{`DELETE FROM revisions WHERE time < ? AND ` + mayBePruned, now.Add(-limits.Age).UnixNano()},
			{`DELETE FROM revisions WHERE ` + mayBePruned + ` AND id IN (SELECT id FROM
				(SELECT id, row_number() OVER (PARTITION BY document ORDER BY id DESC) AS n FROM revisions) WHERE n > ?)`, limits.Revisions},
		} {
			if err := execAll(ctx, tx, drop.query, drop.arg); err != nil {
				return err
			}
		}
		if err := execAll(ctx, tx, `DELETE FROM blobs WHERE `+unused); err != nil {
			return err
		}
		return pruneBytes(ctx, tx, limits.Bytes)
	})
	if err != nil {
		return err
	}
	return v.store.Notes().Write(ctx, func(tx *sql.Tx) error {
		return execAll(ctx, tx, `DELETE FROM changes WHERE seq <= ?`, int64(v.store.head.Load())-keepChanges)
	})
}
