package notes

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"notesd/internal/markdown"
)

// whereOperators are the operators of a condition on one field, besides "not".
var whereOperators = map[string]func(w matcher, have, want any) bool{
	"eq":       matcher.equal,
	"ne":       func(w matcher, have, want any) bool { return !w.equal(have, want) },
	"lt":       order(false, func(c int) bool { return c < 0 }),
	"lte":      order(true, func(c int) bool { return c <= 0 }),
	"gt":       order(true, func(c int) bool { return c > 0 }),
	"gte":      order(false, func(c int) bool { return c >= 0 }),
	"has":      matcher.has,
	"contains": matcher.has,
	"in":       matcher.in,
	"nin":      func(w matcher, have, want any) bool { return !w.in(have, want) },
	"exists":   func(_ matcher, have, want any) bool { return (have != nil) == (want != false) },
}

// operator returns the name of an operator without the "$" of other languages.
func operator(name string) string { return strings.ToLower(strings.TrimPrefix(name, "$")) }

const (
	// MaxConditions is the limit for the number of tags and paths in a filter, and for
	// the number of its conditions: SQLite rejects expressions deeper than 1000.
	MaxConditions = 400
	// maxWhereDepth is the limit for the nesting of conditions.
	maxWhereDepth = 8
)

// CheckWhere rejects invalid conditions with an [Error] of [ErrInvalid] that lists the
// operators. The same language filters the fields of notes and vector tables: every key
// of the object must hold. A key is a field with a value or operators, or "or", "and"
// or "not" with conditions.
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
		name, parts := group(field, want)
		isEmpty := func(part map[string]any) bool { return len(part) == 0 }
		if ops, ok := want.(map[string]any); ok && isEmpty(ops) || name != "" && (len(parts) == 0 || slices.ContainsFunc(parts, isEmpty)) {
			return invalid(field, "a condition is empty, which everything would meet", "Complete it, or leave it out.")
		}
		if name != "" {
			for _, part := range parts {
				if err := checkWhere(part, n, depth+1); err != nil {
					return err
				}
			}
			continue
		}
		if unknown := unknownOperators(want); len(unknown) > 0 {
			return invalid(field, fmt.Sprintf("unknown operator %q", unknown[0]), "Use one of "+strings.Join(slices.Sorted(maps.Keys(whereOperators)), ", ")+" or not.")
		}
	}
	return nil
}

// unknownOperators returns the operators that do not exist in the condition on a field.
func unknownOperators(want any) (unknown []string) {
	ops, _ := want.(map[string]any)
	for op, operand := range ops {
		if operator(op) == "not" {
			unknown = append(unknown, unknownOperators(operand)...)
		} else if whereOperators[operator(op)] == nil {
			unknown = append(unknown, op)
		}
	}
	return unknown
}

