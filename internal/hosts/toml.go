package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func readTOML(text []byte, table string) (map[string]Server, error) {
	doc, err := tomlDocument(text)
	if err != nil {
		return nil, err
	}
	found := map[string]Server{}
	servers, _ := doc[table].(map[string]any)
	for name, v := range servers {
		entry, _ := v.(map[string]any)
		s := Server{Env: map[string]string{}}
		s.Command, _ = entry["command"].(string)
		args, _ := entry["args"].([]any)
		for _, arg := range args {
			text, _ := arg.(string)
			s.Args = append(s.Args, text)
		}
		env, _ := entry["env"].(map[string]any)
		for k, v := range env {
			s.Env[k], _ = v.(string)
		}
		found[name] = s
	}
	return found, nil
}

var errNotTables = errors.New("the servers are not written as tables, so they cannot be edited here")

func setTOML(text []byte, table, name string, s Server) ([]byte, error) {
	before, err := tomlDocument(text)
	if err != nil {
		return nil, err
	}
	path := []string{table, name}
	with := text
	for _, own := range [][2]string{{"command", tomlString(s.Command)}, {"args", tomlStrings(s.Args)}} {
		tables, err := tomlTables(with)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(tables, func(t tomlTable) bool { return slices.Equal(t.path, path) })
		if i < 0 {
			if with = bytes.TrimRight(with, "\r\n \t"); len(with) > 0 {
				with = append(slices.Clone(with), "\n\n"...)
			}
			with = fmt.Appendf(with, "[%s.%s]\n", table, tomlName(name))
			i, tables = 0, []tomlTable{{body: len(with)}}
		}
		with = tables[i].set(with, own[0], own[1])
	}
	return with, checkTOML(before, with, table, name, &s)
}

func removeTOML(text []byte, table, name string) ([]byte, error) {
	before, err := tomlDocument(text)
	if err != nil {
		return nil, err
	}
	tables, err := tomlTables(text)
	if err != nil {
		return nil, err
	}
	path := []string{table, name}
	with := slices.Clone(text)
	for _, t := range slices.Backward(tables) {
		if len(t.path) >= 2 && slices.Equal(t.path[:2], path) {
			rest := with[t.end:]
			if head := with[:t.start]; len(bytes.TrimSpace(head)) == 0 || bytes.HasSuffix(head, []byte("\n\n")) || bytes.HasSuffix(head, []byte("\r\n\r\n")) {
				rest = bytes.TrimLeft(rest, "\r\n")
			}
			with = slices.Concat(with[:t.start], rest)
		}
	}
	if len(bytes.TrimSpace(with)) > 0 {
		with = append(bytes.TrimRight(with, "\r\n"), '\n')
	}
	return with, checkTOML(before, with, table, name, nil)
}

// checkTOML returns an error unless the edited text has the server, or lacks it if s is
// nil, and everything else is unchanged. TOML has forms to which a table cannot be added.
func checkTOML(before map[string]any, with []byte, table, name string, s *Server) error {
	servers, err := readTOML(with, table)
	if err != nil {
		return errNotTables
	}
	got, there := servers[name]
	if there != (s != nil) || there && (got.Command != s.Command || !slices.Equal(got.Args, s.Args)) {
		return errNotTables
	}
	after, err := tomlDocument(with)
	if err != nil || !reflect.DeepEqual(withoutServer(before, table, name), withoutServer(after, table, name)) {
		return errNotTables
	}
	return nil
}

func withoutServer(doc map[string]any, table, name string) map[string]any {
	doc = maps.Clone(doc)
	servers, _ := doc[table].(map[string]any)
	servers = maps.Clone(servers)
	delete(servers, name)
	if doc[table] = servers; len(servers) == 0 {
		delete(doc, table)
	}
	return doc
}

// tomlDocument decodes a text. Its error starts with the line number.
func tomlDocument(text []byte) (map[string]any, error) {
	var doc map[string]any
	err := toml.Unmarshal(text, &doc)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return doc, err
}

// tomlTable is the location of a table in a text.
type tomlTable struct {
	path       []string
	start, end int // from its header to the end of the last key's line
	body       int // start of the line after the header
	keys       []tomlKey
}

type tomlKey struct {
	path       []string
	start, end int // of key and value
	next       int // start of the next line
}

// set sets a key of the table, unless it already has that value.
func (t tomlTable) set(text []byte, key, value string) []byte {
	line := key + " = " + value
	at := t.body
	for _, k := range t.keys {
		if !slices.Equal(k.path, []string{key}) {
			if key == "args" && slices.Equal(k.path, []string{"command"}) {
				at = k.next
			}
			continue
		}
		var old, want map[string]any
		if toml.Unmarshal(text[k.start:k.end], &old) == nil && toml.Unmarshal([]byte(line), &want) == nil && reflect.DeepEqual(old, want) {
			return text
		}
		return slices.Concat(text[:k.start], []byte(line), text[k.end:])
	}
	if at > 0 && text[at-1] != '\n' {
		line = "\n" + line
	}
	return slices.Concat(text[:at], []byte(line+"\n"), text[at:])
}

// tomlTables returns the tables of a valid text.
func tomlTables(text []byte) ([]tomlTable, error) {
	var p unstable.Parser
	p.Reset(text)
	tables := []tomlTable{{}}
	for p.NextExpression() {
		e := p.Expression()
		path, start, end := keyOf(e)
		next := lineEnd(text, end)
		if e.Kind != unstable.KeyValue {
			tables = append(tables, tomlTable{path: path, start: lineStart(text, start), body: next, end: next})
			continue
		}
		table := &tables[len(tables)-1]
		end = int(e.Raw.Offset + e.Raw.Length)
		next = lineEnd(text, end)
		table.keys = append(table.keys, tomlKey{path, int(e.Raw.Offset), start + len(bytes.TrimRight(text[start:end], " \t")), next})
		table.end = next
	}
	return tables, p.Error()
}

// keyOf returns the dotted key of an expression, and its start and end.
func keyOf(e *unstable.Node) (path []string, start, end int) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(path) == 0 {
			start = int(n.Raw.Offset)
		}
		path, end = append(path, string(n.Data)), int(n.Raw.Offset+n.Raw.Length)
	}
	return path, start, end
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns the start of the line after the one containing at.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func tomlName(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return tomlString(name)
	}
	return name
}

func tomlStrings(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// tomlString returns a basic string in TOML, which is a JSON string with DEL escaped.
func tomlString(s string) string {
	text, _ := encode(s) // a string cannot fail
	return strings.ReplaceAll(strings.TrimSpace(text), "\x7f", `\u007f`)
}
