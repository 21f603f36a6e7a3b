package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"notesd/internal/phrase"
)

// coerce converts a value to the parameter's type. It returns nil if the value stands for
// none, or a description of the problem. It accepts any value that has only one possible
// meaning. Some hosts fill in all parameters: null, and "" or 0 where they are not valid,
// stand for none.
func coerce(p param, raw json.RawMessage) (value json.RawMessage, problem string) {
	ok := true
	switch value = raw; {
	case p.Type == "": // any JSON value
	case string(raw) == "null", string(raw) == `""` && len(p.Enum) > 0, string(raw) == "0" && p.Minimum != nil && *p.Minimum > 0:
		return nil, ""
	case p.Type == "string":
		if value, ok = toString(raw); ok && len(p.Enum) > 0 {
			value, ok = toEnum(p.Enum, value)
		}
	case p.Type == "integer":
		value, ok = toInteger(p, raw)
	case p.Type == "number":
		value, ok = toNumber(raw)
	case p.Type == "boolean":
		value, ok = toBoolean(raw)
	case p.Type == "array":
		value, problem, ok = toArray(p, raw)
	case p.Type == "object":
		value, problem, ok = toObject(p, raw)
	}
	switch {
	case problem != "":
		return nil, problem
	case !ok:
		return nil, p.wrong(raw)
	}
	return value, ""
}

// wrong describes what was passed and what to pass.
func (p param) wrong(raw json.RawMessage) string {
	wanted := p.wanted()
	if p.Type == "string" && len(p.Enum) == 0 && p.Description != "" {
		wanted += " (" + p.Description + ")"
	}
	return fmt.Sprintf("%s must be %s, not %s", p.name, wanted, phrase.Clip(phrase.OneLine(string(raw)), 60))
}

// wanted describes the type in words, with an example where that is clearer.
func (p param) wanted() string {
	switch p.Type {
	case "string":
		if len(p.Enum) > 0 {
			return "one of " + strings.Join(p.Enum, ", ")
		}
		return "a string"
	case "integer", "number":
		if p.Minimum != nil && p.Maximum != nil {
			return fmt.Sprintf("a number from %v to %v", *p.Minimum, *p.Maximum)
		}
		return "a number"
	case "boolean":
		return "true or false"
	case "array":
		switch {
		case p.Items == nil:
			return "an array"
		case p.Items.Type == "string":
			return `an array of strings, like ["a", "b"]`
		case p.Items.Type == "integer", p.Items.Type == "number":
			return "an array of numbers, like [1, 2]"
		}
		return "an array; each item is " + p.Items.wanted()
	case "object":
		if len(p.Required) > 0 {
			return "an object with " + strings.Join(p.Required, " and ")
		}
		return `an object, like {"key": "value"}`
	}
	return "a value"
}

// toString accepts a number or a boolean, such as a title 2026, and a list of one string,
// which models pass where a tool has both note and notes.
func toString(raw json.RawMessage) (json.RawMessage, bool) {
	switch raw[0] {
	case '"':
		return raw, true
	case '[':
		var only []string
		if json.Unmarshal(raw, &only) != nil || len(only) != 1 {
			return nil, false
		}
		value, err := json.Marshal(only[0])
		return value, err == nil
	case '{':
		return nil, false
	}
	return json.RawMessage(strconv.Quote(string(raw))), true // a number, true or false: ASCII
}

func toEnum(enum []string, value json.RawMessage) (json.RawMessage, bool) {
	s, _ := unquote(value)
	s = strings.TrimSpace(s)
	plain := phrase.SnakeCase(s)
	for _, allowed := range enum {
		if strings.EqualFold(s, allowed) || plain == allowed || slices.Contains(enumWords[allowed], plain) {
			return json.RawMessage(strconv.Quote(allowed)), true
		}
	}
	return nil, false
}

// toNumber returns the number in its shortest notation. Infinities, which JSON cannot
// represent, come from numbers like 1e999.
func toNumber(raw json.RawMessage) (json.RawMessage, bool) {
	text := string(raw)
	if s, ok := unquote(raw); ok {
		text = strings.TrimSpace(s)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64)), true
}

