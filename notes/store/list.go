package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// order is a sort order: columns, the last of which are unique, and whether it is
// descending.
type order struct {
	columns    []string
	descending bool
}

// orders are the sort orders of a list of notes, by name.
var orders = map[string]order{
	"modified": {[]string{"n.mtime", "n.id"}, true},
	"date":     {[]string{"n.date", "n.id"}, true},
	"created":  {[]string{"n.created", "n.id"}, true},
	"size":     {[]string{"n.size", "n.id"}, true},
	"title":    {[]string{"n.title_key", "n.id"}, false},
	"path":     {[]string{"n.path_key", "n.id"}, false},
}

// orderBy returns the one of the orders with this name.
func orderBy(op, name string, orders map[string]order) (order, error) {
	by, ok := orders[name]
	if !ok {
		return by, &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: fmt.Sprintf("cannot sort by %q", name),
			Hint: "Sort by one of " + strings.Join(slices.Sorted(maps.Keys(orders)), ", ") + "."}
	}
	return by, nil
}

// terms returns the terms of an ORDER BY clause.
func (o order) terms() string {
	if o.descending {
		return strings.Join(o.columns, " DESC, ") + " DESC"
	}
	return strings.Join(o.columns, ", ")
}

// cursor is a position in a sorted list, given by the columns of the last row returned
// rather than by a count, so that rows added or removed meanwhile cause no duplicates or
// omissions.
type cursor struct {
	Sort   string `json:"s"`
	Values []any  `json:"v"`
}

// after adds the condition for the rows after the cursor, "" for all.
func (o order) after(c *conditions, op, sort, encoded string) error {
	var at cursor
	err := decodeCursor(op, encoded, &at, func() bool { return at.Sort == sort && len(at.Values) == len(o.columns) })
	if err != nil || encoded == "" {
		return err
	}
	beyond := ">"
	if o.descending {
		beyond = "<"
	}
	c.add(fmt.Sprintf("(%s) %s (?%s)", strings.Join(o.columns, ", "), beyond, strings.Repeat(", ?", len(o.columns)-1)), at.Values...)
	return nil
}

// encodeCursor returns a cursor in the form that clients receive.
func encodeCursor(cursor any) string {
	return base64.RawURLEncoding.EncodeToString([]byte(jsonText(cursor)))
}

// decodeCursor decodes a cursor that encodeCursor returned for the list named by op; ""
// is the start of the list. own reports whether the cursor belongs to this list.
func decodeCursor(op, s string, cursor any, own func() bool) error {
	if s == "" {
		return nil
	}
	d := json.NewDecoder(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(s)))
	d.UseNumber() // a time in nanoseconds is not exact as float64; SQLite converts the text to the column's type
	if d.Decode(cursor) != nil || !own() {
		return &notes.Error{Op: op, Err: notes.ErrInvalid, Detail: "the cursor was not returned by this list", Hint: "Omit the cursor to start from the beginning."}
	}
	return nil
}

// List returns a page of the notes that match the filter.
func (s *Reader) List(ctx context.Context, q notes.ListQuery) (notes.ListPage, error) {
	q.Sort = cmp.Or(q.Sort, "modified")
	by, err := orderBy("list", q.Sort, orders)
	if err != nil {
		return notes.ListPage{}, err
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, 1000)
	if err := q.Filter.Check(); err != nil {
		return notes.ListPage{}, err
	}
	var page notes.ListPage
	err = s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args, err := listWhere(ctx, tx, q.Filter, s.periods())
		if err != nil {
			return err
		}
		if page.Total, err = sqlite.First[int](ctx, tx, `SELECT count(*) FROM notes n WHERE `+where, args...); err != nil {
			return err
		}
		page.Notes, page.Next, err = listPage(ctx, tx, q, by, where, args)
		return err
	})
	return page, err
}

