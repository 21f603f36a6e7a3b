package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"time"
	"unsafe"

	"notesd/internal/fsid"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// ByID returns the notes with these IDs, with content, chunks, headings, tags and
// aliases but without links, in the order of ids. IDs of notes that no longer exist are
// skipped.
func (s *Reader) ByID(ctx context.Context, ids []int64) ([]*notes.Note, error) {
	found, err := loadNotes(ctx, s.byID, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*notes.Note, 0, len(ids))
	for _, id := range ids {
		if n := found[id]; n != nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// Metas returns the notes with these IDs without their tags, sorted by path. IDs of notes that no
// longer exist are skipped.
func (s *Reader) Metas(ctx context.Context, ids []int64) (metas []notes.Meta, err error) {
	err = s.notes.Read(ctx, func(tx *sql.Tx) (err error) {
		metas, err = selectMetas(ctx, tx, `n.id IN (SELECT value FROM json_each(?))`, sqlite.List(ids))
		return err
	})
	return metas, err
}

// LoadNote returns a note including its links, or nil if it does not exist.
func (s *Reader) LoadNote(ctx context.Context, id int64) (*notes.Note, error) {
	var note *notes.Note
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		found, err := loadNotes(ctx, tx.StmtContext(ctx, s.byID), []int64{id})
		if err != nil || found[id] == nil {
			return err
		}
		note = found[id]
		note.Links, err = loadLinks(ctx, tx, id)
		return err
	})
	return note, err
}

// selectNotes is prepared once per connection: SQLite takes as long to compile it as to
// run it.
const selectNotes = `SELECT n.id, n.path, n.title, n.hash, n.size, n.mtime, n.date, n.created, n.front_matter, n.front_matter_error, n.inline, n.open_tasks, n.seq, c.outline, c.codec, c.data
	FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value JOIN contents c ON c.note = n.id`

func loadNotes(ctx context.Context, byID *sql.Stmt, ids []int64) (map[int64]*notes.Note, error) {
	rows, err := byID.QueryContext(ctx, sqlite.List(ids))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err below reports the error
	found := make(map[int64]*notes.Note, len(ids))
	for rows.Next() {
		n, err := scanNote(rows)
		if err != nil {
			return nil, err
		}
		found[n.ID] = n
	}
	return found, rows.Err()
}

func scanNote(rows *sql.Rows) (*notes.Note, error) {
	n := &notes.Note{}
	var hash, frontMatter, inline sql.RawBytes
	var packed, outline []byte
	var mtime, date, created int64
	var codec int
	if err := rows.Scan(&n.ID, &n.Path, &n.Title, &hash, &n.Size, &mtime, &date, &created, &frontMatter, &n.FrontMatterError, &inline, &n.OpenTasks, &n.Seq, &outline, &codec, &packed); err != nil {
		return nil, err
	}
	n.Hash = hex.EncodeToString(hash)
	n.Modified, n.Date, n.Created = time.Unix(0, mtime), time.Unix(0, date), time.Unix(0, created)
	text, err := Unpack(codec, packed)
	if err != nil {
		return nil, err
	}
	n.Content = unsafe.String(unsafe.SliceData(text), len(text)) // no other reference to these bytes exists
	if err := unpackOutline(outline, n); err != nil {
		return nil, err
	}
	return n, setFields(n, frontMatter, inline)
}

func loadLinks(ctx context.Context, tx *sql.Tx, id int64) ([]notes.Link, error) {
	return sqlite.All(ctx, tx, func(l *notes.Link) []any { return []any{&l.Kind, &l.Target, &l.Anchor, &l.Alias, &l.Line} },
		`SELECT kind, target, anchor, alias, line FROM links WHERE note = ? ORDER BY ordinal`, id)
}

// Count returns the number of notes.
func (s *Reader) Count(ctx context.Context) (int, error) {
	return sqlite.First[int](ctx, s.notes.Reader(), `SELECT count(*) FROM notes`)
}

// Row is the data about a note that reconciling needs.
type Row struct {
	ID       int64
	Path     string
	DiskPath string
	Hash     string
	Stat     fsid.Stat
	Parser   int // the version of the parser that read it
	hashedAt int64
}

// Rows returns the notes at or below each of the paths, or all notes if paths is nil,
// keyed by path.
func (s *Store) Rows(ctx context.Context, paths []string) (map[string]Row, error) {
	where, args := ` FROM notes n`, []any(nil)
	if paths != nil {
		// '0' is the byte after '/': the range holds what lies below the path.
		where = ` FROM json_each(?) j CROSS JOIN notes n ON n.path = j.value OR (n.path > j.value || '/' AND n.path < j.value || '0')`
		args = []any{sqlite.List(paths)}
	}
	out := map[string]Row{}
	err := sqlite.ForEach(ctx, s.notes.Reader(), `SELECT n.id, n.path, n.disk_path, n.hash, n.size, n.mtime, n.ctime, n.inode, n.parser, n.hashed_at`+where, args, func(rows *sql.Rows) error {
		var r Row
		var hash sql.RawBytes
		err := rows.Scan(&r.ID, &r.Path, &r.DiskPath, &hash, &r.Stat.Size, &r.Stat.Mtime, &r.Stat.Ctime, &r.Stat.Inode, &r.Parser, &r.hashedAt)
		r.Hash = hex.EncodeToString(hash)
		out[r.Path] = r
		return err
	})
	return out, err
}

