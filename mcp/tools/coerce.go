package tools

import (
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
	switch {
	case p.Type == "": // any JSON value
		return raw, ""
	case string(raw) == "null", string(raw) == `""` && len(p.Enum) > 0, string(raw) == "0" && p.Minimum != nil && *p.Minimum > 0:
		return nil, ""
	case p.Type == "string":
		value = toString(p, raw)
	case p.Type == "integer":
		value = toInteger(p, raw)
	case p.Type == "number":
		value = toNumber(raw)
	case p.Type == "boolean":
		value = toBoolean(raw)
	case p.Type == "array":
		value, problem = toArray(p, raw)
	case p.Type == "object":
		value, problem = toObject(p, raw)
	}
	if value == nil && problem == "" {
		problem = p.wrong(raw)
	}
	return value, problem
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
		switch p.Items.Type {
		case "string":
			return `an array of strings, like ["a", "b"]`
		case "integer", "number":
			return "an array of numbers, like [1, 2]"
		}
		return "an array; each item is " + p.Items.wanted()
	}
	if len(p.Required) > 0 {
		return "an object with " + strings.Join(p.Required, " and ")
	}
	return `an object, like {"key": "value"}`
}

// The functions below return nil for a value that they do not accept.

// toString accepts a number or a boolean, such as a title 2026, and a list of one string,
// which models pass where a tool has both note and notes.
func toString(p param, raw json.RawMessage) json.RawMessage {
	switch raw[0] {
	case '"':
	case '[':
		var only []string
		if json.Unmarshal(raw, &only) != nil || len(only) != 1 {
			return nil
		}
		raw, _ = json.Marshal(only[0])
	case '{':
		return nil
	default:
		raw = json.RawMessage(strconv.Quote(string(raw))) // a number, true or false: ASCII
	}
	if len(p.Enum) > 0 {
		return toEnum(p.Enum, unquoted(raw))
	}
	return raw
}

func toEnum(enum []string, s string) json.RawMessage {
	plain := phrase.SnakeCase(s)
	for _, allowed := range enum {
		if strings.EqualFold(s, allowed) || plain == allowed || slices.Contains(enumWords[allowed], plain) {
			return json.RawMessage(strconv.Quote(allowed))
		}
	}
	return nil
}

// toNumber returns the number in its shortest notation. Infinities, which JSON cannot
// represent, come from numbers like 1e999.
func toNumber(raw json.RawMessage) json.RawMessage {
	f, err := strconv.ParseFloat(unquoted(raw), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64))
}

// maxSafeInteger is the largest integer that a JSON number carries exactly
// through every client's parser (RFC 8259, section 6).
const maxSafeInteger = 1<<53 - 1

// toInteger accepts a whole number in any notation, and reduces one above the maximum to
// the maximum: a limit of 1000 means "as many as possible".
func toInteger(p param, raw json.RawMessage) json.RawMessage {
	f, err := strconv.ParseFloat(string(toNumber(raw)), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafeInteger || p.Minimum != nil && f < *p.Minimum {
		return nil
	}
	if p.Maximum != nil {
		f = min(f, *p.Maximum)
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10))
}

// toBoolean accepts the words and numbers that models use for a flag. An empty string is
// false, because hosts send one for a flag that is not set.
func toBoolean(raw json.RawMessage) json.RawMessage {
	switch strings.ToLower(unquoted(raw)) {
	case "true", "yes", "1", "on":
		return json.RawMessage("true")
	case "false", "no", "0", "off", "":
		return json.RawMessage("false")
	}
	return nil
}

// toObject accepts an object, also encoded in a string. problem describes what is wrong
// with its properties.
func toObject(p param, raw json.RawMessage) (value json.RawMessage, problem string) {
	text := json.RawMessage(unquoted(raw))
	var given map[string]json.RawMessage
	if json.Unmarshal(text, &given) != nil {
		return nil, ""
	}
	if p.Properties == nil {
		return text, ""
	}
	values, _, problems := p.object().values(given, true)
	if len(problems) > 0 {
		return nil, fmt.Sprintf("%s: %s", p.name, strings.Join(problems, "; "))
	}
	value, _ = json.Marshal(values) // of valid JSON
	return value, ""
}

