package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/markdown"
	"notesd/internal/sqlite"
	"notesd/notes"
)

// Resolve returns the IDs of the notes that match the filter. If the filter is zero, it
// returns nil, which means every note. An invalid filter is an [*notes.Error] with
// [notes.ErrInvalid].
func (s *Reader) Resolve(ctx context.Context, f notes.Filter) (*notes.IDSet, error) {
	if f.IsZero() {
		return nil, nil
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	set := &notes.IDSet{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		return selectIDs(ctx, tx, f, s.periods(), set.Add)
	})
	return set, err
}

// selectIDs calls add with the ID of each note that matches the filter.
func selectIDs(ctx context.Context, tx *sql.Tx, f notes.Filter, periods notes.Periods, add func(id int64)) error {
	where, args := filterSQL(f)
	if !f.NeedsGo() {
		ids, err := sqlite.First[string](ctx, tx, `SELECT coalesce(group_concat(n.id), '') FROM notes n WHERE `+where, args...) // reading thousands of rows takes ten times as long
		if err != nil {
			return err
		}
		for text := range strings.FieldsFuncSeq(ids, func(r rune) bool { return r == ',' }) {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return err
			}
			add(id)
		}
		return nil
	}
	matches := f.Matcher(periods)
	fields, _ := notes.WhereFields(f.Where)
	columns, scan := recordColumns(fields), scanRecord
	if len(f.Where) == 0 { // the path decides, and is in an index
		columns, scan = `n.id, n.path`, scanPath
	}
	return sqlite.ForEach(ctx, tx, `SELECT `+columns+` FROM notes n WHERE `+where, args, func(rows *sql.Rows) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := scan(rows)
		if err == nil && matches(n) {
			add(n.ID)
		}
		return err
	})
}

func scanPath(rows *sql.Rows) (*notes.Note, error) {
	n := &notes.Note{}
	return n, rows.Scan(&n.ID, &n.Path)
}

// recordColumns returns the columns of [scanRecord]. The tags are empty unless one of these fields
// has them: reading them for each note takes time.
func recordColumns(fields []string) string {
	tags := `NULL`
	if slices.ContainsFunc(fields, func(f string) bool { f = strings.ToLower(f); return f == "file" || strings.Contains(f, "tags") }) {
		tags = `(SELECT group_concat(tag, char(31)) FROM tags WHERE note = n.id)`
	}
	return `n.id, n.path, n.title, n.front_matter, n.inline, n.size, n.date, n.created, n.mtime, ` + tags
}

// scanRecord reads the data of a note that conditions apply to, with the fields of its text.
func scanRecord(rows *sql.Rows) (*notes.Note, error) {
	n := &notes.Note{}
	var date, created, mtime int64
	var frontMatter, inline, tags sql.RawBytes
	err := rows.Scan(&n.ID, &n.Path, &n.Title, &frontMatter, &inline, &n.Size, &date, &created, &mtime, &tags)
	if len(tags) > 0 {
		n.Tags = strings.Split(string(tags), "\x1f")
	}
	n.Date, n.Created, n.Modified = time.Unix(0, date), time.Unix(0, created), time.Unix(0, mtime)
	if err == nil {
		err = setFields(n, frontMatter, inline)
	}
	return n, err
}

// setFields sets the fields of a note from the JSON in their columns, which is empty if there
// are none.
func setFields(n *notes.Note, frontMatter, inline []byte) error {
	if len(frontMatter) > 0 {
		if err := json.Unmarshal(frontMatter, &n.FrontMatter); err != nil {
			return err
		}
	}
	if len(inline) > 0 {
		return json.Unmarshal(inline, &n.Inline)
	}
	return nil
}

// conditions collects SQL terms that must all hold.
type conditions struct {
	terms []string
	args  []any
}