// Paths returns the paths of all notes that match the filter, sorted.
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
	c := &conditions{terms: []string{where}, args: args}
	if err := by.after(c, "list", q.Sort, q.Cursor); err != nil {
		return nil, "", err
	}
	metas, next := []notes.Meta{}, ""
	last := cursor{Sort: q.Sort}
	err := sqlite.ForEach(ctx, tx, fmt.Sprintf(`SELECT %s, %s FROM notes n WHERE %s ORDER BY %s LIMIT %d`,
		by.columns[0], metaColumns, c.where(), by.terms(), q.Limit+1), c.args, func(rows *sql.Rows) error {
		var value any
		m, err := scanMeta(rows, &value)
		if len(metas) == q.Limit {
			next = encodeCursor(last)
			return err
		}
		last.Values = []any{value, m.ID}
		metas = append(metas, m)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if err := loadTags(ctx, tx, metas); err != nil || len(q.Fields) == 0 {
		return metas, next, err
	}
	return metas, next, loadFields(ctx, tx, metas, q.Fields)
}

// loadFields sets the requested fields of the notes.
func loadFields(ctx context.Context, tx *sql.Tx, metas []notes.Meta, fields []string) error {
	ids, at := byID(metas)
	return sqlite.ForEach(ctx, tx, `SELECT `+recordColumns(fields)+` FROM json_each(?) j CROSS JOIN notes n ON n.id = j.value`, []any{ids}, func(rows *sql.Rows) error {
		n, err := scanRecord(rows)
		if err == nil {
			at[n.ID].Fields = n.Fields(fields)
		}
		return err
	})
}

// Tags returns the tags of the notes in scope, most used first.
func (s *Reader) Tags(ctx context.Context, scope notes.Scope) ([]notes.TagCount, error) {
	query, args := selectTags(scope)
	tags, err := sqlite.All(ctx, s.notes.Reader(), func(t *notes.TagCount) []any { return []any{&t.Tag, &t.Notes} }, query, args...)
	return append([]notes.TagCount{}, tags...), err
}

func selectTags(scope notes.Scope) (query string, args []any) {
	tag, from := `(SELECT tag FROM tags WHERE tag_key = t.tag_key LIMIT 1)`, `tags t` // the rest is in an index
	where, args := filterSQL(notes.Filter{Scope: scope.Read})
	if scope.Read != nil { // the join takes most of the time
		tag, from = `t.tag`, `tags t JOIN notes n ON n.id = t.note`
	}
	return `SELECT ` + tag + `, count(*) FROM ` + from + ` WHERE ` + where + ` GROUP BY t.tag_key ORDER BY count(*) DESC, t.tag_key`, args
}

// Folders returns the folders that contain notes in scope, by path.
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

// conflictCopy matches the folded names of the copies that Syncthing, Dropbox, Nextcloud,
// Obsidian Sync, Unison, rclone and, in a shared vault, notesd make of a note that was changed
// in two places.
var conflictCopy = regexp.MustCompile(`\.sync-conflict-\d{8}-|\([^)]*conflicted copy|\(conflict( #\d+)?_on_\d{4}-|\.conflict\d+\.md$|\(conflict \d{4}-\d\d-\d\d \d{6} `)

// conflictNames reads the names from their index rather than with every row.
const conflictNames = `SELECT path FROM notes WHERE id IN (SELECT id FROM notes WHERE instr(name_key, 'conflict')) ORDER BY path`

// ConflictCopies returns a warning about the conflict copies among the notes, or "" if there
// are none.
func (s *Reader) ConflictCopies(ctx context.Context) (string, error) {
	paths, err := sqlite.Column[string](ctx, s.notes.Reader(), conflictNames)
	paths = slices.DeleteFunc(paths, func(p string) bool { return !conflictCopy.MatchString(notes.Key(p)) })
	if err != nil || len(paths) == 0 {
		return "", err
	}
	return fmt.Sprintf("conflict copies of notes that were changed in two places: %d, for example %s. They may hold text that the notes lack, and stay until they are merged and deleted. The glob *conflict* lists them", len(paths), notes.Quote(paths[0])), nil
}
