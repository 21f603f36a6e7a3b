package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testServer = server{Command: "/usr/bin/notesd", Args: []string{"mcp", "--vault", "/home/ann/Notes"}}

const testEntry = `{
      "command": "/usr/bin/notesd",
      "args": [
        "mcp",
        "--vault",
        "/home/ann/Notes"
      ]
    }`

func TestSetJSONServer(t *testing.T) {
	cases := map[string]struct {
		text, want, had string
	}{
		"no file yet": {
			text: "",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  }\n}\n",
		},
		"an empty object": {
			text: "{ }",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  }\n}",
		},
		"no servers yet": {
			text: "{\n  \"theme\": \"dark\" // mine\n}\n",
			want: "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  } // mine\n}\n",
		},
		"empty servers": {
			text: "{\n  \"mcpServers\": {},\n  \"a\": 1\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  },\n  \"a\": 1\n}",
		},
		"beside others, with comments and a trailing comma": {
			text: "{\n  // servers\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}, /* keep */\n  },\n}",
			want: "{\n  // servers\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}, /* keep */\n    \"notes\": " + testEntry + "\n  },\n}",
		},
		"in place of an older one": {
			text: "{\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"/old/notesd\"},\n    \"z\": {}\n  }\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + ",\n    \"z\": {}\n  }\n}",
			had:  `{"command":"/old/notesd"}`,
		},
		"beside what its owner has added to it": {
			text: "{\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"/old/notesd\",\n\t\t\t\"env\": {\"A\": \"b\"} // mine\n\t\t}\n\t}\n}",
			want: "{\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"/usr/bin/notesd\",\n\t\t\t\"env\": {\"A\": \"b\"},\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--vault\",\n\t\t\t\t\"/home/ann/Notes\"\n\t\t\t] // mine\n\t\t}\n\t}\n}",
			had:  `{"command":"/old/notesd","env":{"A":"b"}}`,
		},
		"there already, otherwise laid out": {
			text: `{"mcpServers":{"notes":{"args":["mcp","--vault","/home/ann/Notes"],"command":"/usr/bin/notesd"}}}`,
			want: `{"mcpServers":{"notes":{"args":["mcp","--vault","/home/ann/Notes"],"command":"/usr/bin/notesd"}}}`,
			had:  `{"args":["mcp","--vault","/home/ann/Notes"],"command":"/usr/bin/notesd"}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, had, err := setJSONServer([]byte(c.text), "mcpServers", "notes", testServer)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.had, string(had))
		})
	}
	for _, bad := range []string{"[]", "{", `{"a":}`, `{"a":1 "b":2}`, `{"mcpServers": []}`, `{"a":"unterminated}`, `{} more`, `{a: 1}`} {
		_, _, err := setJSONServer([]byte(bad), "mcpServers", "notes", testServer)
		assert.Error(t, err, bad)
	}
}

// Whatever a valid file holds, all of it is there afterwards, and the server.
func FuzzSetJSONServer(f *testing.F) {
	for _, seed := range []string{"{}", `{"mcpServers":{"a":{"command":"x"}}}`, "{\"a\":[1,{\"b\":\"}\"}],\n\"mcpServers\":{ }}", `{"notes":1,"mcpServers":{"notes":{}}}`, "\ufeff{\"é\":null}", "// c\n{\"a\":1,}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, _ := decodeJSONC(text).(map[string]any)
		got, _, err := setJSONServer(text, "mcpServers", "notes", testServer)
		if err != nil || before == nil {
			return
		}
		after, ok := decodeJSONC(got).(map[string]any)
		require.True(t, ok, "%q became %q", text, got)
		servers, ok := after["mcpServers"].(map[string]any)
		require.True(t, ok)
		entry, ok := servers["notes"].(map[string]any)
		require.True(t, ok)
		assert.Equal(t, testServer.Command, entry["command"])
		assert.Equal(t, []any{"mcp", "--vault", "/home/ann/Notes"}, entry["args"])
		delete(servers, "notes")
		old, _ := before["mcpServers"].(map[string]any)
		old = maps.Clone(old)
		delete(old, "notes")
		if len(old) > 0 {
			assert.Equal(t, old, servers)
		}
		delete(before, "mcpServers")
		delete(after, "mcpServers")
		assert.Equal(t, before, after, "%q became %q", text, got)
	})
}

