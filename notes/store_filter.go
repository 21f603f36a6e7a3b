package notes

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
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

const (
	// maxConditions bounds the tags and paths of a filter: SQLite refuses
	// expressions deeper than 1000.
	maxConditions = 400
	// maxGlobBytes and maxAlternatives bound what a glob costs for each note.
	maxGlobBytes    = 1024
	maxAlternatives = 64
)

func (f Filter) check() error {
	if n := len(f.Paths) + len(f.NotPaths) + len(f.Tags) + len(f.NotTags); n > maxConditions {
		return &Error{Op: "filter", Err: ErrInvalid, Detail: fmt.Sprintf("there are %d tags and paths to filter by; at most %d can be given", n, maxConditions),
			Hint: "Ask for fewer at once."}
	}
	if len(f.Glob) > maxGlobBytes {
		return &Error{Op: "filter", Err: ErrInvalid, Detail: fmt.Sprintf("the glob has %d bytes; at most %d can be given", len(f.Glob), maxGlobBytes), Hint: "Shorten it."}
	}
	if f.Glob != "" && !doublestar.ValidatePattern(f.Glob) {
		return &Error{Op: "filter", Path: f.Glob, Err: ErrInvalid, Detail: "the glob is malformed",
			Hint: "Use * within a name, ** across folders, ? for one character, [a-z], {a,b}."}
	}
	if f.Glob != "" && alternatives(f.Glob) == nil {
		return &Error{Op: "filter", Path: f.Glob, Err: ErrInvalid, Detail: fmt.Sprintf("the glob stands for too many patterns: its {a,b} may combine to at most %d", maxAlternatives),
			Hint: "Use fewer {a,b}: each one multiplies them."}
	}
	return CheckWhere(f.Where)
}

func selectIDs(ctx context.Context, tx *sql.Tx, f Filter, add func(id int64)) error {
	where, args := f.sql()
	globs := alternatives(key(f.Glob))
	return forEach(ctx, tx, `SELECT n.id, n.path, n.front_matter FROM notes n WHERE `+where, args, func(rows *sql.Rows) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var id int64
		var path string
		var frontMatter sql.RawBytes
		if err := rows.Scan(&id, &path, &frontMatter); err != nil {
			return err
		}
		ok, err := f.matches(globs, path, frontMatter)
		if ok {
			add(id)
		}
		return err
	})
}

// matches judges what SQL does not: the glob, as its alternatives, what is
// aside, and the front matter.
func (f Filter) matches(globs []string, path string, frontMatter []byte) (bool, error) {
	if f.Glob != "" && !globMatches(globs, path) || f.aside != nil && f.aside.matches(path) {
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
func (f Filter) needsGo() bool { return f.Glob != "" || len(f.Where) > 0 || f.aside != nil }

// globMatches applies globs to the path, or to the file name when the glob
// has no '/', without regard to case.
func globMatches(globs []string, path string) bool {
	subject := key(path)
	name := subject[strings.LastIndexByte(subject, '/')+1:]
	return slices.ContainsFunc(globs, func(glob string) bool {
		if !strings.Contains(glob, "/") {
			return doublestar.MatchUnvalidated(glob, name)
		}
		return doublestar.MatchUnvalidated(glob, subject)
	})
}

// alternatives returns the globs without braces that a valid glob stands for,
// or nil when they are more than maxAlternatives. Matching {a,b} itself tries
// every combination at every place, which is exponential.
func alternatives(glob string) []string {
	out := []string{""}
	for i := 0; i < len(glob); {
		if glob[i] != '{' {
			end := i + literalEnd(glob[i:])
			for j := range out {
				out[j] += glob[i:end]
			}
			i = end
			continue
		}
		var choices []string
		depth, start := 0, i+1
		for end := false; !end; {
			switch c := glob[i]; {
			case c == '{':
				depth++
			case c == '}':
				depth--
				end = depth == 0
			}
			if end || depth == 1 && glob[i] == ',' {
				inner := alternatives(glob[start:i])
				if inner == nil {
					return nil
				}
				choices, start = append(choices, inner...), i+1
			}
			if i += literalEnd(glob[i:]); i > len(glob) {
				return nil
			}
		}
		if len(out)*len(choices) > maxAlternatives {
			return nil
		}
		var longer []string
		for _, before := range out {
			for _, choice := range choices {
				longer = append(longer, before+choice)
			}
		}
		out = longer
	}
	return out
}

// literalEnd returns the length of what stands at the start of a glob and is
// not parted: an escaped character, a class such as [a-z], or one byte.
func literalEnd(glob string) int {
	switch glob[0] {
	case '\\':
		return min(2, len(glob))
	case '[':
		for i := 1; i < len(glob); i++ {
			if glob[i] == '\\' {
				i++
			} else if glob[i] == ']' && i > 1 {
				return i + 1
			}
		}
	}
	return 1
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
		within := func(column string) func(folder string) (string, []any) {
			return func(folder string) (string, []any) {
				k := folderKey(folder)
				if k == "" {
					return "TRUE", nil
				}
				return `(` + column + ` = ? OR ` + strings.ReplaceAll(folderTerm, "n.path_key", column) + `)`, []any{k, k, k}
			}
		}
		c.anyOf(f.Scope, within("n.path_key"))
		leads := &conditions{} // a symlink out of the scope is out of it
		leads.anyOf(f.Scope, within("j.value"))
		c.add(`n.path NOT IN (SELECT j.key FROM store s, json_each(s.value) j WHERE s.key = '`+symlinksSetting+`' AND NOT `+leads.terms[0]+`)`, leads.args...)
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
