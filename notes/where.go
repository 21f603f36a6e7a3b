package notes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/markdown"
)

// whereOperators are what a condition on one field can say, besides "not".
var whereOperators = map[string]func(w matcher, have, want any) bool{
	"eq":       matcher.equal,
	"ne":       func(w matcher, have, want any) bool { return !w.equal(have, want) },
	"lt":       func(w matcher, have, want any) bool { c, ok := w.compare(have, want, false); return ok && c < 0 },
	"lte":      func(w matcher, have, want any) bool { c, ok := w.compare(have, want, true); return ok && c <= 0 },
	"gt":       func(w matcher, have, want any) bool { c, ok := w.compare(have, want, true); return ok && c > 0 },
	"gte":      func(w matcher, have, want any) bool { c, ok := w.compare(have, want, false); return ok && c >= 0 },
	"has":      matcher.has,
	"contains": matcher.has,
	"in":       matcher.in,
	"nin":      func(w matcher, have, want any) bool { return !w.in(have, want) },
	"exists":   func(_ matcher, have, want any) bool { return (have != nil) == (want != false) },
}

// operator returns the name of an operator without the "$" of other languages.
func operator(name string) string { return strings.ToLower(strings.TrimPrefix(name, "$")) }

const (
	// MaxConditions bounds the tags and paths of a filter, and its conditions: SQLite
	// refuses expressions deeper than 1000.
	MaxConditions = 400
	// maxWhereDepth bounds how deep conditions may be nested.
	maxWhereDepth = 8
)

// CheckWhere refuses a condition that could never be meant, with an [Error] of
// [ErrInvalid] that names the operators. Vector tables filter by the same
// language as the notes' fields: every key of the object must hold. A key is a
// field with a value or operators, or "or", "and" or "not" with conditions.
func CheckWhere(where map[string]any) error {
	n := 0
	return checkWhere(where, &n, 0)
}

func checkWhere(where map[string]any, n *int, depth int) error {
	invalid := func(field, detail, hint string) error {
		return &Error{Op: "filter", Path: field, Err: ErrInvalid, Detail: detail, Hint: hint}
	}
	for field, want := range where {
		if *n++; *n > MaxConditions || depth > maxWhereDepth {
			return invalid(field, fmt.Sprintf("the conditions are too many or nested too deeply: at most %d, %d levels deep, are allowed", MaxConditions, maxWhereDepth), "Use fewer of them.")
		}
		if _, parts := group(field, want); parts != nil {
			for _, part := range parts {
				if err := checkWhere(part, n, depth+1); err != nil {
					return err
				}
			}
			continue
		}
		for ops, ok := want.(map[string]any); ok; {
			inner := ops
			ops, ok = nil, false
			for op, operand := range inner {
				if operator(op) == "not" {
					ops, ok = operand.(map[string]any)
				} else if whereOperators[operator(op)] == nil {
					return invalid(field, fmt.Sprintf("unknown operator %q", op), "Use one of "+strings.Join(slices.Sorted(maps.Keys(whereOperators)), ", ")+" or not.")
				}
			}
		}
	}
	return nil
}

// group returns the conditions that "or", "and" or "not" joins; nil for a field.
func group(field string, want any) (name string, parts []map[string]any) {
	name = operator(field)
	if name != "or" && name != "and" && name != "not" {
		return "", nil
	}
	if one, ok := want.(map[string]any); ok {
		return name, []map[string]any{one}
	}
	list, ok := want.([]any)
	if !ok || len(list) == 0 {
		return "", nil
	}
	for _, item := range list {
		part, ok := item.(map[string]any)
		if !ok {
			return "", nil
		}
		parts = append(parts, part)
	}
	return name, parts
}

// WhereFields returns the fields that the conditions name, sorted, each with a
// value or operators that it is compared with.
func WhereFields(where map[string]any) (fields []string, wants map[string]any) {
	wants = map[string]any{}
	var collect func(map[string]any)
	collect = func(where map[string]any) {
		for field, want := range where {
			if _, parts := group(field, want); parts != nil {
				for _, part := range parts {
					collect(part)
				}
				continue
			}
			wants[field] = want
		}
	}
	collect(where)
	return slices.Sorted(maps.Keys(wants)), wants
}

// WhereMatches applies conditions that CheckWhere has passed to an object as
// encoding/json decodes it. A field is found without regard to case, and "a.b"
// reaches into nested values.
func WhereMatches(where, values map[string]any) bool { return matcher{}.matches(where, values) }

// matcher applies conditions. With periods, a date is compared with those
// that [Periodic.Parse] reads: "today", "this week", 2026-02.
type matcher struct{ periods Periods }

