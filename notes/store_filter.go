package notes

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Resolve returns the ids of the notes that the filter selects, or nil, which
// stands for every note, when the filter is zero. A filter that makes no sense
// is an [*Error] with [ErrInvalid].
func (s *Store) Resolve(ctx context.Context, f Filter) (*IDSet, error) {
	if f.IsZero() {
		return nil, nil
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	set := &IDSet{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return selectIDs(ctx, tx, f, set.Add)
	})
	return set, err
}

func (f Filter) check() error {
	if f.Glob != "" && !doublestar.ValidatePattern(f.Glob) {
		return &Error{Op: "filter", Path: f.Glob, Err: ErrInvalid, Detail: "the glob is malformed",
			Hint: "Use * within a name, ** across folders, ? for one character, [a-z], {a,b}."}
	}
	return CheckWhere(f.Where)
}

func selectIDs(ctx context.Context, tx *sql.Tx, f Filter, add func(id int64)) error {
	where, args := f.sql()
	return forEach(ctx, tx, `SELECT n.id, n.path, n.front_matter FROM notes n WHERE `+where, args, func(rows *sql.Rows) error {
		var id int64
		var path string
		var frontMatter sql.RawBytes
		if err := rows.Scan(&id, &path, &frontMatter); err != nil {
			return err
		}
		ok, err := f.matches(path, frontMatter)
		if ok {
			add(id)
		}
		return err
	})
}

// matches judges what SQL does not: the glob and the front matter.
func (f Filter) matches(path string, frontMatter []byte) (bool, error) {
	if f.Glob != "" && !globMatches(f.Glob, path) {
		return false, nil
	}
	if len(f.Where) == 0 {
		return true, nil
	}
	var values map[string]any
	if frontMatter != nil {
		if err := json.Unmarshal(frontMatter, &values); err != nil {
			return false, err
		}
	}
	return WhereMatches(f.Where, values), nil
}

// needsGo reports whether SQL alone cannot decide.
func (f Filter) needsGo() bool { return f.Glob != "" || len(f.Where) > 0 }

// globMatches applies a glob to the path, or to the file name when the glob
// has no '/', without regard to case.
func globMatches(glob, path string) bool {
	subject := key(path)
	if !strings.Contains(glob, "/") {
		subject = subject[strings.LastIndexByte(subject, '/')+1:]
	}
	return doublestar.MatchUnvalidated(key(glob), subject)
}

// conditions collects SQL terms that must all hold.
type conditions struct {
	terms []string
	args  []any
}

func (c *conditions) add(term string, args ...any) {
	c.terms = append(c.terms, term)
	c.args = append(c.args, args...)
}

const (
	tagTerm    = `n.id IN (SELECT note FROM tags WHERE tag_key = ?1 OR tag_key > ?1 || '/' AND tag_key < ?1 || '0')` // '0' follows '/'
	folderTerm = `(n.path_key > ? || '/' AND n.path_key < ? || '0')`
	prefixTerm = `substr(n.path_key, 1, length(?)) = ?`
)

// sql returns the WHERE clause over notes n for all but the glob and the
// front matter.
func (f Filter) sql() (string, []any) {
	c := &conditions{}
	c.add("TRUE")
	if folder := folderKey(f.Folder); folder != "" {
		c.add(folderTerm, folder, folder)
	}
	if f.Scope != nil {
		c.anyOf(f.Scope, func(folder string) (string, []any) {
			k := folderKey(folder)
			if k == "" {
				return "TRUE", nil
			}
			return `(n.path_key = ? OR ` + folderTerm + `)`, []any{k, k, k}
		})
	}
	prefix := func(p string) (string, []any) {
		k := key(strings.TrimPrefix(p, "/"))
		return prefixTerm, []any{k, k}
	}
	if len(f.Paths) > 0 {
		c.anyOf(f.Paths, prefix)
	}
	for _, p := range f.NotPaths {
		term, args := prefix(p)
		c.add("NOT "+term, args...)
	}
	for _, t := range f.Tags {
		c.tag("", t)
	}
	for _, t := range f.NotTags {
		c.tag("NOT ", t)
	}
	if !f.After.IsZero() {
		c.add("n.date >= ?", f.After.UnixNano())
	}
	if !f.Before.IsZero() {
		c.add("n.date < ?", f.Before.UnixNano())
	}
	if f.HasTodo {
		c.add("n.open_tasks > 0")
	}
	if f.Orphans {
		c.add(`NOT EXISTS (SELECT 1 FROM links l WHERE l.resolved = n.id AND l.note <> n.id)
			AND NOT EXISTS (SELECT 1 FROM links l WHERE l.note = n.id AND l.resolved <> n.id)`)
	}
	if f.BrokenLinks {
		c.add("n.id IN (SELECT note FROM links WHERE state = ?)", linkUnresolved)
	}
	return strings.Join(c.terms, " AND "), c.args
}

func (c *conditions) anyOf(values []string, term func(string) (string, []any)) {
	var terms []string
	var args []any
	for _, v := range values {
		t, a := term(v)
		terms, args = append(terms, t), append(args, a...)
	}
	if terms == nil {
		terms = []string{"FALSE"}
	}
	c.add("("+strings.Join(terms, " OR ")+")", args...)
}

func (c *conditions) tag(not, tag string) {
	k := key(strings.TrimPrefix(tag, "#"))
	c.add(not+strings.ReplaceAll(tagTerm, "?1", "?"), k, k, k)
}

func folderKey(folder string) string { return key(strings.Trim(folder, "/ ")) }