// toArray accepts an array, an array encoded in a string, a comma-separated list of
// strings or numbers, and a single element. problem describes what is wrong with an element
// that is an object.
func toArray(p param, raw json.RawMessage) (value json.RawMessage, problem string) {
	var items []json.RawMessage
	switch raw[0] {
	case '"':
		items = splitList(p, raw)
	case '[':
		_ = json.Unmarshal(raw, &items) // valid JSON
	default:
		items = append(items, raw)
	}
	out := make([]json.RawMessage, 0, len(items))
	element := *p.Items
	for i, item := range items {
		element.name = fmt.Sprintf("%s[%d]", p.name, i)
		value, problem := coerce(element, item)
		switch {
		case problem != "" && element.Properties != nil:
			return nil, problem
		case problem != "":
			return nil, ""
		case value == nil && element.Type == "number": // the positions of the other numbers count
			return nil, element.wrong(item)
		case value != nil:
			out = append(out, value)
		}
	}
	value, _ = json.Marshal(out)
	return value, ""
}

// splitList splits a string that was passed for an array. A list of strings or numbers is split
// at commas: an array of other elements is JSON text, or one element.
func splitList(p param, raw json.RawMessage) (items []json.RawMessage) {
	text := unquoted(raw)
	switch {
	case text == "":
		return nil
	case text[0] == '[' && json.Unmarshal([]byte(text), &items) == nil:
		return items
	case !slices.Contains([]string{"string", "integer", "number"}, p.Items.Type):
		return []json.RawMessage{raw}
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			data, _ := json.Marshal(part)
			items = append(items, data)
		}
	}
	return items
}

// unquoted returns the text of a JSON string without surrounding space, and other JSON as it is.
func unquoted(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	return string(raw)
}

// The following tables list the words that models use for arguments and their values. The schemas, which
// take up context in every client, do not have them.

// aliases maps the arguments of tools to other names that models use for them. An alias
// applies if the tool has the argument and no argument with the alias as its name. If two
// arguments of a tool share an alias, the first by name gets it; an object, the first that takes one.
var aliases = map[string][]string{
	"query":         {"q", "text", "search", "search_query", "keywords", "term", "question"},
	"note":          {"path", "file", "name", "title", "uri", "note_path", "old_path", "note_id", "file_path", "filepath", "filename", "file_name", "note_name", "id", "source"},
	"notes":         {"paths", "files", "note_paths", "uris"},
	"limit":         {"max_results", "max", "count", "n", "k", "top_k", "num_results", "page_size", "size"},
	"cursor":        {"next_cursor", "page_token", "next", "page"},
	"folder":        {"dir", "directory", "in", "path_prefix", "folder_path", "path"},
	"tags":          {"tag", "labels", "label"},
	"content":       {"body", "text", "markdown", "value"},
	"title":         {"name", "heading"},
	"path":          {"file", "file_path", "filepath", "filename", "note"},
	"heading":       {"section", "header"},
	"lines":         {"line_range", "range", "view_range", "line"},
	"max_bytes":     {"max_chars", "max_length", "budget", "max_size"},
	"front_matter":  {"frontmatter", "metadata", "properties", "yaml"},
	"glob":          {"pattern", "filter"},
	"where":         {"filter"},
	"after":         {"since", "from", "start_date", "date_from", "from_date", "modified_after"},
	"since":         {"after", "from", "start_date"},
	"before":        {"until", "to", "end_date", "date_to", "to_date", "modified_before"},
	"sort":          {"sort_by", "order_by"},
	"mode":          {"search_mode", "search_type", "type"},
	"direction":     {"kind", "type"},
	"depth":         {"hops", "levels"},
	"to":            {"new_path", "destination", "dest", "target", "new_name", "new", "new_tag"},
	"tag":           {"old", "old_tag", "from", "name"},
	"text":          {"query", "q", "search", "contains", "task"},
	"anchor":        {"note", "path", "uri", "source"},
	"quote":         {"text", "content"},
	"expected_hash": {"hash", "if_match", "etag"},
	"edits":         {"edit", "changes", "operations"},
	"revision":      {"version", "rev"},
	"op":            {"operation", "action", "type", "command"},
	"old":           {"old_text", "old_str", "old_string", "find", "search", "from"},
	"new":           {"new_text", "new_str", "new_string", "replace", "replacement", "replace_with", "with", "new_heading"},
	"key":           {"field", "property", "name"},
	"dry_run":       {"preview", "simulate"},
	"redirect":      {"redirect_to", "redirect_links_to"},
	"line":          {"line_number"},
	"status":        {"state"},
	"due":           {"due_date", "deadline"},
	"table_name":    {"table", "name", "collection", "index"},
	"dimension":     {"dim", "dimensions", "size"},
	"metric":        {"distance", "distance_metric", "similarity", "type"},
	"vector":        {"embedding", "values"},
	"query_vector":  {"vector", "embedding", "query_embedding"},
	"query_text":    {"query", "text", "q"},
	"metadata":      {"payload", "properties", "meta"},
	"filter":        {"where", "conditions", "metadata_filter"},
	"rows":          {"vectors", "items", "points", "records"},
	"ids":           {"id", "row_ids"},
}