func (w matcher) matches(where, values map[string]any) bool {
	for field, want := range where {
		name, parts := group(field, want)
		holds := func(part map[string]any) bool { return w.matches(part, values) }
		switch {
		case name == "or" && !slices.ContainsFunc(parts, holds),
			name == "not" && slices.ContainsFunc(parts, holds),
			name == "and" && slices.ContainsFunc(parts, func(part map[string]any) bool { return !holds(part) }),
			name == "" && !w.holds(FieldValue(values, field), want):
			return false
		}
	}
	return true
}

// holds compares a value with another one, or applies operators.
func (w matcher) holds(have, want any) bool {
	ops, ok := want.(map[string]any)
	if !ok {
		return w.equal(have, want)
	}
	for op, operand := range ops {
		if op = operator(op); op == "not" {
			if w.holds(have, operand) {
				return false
			}
		} else if !whereOperators[op](w, have, operand) {
			return false
		}
	}
	return true
}

// FieldValue returns the value of a field, found without regard to case, spaces,
// '-' and '_' where none has exactly this name; nil without one.
func FieldValue(values map[string]any, field string) any {
	if v, ok := values[field]; ok {
		return v
	}
	folded := fieldKey(field)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if fieldKey(k) == folded {
			return values[k]
		}
	}
	head, rest, nested := strings.Cut(field, ".")
	if sub, ok := values[head].(map[string]any); ok && nested {
		return FieldValue(sub, rest)
	}
	return nil
}

// Record is what conditions can ask of one note.
type Record struct {
	Path, Title             string
	FrontMatter, Inline     []byte // JSON objects; nil for none
	Size                    int64
	Date, Created, Modified time.Time
}

// Record returns what conditions can ask of a note that [Parse] has made.
func (n *Note) Record() (Record, error) {
	r := Record{Path: n.Path, Title: n.Title, Size: n.Size, Date: n.Date, Created: n.Date, Modified: n.Modified}
	var err error
	if n.FrontMatter != nil {
		r.FrontMatter, err = json.Marshal(n.FrontMatter)
	}
	if n.Inline != nil && err == nil {
		r.Inline, err = json.Marshal(n.Inline)
	}
	return r, err
}

// Fields returns those of the named fields that a note made by [Parse] has.
func (n *Note) Fields(names []string) (map[string]any, error) {
	r, err := n.Record()
	if err != nil {
		return nil, err
	}
	return r.Fields(names)
}

// Fields returns those of the named fields that the note has.
func (r Record) Fields(names []string) (map[string]any, error) {
	values, err := r.Values()
	chosen := map[string]any{}
	for _, name := range names {
		if v := FieldValue(values, name); v != nil {
			chosen[name] = v
		}
	}
	return chosen, err
}

// Values returns the fields of the note by name: front matter's, the inline
// fields of its text (those of a key that both have as a list), what is known of
// the file as Dataview calls it (file.name, file.folder, file.mtime, …), and
// path, folder, title, date, created, modified and size where the note gives
// these no value of its own.
func (r Record) Values() (map[string]any, error) {
	values := map[string]any{}
	var inline map[string]any
	for _, part := range []struct {
		text []byte
		into *map[string]any
	}{{r.FrontMatter, &values}, {r.Inline, &inline}} {
		if part.text != nil {
			if err := json.Unmarshal(part.text, part.into); err != nil {
				return nil, err
			}
		}
	}
	mergeInline(values, inline)
	folder := path.Dir(r.Path)
	if folder == "." {
		folder = ""
	}
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	for k, v := range map[string]any{"path": r.Path, "folder": folder, "title": r.Title, "date": day(r.Date), "created": at(r.Created), "modified": at(r.Modified), "size": r.Size} {
		if FieldValue(values, k) == nil {
			values[k] = v
		}
	}
	if FieldValue(values, "file") == nil {
		values["file"] = map[string]any{"name": BaseName(r.Path), "path": r.Path, "folder": folder, "ext": strings.TrimPrefix(path.Ext(r.Path), "."), "size": r.Size,
			"day": day(r.Date), "ctime": at(r.Created), "cday": day(r.Created), "mtime": at(r.Modified), "mday": day(r.Modified)}
	}
	return values, nil
}