func TestSetTOMLServer(t *testing.T) {
	table := "[mcp_servers.notes]\ncommand = \"/usr/bin/notesd\"\nargs = [\"mcp\", \"--vault\", \"/home/ann/Notes\"]\n"
	cases := map[string]struct {
		text, want, had string
	}{
		"no file yet": {want: table},
		"at the end":  {text: "model = \"x\"\n\n[tui]\na = 1\n", want: "model = \"x\"\n\n[tui]\na = 1\n\n" + table},
		"in place": {
			text: "[mcp_servers.notes]\ncommand = \"old/notesd\"\n\n# about git\n[mcp_servers.git]\ncommand = \"git\"\n",
			want: strings.TrimSuffix(table, "\n") + "\n\n# about git\n[mcp_servers.git]\ncommand = \"git\"\n",
			had:  "[mcp_servers.notes]\ncommand = \"old/notesd\"",
		},
		"beside what its owner has added to it": {
			text: "[mcp_servers.notes]\nenabled = true\ncommand = 'C:\\old\\notesd.exe'\nargs = [ # how\n  \"mcp\", \"]\",\n]\n# slow disk\nstartup_timeout_sec = 20\n\n[mcp_servers.notes.env]\nA = \"b\"\n",
			want: table + "enabled = true\n# slow disk\nstartup_timeout_sec = 20\n\n[mcp_servers.notes.env]\nA = \"b\"\n",
			had:  "[mcp_servers.notes]\nenabled = true\ncommand = 'C:\\old\\notesd.exe'\nargs = [ # how\n  \"mcp\", \"]\",\n]\n# slow disk\nstartup_timeout_sec = 20",
		},
		"there already": {text: table, want: table, had: strings.TrimSuffix(table, "\n")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, had, err := setTOMLServer([]byte(c.text), "mcp_servers", "notes", testServer)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.had, string(had))
		})
	}
	_, _, err := setTOMLServer([]byte("mcp_servers = { git = {} }\n"), "mcp_servers", "notes", testServer)
	require.Error(t, err, "no other way to write it is guessed")
	assert.Equal(t, `"C:\\a \"b\"\u0001"`, tomlString("C:\\a \"b\"\x01"))
	assert.Equal(t, map[string]server{"notes": {Command: "/usr/bin/notesd"}}, tomlServers([]byte("[a.b]\ncommand = \"notesd\"\n"+table), "mcp_servers"))
}

// An entry that is brought up to date keeps what its owner has added, to begin
// with that it is read-only.
func TestKeptArgs(t *testing.T) {
	for had, want := range map[string][]string{
		``: nil,
		`{"command":"notesd","args":["mcp","--vault","/a"]}`:                                           nil,
		`{"command":"notesd","args":["mcp","--vault","--read-only","--read-only"]}`:                    {"--read-only"},
		`{"args":["mcp","--read-only","--vault=/a","--tools","search_notes,read_note","--state","s"]}`: {"--read-only", "--tools", "search_notes,read_note"},
		"[m.notes]\nargs = [\n  'mcp', # \"no\"\n  \"--read-only\",\n]":                                {"--read-only"},
	} {
		assert.Equal(t, want, keptArgs([]byte(had)), had)
	}
}

func TestSettingsKeepTheirLineEnds(t *testing.T) {
	h := host{servers: "servers"}
	with, _, err := h.set([]byte("{\r\n  \"a\": 1\r\n}\r\n"), "notes", testServer)
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(with), "\n"), strings.Count(string(with), "\r\n"))
	assert.Contains(t, string(with), "\"notes\"")
}

func TestSetupIsNotOfGoRun(t *testing.T) {
	assert.True(t, isTemporary("/tmp/go-build123/b001/exe/notesd"))
	assert.True(t, isTemporary("/home/ann/.cache/go-build/ab/abcd-d/notesd"))
	assert.False(t, isTemporary("/usr/local/bin/notesd"))
}

func TestHostFiles(t *testing.T) {
	env := func(goos string, vars ...string) hostEnv { return hostEnv{env: vars, goos: goos} }
	for _, c := range []struct {
		host string
		env  hostEnv
		want string
	}{
		{"claude-desktop", env("linux", "HOME=/h"), "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("linux", "HOME=/h", "XDG_CONFIG_HOME=/x"), "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("darwin", "HOME=/h", "XDG_CONFIG_HOME=/x"), "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("windows", "APPDATA=/a"), "/a/Claude/claude_desktop_config.json"},
		{"claude-code", env("windows", "USERPROFILE=/u"), "/u/.claude.json"},
		{"cursor", env("linux", "HOME=/h"), "/h/.cursor/mcp.json"},
		{"vscode", env("darwin", "HOME=/h"), "/h/Library/Application Support/Code/User/mcp.json"},
		{"codex", env("linux", "HOME=/h", "CODEX_HOME=/c"), "/c/config.toml"},
		{"codex", env("linux", "HOME=/h"), "/h/.codex/config.toml"},
		{"codex", env("linux"), ""},
	} {
		chosen, err := chooseHosts(c.env, []string{c.host})
		require.NoError(t, err)
		assert.Equal(t, filepath.FromSlash(c.want), chosen[0].file(c.env), c.host)
	}
}

// A program's settings are often a link into a folder of dotfiles.
func TestReplaceSettingsKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfile"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o640))
	require.NoError(t, os.Symlink(target, link))
	h := host{name: "test", title: "Test", servers: "s", file: func(hostEnv) string { return link }}
	require.NoError(t, os.WriteFile(target, []byte("{}"), 0o640))

	r, err := h.register(hostEnv{}, "notes", testServer, false)
	require.NoError(t, err)
	assert.Equal(t, registered, r.Action)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(target)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	backup, err := os.ReadFile(r.Backup)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(backup))

	again, err := h.register(hostEnv{}, "notes", testServer, false)
	require.NoError(t, err)
	assert.Equal(t, unchanged, again.Action)
	assert.Empty(t, again.Backup)
}
