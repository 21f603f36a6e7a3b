package hosts_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"

	"notesd/internal/hosts"
)

// A user is a home directory with the settings of one host.
type user struct {
	t    *testing.T
	host hosts.Host
	env  hosts.Env
}

func newUser(t *testing.T, host string) user {
	i := slices.IndexFunc(hosts.All, func(h hosts.Host) bool { return h.Name == host })
	require.GreaterOrEqual(t, i, 0, host)
	u := user{t, hosts.All[i], hosts.Env{Vars: []string{"HOME=" + t.TempDir()}, OS: "linux"}}
	require.NoError(t, os.MkdirAll(filepath.Dir(u.file()), 0o700))
	return u
}

func (u user) file() string { return u.host.File(u.env) }

func (u user) has(text string) {
	require.NoError(u.t, os.RemoveAll(u.file())) // overwriting a file can be slow on some disks
	require.NoError(u.t, os.WriteFile(u.file(), []byte(text), 0o600))
}

// edits reads, edits and writes the settings, and returns their text.
func (u user) edits(edit func(*hosts.Settings) ([]byte, error)) string {
	s, err := u.host.Read(u.env)
	require.NoError(u.t, err, "%s", s)
	text, err := edit(s)
	require.NoError(u.t, err, "%s", s.Text)
	u.has(string(text))
	return string(text)
}

func (u user) registers(name string, s hosts.Server) string {
	return u.edits(func(settings *hosts.Settings) ([]byte, error) { return settings.Set(name, s) })
}

func (u user) removes(name string) string {
	return u.edits(func(settings *hosts.Settings) ([]byte, error) { return settings.Remove(name) })
}

// table returns the name under which a host lists its servers.
func (u user) table() string {
	switch u.host.Name {
	case "vscode":
		return "servers"
	case "codex":
		return "mcp_servers"
	}
	return "mcpServers"
}

// decoded parses a text independently of the editor.
func (u user) decoded(text string) map[string]any {
	var doc map[string]any
	text = strings.TrimPrefix(text, "\ufeff")
	if u.host.Name == "codex" {
		require.NoError(u.t, toml.Unmarshal([]byte(text), &doc), "%s", text)
		return doc
	}
	plain, err := hujson.Standardize([]byte(text))
	require.NoError(u.t, err, "%s", text)
	require.NoError(u.t, json.Unmarshal(plain, &doc), "%s", text)
	return doc
}

// without parses a text and removes one server, and the table of servers if it is then
// empty.
func (u user) without(text, name string) map[string]any {
	doc := u.decoded(text)
	if servers, ok := doc[u.table()].(map[string]any); ok {
		delete(servers, name)
		if len(servers) == 0 {
			delete(doc, u.table())
		}
	}
	return doc
}

// A writer writes settings the way people and programs do: with numbered comments,
// trailing commas, and arbitrary white space.
type writer struct {
	*rand.Rand
	strings.Builder
	comments int
	strict   bool // plain JSON
	toml     bool
}

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) comment() {
	if w.strict || w.IntN(3) > 0 {
		return
	}
	w.comments++
	text := fmt.Sprintf("c%d %s", w.comments, w.one("mine", `"quoted"`, "{ [ , ] }", "mcpServers: notes", "ü"))
	switch {
	case w.toml:
		w.WriteString("# " + text + "\n")
	case w.IntN(2) == 0:
		w.WriteString(" // " + text + "\n")
	default:
		w.WriteString(" /* " + text + " */ ")
	}
}

func (w *writer) space() {
	w.WriteString(w.one("", " ", "\n", "\n  ", "\n\t", "\n\n"))
	w.comment()
}

// value writes a JSON value.
func (w *writer) value(depth int) {
	switch kind := w.IntN(6); {
	case kind == 0 && depth > 0:
		w.WriteString("[")
		for i := range w.IntN(3) {
			if i > 0 {
				w.WriteString(",")
			}
			w.space()
			w.value(depth - 1)
			w.space()
		}
		w.space()
		w.WriteString("]")
	case kind <= 2 && depth > 0:
		var members []string
		for i := range w.IntN(4) {
			members = append(members, fmt.Sprint("k", i))
		}
		w.object(members, func(string) { w.value(depth - 1) })
	default:
		w.WriteString(w.one("1", "-0.5e3", "true", "null", `"text"`, `"// no comment"`, `"ü\u00fc\n\"\\"`, `""`))
	}
}

