package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// order is one way to sort: the column, and whether the largest comes first.
type order struct {
	column     string
	descending bool
	text       bool
}

// orders are the sort orders of a list, by name.
var orders = map[string]order{
	"modified": {"n.mtime", true, false},
	"date":     {"n.date", true, false},
	"created":  {"n.created", true, false},
	"size":     {"n.size", true, false},
	"title":    {"n.title_key", false, true},
	"path":     {"n.path_key", false, true},
}

// cursor marks a place in a sorted list by the note last shown, not by a
// count: notes that come and go in between neither repeat nor hide others.
type cursor struct {
	Sort string `json:"s"`
	Text string `json:"t,omitempty"`
	Int  int64  `json:"i,omitempty"`
	ID   int64  `json:"n"`
}

func (c cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and ints always marshal
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseCursor(s, sort string) (cursor, error) {
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.Sort != sort {
		return c, &notes.Error{Op: "list", Err: notes.ErrBadCursor, Detail: "the cursor is not one that this list returned",
			Hint: "Leave the cursor out to start from the beginning."}
	}
	return c, nil
}

// List returns a page of the notes that the filter selects.
func (s *Reader) List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error) {
	if q.Sort == "" {
		q.Sort = "modified"
	}
	by, ok := orders[q.Sort]
	if !ok {
		return notes.ListPage{}, &notes.Error{Op: "list", Err: notes.ErrInvalid, Detail: fmt.Sprintf("cannot sort by %q", q.Sort),
			Hint: "Sort by one of " + strings.Join(slices.Sorted(maps.Keys(orders)), ", ") + "."}
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, 1000)
	if err := q.Filter.Check(); err != nil {
		return notes.ListPage{}, err
	}
	var page notes.ListPage
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args, err := listWhere(ctx, tx, q.Filter, s.periods())
		if err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM notes n WHERE `+where, args...).Scan(&page.Total); err != nil {
			return err
		}
		page.Notes, page.Next, err = listPage(ctx, tx, q, by, where, args)
		return err
	})
	return page, err
}

// Paths returns the paths of all notes that the filter selects, in order.
func (s *Reader) Paths(ctx context.Context, f notes.Filter) ([]string, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	var paths []string
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args, err := listWhere(ctx, tx, f, s.periods())
		if err == nil {
			paths, err = sqlite.Column[string](ctx, tx, `SELECT n.path FROM notes n WHERE `+where+` ORDER BY n.path`, args...)
		}
		return err
	})
	return paths, err
}

func listWhere(ctx context.Context, tx *sql.Tx, f notes.Filter, periods notes.Periods) (string, []any, error) {
	if !f.NeedsGo() {
		where, args := filterSQL(f)
		return where, args, nil
	}
	ids := []int64{}
	if err := selectIDs(ctx, tx, f, periods, func(id int64) { ids = append(ids, id) }); err != nil {
		return "", nil, err
	}
	return `n.id IN (SELECT value FROM json_each(?))`, []any{sqlite.List(ids)}, nil
}

func listPage(ctx context.Context, tx *sql.Tx, q notes.ListQuery, by order, where string, args []any) ([]notes.Meta, string, error) {
	direction, beyond := "ASC", ">"
	if by.descending {
		direction, beyond = "DESC", "<"
	}
	if q.Cursor != "" {
		c, err := parseCursor(q.Cursor, q.Sort)
		if err != nil {
			return nil, "", err
		}
		where += fmt.Sprintf(" AND (%s, n.id) %s (?, ?)", by.column, beyond)
		if by.text {
			args = append(args, c.Text, c.ID)
		} else {
			args = append(args, c.Int, c.ID)
		}
	}
	metas := []notes.Meta{}
	var last cursor
	err := sqlite.ForEach(ctx, tx, fmt.Sprintf(`SELECT %s, %s FROM notes n WHERE %s ORDER BY %s %s, n.id %s LIMIT %d`,
		by.column, metaColumns, where, by.column, direction, direction, q.Limit+1), args, func(rows *sql.Rows) error {
		c := cursor{Sort: q.Sort}
		value := any(&c.Int)
		if by.text {
			value = &c.Text
		}
		m, err := scanMeta(rows, value)
		if len(metas) < q.Limit {
			c.ID = m.ID
			last = c
		}
		metas = append(metas, m)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(metas) > q.Limit {
		metas, next = metas[:q.Limit], last.String()
	}
	if err := loadTags(ctx, tx, metas); err != nil || len(q.Fields) == 0 {
		return metas, next, err
	}
	return metas, next, loadFields(ctx, tx, metas, q.Fields)
}

// loadFields fills in the fields of the notes that are asked for.
func loadFields(ctx context.Context, tx *sql.Tx, metas []notes.Meta, fields []string) error {
	at := make(map[int64]int, len(metas))
	ids := make([]int64, len(metas))
	for i, m := range metas {
		at[m.ID], ids[i] = i, m.ID
	}
	return sqlite.ForEach(ctx, tx, `SELECT `+recordColumns+` FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value`, []any{sqlite.List(ids)}, func(rows *sql.Rows) error {
		id, r, err := scanRecord(rows)
		if err != nil {
			return err
		}
		metas[at[id]].Fields, err = r.Fields(fields)
		return err
	})
}

const metaColumns = `n.id, n.path, n.title, n.hash, n.size, n.mtime, n.date, n.seq`

func scanMeta(rows *sql.Rows, before ...any) (notes.Meta, error) {
	var m notes.Meta
	var hash sql.RawBytes
	var mtime, date int64
	err := rows.Scan(append(before, &m.ID, &m.Path, &m.Title, &hash, &m.Size, &mtime, &date, &m.Seq)...)
	m.Hash = hex.EncodeToString(hash)
	m.Modified, m.Date = time.Unix(0, mtime), time.Unix(0, date)
	m.Tags = []string{}
	return m, err
}

func loadTags(ctx context.Context, tx *sql.Tx, metas []notes.Meta) error {
	at := make(map[int64]int, len(metas))
	ids := make([]int64, len(metas))
	for i, m := range metas {
		at[m.ID], ids[i] = i, m.ID
	}
	return sqlite.ForEach(ctx, tx, `SELECT t.note, t.tag FROM json_each(?) j CROSS JOIN tags t ON t.note = j.value ORDER BY t.note, t.ordinal`, []any{sqlite.List(ids)}, func(rows *sql.Rows) error {
		var id int64
		var tag string
		err := rows.Scan(&id, &tag)
		m := &metas[at[id]]
		m.Tags = append(m.Tags, tag)
		return err
	})
}

// Tags returns the tags of the notes in scope, the most used first.
func (s *Reader) Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	tags, err := sqlite.All(ctx, s.notes.Reader(), func(t *notes.TagCount) []any { return []any{&t.Tag, &t.Notes} },
		`SELECT t.tag, count(*) FROM tags t JOIN notes n ON n.id = t.note WHERE `+where+` GROUP BY t.tag_key ORDER BY count(*) DESC, t.tag_key`, args...)
	return append([]notes.TagCount{}, tags...), err
}

// Folders returns the folders that hold notes in scope, by path.
func (s *Reader) Folders(ctx context.Context, scope notes.Scope) ([]notes.FolderCount, error) {
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	paths, err := sqlite.Column[string](ctx, s.notes.Reader(), `SELECT n.path FROM notes n WHERE `+where+` ORDER BY n.path`, args...)
	out := []notes.FolderCount{}
	at := map[string]int{}
	for _, p := range paths {
		folder := p[:max(0, strings.LastIndexByte(p, '/'))]
		i, ok := at[folder]
		if !ok {
			i = len(out)
			at[folder] = i
			out = append(out, notes.FolderCount{Folder: folder})
		}
		out[i].Notes++
	}
	return out, err
}