// PathByKey returns the path of a note with this folded path, or "".
func (s *Reader) PathByKey(ctx context.Context, pathKey string) (string, error) {
	return sqlite.First[string](ctx, s.notes.Reader(), `SELECT path FROM notes WHERE path_key = ? LIMIT 1`, pathKey)
}

// Unchanged reports whether a file with this stat can be trusted to still have the
// bytes from which the row was made.
func (r Row) Unchanged(s fsid.Stat) bool {
	changed := s.Ctime // unlike mtime, programs cannot set it
	if changed == 0 {
		changed = s.Mtime
	}
	return r.Stat == s && r.hashedAt-changed >= int64(racyWindow)
}

// racyWindow is how long after a change the stat of a file is not trusted: a second
// save within the same clock tick would not alter it, so a file read within this window
// is read again by the next scan. Git calls it the racy window; 2 s is the tick of FAT,
// the coarsest in use.
const racyWindow = 2 * time.Second

func scanMeta(rows *sql.Rows, before ...any) (notes.Meta, error) {
	var m notes.Meta
	var mtime, date int64
	err := rows.Scan(append(before, &m.ID, &m.Path, &m.Title, &m.Size, &mtime, &date)...)
	m.Modified, m.Date = time.Unix(0, mtime), time.Unix(0, date)
	m.Tags = []string{}
	return m, err
}

const metaColumns = `n.id, n.path, n.title, n.size, n.mtime, n.date`

// byID maps the notes by ID, and returns their IDs as an argument for a query.
func byID(metas []notes.Meta) (ids string, at map[int64]*notes.Meta) {
	at = make(map[int64]*notes.Meta, len(metas))
	list := make([]int64, len(metas))
	for i := range metas {
		list[i] = metas[i].ID
		at[list[i]] = &metas[i]
	}
	return sqlite.List(list), at
}

func loadTags(ctx context.Context, tx *sql.Tx, metas []notes.Meta) error {
	ids, at := byID(metas)
	return sqlite.ForEach(ctx, tx, `SELECT t.note, t.tag FROM json_each(?) j CROSS JOIN tags t ON t.note = j.value ORDER BY t.note, t.ordinal`, []any{ids}, func(rows *sql.Rows) error {
		var id int64
		var tag string
		if err := rows.Scan(&id, &tag); err != nil {
			return err
		}
		at[id].Tags = append(at[id].Tags, tag)
		return nil
	})
}

func selectMetas(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]notes.Meta, error) {
	var metas []notes.Meta
	err := sqlite.ForEach(ctx, tx, `SELECT `+metaColumns+` FROM notes n WHERE `+where+` ORDER BY n.path`, args, func(rows *sql.Rows) error {
		m, err := scanMeta(rows)
		metas = append(metas, m)
		return err
	})
	return metas, err
}

// ReadableEver is [Reader.Readable] for the history of a path: the scope must include
// every file that a symlink at this path has pointed to, since its versions are those
// of that file.
func (s *Versions) ReadableEver(ctx context.Context, scope notes.Scope) (canRead func(p string) bool, err error) {
	now, err := s.Readable(ctx, scope)
	if err != nil || scope.Read == nil {
		return now, err
	}
	hidden := map[string]bool{}
	err = sqlite.ForEach(ctx, s.history.Reader(), `SELECT path, target FROM symlinks`, nil, func(rows *sql.Rows) error {
		var p, target string
		err := rows.Scan(&p, &target)
		hidden[p] = hidden[p] || !scope.CanRead(target)
		return err
	})
	return func(p string) bool { return !hidden[p] && now(p) }, err
}

// Readable returns a function that reports whether the scope may read the file at a
// path, which must not be a symlink to a file that the scope may not read.
func (s *Reader) Readable(ctx context.Context, scope notes.Scope) (canRead func(p string) bool, err error) {
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		canRead, err = readable(ctx, tx, scope)
		return err
	})
	return canRead, err
}

// readable is [Reader.Readable] within a transaction.
func readable(ctx context.Context, tx *sql.Tx, scope notes.Scope) (canRead func(p string) bool, err error) {
	if scope.Read == nil {
		return scope.CanRead, nil
	}
	targets, err := sqlite.Map[string, string](ctx, tx, `SELECT j.key, j.value FROM store s, json_each(s.value) j WHERE s.key = ?`, symlinksSetting)
	return func(p string) bool {
		target, isLink := targets[p]
		return scope.CanRead(p) && (!isLink || scope.CanRead(target))
	}, err
}

// DiskPathsOf returns the places of the notes with this stat or, if there are none, this hash.
func (s *Store) DiskPathsOf(ctx context.Context, st fsid.Stat, hash string) ([]string, error) {
	same, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT disk_path FROM notes WHERE size = ? AND inode = ? AND mtime = ?`, st.Size, st.Inode, st.Mtime)
	if err != nil || len(same) > 0 {
		return same, err
	}
	return sqlite.Column[string](ctx, s.notes.Reader(), `SELECT disk_path FROM notes WHERE size = ? AND hash = unhex(?)`, st.Size, hash)
}
