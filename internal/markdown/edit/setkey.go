package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"notesd/internal/markdown"
)

// SetFrontMatter sets a key of front matter to a value, or removes it if value is nil,
// by editing only the lines of the key. value must be a JSON value: a string, number or
// bool, or a list or map of them. A note without front matter gets a YAML block; a block
// whose last key is removed is removed too.
//
// It returns a [*FrontMatterError] if front matter is broken, if the key does not have
// its own lines, or if the edited block would not parse to the old values with only
// this key changed.
func SetFrontMatter(src []byte, key string, value any) ([]byte, error) {
	value, err := metaValueOf(value, 0)
	if err != nil {
		return nil, err
	}
	if key == "" || !utf8.ValidString(key) {
		return nil, invalid("set_front_matter needs a key")
	}
	fm := markdown.ReadFrontMatter(src)
	if fm.Err != nil {
		return nil, &FrontMatterError{Key: key, Line: fm.ErrLine, Reason: fmt.Sprintf("%v; correct it first with replace_text", fm.Err)}
	}
	if fm.Format == "" {
		return createFrontMatter(src, fm, key, value)
	}
	old, exists := fm.Values[key]
	// Queries name a nested key so; here it would be another key, beside the mapping.
	if outer, _, dotted := strings.Cut(key, "."); dotted && !exists {
		outer, _ = markdown.KeyOf(fm.Values, outer)
		if _, mapping := fm.Values[outer].(map[string]any); mapping {
			return nil, &FrontMatterError{Key: key, Reason: fmt.Sprintf("%q has keys of its own; set it as a whole, or use replace_text", outer)}
		}
	}
	if exists == (value != nil) && reflect.DeepEqual(old, value) {
		return bytes.Clone(src), nil
	}
	if other, _ := markdown.KeyOf(fm.Values, key); other != key {
		return nil, &FrontMatterError{Key: key, Reason: fmt.Sprintf("the note has %q; use that spelling, or remove that key first", other)}
	}
	out, err := setKey(src, fm, key, value)
	if err == nil {
		err = checkKey(src, out, fm, key, value)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// setKey edits the text of a valid block.
func setKey(src []byte, fm markdown.FrontMatter, key string, value any) ([]byte, error) {
	e := &keyEditor{inner: src[fm.InnerStart:fm.InnerEnd], key: key, eol: lineEnding(src, fm.InnerStart)}
	var err error
	if fm.Format == "toml" {
		err = e.locateTOML()
	} else {
		err = e.locateYAML()
	}
	if err != nil {
		return nil, err
	}
	lines := ""
	if items := e.itemsOf(value); items != nil {
		if e.innerComments {
			return nil, e.refuse("its value contains comments; use replace_text")
		}
		if old := fm.Values[key]; reflect.TypeOf(old) == reflect.TypeOf(value) {
			lines = e.writeItems(e.itemsOf(old), items)
		}
	}
	switch {
	case lines != "" || value == nil:
	case fm.Format == "toml":
		lines = e.writeTOML(value)
	default:
		lines = e.writeYAML(value)
	}
	if value == nil && e.start == 0 && e.end == len(e.inner) {
		out := splice(src, fm.Start, fm.End, "")
		if markdown.ReadFrontMatter(out).Format == "" {
			return out, nil
		}
	}
	return splice(src, fm.InnerStart+e.start, fm.InnerStart+e.end, lines), nil
}

// keyEditor edits one key of the text between the delimiters.
type keyEditor struct {
	inner []byte
	key   string
	eol   string
	// start and end delimit the lines of the key. If it does not exist, both are the
	// offset at which to insert it.
	start, end int
	lines      []int  // starts of the lines of inner
	indent     string // indentation of the keys of the block
	listIndent string // indentation of "- " relative to the key

	// How the existing entry is written.
	name          string                // the key as spelled, with its indentation and the ':' or '=' after it
	comment       string                // comment after the value on its line, with the white space before it
	quote         byte                  // quote of a scalar, '|' of lines as they are, or 0
	brackets      bool                  // whether the value is a list in brackets or a map in braces
	keys          []string              // the keys of a map, in order
	items         []place               // the items of a list or map
	leads         []int                 // lengths of the comments above the items; nil in brackets
	tails         []string              // comments beside the items, with the white space before them
	itemText      func(item any) string // returns a new item
	separator     string                // text between items if there was only one
	innerComments bool                  // there are comments between the brackets
}

// yamlBlockText matches a line that starts a block scalar: the indented lines after it
// are text, even if they look like comments.
var yamlBlockText = regexp.MustCompile(`(?m)[|>][-+0-9]*[ \t]*(#.*)?\r?$`)

// trimEntry excludes trailing blank lines and comments from an entry.
func (e *keyEditor) trimEntry() {
	inText := yamlBlockText.Match(e.inner[e.start:e.end])
	for e.end > e.start {
		lineStart := bytes.LastIndexByte(e.inner[:markdown.TrimLineBreak(e.inner, e.end)], '\n') + 1
		line := bytes.TrimRight(e.inner[lineStart:e.end], "\r\n")
		text := bytes.TrimSpace(line)
		if lineStart <= e.start || len(text) > 0 && text[0] != '#' || inText && len(text) > 0 && line[0] != '#' {
			return
		}
		e.end = lineStart
	}
}

// createFrontMatter adds a block to a note without one.
func createFrontMatter(src []byte, none markdown.FrontMatter, key string, value any) ([]byte, error) {
	if value == nil {
		return bytes.Clone(src), nil
	}
	if isJSON(src[none.Start:]) {
		return nil, &FrontMatterError{Key: key, Reason: "the note has JSON front matter; use replace_text"}
	}
	e := &keyEditor{key: key, eol: lineEnding(src, 0), listIndent: "  "}
	block := "---" + e.eol + e.writeYAML(value) + "---" + e.eol
	out := splice(src, none.Start, none.End, block)
	if err := checkKey(src, out, none, key, value); err != nil {
		return nil, err
	}
	return out, nil
}

// isJSON reports whether a text begins with a JSON object of some members: front matter of
// Hugo, which a block before it would hide.
func isJSON(text []byte) bool {
	var object map[string]any
	return bytes.HasPrefix(text, []byte("{")) && json.NewDecoder(bytes.NewReader(text)).Decode(&object) == nil && len(object) > 0
}

// checkKey verifies that front matter in out has the values of before, with key changed
// to value, and that the body is unchanged.
func checkKey(src, out []byte, before markdown.FrontMatter, key string, value any) error {
	want := maps.Clone(before.Values)
	if value == nil {
		delete(want, key)
	} else {
		if want == nil {
			want = map[string]any{}
		}
		want[key] = value
	}
	after := markdown.ReadFrontMatter(out)
	var reason string
	switch {
	case after.Err != nil:
		reason = fmt.Sprintf("the outcome would not parse: %v", after.Err)
	case after.Format == "" && len(want) > 0, len(after.Values)+len(want) > 0 && !reflect.DeepEqual(after.Values, want):
		reason = "it is written in a way that cannot be edited alone; use replace_text"
	case !bytes.Equal(src[before.End:], out[after.End:]):
		reason = "the text after it would change its meaning"
	default:
		return nil
	}
	return &FrontMatterError{Key: key, Reason: reason}
}

// metaValueOf normalizes a JSON value, or an equivalent Go value, to the types that
// reading front matter returns.
func metaValueOf(value any, depth int) (any, error) {
	if depth > markdown.MaxNesting/2 {
		return nil, invalid("the value is nested deeper than %d levels", markdown.MaxNesting/2)
	}
	switch v := value.(type) {
	case nil, bool, int64:
		return v, nil
	case string:
		if !utf8.ValidString(v) {
			return nil, invalid("the value is not valid UTF-8")
		}
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		return metaNumber(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		if !strings.ContainsAny(v.String(), ".eE") {
			return v.String(), nil // as a whole number that does not fit is read
		}
		f, err := v.Float64()
		if err != nil {
			return nil, invalid("%v is no JSON number", v)
		}
		return metaNumber(f)
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return metaValueOf(out, depth)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			safe, err := metaValueOf(item, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = safe
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			safe, err := metaValueOf(item, depth+1)
			if err != nil {
				return nil, err
			}
			if !utf8.ValidString(k) {
				return nil, invalid("a key of the value is not valid UTF-8")
			}
			out[k] = safe
		}
		return out, nil
	}
	return nil, invalid("not a JSON value: %T", value)
}

// metaNumber converts whole numbers to integers, which is how they are read back.
func metaNumber(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, invalid("%v is no JSON number", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), nil
	}
	return f, nil
}