// group returns the conditions joined by "or", "and" or "not"; nil for a field.
func group(field string, want any) (name string, parts []map[string]any) {
	name = operator(field)
	if name != "or" && name != "and" && name != "not" {
		return "", nil
	}
	if one, ok := want.(map[string]any); ok {
		return name, []map[string]any{one}
	}
	list, ok := want.([]any)
	if !ok {
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

// WhereFields returns the fields named in the conditions, sorted, and the value or
// operators with which each is compared.
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

// WhereMatches reports whether an object, as decoded by encoding/json, satisfies
// conditions that passed CheckWhere. Field names are compared ignoring case, and "a.b"
// selects nested values. Unless p is nil, dates are also compared with the periods that it
// parses.
func (p Periods) WhereMatches(where, values map[string]any) bool {
	return matcher{p}.matches(where, values)
}

// matcher evaluates conditions. If periods is set, dates are compared with periods as
// parsed by [Periodic.Filter]: "today", "this week", 2026-02, "in 3 days".
type matcher struct{ periods Periods }

func (w matcher) matches(where, values map[string]any) bool {
	for field, want := range where {
		name, parts := group(field, want)
		holds := func(part map[string]any) bool { return w.matches(part, values) }
		switch {
		case name == "or" && !slices.ContainsFunc(parts, holds),
			name == "not" && slices.ContainsFunc(parts, holds),
			name == "and" && slices.ContainsFunc(parts, func(part map[string]any) bool { return !holds(part) }),
			name == "" && !w.fieldHolds(values, field, want):
			return false
		}
	}
	return true
}

// fieldHolds is holds for the value of a field. Tags are compared by their names.
func (w matcher) fieldHolds(values map[string]any, field string, want any) bool {
	have := FieldValue(values, field)
	if key := fieldKey(field); key == "tags" || key == "tag" || key == "file.tags" {
		have, want = withoutHashes(have), withoutHashes(want)
	}
	return w.holds(have, want)
}

// holds compares a value with another one, or evaluates operators.
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

// withoutHashes returns a value or condition with tags as they are named: "#plan" is "plan".
func withoutHashes(value any) any {
	switch v := value.(type) {
	case string:
		return markdown.TagName(v)
	case []any:
		names := make([]any, len(v))
		for i, item := range v {
			names[i] = withoutHashes(item)
		}
		return names
	case map[string]any:
		names := make(map[string]any, len(v))
		for key, item := range v {
			names[key] = withoutHashes(item)
		}
		return names
	}
	return value
}

// FieldValue returns the value of a field, or nil. If no field has exactly this name,
// it ignores case, spaces, '-' and '_'.
func FieldValue(values map[string]any, field string) any {
	if v, ok := values[field]; ok {
		return v
	}
	folded, name, found := fieldKey(field), "", false
	for k := range values {
		if (!found || k < name) && fieldKey(k) == folded {
			name, found = k, true
		}
	}
	if found {
		return values[name]
	}
	head, rest, nested := strings.Cut(field, ".")
	if nested {
		if sub, ok := FieldValue(values, head).(map[string]any); ok {
			return FieldValue(sub, rest)
		}
	}
	return nil
}

// Fields returns the named fields of the note, without missing ones.
func (n *Note) Fields(names []string) map[string]any {
	values, chosen := n.Values(), map[string]any{}
	for _, name := range names {
		if v := FieldValue(values, name); v != nil {
			chosen[name] = v
		}
	}
	return chosen
}

// Values returns the fields of the note by name: those of its front matter, the inline
// fields of its text (a key in both has a list), the properties of the file under
// Dataview's names (file.name, file.folder, file.mtime, …), and path, folder, title,
// date, created, modified and size unless the note has a field of that name. Tags are a
// list, however the note writes them, also in its text.
func (n *Note) Values() map[string]any {
	values := map[string]any{}
	maps.Copy(values, n.FrontMatter)
	keys := mergeInline(values, n.Inline)
	for _, folded := range []string{"tags", "tag"} {
		if key, ok := keys[folded]; ok && values[key] != nil {
			values[key] = tagNames(values[key])
		}
	}
	key := cmp.Or(keys["tags"], "tags")
	for _, tag := range n.Tags {
		if known := asList(values[key]); values[key] == nil {
			values[key] = []any{tag}
		} else if !slices.ContainsFunc(known, func(t any) bool { return Key(fmt.Sprint(t)) == Key(tag) }) {
			values[key] = append(slices.Clip(known), tag)
		}
	}
	folder := path.Dir(n.Path)
	if folder == "." {
		folder = ""
	}
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	created, modified, date := at(n.Created), at(n.Modified), day(n.Date)
	file := map[string]any{"name": BaseName(n.Path), "path": n.Path, "folder": folder, "ext": strings.TrimPrefix(path.Ext(n.Path), "."), "size": n.Size,
		"day": date, "ctime": created, "cday": day(n.Created), "mtime": modified, "mday": day(n.Modified), "tags": values[key]}
	for i, value := range []any{n.Path, folder, n.Title, date, created, modified, n.Size, file} {
		name := fileFields[i]
		if spelled, ok := keys[name]; values[name] == nil && (!ok || values[spelled] == nil) {
			values[name] = value
		}
	}
	return values
}

// fileFields are the fields that [Note.Values] adds unless the note has them.
var fileFields = []string{"path", "folder", "title", "date", "created", "modified", "size", "file"}

// isAdded reports whether [Note.Values] adds or changes the field with this name, which may be nested.
func isAdded(field string) bool {
	head, _, _ := strings.Cut(field, ".")
	key := fieldKey(head)
	return key == "tags" || key == "tag" || slices.Contains(fileFields, key)
}

// tagNames returns the names in a value of tags.
func tagNames(value any) []any {
	names := []any{}
	for _, tag := range markdown.TagValues(value) {
		names = append(names, markdown.TagName(tag))
	}
	return names
}

// mergeInline adds the inline fields to the values. A key that already has values
// becomes a list. If there is no such key, the value is added to the key that
// [FieldValue] would find, so that a condition sees the values of all spellings. It returns
// the keys by their folded form.
func mergeInline(values, inline map[string]any) map[string]string {
	keys := make(map[string]string, len(values)+len(inline)) // folded → original spelling
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
	return keys
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// InlineFields returns the fields of a note's text by key: text, booleans, and lists of
// links or quoted text. A repeated key has a list.
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

// equal reports whether two values are equal. A list equals each of its elements, and a
// list of equal elements; text is compared ignoring case, and a link as its target;
// numbers are compared by value, even if written as text; a date equals any period that
// contains it.
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

// order returns an operator that holds if the order of a value, or of any element of a list,
// and another value is accepted. end is that of [matcher.compare].
func order(end bool, accepts func(c int) bool) func(w matcher, have, want any) bool {
	return func(w matcher, have, want any) bool {
		holds := func(v any) bool {
			c, ok := w.compare(v, want, end)
			return ok && accepts(c)
		}
		if list, ok := have.([]any); ok {
			return slices.ContainsFunc(list, holds)
		}
		return holds(have)
	}
}

// compare compares a value with another one, or a date with a period: with its last
// moment if end is set, otherwise with its first.
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

// inPeriod returns the date and the period to compare.
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

// has reports whether a list has an element, or text contains a part.
func (w matcher) has(have, want any) bool {
	switch h := have.(type) {
	case []any:
		return slices.ContainsFunc(h, func(v any) bool { return w.equal(v, want) })
	case string:
		if part, ok := want.(string); ok && strings.Contains(Key(h), Key(part)) {
			return true
		}
	}
	return have != nil && w.equal(have, want)
}

// in reports whether a value, or an element of a list, is among others.
func (w matcher) in(have, want any) bool {
	others, ok := want.([]any)
	if !ok {
		return w.has(want, have)
	}
	return slices.ContainsFunc(others, func(v any) bool { return w.equal(have, v) })
}

// compareValues compares numbers, dates and text; ok is false if they are not
// comparable. A link counts as its target: "[[Team/Ann|Annie]]" equals "Team/Ann" and "Ann".
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
	if target, isLink := linkTarget(x); isLink {
		a = likeName(target, y)
	}
	if target, isLink := linkTarget(y); isLink {
		b = likeName(target, x)
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok && (x != y || !okA || !okB) { // equal numbers can be different texts: "007" and "7", or 19 digits
			return cmp.Compare(x, y), true
		}
	}
	if okA && okB {
		order = strings.Compare(Key(a.(string)), Key(b.(string)))
	}
	return order, okA && okB
}

// likeName returns the target of a link without its folder if name, with which it is compared, has
// none.
func likeName(target, name string) string {
	if name, _ := linkTarget(name); !strings.Contains(name, "/") {
		return target[strings.LastIndexByte(target, '/')+1:]
	}
	return target
}

// numeral matches a number as Notion exports it: 12,500.5, $900, 45%.
var numeral = regexp.MustCompile(`^(-?)[$€£¥]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?%?$`)

// number returns a value as a number, if it is one or the text of one.
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
		if m := numeral.FindStringSubmatch(n); err != nil && m != nil {
			f, err = strconv.ParseFloat(m[1]+strings.ReplaceAll(m[2], ",", "")+m[3], 64)
		}
		return f, err == nil
	}
	return 0, false
}
