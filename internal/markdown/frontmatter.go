package markdown

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// maxFrontMatter bounds the size of front matter in bytes: the YAML and TOML
// libraries recurse and do not take linear time on hostile input.
const maxFrontMatter = 128 << 10

// MaxNesting bounds the depth of lists and maps in front matter.
const MaxNesting = 64

// maxOpen bounds the number of open brackets at any point of front matter,
// including those in strings, and with it the stack depth of the libraries.
const maxOpen = 1000

// maxValues bounds the number of values to which front matter may expand, so that
// nested YAML aliases cannot exhaust memory.
const maxValues = 100_000

var (
	errTooLarge = fmt.Errorf("front matter is larger than %d KiB", maxFrontMatter>>10)
	errTooDeep  = fmt.Errorf("front matter is nested deeper than %d levels", MaxNesting)
	errTooMany  = fmt.Errorf("front matter expands to more than %d values", maxValues)
	errNotMap   = errors.New("front matter is not a list of keys and values")
	errNotUTF8  = errors.New("front matter is not valid UTF-8")
	errControl  = errors.New("front matter contains a control character")
	errManyDocs = errors.New("front matter holds more than one YAML document")
	// ErrParser reports that the YAML or TOML library panicked.
	ErrParser = errors.New("front matter cannot be parsed")
)

// ByteOrderMark is the UTF-8 byte order mark, which may start a file.
const ByteOrderMark = "\xef\xbb\xbf"

// locateFrontMatter finds the metadata block at the start of src, after a byte order
// mark. It decodes nothing. Format is empty if there is no block or if it is not closed.
func locateFrontMatter(src []byte) FrontMatter {
	from := 0
	if bytes.HasPrefix(src, []byte(ByteOrderMark)) {
		from = len(ByteOrderMark)
	}
	none := FrontMatter{Start: from, End: from}
	format, fence := "yaml", "---"
	switch {
	case bytes.HasPrefix(src[from:], []byte("---")):
	case bytes.HasPrefix(src[from:], []byte("+++")):
		format, fence = "toml", "+++"
	default:
		return none
	}
	end, next := LineAt(src, from)
	if strings.TrimRight(string(src[from+3:end]), " \t") != "" {
		return none
	}
	inner := next
	for pos := inner; pos < len(src); {
		end, next = LineAt(src, pos)
		if closesFrontMatter(src[pos:end], fence) {
			return FrontMatter{Format: format, Start: from, End: next, InnerStart: inner, InnerEnd: pos}
		}
		pos = next
	}
	return none
}

func closesFrontMatter(line []byte, fence string) bool {
	line = bytes.TrimRight(line, " \t")
	return string(line) == fence || (fence == "---" && string(line) == "...")
}

// ReadFrontMatter locates and decodes the metadata block of src. A YAML block that
// contains prose instead of a map is not front matter: its delimiters are thematic
// breaks.
func ReadFrontMatter(src []byte) FrontMatter {
	fm := locateFrontMatter(src)
	if fm.Format == "" {
		return fm
	}
	inner := src[fm.InnerStart:fm.InnerEnd]
	values, line, err := decodeFrontMatter(fm.Format, inner)
	if errors.Is(err, errNotMap) && !looksLikeKeys(inner) {
		return FrontMatter{Start: fm.Start, End: fm.Start}
	}
	if err != nil {
		fm.Err = err
		if line > 0 {
			fm.ErrLine = line + 1
		}
		return fm
	}
	fm.Values = values
	return fm
}

// decodeFrontMatter decodes the text between the delimiters. An error comes with
// its line in that text, from 1, or 0 if unknown.
func decodeFrontMatter(format string, inner []byte) (values map[string]any, line int, err error) {
	defer func() {
		if recover() != nil {
			values, line, err = nil, 0, ErrParser
		}
	}()
	if len(inner) > maxFrontMatter {
		return nil, 0, errTooLarge
	}
	if line, err := checkFrontMatterText(inner); err != nil {
		return nil, line, err
	}
	if format == "toml" {
		return decodeTOML(inner)
	}
	return decodeYAML(inner)
}

// looksLikeKeys distinguishes malformed front matter, such as "title:x", from prose
// between two thematic breaks: its first line that is not a comment has a colon and
// no space before it.
func looksLikeKeys(inner []byte) bool {
	for len(inner) > 0 {
		end, next := LineAt(inner, 0)
		line := bytes.TrimSpace(inner[:end])
		inner = inner[next:]
		if len(line) == 0 {
			return false
		}
		if line[0] == '#' {
			continue
		}
		colon := bytes.IndexByte(line, ':')
		return colon > 0 && bytes.IndexByte(line[:colon], ' ') < 0
	}
	return true
}

// TagValues returns the tags in a front matter value: a list, or text separated by
// commas or, if it contains none, by white space.
func TagValues(value any) []string {
	if text, ok := value.(string); ok && !strings.Contains(text, ",") {
		return metaStrings(value, " \t\n")
	}
	return metaStrings(value, ",\n")
}

// metaStrings returns the items of a front matter value: a list, or text whose
// items are separated by one of seps.
func metaStrings(value any, seps string) []string {
	switch v := value.(type) {
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(seps, r) })
	case []any:
		var out []string
		for _, item := range v {
			switch item := item.(type) {
			case string:
				out = append(out, item)
			case int64, float64, bool, json.Number:
				out = append(out, fmt.Sprint(item))
			}
		}
		return out
	case int64, float64, json.Number:
		return []string{fmt.Sprint(v)}
	}
	return nil
}

// KeyOf returns the key of front matter that equals name, else one that differs only
// in case.
func KeyOf(values map[string]any, name string) (key string, found bool) {
	if _, found = values[name]; found {
		return name, true
	}
	for key := range values {
		if strings.EqualFold(key, name) {
			return key, true
		}
	}
	return name, false
}

// metaValue returns the value of the key that KeyOf finds.
func metaValue(values map[string]any, name string) any {
	key, _ := KeyOf(values, name)
	return values[key]
}

// decodeTOML decodes the table in inner. An error comes with its line in inner, or 0.
func decodeTOML(inner []byte) (values map[string]any, line int, err error) {
	raw := map[string]any{}
	if err := toml.Unmarshal(inner, &raw); err != nil {
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = de.Position()
		}
		return nil, line, fmt.Errorf("TOML: %w", err)
	}
	value, err := tomlValue(raw, 0)
	if err != nil {
		return nil, 0, err
	}
	return value.(map[string]any), 0, nil
}

// tomlValue converts a value decoded by the library to a JSON-safe one.
func tomlValue(value any, depth int) (any, error) {
	if depth > MaxNesting {
		return nil, errTooDeep
	}
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			safe, err := tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			v[k] = safe
		}
		return v, nil
	case []any:
		for i, item := range v {
			safe, err := tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			v[i] = safe
		}
		return v, nil
	case float64:
		return finite(v, fmt.Sprint(v)), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case fmt.Stringer: // local dates and times
		return v.String(), nil
	}
	return value, nil
}