// enumWords maps the values of enums to other words that models use for them.
var enumWords = map[string][]string{
	"in":               {"incoming", "backlinks", "inbound"},
	"out":              {"outgoing", "outlinks", "outbound"},
	"text":             {"keyword", "keywords", "lexical", "full_text"},
	"semantic":         {"vector"},
	"date":             {"_date", "newest", "recent"}, // -date
	"modified":         {"_modified", "modified_desc", "updated", "mtime"},
	"created":          {"_created", "created_desc", "ctime"},
	"title":            {"name"},
	"l2":               {"euclidean"},
	"dot":              {"dot_product", "inner_product"},
	"replace_text":     {"replace", "str_replace"},
	"append":           {"append_text"},
	"prepend":          {"prepend_text"},
	"tags":             {"tag"},
	"folders":          {"folder"},
	"set_front_matter": {"set_frontmatter", "set_property"},
}

// flags maps flags that models pass to the argument and the value that they mean. A flag
// applies if the tool has the argument; without a value for true or false, it is as if the
// flag were missing.
var flags = map[string]struct{ name, on, off string }{
	"overdue":           {"due", "overdue", ""},
	"done":              {"status", "done", "open"},
	"is_done":           {"status", "done", "open"},
	"completed":         {"status", "done", "open"},
	"is_completed":      {"status", "done", "open"},
	"include_done":      {"status", "all", ""},
	"include_completed": {"status", "all", ""},
	"show_done":         {"status", "all", ""},
	"show_completed":    {"status", "all", ""},
	"exclude_done":      {"status", "open", ""},
	"exclude_completed": {"status", "open", ""},
	"backlinks":         {"direction", "in", ""},
	"incoming":          {"direction", "in", ""},
	"outgoing":          {"direction", "out", ""},
}

// implied are the values of arguments that others imply: an edit that has an old and a new
// text needs no op, as in the editing tools of many hosts.
var implied = []struct {
	name, value string
	by          []string
}{
	{"op", "replace_text", []string{"old", "new"}},
	{"op", "set_front_matter", []string{"key", "value"}},
}

// unlike has advice on arguments whose name has one of the words, for a tool with the parameter
// has: the parameter that the name resembles would do something else.
var unlike = []struct {
	words  []string
	has    string
	advice string
}{
	{[]string{"exclude", "excluded", "without", "except"}, "where", `a condition excludes notes: where {"path":{"not":{"contains":"Archive/"}}}`},
	{[]string{"exclude", "excluded", "without", "except"}, "query", "write -path:Archive/, -tag:x or -word into the query"},
	{[]string{"exclude", "excluded", "without", "except"}, "priority", "no tasks can be excluded; list one folder, note or tag at a time"},
	{[]string{"order", "descending", "ascending", "reverse"}, "sort", "each sort has one order, the newest notes or next due tasks first"},
	{[]string{"query", "keyword", "keywords"}, "orphans", "search_notes finds by content; here, glob *word* finds by name"},
	{[]string{"folder", "directory", "dir"}, "diff", "pass the folder as note, with a slash at its end"},
}
