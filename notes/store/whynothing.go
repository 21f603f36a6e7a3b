package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/sqlite"
	"notesd/notes"
)

// WhyNothing explains why a filter matched no note: it describes each part that no note
// can match (a folder, glob, tag, key, value or date), with similar values that exist. It
// returns nil if only the combination of the parts matches nothing.
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
	type part struct {
		filter notes.Filter
		none   string
	}
	var parts []part
	for _, p := range f.Paths {
		parts = append(parts, part{notes.Filter{Paths: []string{p}}, "no note has a path that begins with " + notes.Quote(p)})
	}
	parts = append(parts, part{notes.Filter{After: f.After}, "no note is dated on or after " + f.After.Format(time.DateOnly)},
		part{notes.Filter{Before: f.Before}, "no note is dated before " + f.Before.Format(time.DateOnly)})
	if !f.After.IsZero() && !f.Before.IsZero() && !f.After.Before(f.Before) {
		why = append(why, fmt.Sprintf("no day is from %s on and before %s, which is exclusive", f.After.Format(time.DateOnly), f.Before.Format(time.DateOnly)))
	}
	if f.Glob != "" {
		parts = append(parts, part{notes.Filter{Glob: f.Glob}, unmatched(f.Glob)})
	}
	for _, p := range parts {
		if p.filter.IsZero() {
			continue
		}
		p.filter.Scope = f.Scope
		set, err := s.Resolve(ctx, p.filter)
		if err != nil {
			return nil, err
		}
		if set.Len() == 0 {
			why = append(why, p.none)
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
		err := s.notes.Read(ctx, func(tx *sql.Tx) error {
			of, err := whyWhere(ctx, tx, f.Where, scope, s.periods())
			why = append(why, of...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return why, nil
}

// unmatched says that no note matches a glob, and what may be wrong with it.
func unmatched(glob string) string {
	none := "no note has a path that matches " + notes.Quote(glob)
	if ext := path.Ext(glob); ext != "" && !strings.ContainsAny(ext, "*?[{}") && !notes.IsNoteName(ext) {
		none += "; the names of notes end in .md, and other files are not listed"
	}
	if !strings.ContainsAny(glob, "*?[{/.") {
		none += "; " + notes.Quote("*"+glob+"*") + " matches a part of the name"
	}
	if strings.HasPrefix(glob, "!") {
		none += `; a glob does not exclude, a condition on the path does, such as {"path":{"not":{"contains":"Archive/"}}}`
	}
	return none
}

// whyWhere describes the condition fields that no note in scope has, and the values
// that no note has for a field.
func whyWhere(ctx context.Context, tx *sql.Tx, where map[string]any, scope notes.Scope, periods notes.Periods) (why []string, err error) {
	fields, wants := notes.WhereFields(where)
	count, values, met := map[string]int{}, map[string]map[string]bool{}, map[string]bool{} // count by key; values as text by field
	empty := map[string]any{}                                                               // true by key
	sqlWhere, args := filterSQL(notes.Filter{Scope: scope.Read})
	err = sqlite.ForEach(ctx, tx, `SELECT `+recordColumns(fields)+` FROM notes n WHERE `+sqlWhere, args, func(rows *sql.Rows) error {
		n, err := scanRecord(rows)
		if err != nil {
			return err
		}
		all := n.Values()
		for k, v := range all {
			count[k]++
			if v == nil {
				empty[k] = true
			}
		}
		for _, field := range fields {
			v := notes.FieldValue(all, field)
			if v == nil {
				continue
			}
			if values[field] == nil {
				values[field] = map[string]bool{}
			}
			met[field] = met[field] || periods.WhereMatches(map[string]any{field: wants[field]}, all)
			list, isList := v.([]any)
			if !isList {
				list = []any{v}
			}
			for _, item := range list {
				if number, ok := item.(float64); ok {
					item = strconv.FormatFloat(number, 'f', -1, 64) // rather than with an exponent
				}
				if len(values[field]) < 1000 {
					values[field][fmt.Sprint(item)] = true
				}
			}
		}
		return nil
	})
	for _, k := range []string{"file", "path", "folder", "title", "date", "created", "modified", "size"} {
		delete(count, k) // every note has these
	}
	keys := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(keys, func(a, b string) int { return count[b] - count[a] })
	for _, field := range fields {
		want := wants[field]
		ops, _ := want.(map[string]any)
		_, isList := want.([]any)
		text, isText := want.(string)
		for _, op := range []string{"has", "contains"} {
			if len(ops) == 1 && !isText {
				text, isText = ops[op].(string)
			}
		}
		switch {
		case values[field] == nil && ops["exists"] == false: // every note satisfies this
		case values[field] == nil && notes.FieldValue(empty, field) != nil:
			why = append(why, "the key "+notes.Quote(field)+" has no value in any note")
		case values[field] == nil:
			why = append(why, "no note has the key "+notes.Quote(field)+" in its front matter or as key:: value"+near(field, keys))
		case isList:
			why = append(why, fmt.Sprintf(`%s is compared with the whole list; {%q: {"in": […]}} matches any of its values`, notes.Quote(field), field))
		case isText && !met[field]:
			why = append(why, fmt.Sprintf("no note has %s %s", notes.Quote(field), notes.Quote(text))+near(text, slices.Sorted(maps.Keys(values[field]))))
		}
	}
	return why, err
}

// near lists the values most similar to the one requested, or the first values if none
// is similar.
func near(name string, values []string) string {
	like, word := alike(name, values), "; near: "
	if len(like) == 0 {
		like, word = values, "; there are: "
	}
	if len(like) == 0 {
		return ""
	}
	var shown []string
	for _, v := range like[:min(mostAlike, len(like))] {
		shown = append(shown, notes.Quote(v))
	}
	if word == "; there are: " && len(values) > mostAlike {
		shown = append(shown, "…")
	}
	return word + strings.Join(shown, ", ")
}

// mostAlike is the maximum number of values listed.
const mostAlike = 5
