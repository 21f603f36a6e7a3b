package hosts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testServer = Server{Command: "/usr/bin/notesd", Args: []string{"mcp", "--vault", "/home/ann/Notes"}}

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
		text, want string
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
			want: "{\n  \"theme\": \"dark\", // mine\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  }\n}\n",
		},
		"empty servers": {
			text: "{\n  \"mcpServers\": {},\n  \"a\": 1\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  },\n  \"a\": 1\n}",
		},
		"null servers": {
			text: "{\n  \"mcpServers\": null, // mine\n  \"a\": 1\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  }, // mine\n  \"a\": 1\n}",
		},
		"a null entry": {
			text: "{\n  \"mcpServers\": {\n    \"notes\": null\n  }\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + "\n  }\n}",
		},
		"beside others, with comments and a trailing comma": {
			text: "{\n  // servers\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}, /* keep */\n  },\n}",
			want: "{\n  // servers\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}, /* keep */\n\n    \"notes\": " + testEntry + ",\n  },\n}",
		},
		"in place of an older one": {
			text: "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/old/notesd\",\n      \"args\": []\n    },\n    \"z\": {}\n  }\n}",
			want: "{\n  \"mcpServers\": {\n    \"notes\": " + testEntry + ",\n    \"z\": {}\n  }\n}",
		},
		"beside what its owner has added to it": {
			text: "{\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"/old/notesd\",\n\t\t\t\"env\": {\"A\": \"b\"} // mine\n\t\t}\n\t}\n}",
			want: "{\n\t\"mcpServers\": {\n\t\t\"notes\": {\n\t\t\t\"command\": \"/usr/bin/notesd\",\n\t\t\t\"env\": {\"A\": \"b\"}, // mine\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--vault\",\n\t\t\t\t\"/home/ann/Notes\"\n\t\t\t]\n\t\t}\n\t}\n}",
		},
		"on one line with others": {
			text: `{"mcpServers":{"git":{"command":"git-mcp"}}}`,
			want: `{"mcpServers":{"git":{"command":"git-mcp"},` + "\n  \"notes\": {\n    \"command\": \"/usr/bin/notesd\",\n    \"args\": [\n      \"mcp\",\n      \"--vault\",\n      \"/home/ann/Notes\"\n    ]\n  }\n}}",
		},
		"there already, otherwise laid out": {
			text: `{"mcpServers":{"notes":{"args":["mcp","--vault","/home/ann/Notes"],"command":"/usr/bin/notesd"}}}`,
			want: `{"mcpServers":{"notes":{"args":["mcp","--vault","/home/ann/Notes"],"command":"/usr/bin/notesd"}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := setJSON([]byte(c.text), "mcpServers", "notes", testServer, false)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
	for _, bad := range []string{"[]", "{", `{"a":}`, `{"a":1 "b":2}`, `{"mcpServers": []}`, `{"a":"unterminated}`, `{} more`, `{a: 1}`} {
		_, err := setJSON([]byte(bad), "mcpServers", "notes", testServer, false)
		assert.Error(t, err, bad)
	}
}

// All contents of any valid file are preserved, and the server is added.
func FuzzSetJSONServer(f *testing.F) {
	for _, seed := range []string{"{}", `{"mcpServers":{"a":{"command":"x"}}}`, "{\"a\":[1,{\"b\":\"}\"}],\n\"mcpServers\":{ }}", `{"notes":1,"mcpServers":{"notes":{}}}`, "\ufeff{\"é\":null}", "// c\n{\"a\":1,}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := decoded(text)
		got, err := setJSON(text, "mcpServers", "notes", testServer, false)
		if err != nil || before == nil {
			return
		}
		after := decoded(got)
		require.NotNil(t, after, "%q became %q", text, got)
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

		gone, err := removeJSON(got, "mcpServers", "notes")
		require.NoError(t, err)
		if left, _ := decoded(gone)["mcpServers"].(map[string]any); len(old) > 0 {
			assert.Equal(t, old, left, "%q became %q", got, gone)
		} else {
			assert.Empty(t, left)
		}
	})
}

