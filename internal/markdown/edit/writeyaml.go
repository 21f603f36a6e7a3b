package edit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// yamlWriter writes values as YAML with the same meaning in all versions of the
// language.
type yamlWriter struct {
	out        strings.Builder
	eol        string
	listIndent string
	quote      byte // quote for a scalar, '|' for lines as they are, 0 for the default
	brackets   bool // whether to write lists in brackets
}

// value writes the value after "key:" or "-". indent is the indentation of that line.
func (w *yamlWriter) value(value any, indent string, afterKey bool) {
	switch v := value.(type) {
	case []any:
		w.quote = 0
		if len(v) == 0 || w.brackets {
			w.out.WriteString(" " + flowYAML(v))
			return
		}
		inner := indent + "  "
		if afterKey {
			inner = indent + w.listIndent
		}
		for _, item := range v {
			w.out.WriteString(w.eol + inner + "-")
			w.value(item, inner, false)
		}
	case map[string]any:
		w.quote = 0
		if len(v) == 0 || w.brackets {
			w.out.WriteString(" " + flowYAML(v))
			return
		}
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i == 0 && !afterKey {
				w.out.WriteString(" " + yamlKey(key) + ":")
			} else {
				w.out.WriteString(w.eol + indent + "  " + yamlKey(key) + ":")
			}
			w.value(v[key], indent+"  ", true)
		}
	default:
		if w.quote == '|' {
			w.quote = 0
			if text, _ := v.(string); w.literal(text, indent+"  ") {
				return
			}
		}
		w.out.WriteString(" " + yamlScalar(v, w.quote, false))
	}
}

// literal writes text of several lines as it is below the key, and reports whether that was
// possible.
func (w *yamlWriter) literal(text, indent string) bool {
	body, ended := strings.CutSuffix(text, "\n")
	if !strings.Contains(text, "\n") || strings.HasPrefix(body, " ") || body != strings.Trim(body, "\n") || body == "" || hasControl(strings.ReplaceAll(body, "\n", "")) {
		return false
	}
	w.out.WriteString(" |")
	if !ended {
		w.out.WriteString("-")
	}
	for line := range strings.SplitSeq(body, "\n") {
		if w.out.WriteString(w.eol); line != "" {
			w.out.WriteString(indent + line)
		}
	}
	return true
}

// flowYAML returns a value as YAML on one line.
func flowYAML(value any) string {
	return flowText(value, ": ", yamlKey, func(v any) string { return yamlScalar(v, 0, true) })
}

// flowText returns a value on one line. between separates a key from its value.
func flowText(value any, between string, key func(string) string, scalar func(any) string) string {
	switch v := value.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = flowText(item, between, key, scalar)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		items := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			items = append(items, key(k)+between+flowText(v[k], between, key, scalar))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case mapItem:
		return key(v.key) + between + flowText(v.value, between, key, scalar)
	}
	return scalar(value)
}

func yamlKey(key string) string {
	if plainYAML(key, true) {
		return key
	}
	return doubleQuote(key)
}

// yamlScalar returns a scalar. Text is written in the given quotes or, if quote is 0,
// without quotes where possible.
func yamlScalar(value any, quote byte, inFlow bool) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return yamlFloat(v)
	case string:
		switch {
		case quote == '\'' && !hasControl(v):
			return "'" + strings.ReplaceAll(v, "'", "''") + "'"
		case quote == 0 && plainYAML(v, inFlow):
			return v
		}
		return doubleQuote(v)
	}
	return doubleQuote(fmt.Sprint(value))
}

// yamlFloat returns a number with a fraction or beyond 2^53 in a form that is read as a
// float.
func yamlFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

var (
	yamlDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$`)
	// yamlNumber matches text that some version of YAML reads as a number, such as the
	// sexagesimal 12:30.
	yamlNumber = regexp.MustCompile(`^[0-9a-fA-FxXoO_.:eE+-]*$`)
	yamlWord   = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n|nan|inf)$`)
)

// plainYAML reports whether every reader parses s without quotes as text.
func plainYAML(s string, inFlow bool) bool {
	if s == "" || s[len(s)-1] == ' ' || s[len(s)-1] == ':' || strings.Contains(s, ": ") || strings.Contains(s, " #") ||
		yamlWord.MatchString(s) {
		return false
	}
	if !inFlow && yamlDate.MatchString(s) {
		return true
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || r == '_':
		case unicode.IsNumber(r), unicode.IsMark(r) && i > 0:
		case i == 0 && r < 0x80:
			return false
		case r < 0x80 && strings.ContainsRune(" -./()+;!?'@#:&%=$*~", r):
			if inFlow && strings.ContainsRune(":?'", r) {
				return false
			}
		case r == ',' && !inFlow:
		case r >= 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
		default:
			return false
		}
	}
	return !yamlNumber.MatchString(s) || s[0] > '9' && !strings.ContainsAny(s, "0123456789")
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || needsEscape(r) })
}

// needsEscape reports whether r is a non-ASCII character that YAML or TOML would not
// preserve, or that is invisible.
func needsEscape(r rune) bool {
	return r >= 0x80 && r <= 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// doubleQuote returns s in double quotes, with escapes valid in both YAML and TOML.
func doubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f || needsEscape(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