// where returns the terms as one, TRUE if there are none.
func (c *conditions) where() string {
	return cmp.Or(strings.Join(c.terms, " AND "), "TRUE")
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

// filterSQL returns the WHERE clause on notes n for a filter, without the glob and the
// front matter.
func filterSQL(f notes.Filter) (string, []any) {
	c := &conditions{}
	if folder := notes.FolderKey(f.Folder); folder != "" {
		c.add(folderTerm, folder, folder)
	}
	var reads, attaches conditions
	if f.Scope != nil {
		reads, attaches = c.scope(f.Scope)
	}
	prefix := func(p string) (string, []any) {
		k := notes.Key(strings.TrimPrefix(p, "/"))
		return prefixTerm, []any{k, k}
	}
	if len(f.Paths) > 0 {
		c.anyOf(f.Paths, prefix)
	}
	for _, p := range f.NotPaths {
		term, args := prefix(p)
		c.add("NOT "+term, args...)
	}
	if f.Exclude != nil {
		for _, p := range f.Exclude.Prefixes {
			c.add("NOT "+prefixTerm, p, p)
		}
	}
	for _, t := range f.Tags {
		c.tag("", t)
	}
	for _, t := range f.NotTags {
		c.tag("NOT ", t)
	}
	if !f.After.IsZero() {
		c.add("n.date >= ?", bound(f.After))
	}
	if !f.Before.IsZero() {
		c.add("n.date < ?", bound(f.Before))
	}
	if f.HasTodo {
		c.add("n.open_tasks > 0")
	}
	if f.NotEmpty {
		c.add("n.size > 0")
	}
	c.links(f, reads, attaches)
	return c.where(), c.args
}

// scope adds the condition that the notes are in one of the folders. It returns the same for the note
// o and for the attachment a at the other end of a link.
func (c *conditions) scope(folders []string) (reads, attaches conditions) {
	within := func(column string) func(folder string) (string, []any) {
		return func(folder string) (string, []any) {
			k := notes.FolderKey(folder)
			if k == "" {
				return "TRUE", nil
			}
			return `(` + column + ` = ? OR ` + strings.ReplaceAll(folderTerm, "n.path_key", column) + `)`, []any{k, k, k}
		}
	}
	c.anyOf(folders, within("n.path_key"))
	reads.anyOf(folders, within("o.path_key"))
	attaches.anyOf(folders, func(folder string) (string, []any) { // SQLite folds only ASCII
		term, args := within("lower(a.path)")(folder)
		as := strings.Trim(folder, "/ ") + "/"
		return "(" + term + " OR substr(a.path, 1, length(?)) = ?)", append(args, as, as)
	})
	leads := &conditions{} // a symlink to a file outside the scope is itself outside
	leads.anyOf(folders, within("j.value"))
	c.add(`n.path NOT IN (SELECT j.key FROM store s, json_each(s.value) j WHERE s.key = '`+symlinksSetting+`' AND NOT `+leads.where()+`)`, leads.args...)
	return reads, attaches
}

// links adds the filter's conditions on links. A link counts if its other end is in the scope; see
// scope for reads and attaches.
func (c *conditions) links(f notes.Filter, reads, attaches conditions) {
	if f.Orphans {
		other := func(end string) string {
			if f.Scope == nil { // the joins take most of the time
				return ""
			}
			return ` JOIN notes o ON o.id = l.` + end
		}
		c.add(`NOT EXISTS (SELECT 1 FROM links l`+other("note")+` WHERE l.resolved = n.id AND l.note <> n.id AND `+reads.where()+`)
			AND NOT EXISTS (SELECT 1 FROM links l`+other("resolved")+` WHERE l.note = n.id AND l.resolved <> n.id AND `+reads.where()+`)`, slices.Concat(reads.args, reads.args)...)
	}
	switch broken := []any{linkUnresolved, linkNoAnchor}; {
	case f.BrokenLinks && f.Scope == nil: // the joins take most of the time
		c.add("n.id IN (SELECT note FROM links WHERE state IN (?, ?))", broken...)
	case f.BrokenLinks:
		c.add("n.id IN (SELECT l.note FROM links l LEFT JOIN notes o ON o.id = l.resolved LEFT JOIN attachments a ON a.id = l.attachment WHERE (l.kind <> ? OR l.state = ? AND "+reads.where()+") AND (l.state IN (?, ?) OR o.id IS NOT NULL AND NOT "+reads.where()+" OR a.id IS NOT NULL AND NOT "+attaches.where()+
			" OR l.state = ? AND (SELECT count(*) FROM notes o WHERE o.name_key = l.target_key AND "+reads.where()+") + (SELECT count(*) FROM attachments a WHERE a.name_key = l.target_key AND "+attaches.where()+") < 2))", // see knowsSeveral
			slices.Concat([]any{markdown.LinkTag, linkNoAnchor}, reads.args, broken, reads.args, attaches.args, []any{linkAmbiguous}, reads.args, attaches.args)...)
	}
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
	k := notes.Key(strings.TrimPrefix(tag, "#"))
	c.add(not+strings.ReplaceAll(tagTerm, "?1", "?"), k, k, k)
}

// ResolveSearch is Resolve for a search: it omits notes in templates and in places
// excluded in Obsidian, unless the filter names the place.
func (s *Reader) ResolveSearch(ctx context.Context, f notes.Filter) (*notes.IDSet, error) {
	all := s.Exclude.Load()
	f.Exclude = all.ForFilter(f)
	if f.Exclude.IsZero() {
		f.Exclude = nil
		return s.Resolve(ctx, f)
	}
	if rest := f; rest.Exclude == all {
		if rest.Exclude = nil; rest.IsZero() {
			return s.searchable.get(ctx, s, f)
		}
	}
	return s.Resolve(ctx, f)
}

// get returns the notes that match the filter, cached until a note changes.
func (c *searchable) get(ctx context.Context, s *Reader, f notes.Filter) (*notes.IDSet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := s.Head()
	if c.set != nil && c.head == head && c.rules == f.Exclude {
		return c.set, nil
	}
	set, err := s.Resolve(ctx, f)
	if err == nil {
		c.set, c.head, c.rules = set, head, f.Exclude
	}
	return set, err
}