func TestSetTOMLServer(t *testing.T) {
	table := "[mcp_servers.notes]\ncommand = '/usr/bin/notesd'\nargs = ['mcp', '--vault', '/home/ann/Notes']\n"
	cases := map[string]struct {
		text, want string
	}{
		"no file yet": {want: table},
		"at the end":  {text: "model = \"x\"\n\n[tui]\na = 1\n", want: "model = \"x\"\n\n[tui]\na = 1\n\n" + table},
		"in place": {
			text: "[mcp_servers.notes]\ncommand = \"old/notesd\"\n\n# about git\n[mcp_servers.git]\ncommand = \"git\"\n",
			want: table + "\n# about git\n[mcp_servers.git]\ncommand = \"git\"\n",
		},
		"beside what its owner has added to it": {
			text: "[mcp_servers.notes]\nenabled = true\ncommand = 'C:\\old\\notesd.exe'\nargs = [ # how\n  \"mcp\", \"]\",\n]\n# slow disk\nstartup_timeout_sec = 20\n\n[mcp_servers.notes.env]\nA = \"b\"\n",
			want: "[mcp_servers.notes]\nenabled = true\ncommand = '/usr/bin/notesd'\nargs = ['mcp', '--vault', '/home/ann/Notes']\n# slow disk\nstartup_timeout_sec = 20\n\n[mcp_servers.notes.env]\nA = \"b\"\n",
		},
		"there already": {text: table, want: table},
		"there already, otherwise laid out": {
			text: "[mcp_servers.notes]\nargs = [\n  \"mcp\", \"--vault\",\n  \"/home/ann/Notes\",\n]\ncommand = \"/usr/bin/notesd\"\n",
			want: "[mcp_servers.notes]\nargs = [\n  \"mcp\", \"--vault\",\n  \"/home/ann/Notes\",\n]\ncommand = \"/usr/bin/notesd\"\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := setTOML([]byte(c.text), "mcp_servers", "notes", testServer)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
	_, err := setTOML([]byte("mcp_servers = { git = {} }\n"), "mcp_servers", "notes", testServer)
	require.Error(t, err, "no other way to write it is guessed")

	found, err := readTOML([]byte("mcp_servers.git.command = \"git\"\n[a.b]\ncommand = \"notesd\"\n"+table+"[mcp_servers.notes.env]\nA = \"b\"\n"), "mcp_servers")
	require.NoError(t, err)
	notes := testServer
	notes.Env = map[string]string{"A": "b"}
	assert.Equal(t, map[string]Server{"notes": notes, "git": {Command: "git"}}, found)
	_, err = readTOML([]byte("a = 1\nx = [\n"), "mcp_servers")
	assert.ErrorContains(t, err, "line 2")
}

// decoded parses a text; it returns nil if the text is not a JSON object.
func decoded(text []byte) map[string]any {
	d, err := parseJSON(text)
	if err != nil {
		return nil
	}
	var doc map[string]any
	_ = decode(d.root, &doc)
	return doc
}

func TestRemove(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the only one": {
			text: "{\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"x\"}\n  }\n}\n",
			want: "{\n  \"mcpServers\": {\n  }\n}\n",
		},
		"the first": {
			text: "{\"mcpServers\": {\n    \"notes\": {}, // mine\n    // about git\n    \"git\": {}\n  }}",
			want: "{\"mcpServers\": {\n    // about git\n    \"git\": {}\n  }}",
		},
		"the last": {
			text: "{\"mcpServers\": {\n    // about git\n    \"git\": {}, // keep\n    \"notes\": {}\n  }}",
			want: "{\"mcpServers\": {\n    // about git\n    \"git\": {} // keep\n  }}",
		},
		"the last, on the line of the brace": {
			text: "{\"mcpServers\": {\n    \"git\": {}, // keep\n    \"notes\": {}}}",
			want: "{\"mcpServers\": {\n    \"git\": {} // keep\n    }}",
		},
		"after a server in a comment": {
			text: "{\"mcpServers\": {\n    \"git\": {},\n    // \"off\": {}\n\n    \"notes\": {}\n  }}",
			want: "{\"mcpServers\": {\n    \"git\": {}\n    // \"off\": {}\n  }}",
		},
		"the only one, after a server in a comment": {
			text: "{\"mcpServers\": {\n    // \"off\": {}\n\n    \"notes\": {}\n  }}",
			want: "{\"mcpServers\": {\n    // \"off\": {}\n  }}",
		},
		"after a comment before the comma": {
			text: "{\"mcpServers\": {\n    \"git\": {} /* keep */,\n    \"notes\": {}\n  }}",
			want: "{\"mcpServers\": {\n    \"git\": {} /* keep */\n  }}",
		},
		"the last, with a trailing comma": {
			text: "{\"mcpServers\": {\n    \"git\": {},\n    \"notes\": {},\n  }}",
			want: "{\"mcpServers\": {\n    \"git\": {},\n  }}",
		},
		"of two tables, the last": {
			text: "{\"mcpServers\": {\"git\": {}},\n  \"mcpServers\": {\n    \"notes\": {},\n    \"git\": {}\n  }}",
			want: "{\"mcpServers\": {\"git\": {}},\n  \"mcpServers\": {\n    \"git\": {}\n  }}",
		},
		"before a trailing comma": {
			text: "{\"mcpServers\": {\n    \"notes\": {},\n    \"git\": {},\n  }}",
			want: "{\"mcpServers\": {\n    \"git\": {},\n  }}",
		},
	} {
		got, err := removeJSON([]byte(c.text), "mcpServers", "notes")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, string(got), name)
	}
	text := "# mine\nmodel = \"x\"\n\n[mcp_servers.notes]\ncommand = \"n\"\nargs = [\n \"a\" ]\n\n[mcp_servers.notes.env]\nA = \"b\"\n\n# about git\n[mcp_servers.git]\ncommand = \"g\"\n"
	got, err := removeTOML([]byte(text), "mcp_servers", "notes")
	require.NoError(t, err)
	assert.Equal(t, "# mine\nmodel = \"x\"\n\n# about git\n[mcp_servers.git]\ncommand = \"g\"\n", string(got))
}

