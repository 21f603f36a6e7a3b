package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	return serversIn(doc, table), nil
}

// serversIn returns the servers of a document.
func serversIn(doc map[string]any, table string) map[string]Server {
	found := map[string]Server{}
	servers, _ := doc[table].(map[string]any)
	for name, v := range servers {
		var s Server
		entry, _ := json.Marshal(v)
		_ = json.Unmarshal(entry, &s) // fields of other types belong to another program
		found[name] = s
	}
	return found
}

var errNotTables = errors.New("the servers are not written as tables, such as [mcp_servers.notes], so they cannot be edited here")

func setTOML(text []byte, table, name string, s Server) ([]byte, error) {
	before, err := tomlDocument(text)
	if err != nil {
		return nil, err
	}
	if checkTOML(before, text, table, name, &s) == nil {
		return text, nil
	}
	with, path := text, []string{table, name}
	for _, own := range []member{{"command", s.Command}, {"args", s.Args}} {
		tables, err := tomlTables(with)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(tables, func(t tomlTable) bool { return slices.Equal(t.path, path) })
		if i < 0 {
			header, err := toml.Marshal(map[string]any{table: map[string]any{name: struct{}{}}})
			if err != nil {
				return nil, err
			}
			if with = bytes.TrimRight(with, "\n \t"); len(with) > 0 {
				with = append(slices.Clone(with), "\n\n"...)
			}
			with = append(with, header[bytes.LastIndexByte(header[:len(header)-1], '\n')+1:]...) // the last line
			i, tables = 0, []tomlTable{{end: len(with)}}
		}
		line, err := toml.Marshal(map[string]any{own.name: own.value})
		if err != nil {
			return nil, err
		}
		with = tables[i].set(with, own.name, line)
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
			head := bytes.TrimRight(with[:t.start], "\n")
			if len(head) > 0 {
				head = append(slices.Clone(head), '\n')
			}
			with = slices.Concat(head, with[t.end:])
		}
	}
	return with, checkTOML(before, with, table, name, nil)
}

// checkTOML returns an error unless the edited text has the server, or lacks it if s is
// nil, and everything else is unchanged. TOML has forms to which a table cannot be added.
func checkTOML(before map[string]any, with []byte, table, name string, s *Server) error {
	after, err := tomlDocument(with)
	if err != nil {
		return errNotTables
	}
	got, there := serversIn(after, table)[name]
	if there != (s != nil) || there && (got.Command != s.Command || !slices.Equal(got.Args, s.Args)) || !reflect.DeepEqual(withoutServer(before, table, name), withoutServer(after, table, name)) {
		return errNotTables
	}
	return nil
}

// withoutServer removes a server from a document and returns the document.
func withoutServer(doc map[string]any, table, name string) map[string]any {
	servers, _ := doc[table].(map[string]any)
	delete(servers, name)
	if len(servers) == 0 {
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
	keys       []tomlKey
}

type tomlKey struct {
	path       []string
	start, end int // of key and value
}

// set sets a key of the table. line is the key with its value and a newline.
func (t tomlTable) set(text []byte, key string, line []byte) []byte {
	for _, k := range t.keys {
		if slices.Equal(k.path, []string{key}) {
			return slices.Concat(text[:k.start], bytes.TrimRight(line, "\n"), text[k.end:])
		}
	}
	if text[t.end-1] != '\n' {
		line = slices.Concat([]byte("\n"), line)
	}
	return slices.Concat(text[:t.end], line, text[t.end:])
}

// tomlTables returns the tables of a valid text.
func tomlTables(text []byte) ([]tomlTable, error) {
	var p unstable.Parser
	p.Reset(text)
	tables := []tomlTable{{}}
	for p.NextExpression() {
		e := p.Expression()
		path, start, end := keyOf(e)
		if e.Kind != unstable.KeyValue {
			tables = append(tables, tomlTable{path: path, start: bytes.LastIndexByte(text[:start], '\n') + 1, end: lineEnd(text, end)})
			continue
		}
		table := &tables[len(tables)-1]
		end = int(e.Raw.Offset + e.Raw.Length)
		table.keys = append(table.keys, tomlKey{path, start, start + len(bytes.TrimRight(text[start:end], " \t"))})
		table.end = lineEnd(text, end)
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

// lineEnd returns the start of the line after the one containing at.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
