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
		first := string(keys.Node().Data)
		inRoot = inRoot && expression.Kind == unstable.KeyValue
		if !inRoot {
			if expression.Kind != unstable.KeyValue && first == e.key {
				return e.refuse("it is a table; use replace_text")
			}
			continue
		}
		if first == e.key && (keys.Next() || e.exists) {
			return e.refuse("it is a dotted key; use replace_text")
		}
		if e.exists {
			continue
		}
		raw := expression.Raw
		end, next := markdown.LineAt(e.inner, int(raw.Offset+raw.Length))
		e.start, e.end = next, next
		if e.exists = first == e.key; e.exists {
			e.start = bytes.LastIndexByte(e.inner[:raw.Offset], '\n') + 1
			e.comment = string(e.inner[raw.Offset+raw.Length : end])
			e.tomlKey = string(e.inner[e.start:tomlEquals(e.inner, e.start)])
			e.tomlComments = hasComments(expression.Value())
		}
	}
	return nil // syntax errors were reported when the values were read
}

// writeTOML returns the lines of the key with its new value.
func (e *keyEditor) writeTOML(value any) (string, error) {
	if _, list := value.([]any); list && e.tomlComments {
		return "", e.refuse(innerComments)
	}
	var err error
	text := flowText(value, " = ", tomlKey, func(v any) string { // always quote text, so that a date remains text
		if v == nil {
			err = invalid("TOML front matter cannot hold null")
		}
		if s, ok := v.(string); ok {
			return doubleQuote(s)
		}
		return yamlScalar(v, 0, false)
	})
	key := tomlKey(e.key) + " ="
	if e.exists {
		key = e.tomlKey
	}
	return key + " " + text + e.comment + e.eol, err
}

// hasComments reports whether there are comments between the items of a list.
func hasComments(value *unstable.Node) bool {
	for children := value.Children(); children.Next(); {
		if child := children.Node(); child.Kind == unstable.Comment || hasComments(child) {
			return true
		}
	}
	return false
}

// tomlEquals returns the offset after the '=' of the entry at i.
func tomlEquals(b []byte, i int) int {
	for i < len(b) && b[i] != '=' {
		if b[i] == '"' || b[i] == '\'' {
			quote := b[i]
			for i++; i < len(b) && b[i] != quote; i++ {
				if b[i] == '\\' && quote == '"' {
					i++
				}
			}
		}
		i++
	}
	return min(i+1, len(b))
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareTOMLKey.MatchString(key) {
		return key
	}
	return doubleQuote(key)
}
