package notes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// whereOperators are what a condition on a front matter value can say.
var whereOperators = map[string]func(have, want any) bool{
	"eq":     equalValues,
	"ne":     func(have, want any) bool { return !equalValues(have, want) },
	"lt":     func(have, want any) bool { c, ok := compareValues(have, want); return ok && c < 0 },
	"lte":    func(have, want any) bool { c, ok := compareValues(have, want); return ok && c <= 0 },
	"gt":     func(have, want any) bool { c, ok := compareValues(have, want); return ok && c > 0 },
	"gte":    func(have, want any) bool { c, ok := compareValues(have, want); return ok && c >= 0 },
	"has":    hasValue,
	"in":     func(have, want any) bool { return hasValue(want, have) },
	"exists": func(have, want any) bool { return (have != nil) == (want != false) },
}

// CheckWhere refuses a condition that could never be meant, with an [Error] of
// [ErrInvalid] that names the operators. Vector tables filter by the same
// language as the notes' front matter.
func CheckWhere(where map[string]any) error {
	for field, want := range where {
		ops, ok := want.(map[string]any)
		if !ok {
			continue
		}
		for op := range ops {
			if whereOperators[op] == nil {
				return &Error{Op: "filter", Path: field, Err: ErrInvalid, Detail: fmt.Sprintf("unknown operator %q", op),
					Hint: "Use one of " + strings.Join(slices.Sorted(maps.Keys(whereOperators)), ", ") + "."}
			}
		}
	}
	return nil
}

// WhereMatches applies conditions that CheckWhere has passed to front matter,
// or another object as encoding/json decodes it. A field is found without
// regard to case, and "a.b" reaches into nested values.
func WhereMatches(where, values map[string]any) bool {
	for field, want := range where {
		have := fieldValue(values, field)
		ops, ok := want.(map[string]any)
		if !ok {
			ops = map[string]any{"eq": want}
		}
		for op, operand := range ops {
			if !whereOperators[op](have, operand) {
				return false
			}
		}
	}
	return true
}

func fieldValue(values map[string]any, field string) any {
	if v, ok := values[field]; ok {
		return v
	}
	for k, v := range values {
		if strings.EqualFold(k, field) {
			return v
		}
	}
	head, rest, nested := strings.Cut(field, ".")
	if sub, ok := values[head].(map[string]any); ok && nested {
		return fieldValue(sub, rest)
	}
	return nil
}

// equalValues: a list equals a value that it holds alone; text is compared
// without case; numbers by value, also when written as text.
func equalValues(have, want any) bool {
	if list, ok := have.([]any); ok {
		if other, ok := want.([]any); ok {
			return slices.EqualFunc(list, other, equalValues)
		}
		return slices.ContainsFunc(list, func(v any) bool { return equalValues(v, want) })
	}
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	c, ok := compareValues(have, want)
	return ok && c == 0
}

// hasValue: a list has an element, text has a part.
func hasValue(have, want any) bool {
	switch h := have.(type) {
	case []any:
		return slices.ContainsFunc(h, func(v any) bool { return equalValues(plainLink(v), plainLink(want)) })
	case string:
		w, ok := want.(string)
		return ok && strings.Contains(Key(h), Key(w))
	}
	return have != nil && equalValues(have, want)
}

// plainLink lets "Ann" find "[[Ann]]".
func plainLink(v any) any {
	if s, ok := v.(string); ok {
		return strings.TrimSuffix(strings.TrimPrefix(s, "[["), "]]")
	}
	return v
}

// compareValues orders numbers, dates and text; ok is false where there is no
// order.
func compareValues(a, b any) (order int, ok bool) {
	if x, isNumber := number(a); isNumber {
		if y, isNumber := number(b); isNumber {
			switch {
			case x < y:
				return -1, true
			case x > y:
				return 1, true
			}
			return 0, true
		}
	}
	x, okA := a.(string)
	y, okB := b.(string)
	if !okA || !okB {
		return 0, false
	}
	if s, ok := ParseDate(x); ok {
		if t, ok := ParseDate(y); ok {
			return s.Compare(t), true
		}
	}
	return strings.Compare(Key(x), Key(y)), true
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