// object writes a JSON object with these members.
func (w *writer) object(members []string, value func(name string)) {
	w.WriteString("{")
	for i, name := range members {
		w.space()
		fmt.Fprintf(w, "%q", name)
		w.space()
		w.WriteString(":")
		w.space()
		value(name)
		w.space()
		if i < len(members)-1 || !w.strict && w.IntN(3) == 0 {
			w.WriteString(",")
		}
	}
	w.space()
	w.WriteString("}")
}

// settings writes the settings of a host, possibly with servers.
func (w *writer) settings(table string) {
	var members []string
	for _, name := range []string{"theme", table, "mcp", "é"} {
		if w.IntN(3) > 0 {
			members = append(members, name)
		}
	}
	w.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	w.space()
	w.object(members, func(name string) {
		if name != table {
			w.value(2)
			return
		}
		var servers []string
		for _, name := range []string{"git", "notes", "a/b~c"} {
			if w.IntN(2) > 0 {
				servers = append(servers, name)
			}
		}
		w.Shuffle(len(servers), func(i, k int) { servers[i], servers[k] = servers[k], servers[i] })
		w.object(servers, func(string) {
			w.object([]string{"env", "command", "args", "timeout"}[w.IntN(3):], func(name string) {
				w.WriteString(map[string]string{"env": `{"A": "b"}`, "command": `"old"`, "args": `["x"]`, "timeout": "20"}[name])
			})
		})
	})
	w.space()
}

var numbered = regexp.MustCompile(`\bc\d+ `)

