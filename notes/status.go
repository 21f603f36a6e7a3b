package notes

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Status is what the vault can say of itself.
type Status struct {
	Root         string
	Notes        int
	Seq          uint64 // of the newest change
	Scanning     bool
	Scanned      int // of ToScan, while Scanning
	ToScan       int
	Incomplete   bool      // notes are known to be missing, or to be other ones by now
	Skipped      []Skipped // the first few files that could be notes and are not
	SkippedTotal int
	Unavailable  string // why the vault cannot be used just now; "" when it can
	Trouble      string // why what is on disk cannot be taken in just now; it is tried again
	Warnings     []string
}

// statusSkipped is how many skipped files a status names.
const statusSkipped = 20

// Status reports on the vault.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	st := Status{Root: v.disk.path, Seq: v.store.head.Load(), Scanning: v.progress.active.Load() > 0,
		Scanned: int(v.progress.done.Load()), ToScan: int(v.progress.toScan.Load())}
	var err error
	if st.Notes, err = v.store.Count(ctx); err != nil {
		return st, err
	}
	if st.Incomplete = v.progress.differing.Load() > 0; !st.Incomplete && !v.Ready() {
		// A scan that has begun the store and not ended it leaves the links to its end.
		if err := v.store.setting(ctx, linksStale, &st.Incomplete); err != nil {
			return st, err
		}
		st.Incomplete = st.Incomplete || st.Notes == 0
	}
	if st.Skipped, st.SkippedTotal, err = v.store.skippedFiles(ctx, statusSkipped); err != nil {
		return st, err
	}
	if err := v.incident.get(); err != nil {
		st.Unavailable = err.Error()
	}
	st.Warnings = append([]string{}, v.store.Warnings()...)
	st.Warnings = append(st.Warnings, v.mounts.warnings()...)
	st.Warnings = append(st.Warnings, v.left.warnings()...)
	stale, err := v.store.staleLinks(ctx, v.opt.Now().Add(-journalAge))
	if err != nil {
		return st, err
	}
	st.Warnings = append(st.Warnings, stale...)
	behind := v.feed.behind()
	st.Warnings = append(st.Warnings, behind...)
	if st.Trouble = v.incident.getTrouble(); st.Trouble == "" && len(behind) > 0 {
		st.Trouble = behind[0]
	}
	return st, nil
}

// staleLinks names the notes whose links a move since then could not rewrite,
// as somebody else changed the note in that moment, and that have a link to
// nowhere still.
func (s *Store) staleLinks(ctx context.Context, since time.Time) ([]string, error) {
	moves := map[string]string{} // the note → what was moved
	err := s.history.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT iif(f.link <> '', f.link, f.new_path), first.path FROM operations o
			JOIN operation_files f ON f.operation = o.id JOIN operation_files first ON first.operation = o.id AND first.ordinal = 0
			WHERE o.state = 'done' AND o.kind = 'move' AND o.started > ? AND f.state = 'conflict'`, []any{since.UnixNano()}, func(rows *sql.Rows) error {
			var note, moved string
			err := rows.Scan(&note, &moved)
			moves[nfc(note)] = nfc(moved)
			return err
		})
	})
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	var out []string
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		return forEach(ctx, tx, `SELECT DISTINCT n.path FROM notes n JOIN links l ON l.note = n.id WHERE l.state = ? AND n.path IN (SELECT value FROM json_each(?)) ORDER BY n.path`,
			[]any{linkUnresolved, jsonArg(slices.Collect(maps.Keys(moves)))}, func(rows *sql.Rows) error {
				var note string
				err := rows.Scan(&note)
				out = append(out, fmt.Sprintf("%s has links that lead nowhere: it was changed in the moment when %s was moved, so its links were left as they were; correct them there", quote(note), quote(moves[note])))
				return err
			})
	})
	return out, err
}

// TagCount is a tag and how many notes have it.
type TagCount struct {
	Tag   string // as most recently spelled
	Notes int
}

// Tags returns the tags of the notes in scope, the most used first.
func (s *Store) Tags(ctx context.Context, scope Scope) ([]TagCount, error) {
	out := []TagCount{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args := Filter{Scope: scope.Read}.sql()
		return forEach(ctx, tx, `SELECT t.tag, count(*) FROM tags t JOIN notes n ON n.id = t.note WHERE `+where+`
			GROUP BY t.tag_key ORDER BY count(*) DESC, t.tag_key`, args, func(rows *sql.Rows) error {
			var t TagCount
			err := rows.Scan(&t.Tag, &t.Notes)
			out = append(out, t)
			return err
		})
	})
	return out, err
}

// FolderCount is a folder and how many notes lie directly in it.
type FolderCount struct {
	Folder string // "" is the vault
	Notes  int
}

// Folders returns the folders that hold notes in scope, by path.
func (s *Store) Folders(ctx context.Context, scope Scope) ([]FolderCount, error) {
	out := []FolderCount{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args := Filter{Scope: scope.Read}.sql()
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
				out = append(out, FolderCount{Folder: folder})
			}
			out[i].Notes++
			return nil
		})
	})
	return out, err
}

// Tags returns the tags of the notes in scope, the most used first.
func (v *Vault) Tags(ctx context.Context, scope Scope) ([]TagCount, error) {
	return v.store.Tags(ctx, scope)
}

// Folders returns the folders that hold notes in scope, by path.
func (v *Vault) Folders(ctx context.Context, scope Scope) ([]FolderCount, error) {
	return v.store.Folders(ctx, scope)
}
