package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseFile parses a TOML document into entries in the order of their lines.
func parseFile(name string, data []byte) ([]entry, []Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // Windows editors write a byte order mark
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, []Problem{syntaxProblem(name, err)}
	}
	lines := keyLines(data)
	var entries []entry
	var problems []Problem
	var walk func(prefix string, table map[string]any, line int)
	walk = func(prefix string, table map[string]any, line int) {
		for part, v := range table {
			key := prefix + part
			at := cmp.Or(lines[key], line)
			place := fmt.Sprintf("%s:%d", name, at)
			child, isTable := v.(map[string]any)
			s, isSetting := find(key)
			switch {
			case isTable && isSetting && s.typ != typeFolders:
				problems = append(problems, Problem{Origin: place, Key: key, Detail: "is a setting, not a section"})
			case isTable && !isSetting:
				walk(key+".", child, at)
			case isSection(key):
				problems = append(problems, Problem{Origin: place, Key: key, Value: show(v), Detail: "is a section, not a setting", Hint: "write its keys under [" + key + "]"})
			default:
				entries = append(entries, entry{key: key, value: v, origin: place})
			}
		}
	}
	walk("", doc, 1)
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(lines[a.key], lines[b.key]), cmp.Compare(a.key, b.key))
	})
	return entries, problems
}

func syntaxProblem(name string, err error) Problem {
	var decode *toml.DecodeError
	if !errors.As(err, &decode) {
		return Problem{Origin: name, Detail: "is not TOML: " + err.Error()}
	}
	row, column := decode.Position()
	p := Problem{
		Origin: fmt.Sprintf("%s:%d:%d", name, row, column),
		Detail: "is not TOML: " + strings.TrimPrefix(decode.Error(), "toml: "),
	}
	switch {
	case strings.Contains(p.Detail, " escape "):
		p.Hint = `put text with a backslash in single quotes, such as 'C:\Users\you\Notes'`
	case strings.HasSuffix(p.Detail, "at start of value"):
		p.Hint = `put text in quotes, such as "~/Notes"`
	}
	return p
}

// keyLines maps each key and section of a valid document to its line.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	var parser unstable.Parser
	parser.Reset(data)
	section := ""
	for parser.NextExpression() {
		node := parser.Expression()
		name, line := "", 0
		for part := node.Key(); part.Next(); {
			if line == 0 {
				line = parser.Shape(part.Node().Raw).Start.Line
			}
			name += "." + string(part.Node().Data)
		}
		name = strings.TrimPrefix(name, ".")
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			lines[name] = line
			section = name + "."
		case unstable.KeyValue:
			lines[section+name] = line
		}
	}
	return lines
}
