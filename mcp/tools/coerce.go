package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"notesd/internal/phrase"
)

// coerce returns the value as the parameter's type, nil for a null, or what is
// wrong with it.
func coerce(p param, raw json.RawMessage) (json.RawMessage, string) {
	if string(raw) == "null" && p.Type != "" {
		return nil, ""
	}
	var ok bool
	value := raw
	switch p.Type {
	case "string":
		value, ok = toString(raw)
	case "integer":
		return toInteger(p, raw)
	case "number":
		value, ok = toNumber(raw)
	case "boolean":
		value, ok = toBoolean(raw)
	case "array":
		return toArray(p, raw)
	case "object":
		return toObject(p, raw)
	default: // any JSON value
		ok = true
	}
	if !ok {
		return nil, p.wrong(raw)
	}
	if p.Type == "string" && len(p.Enum) > 0 {
		return toEnum(p, value)
	}
	return value, ""
}

// wrong says what was passed and what to pass.
func (p param) wrong(raw json.RawMessage) string {
	return fmt.Sprintf("%s must be %s, not %s", p.name, p.wanted(), phrase.Clip(phrase.OneLine(string(raw)), 60))
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

func toEnum(p param, value json.RawMessage) (json.RawMessage, string) {
	s, _ := unquote(value)
	for _, allowed := range p.Enum {
		if strings.EqualFold(strings.TrimSpace(s), allowed) {
			return json.RawMessage(strconv.Quote(allowed)), ""
		}
	}
	return nil, p.wrong(value)
}

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

// toInteger takes a number near enough to a whole one, and moves one that is
// out of bounds to the nearest bound: a limit of 1000 means "as many as I may".
func toInteger(p param, raw json.RawMessage) (json.RawMessage, string) {
	value, ok := toNumber(raw)
	if !ok {
		return nil, p.wrong(raw)
	}
	f, _ := strconv.ParseFloat(string(value), 64)
	if f != math.Trunc(f) || math.Abs(f) > maxSafeInteger {
		return nil, p.wrong(raw)
	}
	if p.Minimum != nil && f < *p.Minimum {
		return nil, p.wrong(raw)
	}
	if p.Maximum != nil {
		f = min(f, *p.Maximum)
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10)), ""
}

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

// toObject accepts an object, and one written into a string.
func toObject(p param, raw json.RawMessage) (json.RawMessage, string) {
	text := raw
	if s, ok := unquote(raw); ok {
		text = json.RawMessage(strings.TrimSpace(s))
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(text, &given) != nil {
		return nil, p.wrong(raw)
	}
	if p.Properties == nil {
		return text, ""
	}
	values, _, problems := p.object().values(given, true)
	if len(problems) > 0 {
		return nil, fmt.Sprintf("%s: %s", p.name, strings.Join(problems, "; "))
	}
	data, err := json.Marshal(values)
	if err != nil {
		return nil, p.wrong(raw)
	}
	return data, ""
}

// toArray accepts an array, an array written into a string, a comma list of
// strings, and one element.
func toArray(p param, raw json.RawMessage) (json.RawMessage, string) {
	items := []json.RawMessage{raw}
	if s, ok := unquote(raw); ok {
		items = splitList(p, s, raw)
	} else if raw[0] == '[' {
		items = nil
		if json.Unmarshal(raw, &items) != nil {
			return nil, p.wrong(raw)
		}
	}
	out := make([]json.RawMessage, 0, len(items))
	element := param{name: p.name, Type: ""}
	if p.Items != nil {
		element = *p.Items
		element.name = "each of " + p.name
	}
	for _, item := range items {
		value, problem := coerce(element, bytes.TrimSpace(item))
		if problem != "" && element.Properties != nil {
			return nil, problem
		}
		if problem != "" {
			return nil, p.wrong(raw)
		}
		if value != nil {
			out = append(out, value)
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, p.wrong(raw)
	}
	return data, ""
}

func splitList(p param, s string, raw json.RawMessage) []json.RawMessage {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil
	}
	var items []json.RawMessage
	if trimmed[0] == '[' && json.Unmarshal([]byte(trimmed), &items) == nil {
		return items
	}
	if p.Items == nil || p.Items.Type != "string" {
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
