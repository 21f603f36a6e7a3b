package vault

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"notesd/internal/atomicfile"
	"notesd/internal/fsid"
	"notesd/notes"
	"notesd/notes/store"
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
	there, err := v.store.PassedOver(ctx) // a file that cannot be read may still be the note
	if err != nil {
		return err
	}
	rows, err := v.store.Rows(ctx, nil)
	if err != nil {
		return err
	}
	for name := range rows {
		there[name] = fsid.Stat{}
	}
	docs, err := v.store.SelectDocuments(ctx, `true`)
	if err != nil {
		return err
	}
	current := map[string]store.Document{} // as currentDocument selects it
	for _, d := range docs {
		if before, ok := current[d.Path]; !ok || d.Live || !before.Live {
			current[d.Path] = d
		}
	}
	err = v.store.History().Write(ctx, func(tx *sql.Tx) error {
		h := store.NewHistoryWriter(ctx, tx)
		for _, d := range current {
			_, exists := there[d.Path]
			if d.Live == exists || p.isSpared(d.Path) {
				continue
			}
			if err := h.Settle(d, exists, v.store.Now()); err != nil {
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
func (v *Vault) History(ctx context.Context, q notes.HistoryQuery) (notes.HistoryPage, error) {
	path, err := v.historyPath(ctx, q.Note, q.Scope)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 20
	}
	before, err := store.ParseRevisionCursor(q.Cursor)
	if err != nil {
		return notes.HistoryPage{}, err
	}
	page := notes.HistoryPage{Revisions: []notes.Revision{}}
	enough := errors.New("enough")
	err = v.store.History().Read(ctx, func(tx *sql.Tx) error {
		return store.ForEach(ctx, tx, `SELECT r.id, r.time, r.author, r.author_version, r.operation, r.path, r.old_path, r.hash, r.size, r.added, r.removed
			FROM revisions r WHERE r.document IN (`+store.EverHad+`) AND r.id < ?2 ORDER BY r.id DESC`, []any{path, before}, func(rows *sql.Rows) error {
			r, err := store.ScanRevision(rows)
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
		return notes.HistoryPage{}, err
	}
	return page, nil
}

// historyPath returns the path whose history ref names: the path itself, when
// it is written whole and a note has or had it, else that of the one living or
// else deleted note with the name. The present version of a living note is put
// into history first.
func (v *Vault) historyPath(ctx context.Context, ref string, scope notes.Scope) (string, error) {
	meta, findErr := v.store.Lookup(ctx, ref, scope)
	if findErr != nil && !errors.Is(findErr, notes.ErrNotFound) && !errors.Is(findErr, notes.ErrAmbiguous) {
		return "", findErr
	}
	name, err := store.CleanRef(ref)
	if err != nil {
		return "", err
	}
	if findErr != nil || notes.Key(meta.Path) != notes.Key(name) {
		if notes.IsNoteName(name) && scope.CanRead(name) {
			if docs, err := v.store.Documents(ctx, name); err != nil || len(docs) > 0 {
				return name, err
			}
		}
	}
	if findErr == nil {
		return meta.Path, v.keepPresent(ctx, meta.ID)
	}
	if errors.Is(findErr, notes.ErrAmbiguous) {
		return "", findErr
	}
	return v.store.DeletedPath(ctx, name, scope, findErr)
}

func (v *Vault) keepPresent(ctx context.Context, id int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	present, err := v.store.StoredVersions(ctx, []int64{id})
	if err != nil || len(present) == 0 {
		return err
	}
	return v.store.History().Write(ctx, func(tx *sql.Tx) error {
		h := store.NewHistoryWriter(ctx, tx)
		doc, err := h.Document(present[id].Path)
		if err != nil {
			return err
		}
		newest, err := h.Newest(doc, 1)
		if err != nil || len(newest) > 0 && bytes.Equal(newest[0].Hash, present[id].Hash) {
			return err
		}
		return h.AddFound(doc, newest, present[id]) // not passing: it is about to be shown
	})
}

// Prune drops what the limits no longer let history keep, and the far end of
// the change feed.
func (v *Vault) Prune(ctx context.Context) error {
	limits := v.opt.History.WithDefaults()
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.store.History().Write(ctx, func(tx *sql.Tx) error {
		now := v.opt.Now()
		for _, drop := range []struct {
			query string
			arg   any
		}{
			{`DELETE FROM operations WHERE state <> 'pending' AND started < ?`, now.Add(-store.JournalAge).UnixNano()},
			{`DELETE FROM revisions WHERE time < ? AND ` + store.MayBePruned, now.Add(-limits.Age).UnixNano()},
			{`DELETE FROM revisions WHERE ` + store.MayBePruned + ` AND id IN (SELECT id FROM
				(SELECT id, row_number() OVER (PARTITION BY document ORDER BY id DESC) AS n FROM revisions) WHERE n > ?)`, limits.Revisions},
		} {
			if err := store.ExecAll(ctx, tx, drop.query, drop.arg); err != nil {
				return err
			}
		}
		if err := store.ExecAll(ctx, tx, `DELETE FROM blobs WHERE `+store.Unused); err != nil {
			return err
		}
		return store.PruneBytes(ctx, tx, limits.Bytes)
	})
	if err != nil {
		return err
	}
	return v.store.Notes().Write(ctx, func(tx *sql.Tx) error {
		return store.ExecAll(ctx, tx, `DELETE FROM changes WHERE seq <= ?`, int64(v.store.HeadSeq.Load())-store.KeepChanges)
	})
}

// Forget removes every trace of a deleted note from the store: its versions,
// the journal entries that have one of its texts or names, its place in the
// feed, its embeddings, and damaged databases that were set aside, which may
// have all of that; and rewrites both databases, so that nothing of it is left
// in their free pages either. ref is the note's path, or a name that one deleted
// note has. All deleted notes that ever had the path are forgotten. A note that
// still exists is refused: the file would only be indexed again.
//
// Followers are built anew, for engines keep deleted words in their files for
// a while; that takes as long as a first index. Log files hold no note text.
func (v *Vault) Forget(ctx context.Context, ref string, scope notes.Scope) (notes.Forgotten, error) {
	if err := v.Reconcile(ctx); err != nil { // it may have been deleted a moment ago
		return notes.Forgotten{}, err
	}
	p, err := v.forgettable(ctx, ref, scope)
	if err != nil {
		return notes.Forgotten{}, err
	}
	if err := v.checkWrite("forget", p, scope); err != nil {
		return notes.Forgotten{}, err
	}
	done, err := v.forgetStored(ctx, p)
	if err != nil {
		return done, err
	}
	was := v.progress.ready.Swap(false) // searches say so meanwhile
	defer v.progress.ready.Store(was)
	if err := v.feed.renew(ctx); err != nil {
		return done, err
	}
	done.SetAside, err = removeSetAside(filepath.Dir(v.store.History().Path()))
	return done, err
}

// forgettable returns the path of the deleted note that ref names.
func (v *Vault) forgettable(ctx context.Context, ref string, scope notes.Scope) (string, error) {
	name, err := store.CleanRef(ref)
	if err != nil {
		return "", err
	}
	exists := func(p, detail string) error {
		return &notes.Error{Op: "forget", Path: p, Err: notes.ErrExists, Detail: detail, Hint: "Delete it first; forgetting cannot be undone."}
	}
	if notes.IsNoteName(name) {
		rows, err := v.store.Rows(ctx, []string{name})
		if err != nil {
			return "", err
		}
		if _, alive := rows[name]; alive {
			return "", exists(name, "the note still exists")
		}
		docs, err := v.store.Documents(ctx, name)
		if err != nil {
			return "", err
		}
		dead := slices.DeleteFunc(slices.Clone(docs), func(d store.Document) bool { return d.Live })
		switch {
		case len(dead) > 0 && scope.CanRead(name):
			return name, nil
		case len(docs) > 0 && scope.CanRead(docs[0].Path):
			return "", exists(docs[0].Path, fmt.Sprintf("the note was moved to %s and still exists", notes.Quote(docs[0].Path)))
		}
	}
	if meta, err := v.store.Lookup(ctx, ref, scope); err == nil {
		return "", exists(meta.Path, "the note still exists")
	} else if errors.Is(err, notes.ErrAmbiguous) {
		return "", err
	}
	return v.store.DeletedPath(ctx, name, scope,
		&notes.Error{Op: "forget", Path: ref, Err: notes.ErrNotFound, Detail: "there is no deleted note of this name in the history"})
}

func (v *Vault) forgetStored(ctx context.Context, p string) (notes.Forgotten, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	done, err := v.store.ForgetHistory(ctx, p)
	if err != nil {
		return done, err
	}
	return done, v.store.ForgetDerived(ctx, done.Paths)
}

// setAsideNames match what the store, the search index and "notesd adopt" set
// aside.
var setAsideNames = regexp.MustCompile(`\.(damaged|corrupt|replaced)-\d{8}T\d{6}\.\d{3}(-wal|-shm)?$`)

// removeSetAside removes databases and indexes that were set aside from the
// state folder.
func removeSetAside(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var removed []string
	for _, e := range entries {
		if !setAsideNames.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return removed, err
		}
		removed = append(removed, e.Name())
	}
	return removed, nil
}

// ExportAsOf writes the notes as they were at a moment into dir, which must
// be empty or not exist, and returns how many it wrote. A note is exported in
// the version that history, or the vault itself, has of that moment;
// attachments are not versioned and are left out. A moment in the future, or
// before history begins, is an [*Error] with [ErrInvalid].
func (v *Vault) ExportAsOf(ctx context.Context, at time.Time, dir string) (int, error) {
	if err := v.checkMoment(ctx, at); err != nil {
		return 0, err
	}
	if err := emptyFolder(dir); err != nil {
		return 0, err
	}
	texts, err := v.store.AsOf(ctx, at.UnixNano())
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }() // every file was synced
	written := 0
	for notePath, load := range texts {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		text, err := load(ctx)
		if err != nil {
			return written, err
		}
		if err := writeExported(root, notePath, text); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

// checkMoment refuses a moment of which nothing, or not everything, is known.
func (v *Vault) checkMoment(ctx context.Context, at time.Time) error {
	refused := &notes.Error{Op: "export", Err: notes.ErrInvalid}
	if at.After(v.opt.Now()) {
		refused.Detail, refused.Hint = fmt.Sprintf("%s is in the future", at.Local().Format(time.DateTime)), "Name a moment in the past."
		return refused
	}
	begin, err := v.store.HistoryBegins(ctx)
	if err != nil {
		return err
	}
	if begin.IsZero() {
		refused.Detail, refused.Hint = "there is no history yet", "It begins when notesd first reads the vault."
		return refused
	}
	if at.Before(begin) {
		since := begin.Local().Add(time.Second).Format(time.DateTime) // rounded up: a moment that can be asked for
		refused.Detail, refused.Hint = fmt.Sprintf("there is no history of %s: it begins at %s", at.Local().Format(time.DateTime), since), fmt.Sprintf("Name a moment from %s on.", since)
		return refused
	}
	return nil
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755) //nolint:gosec // the user's own folder, as open as a vault is
	case err != nil:
		return err
	case len(entries) > 0:
		return &notes.Error{Op: "export", Path: filepath.Base(dir), Err: notes.ErrExists, Detail: "the folder is not empty", Hint: "Name a folder that does not exist yet."}
	}
	return nil
}

func writeExported(root *os.Root, notePath string, text []byte) error {
	if err := root.MkdirAll(path.Dir(notePath), 0o755); err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(root, path.Dir(notePath))
	if err != nil {
		return err
	}
	temp := store.TempName()
	err = dir.Stage(temp, text, nil)
	if err == nil {
		err = dir.Publish(temp, path.Base(notePath))
	}
	return errors.Join(err, dir.Close())
}