// Whatever a settings file contains, registering a server changes no other value and
// loses no comment; doing it again changes nothing; and removing the server restores the
// values.
func TestSettings_KeepOtherValuesAndComments(t *testing.T) {
	server := hosts.Server{Command: "/usr/bin/notesd", Args: []string{"mcp", "--vault", "/home/ann/My \"Notes\" ü"}}
	for _, host := range []string{"claude-desktop", "vscode"} {
		u := newUser(t, host)
		for seed := range uint64(200) {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), strict: seed%3 == 0}
			w.settings(u.table())
			text := w.String()
			if seed%4 == 1 {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
			if seed%5 == 2 {
				text = "\ufeff" + text
			}
			u.has(text)
			with := u.registers("notes", server)
			said, _ := u.decoded(with)[u.table()].(map[string]any)["notes"].(map[string]any)
			assert.Equal(t, server.Command, said["command"], "%d: %s", seed, with)
			assert.Equal(t, []any{"mcp", "--vault", "/home/ann/My \"Notes\" ü"}, said["args"], "%d: %s", seed, with)
			assert.Equal(t, u.without(text, "notes"), u.without(with, "notes"), "%d: %s\nbecame\n%s", seed, text, with)
			for _, c := range numbered.FindAllString(text, -1) {
				assert.Equal(t, 1, strings.Count(with, c), "%d: comment %sof\n%s\nin\n%s", seed, c, text, with)
			}
			assert.Equal(t, strings.HasPrefix(text, "\ufeff"), strings.HasPrefix(with, "\ufeff"), "%d", seed)
			if lines := strings.Count(text, "\n"); lines > 0 {
				assert.Equal(t, strings.Contains(text, "\r\n"), strings.Count(with, "\n") == strings.Count(with, "\r\n"), "%d: %q", seed, with)
			}
			assert.Equal(t, with, u.registers("notes", server), "%d", seed)

			without := u.removes("notes")
			assert.Equal(t, u.without(text, "notes"), u.without(without, "notes"), "%d: %s\nbecame\n%s", seed, with, without)
			servers, _ := u.decoded(text)[u.table()].(map[string]any)
			_, had := servers["notes"] // its comments are removed with it
			for _, c := range numbered.FindAllString(text, -1) {
				assert.True(t, had || strings.Contains(without, c), "%d: comment %sof\n%s\nin\n%s", seed, c, with, without)
			}
			if w.strict {
				assert.True(t, json.Valid([]byte(strings.TrimPrefix(with, "\ufeff"))), "%d: %s\nbecame\n%s", seed, text, with)
				assert.True(t, json.Valid([]byte(strings.TrimPrefix(without, "\ufeff"))), "%d: %s\nbecame\n%s", seed, with, without)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// settingsTOML writes settings of Codex, and returns whether the server "notes" is one of
// them.
func (w *writer) settingsTOML() (notes bool) {
	w.toml = true
	w.comment()
	for i := range w.IntN(3) {
		fmt.Fprintf(w, "%s = %s\n", w.one("model", `"é"`, "a.b")+fmt.Sprint(".k", i), w.one("1", "2026-01-31", `'''
# no comment
[mcp_servers.notes]
'''`, "[ # in it\n  1,\n]", `{ x = "y" }`))
		w.comment()
	}
	tables := []string{"tui", "mcp_servers.git", "mcp_servers.notes", "mcp_servers.notes.env", `mcp_servers."a b"`, "projects.'/home/ann'"}
	w.Shuffle(len(tables), func(i, k int) { tables[i], tables[k] = tables[k], tables[i] })
	for _, name := range tables[:w.IntN(len(tables)+1)] {
		notes = notes || strings.HasPrefix(name, "mcp_servers.notes")
		w.WriteString(w.one("", "\n", "\n\n"))
		w.comment()
		fmt.Fprintf(w, "[%s]%s\n", name, w.one("", " # header"))
		w.comment()
		for _, key := range []string{"command", "args", "timeout"} {
			if w.IntN(2) > 0 {
				fmt.Fprintf(w, "%s = %s%s\n", key, map[string]string{"command": `'old'`, "args": "[ \"]\",\n  'x' ]", "timeout": "20"}[key], w.one("", " # behind"))
				w.comment()
			}
		}
	}
	return notes
}

// TestSettings_KeepOtherValuesAndComments_TOML is the same for TOML.
func TestSettings_KeepOtherValuesAndComments_TOML(t *testing.T) {
	server := hosts.Server{Command: "/usr/bin/notesd", Args: []string{"mcp", "--vault", "/home/ann/My \"Notes\" ü\x7f"}}
	u := newUser(t, "codex")
	for seed := range uint64(600) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 2))}
		had := w.settingsTOML()
		text := w.String()
		if seed%4 == 1 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if seed%5 == 2 {
			text = "\ufeff" + text
		}
		if seed%7 == 3 {
			text = strings.TrimRight(text, "\r\n")
		}
		u.has(text)
		with := u.registers("notes", server)
		said, _ := u.decoded(with)[u.table()].(map[string]any)["notes"].(map[string]any)
		assert.Equal(t, server.Command, said["command"], "%d: %s", seed, with)
		assert.Equal(t, u.without(text, "notes"), u.without(with, "notes"), "%d: %s\nbecame\n%s", seed, text, with)
		for _, c := range numbered.FindAllString(text, -1) {
			assert.Equal(t, 1, strings.Count(with, c), "%d: comment %sof\n%s\nin\n%s", seed, c, text, with)
		}
		assert.Equal(t, strings.HasPrefix(text, "\ufeff"), strings.HasPrefix(with, "\ufeff"), "%d", seed)
		assert.Equal(t, with, u.registers("notes", server), "%d", seed)
		without := u.removes("notes")
		assert.Equal(t, u.without(text, "notes"), u.without(without, "notes"), "%d: %s\nbecame\n%s", seed, with, without)
		for _, c := range numbered.FindAllString(text, -1) {
			assert.True(t, had || strings.Contains(without, c), "%d: comment %sof\n%s\nin\n%s", seed, c, with, without)
		}
		if t.Failed() {
			return
		}
	}
}
