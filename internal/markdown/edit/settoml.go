package edit

import (
	"bytes"
	"regexp"

	"github.com/pelletier/go-toml/v2/unstable"

	"notesd/internal/markdown"
)

// locateTOML finds the lines of the key among those before the first table.
func (e *keyEditor) locateTOML() error {
	p := unstable.Parser{KeepComments: true}
	p.Reset(e.inner)
	inRoot := true
	for p.NextExpression() {
		expression := p.Expression()
		if expression.Kind == unstable.Comment {
			continue
		}
		keys := expression.Key()
		keys.Next()
		name := keys.Node()
		first := string(name.Data)
		inRoot = inRoot && expression.Kind == unstable.KeyValue
		if !inRoot {
			if expression.Kind != unstable.KeyValue && first == e.key {
				return e.refuse("it is a table; use replace_text")
			}
			continue
		}
		if first == e.key && keys.Next() {
			return e.refuse("it is a dotted key; use replace_text")
		}
		if e.name != "" {
			continue
		}
		raw := expression.Raw
		end, next := markdown.LineAt(e.inner, int(raw.Offset+raw.Length))
		e.start, e.end = next, next
		if first == e.key {
			e.start = bytes.LastIndexByte(e.inner[:raw.Offset], '\n') + 1
			e.comment = string(e.inner[raw.Offset+raw.Length : end])
			nameEnd := int(name.Raw.Offset + name.Raw.Length)
			e.name = string(e.inner[e.start : nameEnd+bytes.IndexByte(e.inner[nameEnd:], '=')+1])
			e.findTOMLItems(expression.Value())
		}
	}
	return nil // syntax errors were reported when the values were read
}

// findTOMLItems records the items of a list, unless one is a list or table itself, whose
// end the library does not report, and whether there are comments in the value.
func (e *keyEditor) findTOMLItems(value *unstable.Node) {
	e.itemText, e.separator = tomlText, ", "
	nested := false
	for children := value.Children(); children.Next(); {
		switch item := children.Node(); item.Kind {
		case unstable.Comment:
			e.innerComments = true
		case unstable.Array, unstable.InlineTable, unstable.KeyValue:
			nested = true
			e.findTOMLItems(item)
		default:
			e.items = append(e.items, place{int(item.Raw.Offset), int(item.Raw.Offset + item.Raw.Length)})
		}
	}
	if nested {
		e.items = nil
	}
}

// writeTOML returns the lines of the key with its new value.
func (e *keyEditor) writeTOML(value any) string {
	name := e.name
	if name == "" {
		name = tomlKey(e.key) + " ="
	}
	return name + " " + tomlText(value) + e.comment + e.eol
}

// tomlText returns a value on one line. Text is always quoted, so that a date remains
// text.
func tomlText(value any) string {
	return flowText(value, " = ", tomlKey, func(v any) string {
		if s, ok := v.(string); ok {
			return doubleQuote(s)
		}
		return yamlScalar(v, 0, false)
	})
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareTOMLKey.MatchString(key) {
		return key
	}
	return doubleQuote(key)
}