// maxSafeInteger is the largest integer that a JSON number carries exactly
// through every client's parser (RFC 8259, section 6).
const maxSafeInteger = 1<<53 - 1

// toInteger accepts a whole number in any notation, and reduces one above the maximum to
// the maximum: a limit of 1000 means "as many as possible".
func toInteger(p param, raw json.RawMessage) (json.RawMessage, bool) {
	value, ok := toNumber(raw)
	f, _ := strconv.ParseFloat(string(value), 64)
	if !ok || f != math.Trunc(f) || math.Abs(f) > maxSafeInteger || p.Minimum != nil && f < *p.Minimum {
		return nil, false
	}
	if p.Maximum != nil {
		f = min(f, *p.Maximum)
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10)), true
}

// toBoolean accepts the words and numbers that models use for a flag. An empty string is
// false, because hosts send one for a flag that is not set.
func toBoolean(raw json.RawMessage) (json.RawMessage, bool) {
	text := string(raw)
	if s, ok := unquote(raw); ok {
		text = s
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "1", "on":
		return json.RawMessage("true"), true
	case "false", "no", "0", "off", "":
		return json.RawMessage("false"), true
	}
	return nil, false
}

// toObject accepts an object, also encoded in a string. problem describes what is wrong
// with its properties.
func toObject(p param, raw json.RawMessage) (value json.RawMessage, problem string, ok bool) {
	text := raw
	if s, ok := unquote(raw); ok {
		text = json.RawMessage(strings.TrimSpace(s))
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(text, &given) != nil {
		return nil, "", false
	}
	if p.Properties == nil {
		return text, "", true
	}
	values, _, problems := p.object().values(given, true)
	if len(problems) > 0 {
		return nil, fmt.Sprintf("%s: %s", p.name, strings.Join(problems, "; ")), false
	}
	value, err := json.Marshal(values)
	return value, "", err == nil
}

// toArray accepts an array, an array encoded in a string, a comma-separated list of
// strings or numbers, and a single element. problem describes what is wrong with an element
// that is an object.
func toArray(p param, raw json.RawMessage) (value json.RawMessage, problem string, ok bool) {
	var items []json.RawMessage
	if s, ok := unquote(raw); ok {
		items = splitList(p, s, raw)
	} else if raw[0] != '[' {
		items = append(items, raw)
	} else if json.Unmarshal(raw, &items) != nil {
		return nil, "", false
	}
	out := make([]json.RawMessage, 0, len(items))
	var element param
	if p.Items != nil {
		element = *p.Items
	}
	for i, item := range items {
		element.name = fmt.Sprintf("%s[%d]", p.name, i)
		value, problem := coerce(element, bytes.TrimSpace(item))
		switch {
		case problem != "" && element.Properties != nil:
			return nil, problem, false
		case problem != "":
			return nil, "", false
		case value != nil:
			out = append(out, value)
		}
	}
	value, err := json.Marshal(out)
	return value, "", err == nil
}

// splitList splits a string that was passed for an array. A list of strings or numbers is split
// at commas: an array of other elements is JSON text, or one element.
func splitList(p param, s string, raw json.RawMessage) []json.RawMessage {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil
	}
	var items []json.RawMessage
	if trimmed[0] == '[' && json.Unmarshal([]byte(trimmed), &items) == nil {
		return items
	}
	if p.Items == nil || !slices.Contains([]string{"string", "integer", "number"}, p.Items.Type) {
		if trimmed[0] == '{' {
			return []json.RawMessage{json.RawMessage(trimmed)}
		}
		return []json.RawMessage{raw}
	}
	for part := range strings.SplitSeq(trimmed, ",") {
		if part = strings.TrimSpace(part); part != "" {
			data, _ := json.Marshal(part)
			items = append(items, data)
		}
	}
	return items
}

// unquote returns the text of a JSON string.
func unquote(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