// mergeInline adds the inline fields to the values, those of a key that has values already
// as one list: under the same key, else under the one that [FieldValue] finds by it, so
// that a condition sees the values of all spellings.
func mergeInline(values, inline map[string]any) {
	keys := make(map[string]string, len(values)+len(inline)) // folded → as spelled
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(values))) {
		keys[fieldKey(k)] = k
	}
	for _, k := range slices.Sorted(maps.Keys(inline)) {
		folded, v := fieldKey(k), inline[k]
		if _, exact := values[k]; !exact && keys[folded] != "" {
			k = keys[folded]
		}
		keys[folded] = cmp.Or(keys[folded], k)
		if own := values[k]; own != nil {
			v = slices.Concat(asList(own), asList(v))
		}
		values[k] = v
	}
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// InlineFields returns the fields of a note's text by key: text, true and false,
// and lists of links or quoted text. A key that comes again has a list.
func InlineFields(fields []markdown.Field) map[string]any {
	var values map[string]any
	for _, f := range fields {
		if values == nil {
			values = map[string]any{}
		}
		v := inlineValue(f.Value)
		if before, again := values[f.Key]; again {
			v = slices.Concat(asList(before), asList(v))
		}
		values[f.Key] = v
	}
	return values
}

func inlineValue(text string) any {
	switch strings.ToLower(text) {
	case "true", "false":
		return strings.EqualFold(text, "true")
	}
	items := strings.Split(text, ",")
	if len(items) < 2 {
		return text
	}
	var list []any
	for _, item := range items {
		item = strings.TrimSpace(item)
		quoted := len(item) > 1 && item[0] == '"' && item[len(item)-1] == '"'
		if !quoted && (!strings.HasPrefix(item, "[[") || !strings.HasSuffix(item, "]]")) {
			return text
		}
		list = append(list, strings.Trim(item, `"`))
	}
	return list
}

// equal: a list equals each value in it, and a list of the same values; text is compared
// without case, and a link as its target; numbers by value, also when written as text; a
// date equals the period that it lies in.
func (w matcher) equal(have, want any) bool {
	if list, ok := have.([]any); ok {
		if other, ok := want.([]any); ok {
			return slices.EqualFunc(list, other, w.equal)
		}
		return slices.ContainsFunc(list, func(v any) bool { return w.equal(v, want) })
	}
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	if t, p, ok := w.inPeriod(have, want); ok && !t.Before(p.Start) && t.Before(p.End()) {
		return true
	}
	c, ok := compareValues(have, want)
	return ok && c == 0
}

// compare orders a value against another one, or a date against a period: its
// last moment if end, else its first.
func (w matcher) compare(have, want any, end bool) (order int, ok bool) {
	if t, p, ok := w.inPeriod(have, want); ok {
		edge := p.Start
		if end {
			edge = p.End().Add(-1)
		}
		return t.Compare(edge), true
	}
	return compareValues(have, want)
}

// inPeriod returns the date and the period that are to be compared.
func (w matcher) inPeriod(have, want any) (t time.Time, p Period, ok bool) {
	x, isText := have.(string)
	y, named := want.(string)
	if w.periods == nil || !isText || !named {
		return t, p, false
	}
	if p, ok = w.periods(y); ok {
		t, ok = ParseDate(x)
	}
	return t, p, ok
}

// has: a list has an element, text has a part.
func (w matcher) has(have, want any) bool {
	switch h := have.(type) {
	case []any:
		return slices.ContainsFunc(h, func(v any) bool { return w.equal(v, want) })
	case string:
		w, ok := want.(string)
		return ok && strings.Contains(Key(h), Key(w))
	}
	return have != nil && w.equal(have, want)
}

// in: a value, or one in a list, is among others.
func (w matcher) in(have, want any) bool {
	others, ok := want.([]any)
	if !ok {
		return w.has(want, have)
	}
	return slices.ContainsFunc(others, func(v any) bool { return w.equal(have, v) })
}

// compareValues orders numbers, dates and text; ok is false where there is no
// order. A link counts as its target: "[[Ann|Annie]]" equals "Ann".
func compareValues(a, b any) (order int, ok bool) {
	x, okA := a.(string)
	y, okB := b.(string)
	if okA && okB {
		if s, ok := ParseDate(x); ok {
			if t, ok := ParseDate(y); ok {
				return s.Compare(t), true
			}
		}
	}
	if x, isLink := linkTarget(x); isLink {
		a = x
	}
	if y, isLink := linkTarget(y); isLink {
		b = y
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return cmp.Compare(x, y), true
		}
	}
	if okA && okB {
		order = strings.Compare(Key(a.(string)), Key(b.(string)))
	}
	return order, okA && okB
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case bool:
		if n {
			return 1, true
		}
		return 0, true
	case string:
		f, err := strconv.ParseFloat(n, 64)
		return f, err == nil
	}
	return 0, false
}
