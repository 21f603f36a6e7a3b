package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"notesd/notes"
)

// WhyNothing says which parts of a filter that has selected no note could not
// have selected any, with what is near them: a folder, tag or key of front
// matter that does not exist. It is nil where only their combination is empty.
func (s *Reader) WhyNothing(ctx context.Context, f notes.Filter) ([]string, error) {
	var why []string
	scope := notes.Scope{Read: f.Scope}
	if folder := strings.Trim(f.Folder, "/ "); folder != "" {
		folders, err := s.Folders(ctx, scope)
		if err != nil {
			return nil, err
		}
		all := map[string]bool{}
		for _, c := range folders {
			for p := c.Folder; p != "" && p != "."; p = path.Dir(p) {
				all[p] = true
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(p string) bool { return notes.Key(p) == notes.FolderKey(folder) }) {
			why = append(why, "there is no folder "+notes.Quote(folder)+" with notes"+near(folder, slices.Sorted(maps.Keys(all))))
		}
	}
	for _, p := range f.Paths {
		n, err := s.selected(ctx, notes.Filter{Paths: []string{p}, Scope: f.Scope})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			why = append(why, "the path of no note begins with "+notes.Quote(p))
		}
	}
	if len(f.Tags) > 0 {
		tags, err := s.Tags(ctx, scope)
		if err != nil {
			return nil, err
		}
		names := make([]string, len(tags))
		for i, t := range tags {
			names[i] = t.Tag
		}
		for _, tag := range f.Tags {
			k := notes.Key(strings.TrimPrefix(tag, "#"))
			if !slices.ContainsFunc(names, func(name string) bool { return notes.Under(notes.Key(name), k) }) {
				why = append(why, "no note has the tag "+notes.Quote(tag)+near(tag, names))
			}
		}
	}
	if len(f.Where) > 0 {
		keys, err := s.frontMatterKeys(ctx, scope)
		if err != nil {
			return nil, err
		}
		for _, field := range slices.Sorted(maps.Keys(f.Where)) {
			head, _, _ := strings.Cut(field, ".")
			switch _, isList := f.Where[field].([]any); {
			case !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, field) || strings.EqualFold(k, head) }):
				why = append(why, "no note has the key "+notes.Quote(field)+" in its front matter"+near(field, keys)+whereHint(field))
			case isList:
				why = append(why, fmt.Sprintf(`%s is compared with the whole list; {%q: {"in": […]}} takes any of its values`, notes.Quote(field), field))
			}
		}
	}
	return why, nil
}

// selected returns how many notes a filter selects.
func (s *Reader) selected(ctx context.Context, f notes.Filter) (n int, err error) {
	where, args := filterSQL(f)
	err = s.notes.Reader().QueryRowContext(ctx, `SELECT count(*) FROM notes n WHERE `+where, args...).Scan(&n)
	return n, err
}

// whereHint says what to do instead of what other query languages have.
func whereHint(field string) string {
	switch strings.TrimLeft(strings.ToLower(field), "$") {
	case "or", "and", "not":
		return `; conditions are keys, all of which must hold: {"status": {"in": ["open", "waiting"]}}`
	case "path", "folder", "title", "name", "file":
		return "; for places and names there are folder and glob"
	}
	return ""
}

// frontMatterKeys returns the keys that notes in scope have, the most used first.
func (s *Reader) frontMatterKeys(ctx context.Context, scope notes.Scope) ([]string, error) {
	count := map[string]int{}
	err := s.notes.Read(ctx, func(tx *sql.Tx) error {
		where, args := filterSQL(notes.Filter{Scope: scope.Read})
		return forEach(ctx, tx, `SELECT n.front_matter FROM notes n WHERE n.front_matter IS NOT NULL AND `+where, args, func(rows *sql.Rows) error {
			var text sql.RawBytes
			if err := rows.Scan(&text); err != nil {
				return err
			}
			var values map[string]json.RawMessage
			err := json.Unmarshal(text, &values)
			for k := range values {
				count[k]++
			}
			return err
		})
	})
	keys := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(keys, func(a, b string) int { return count[b] - count[a] })
	return keys, err
}

// near names the values most like what was asked for, or if none is, the first.
func near(asked string, values []string) string {
	like, word := alike(asked, values), "; near: "
	if len(like) == 0 {
		like, word = values[:min(mostAlike, len(values))], "; there are: "
	}
	if len(like) == 0 {
		return ""
	}
	shown := make([]string, 0, len(like)+1)
	for _, v := range like {
		shown = append(shown, notes.Quote(v))
	}
	if word == "; there are: " && len(values) > mostAlike {
		shown = append(shown, "…")
	}
	return word + strings.Join(shown, ", ")
}

// mostAlike is how many values are named.
const mostAlike = 5

// alike returns the values, or last segments of paths, that are most like what
// was asked for, the most alike first.
func alike(asked string, values []string) []string {
	type scored struct {
		value string
		score float64
	}
	want := trigrams(notes.Key(asked))
	var found []scored
	for _, v := range values {
		score := max(overlap(want, trigrams(notes.Key(v))), overlap(want, trigrams(notes.Key(path.Base(v)))))
		if score >= 0.3 {
			found = append(found, scored{v, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var list []string
	for _, f := range found[:min(mostAlike, len(found))] {
		list = append(list, f.value)
	}
	return list
}