// Of duplicate tables, the host reads the last one. A number that no float64 holds is its own
// affair.
func TestReadJSON(t *testing.T) {
	found, err := readJSON([]byte(`{"size": 1e999, "mcpServers": {"a": {}}, "mcpServers": {"notes": {"command": "n", "timeout": 1e999}, "odd": 1, "url": {"args": "x"}}}`), "mcpServers")
	require.NoError(t, err)
	assert.Equal(t, map[string]Server{"notes": {Command: "n"}, "odd": {}, "url": {}}, found)
	_, err = readJSON([]byte("{\n  \"mcpServers\": {\"a\": {}"), "mcpServers")
	assert.EqualError(t, err, "line 2, column 25: the file ends before everything in it is closed")
	found, err = readJSON(nil, "mcpServers")
	require.NoError(t, err)
	assert.Empty(t, found)
}

func TestSettings_KeepLineEnds(t *testing.T) {
	s := &Settings{Text: []byte("{\r\n  \"a\": 1\r\n}\r\n"), host: Host{servers: "servers"}}
	with, err := s.Set("notes", testServer)
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(with), "\n"), strings.Count(string(with), "\r\n"))
	assert.Contains(t, string(with), "\"notes\"")

	s.Text = []byte("{}")
	with, err = s.Set("notes", Server{Command: "/opt/A & B/notesd"})
	require.NoError(t, err)
	assert.Contains(t, string(with), `"command": "/opt/A & B/notesd"`)
	assert.NotContains(t, string(with), "\r")
}

func TestHostFiles(t *testing.T) {
	env := func(goos string, vars ...string) Env { return Env{Vars: vars, OS: goos} }
	for _, c := range []struct {
		host string
		env  Env
		want string
	}{
		{"claude-desktop", env("linux", "HOME=/h"), "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("linux", "HOME=/h", "XDG_CONFIG_HOME=/x"), "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("darwin", "HOME=/h", "XDG_CONFIG_HOME=/x"), "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", env("windows", "APPDATA=/a"), "/a/Claude/claude_desktop_config.json"},
		{"claude-code", env("windows", "USERPROFILE=/u"), "/u/.claude.json"},
		{"claude-code", env("linux", "HOME=/h", "CLAUDE_CONFIG_DIR=/h/.claude-work"), "/h/.claude-work/.claude.json"},
		{"cursor", env("linux", "HOME=/h"), "/h/.cursor/mcp.json"},
		{"vscode", env("darwin", "HOME=/h"), "/h/Library/Application Support/Code/User/mcp.json"},
		{"codex", env("linux", "HOME=/h", "CODEX_HOME=/c"), "/c/config.toml"},
		{"codex", env("linux", "HOME=/h"), "/h/.codex/config.toml"},
		{"codex", env("linux"), ""},
		{"gemini", env("windows", "USERPROFILE=/u"), "/u/.gemini/settings.json"},
	} {
		i := slices.IndexFunc(All, func(h Host) bool { return h.Name == c.host })
		assert.Equal(t, filepath.FromSlash(c.want), All[i].File(c.env), c.host)
	}
}

