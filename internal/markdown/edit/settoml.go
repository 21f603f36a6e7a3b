package edit

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"notesd/internal/markdown"
)

// locateTOML finds the lines of the key among those before the first table.
func (e *keyEditor) locateTOML() error {
	var p unstable.Parser
	p.Reset(e.inner)
	inRoot := true
	for p.NextExpression() {
		expression := p.Expression()
		keys := expression.Key()
		if !keys.Next() {
			continue
		}
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
		}
	}
	if err := p.Error(); err != nil {
		return e.refuse(err.Error())
	}
	return nil
}

// writeTOML returns the lines of the key with its new value.
func (e *keyEditor) writeTOML(value any) (string, error) {
	text, err := tomlText(value)
	if err != nil {
		return "", err
	}
	key := tomlKey(e.key) + " ="
	if e.exists {
		key = e.tomlKey
	}
	return key + " " + text + e.comment + e.eol, nil
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

// tomlText writes a value on one line. Text that is a date stays text.
func tomlText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return doubleQuote(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return yamlFloat(v), nil
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, err := tomlText(item)
			if err != nil {
				return "", err
			}
			items[i] = text
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	case map[string]any:
		items := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, err := tomlText(v[key])
			if err != nil {
				return "", err
			}
			items = append(items, tomlKey(key)+" = "+text)
		}
		return "{" + strings.Join(items, ", ") + "}", nil
	}
	return "", invalid("TOML front matter cannot hold null")
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareTOMLKey.MatchString(key) {
		return key
	}
	return doubleQuote(key)
}