// TestHostFiles_Package checks that the settings of Claude Desktop's package on Windows are
// used, unless the package has none yet and shows those in APPDATA.
func TestHostFiles_Package(t *testing.T) {
	roaming, local := t.TempDir(), t.TempDir()
	e := Env{Vars: []string{"APPDATA=" + roaming, "LOCALAPPDATA=" + local}, OS: "windows"}
	const file = "claude_desktop_config.json"
	ordinary := filepath.Join(roaming, "Claude", file)
	dir := filepath.Join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude")
	settings := func() string { return All[0].File(e) }

	require.NoError(t, os.MkdirAll(filepath.Join(local, "Packages", "Other_1", "LocalCache", "Roaming", "Claude"), 0o700))
	assert.Equal(t, ordinary, settings(), "another program's package")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	assert.Equal(t, filepath.Join(dir, file), settings(), "without settings")
	assert.True(t, All[0].Installed(e))
	require.NoError(t, os.MkdirAll(filepath.Dir(ordinary), 0o700))
	require.NoError(t, os.WriteFile(ordinary, nil, 0o600))
	assert.Equal(t, ordinary, settings(), "which the package shows")
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
	assert.Equal(t, filepath.Join(dir, file), settings())
	e.OS = "linux"
	assert.NotContains(t, settings(), "Packages")
}

func TestHost_Installed(t *testing.T) {
	home := t.TempDir()
	e := Env{Vars: []string{"HOME=" + home}, OS: "linux"}
	installed := func() (names []string) {
		for _, h := range All {
			if h.Installed(e) {
				names = append(names, h.Name)
			}
		}
		return names
	}
	assert.Empty(t, installed(), "a home directory is no sign of Claude Code")
	require.NoError(t, os.WriteFile(filepath.Join(home, ".cursor"), nil, 0o600))
	assert.Empty(t, installed(), "the settings are in a folder")
	require.NoError(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude.json"), nil, 0o600))
	assert.Equal(t, []string{"claude-code", "codex"}, installed())
	assert.False(t, All[0].Installed(Env{OS: "linux"}), "no home")
}

// VS Code and Claude Code need the type of a server.
func TestSettings_SetType(t *testing.T) {
	for _, h := range All {
		text, err := (&Settings{host: h}).Set("notes", testServer)
		require.NoError(t, err)
		assert.Equal(t, h.Name == "vscode" || h.Name == "claude-code", strings.Contains(string(text), `"type": "stdio"`), h.Name)
	}
}

func TestServer_IsNotesd(t *testing.T) {
	for command, want := range map[string]bool{
		"notesd": true, "/usr/local/bin/notesd": true, "bin/notesd.exe": true, "./notesd-1.2": true, "notesd_linux_amd64": true,
		"": false, "notes": false, "notesdb": false, "/opt/notesd/other": false,
	} {
		assert.Equal(t, want, Server{Command: command}.IsNotesd(), command)
	}
}

// A program's settings are often a link into a folder of dotfiles. Every replaced text is
// backed up, even with two writes within a second.
func TestWrite_LinksModesAndBackups(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfile"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, os.WriteFile(target, []byte("{}"), 0o640))
	h := Host{servers: "s", File: func(Env) string { return link }}
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	var backups []string
	for _, text := range []string{"{ }", "{  }"} {
		s, err := h.Read(Env{})
		require.NoError(t, err)
		backup, err := s.Write([]byte(text), now)
		require.NoError(t, err)
		kept, err := os.ReadFile(backup)
		require.NoError(t, err)
		backups = append(backups, string(kept))
	}
	assert.Equal(t, []string{"{}", "{ }"}, backups)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(target)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	s, err := h.Read(Env{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(target, []byte(`{"by": "the host"}`), 0o600))
	_, err = s.Write([]byte("{}"), now)
	require.ErrorIs(t, err, ErrChanged)
	kept, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.JSONEq(t, `{"by": "the host"}`, string(kept))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(target), ".notesd-*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	require.NoError(t, os.Chmod(target, 0o440))
	s, err = h.Read(Env{})
	require.NoError(t, err)
	_, err = s.Write([]byte("{}"), now)
	require.ErrorIs(t, err, ErrReadOnly)
}

// A link may lead to a file that does not exist yet, through a folder that is a link itself.
func TestWrite_LinkToMissingFile(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "dotfiles", "claude"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join("dotfiles", "claude"), filepath.Join(home, "Claude")))
	file := filepath.Join(home, "Claude", "settings.json")
	require.NoError(t, os.Symlink(filepath.Join("..", "shared", "settings.json"), file))
	s, err := Host{servers: "s", File: func(Env) string { return file }}.Read(Env{})
	require.NoError(t, err)
	backup, err := s.Write([]byte("{}"), time.Now())
	require.NoError(t, err)
	assert.Empty(t, backup)
	info, err := os.Lstat(file)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
	text, err := os.ReadFile(filepath.Join(home, "dotfiles", "shared", "settings.json"))
	require.NoError(t, err)
	assert.Equal(t, "{}", string(text))
}
