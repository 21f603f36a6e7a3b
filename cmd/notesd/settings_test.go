package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"notesd/internal/config"
	"notesd/internal/daemon"
	"notesd/internal/notestest"
	"notesd/internal/service"
)

// settingsFile is the configuration file of a place.
func (p place) settingsFile() string { return filepath.Join(p.config(), "notesd", "notesd.toml") }

// with returns the place of a host that sets one variable.
func (p place) with(key, value string) place {
	p.env = []string{variable(key) + "=" + value}
	return p
}

func variable(key string) string {
	return "NOTESD_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// busy prevents the daemon from restarting until the test ends or the returned function
// is called: a shell command's session would not survive a restart.
func (p place) busy(t testing.TB) (done func()) {
	t.Helper()
	conn, err := daemon.Dial(t.Context(), p.state, daemon.Hello{Wire: daemon.Wire, Version: service.Version(), Kind: daemon.KindCLI})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func() { require.NoError(t, conn.Close()) }
}

// settingsOfTheDaemon returns, for each daemon setting, a value as a variable and as the
// line that status advises to add to the file.
func settingsOfTheDaemon(dir string) map[string][2]string {
	file := filepath.Join(dir, "file")
	quoted := func(s string) [2]string { return [2]string{s, fmt.Sprintf("%q", s)} }
	return map[string][2]string{
		"vault.ignore":            {"Open/**,*.tmp.md", `["Open/**", "*.tmp.md"]`},
		"vault.dates":             {"published", `["published"]`},
		"vault.daily":             quoted("home"),
		"semantic.provider":       quoted("ollama"),
		"semantic.model":          quoted("nomic"),
		"semantic.url":            quoted("http://127.0.0.1:1"),
		"semantic.allow_remote":   {"yes", "true"},
		"semantic.api_key_file":   quoted(file),
		"semantic.threads":        {"1", "1"},
		"history.keep":            {"7", "7"},
		"history.age":             {"48h", `"2d"`},
		"history.size":            {"2 MiB", `"2 MiB"`},
		"http.addr":               quoted("127.0.0.1:0"),
		"http.token_file":         quoted(filepath.Join(dir, "token")),
		"http.allowed_origins":    {"https://a.example", `["https://a.example"]`},
		"http.tls_cert":           quoted(file),
		"http.tls_key":            quoted(file),
		"http.behind_proxy":       {"1", "true"},
		"limits.resources":        {"9", "9"},
		"limits.note_bytes":       {"2048", `"2 KiB"`},
		"limits.calls_per_second": {"1000", "1000"},
	}
}

// settingsOfSessions has, for each session setting, a value as a variable, and a check of
// its effect on the client that sets it and on another one.
var settingsOfSessions = map[string]struct {
	value string
	check func(t *testing.T, own, other *peer)
}{
	"vault.read_only": {"true", func(t *testing.T, own, other *peer) {
		assert.NotContains(t, own.names("tools/list", "tools"), "create_note")
		assert.Contains(t, other.names("tools/list", "tools"), "create_note")
	}},
	"vault.read_only_folders": {"Open", func(t *testing.T, own, other *peer) {
		for i, h := range []*peer{own, other} {
			r := h.tool("create_note", map[string]any{"title": "New", "path": fmt.Sprintf("Open/new%d.md", i), "content": "x"})
			assert.Equal(t, h == own, r.IsError, "%v", r.Content)
		}
	}},
	"vault.allow": {"Private", func(t *testing.T, own, other *peer) {
		assert.Equal(t, []string{"Private/d.md"}, own.found("word"))
		assert.Len(t, other.found("word"), 3)
	}},
	"vault.tools": {"search_notes,read_note", func(t *testing.T, own, other *peer) {
		assert.ElementsMatch(t, []string{"search_notes", "read_note"}, own.names("tools/list", "tools"))
		assert.Contains(t, other.names("tools/list", "tools"), "list_notes")
	}},
	"search.mode": {"semantic", func(t *testing.T, own, other *peer) {
		remarks := func(h *peer) string {
			return fmt.Sprint(h.tool("search_notes", map[string]any{"query": "word"}).Structured["notes"])
		}
		assert.Contains(t, remarks(own), "semantic search is not available")
		assert.NotContains(t, remarks(other), "semantic search is not available")
	}},
	"search.limit": {"2", func(t *testing.T, own, other *peer) {
		assert.Len(t, own.found("word"), 2)
		assert.Len(t, other.found("word"), 3)
	}},
	"limits.result_bytes": {"1 KiB", func(t *testing.T, own, other *peer) {
		read := func(h *peer) any {
			return h.tool("read_note", map[string]any{"note": "long"}).Structured["truncated"]
		}
		assert.Equal(t, true, read(own))
		assert.NotEqual(t, true, read(other))
	}},
	"prompts.folder": {"Prompts", func(t *testing.T, own, other *peer) {
		assert.Contains(t, own.prompts(), "my")
		assert.NotContains(t, other.prompts(), "my")
	}},
}

// settingsOfProcesses determine which daemon a process connects to, and where its own log
// is written. TestManyFolders covers those of several folders.
var settingsOfProcesses = []string{"state", "vault.path", "vault.folders", "log.level", "log.file"}

// settingsOfTheStore has, for each, a value as a variable, and as the line to add, which
// contains no password. TestMirroredFolders covers their effect.
var settingsOfTheStore = map[string][2]string{
	"store.postgres": {"postgres://ann:hunter2@127.0.0.1:1/notes", `"postgres://ann:xxxxx@127.0.0.1:1/notes"`},
	"store.vault":    {"team", `"team"`},
}

// Every setting in the environment of a host, next to a daemon with other settings, takes
// effect in that host's session, or is reported as one that belongs in the file, with the
// line; and that line takes effect.
func TestEverySettingInTheEnvironment(t *testing.T) {
	t.Parallel()
	notestest.SkipInShort(t)
	p := newPlace(t, map[string]string{
		"Open/a.md": "word one", "Open/b.md": "word two", "Open/c.md": "word three", "Private/d.md": "word four",
		"Prompts/my.md": "Say {{topic}}.", "long.md": strings.Repeat("A line of many.\n", 300),
	})
	const base = "[semantic]\nprovider = \"off\"\n[search]\nlimit = 3\nmode = \"text\"\n[limits]\nresult_bytes = \"40 KiB\"\n"
	p.configure(t, base)
	other := p.launch(t, "mcp")
	other.initialize()
	daemons := settingsOfTheDaemon(t.TempDir())
	require.NoError(t, os.WriteFile(daemons["http.tls_cert"][0], []byte("key"), 0o600))

	var known []string
	for _, s := range p.settings(t) {
		known = append(known, s.Key)
	}
	tested := slices.Concat(settingsOfProcesses, slices.Collect(maps.Keys(settingsOfTheStore)), slices.Collect(maps.Keys(daemons)), slices.Collect(maps.Keys(settingsOfSessions)))
	require.ElementsMatch(t, known, tested, "every setting has a test")

	for key, s := range settingsOfSessions {
		t.Run(key, func(t *testing.T) {
			set := p.with(key, s.value)
			own := set.launch(t, "mcp")
			assert.NotContains(t, own.instructions(), "no effect")
			s.check(t, own, other)
			require.NoError(t, own.end())
			assert.Empty(t, own.stderr.String())
		})
	}

	// named launches a host that sets daemon settings, and checks that each is reported
	// as having no effect.
	named := func(t *testing.T, settings map[string][2]string) *peer {
		set := p
		for key, s := range settings {
			set.env = append(set.env, variable(key)+"="+s[0])
		}
		own := set.launch(t, "mcp")
		instructions, status := own.instructions(), p.report(t)
		assert.NotContains(t, instructions+fmt.Sprint(status), "hunter2")
		for key, s := range settings {
			section, name, _ := strings.Cut(key, ".")
			remark := fmt.Sprintf("%s has no effect: %s is a setting of the daemon, which all clients share. Add %s = %s under [%s] to %s, which the daemon reads when it is idle",
				variable(key), key, name, s[1], section, p.settingsFile())
			assert.Contains(t, instructions, remark)
			assert.Contains(t, status.Settings.Ignored, remark)
			assert.Contains(t, status.Warnings, remark)
			eventually(t, "standard error has it", func() bool { return strings.Contains(own.stderr.String(), remark) })
		}
		assert.Len(t, status.Settings.Ignored, len(settings))
		assert.Len(t, own.found("one"), 1, "it is served as before")
		return own
	}

	t.Run("of the store", func(t *testing.T) {
		own := named(t, settingsOfTheStore)
		require.NoError(t, own.end())
		assert.NotContains(t, own.stderr.String(), "hunter2")
	})

	t.Run("of the daemon", func(t *testing.T) {
		own := named(t, daemons)

		_, search, _ := strings.Cut(base, "[search]")
		text := "[search]" + search // and the lines, in their sections
		for _, section := range []string{"vault", "semantic", "history", "http", "limits"} {
			lines := ""
			for key, s := range daemons {
				if name, ok := strings.CutPrefix(key, section+"."); ok {
					lines += name + " = " + s[1] + "\n"
				}
			}
			if section == "limits" {
				text += lines // the last section of the base
			} else {
				text = "[" + section + "]\n" + lines + text
			}
		}
		p.configure(t, text)
		eventually(t, "nothing is ignored or waits", func() bool {
			r := p.report(t)
			return len(r.Settings.Ignored)+len(r.Settings.Waiting) == 0
		})
		assert.Empty(t, own.found("one"), "it is ignored now, in the same session")
		for _, s := range p.settings(t) {
			if _, ok := daemons[s.Key]; ok {
				assert.Contains(t, s.Origin, p.settingsFile())
			}
		}
		p.configure(t, base)
		eventually(t, "the first settings are back", func() bool { return len(p.report(t).Settings.Waiting) == 0 })
		assert.Len(t, own.found("one"), 1)
	})

	t.Run("state and vault.path", func(t *testing.T) {
		report := func(env ...string) (r service.Report) {
			cmd := exec.Command(p.program, "status", "--json")
			cmd.Env = slices.Concat(p.command().Env, env)
			out, err := cmd.Output()
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(out, &r))
			return r
		}
		there := report("NOTESD_VAULT_PATH="+p.vault, "NOTESD_STATE="+p.state)
		assert.True(t, there.Daemon.Running)
		elsewhere := filepath.Join(t.TempDir(), "state")
		other := report("NOTESD_VAULT="+p.vault, "NOTESD_STATE="+elsewhere)
		assert.False(t, other.Daemon.Running)
		assert.Equal(t, elsewhere, other.State)
		vault := notestest.Vault(t, map[string]string{"x.md": "x"})
		assert.Equal(t, vault, report("NOTESD_VAULT="+vault, "NOTESD_STATE="+filepath.Join(t.TempDir(), "state")).Vault)
	})

	t.Run("log.level and log.file", func(t *testing.T) {
		verbose := p.with("log.level", "debug")
		own := verbose.launch(t, "mcp")
		own.initialize()
		require.NoError(t, own.end())
		assert.Contains(t, own.stderr.String(), "level=DEBUG")

		file := filepath.Join(t.TempDir(), "relay.log")
		verbose.env = append(verbose.env, "NOTESD_LOG_FILE="+file)
		own = verbose.launch(t, "mcp")
		own.initialize()
		require.NoError(t, own.end())
		assert.Empty(t, own.stderr.String())
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), "level=DEBUG")
	})
}

// settings returns the settings of a command of the place.
func (p place) settings(t testing.TB) []config.Setting {
	t.Helper()
	var printed struct {
		Settings []config.Setting `json:"settings"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.run(t, "config", "--json")), &printed))
	return printed.Settings
}

// Ineffective settings of a host are also reported: bounds wider than those in the file,
// and variables that are misspelt settings.
func TestSettingsBeyondTheFile(t *testing.T) {
	p := newPlace(t, settledNotes)
	p.configure(t, "[semantic]\nprovider = \"off\"\n[vault]\nread_only = true\nallow = [\"Open\"]\n")
	wide := p
	wide.env = []string{"NOTESD_VAULT_READ_ONLY=false", "NOTESD_VAULT_ALLOW=Open,Private", "NOTESD_SERCH_LIMIT=2", "NOTESD_SHA256=abc"}
	h := wide.launch(t, "mcp")
	instructions := h.instructions()
	assert.NotContains(t, h.names("tools/list", "tools"), "create_note")
	assert.NotContains(t, h.found("word"), "Private/d.md")
	ignored := strings.Join(p.report(t).Settings.Ignored, "\n")
	for _, remark := range []string{
		"vault.read_only = false has no effect: " + p.settingsFile() + ":4 makes the vault read-only for every client",
		"vault.allow cannot add Private: " + p.settingsFile() + ":5 allows only Open, to every client",
		"NOTESD_SERCH_LIMIT: is not a known variable and has no effect; the nearest setting is NOTESD_SEARCH_LIMIT",
	} {
		assert.Contains(t, instructions, remark)
		assert.Contains(t, ignored, remark)
		eventually(t, "standard error has it", func() bool { return strings.Contains(h.stderr.String(), remark) })
	}
	assert.NotContains(t, instructions, "NOTESD_SHA256", "it resembles no setting")
	eventually(t, "standard error has it", func() bool { return strings.Contains(h.stderr.String(), "NOTESD_SHA256: is not a known variable") })
}

// A daemon whose configuration file has changed restarts when it is idle; the sessions of
// hosts continue with the new settings.
func TestDaemonRestartsWhenIdle(t *testing.T) {
	t.Parallel()
	p := newPlace(t, settledNotes)
	h := p.launch(t, "mcp")
	h.initialize()
	require.Contains(t, h.names("tools/list", "tools"), "create_note")
	pid := p.daemon(t).PID
	done := p.busy(t)
	p.configure(t, "[semantic]\nprovider = \"off\"\n[vault]\nread_only = true\n[history]\nkeep = 7\n")
	r := p.report(t)
	assert.Equal(t, []string{"history.keep"}, r.Settings.Waiting)
	assert.Contains(t, r.Warnings, "the configuration file has another history.keep; it takes effect when the daemon is idle, or at once with notesd restart")
	require.Contains(t, h.names("tools/list", "tools"), "create_note")

	done()
	h.notified(t, "notifications/tools/list_changed")
	assert.NotContains(t, h.names("tools/list", "tools"), "create_note")
	assert.Empty(t, p.report(t).Settings)
	assert.Equal(t, pid, p.daemon(t).PID, "in the same process")
	p.run(t, "stop")
	assert.Empty(t, p.daemons(t))
	assert.Len(t, h.found("word"), 4, "the next call starts a daemon again")
	assert.NotEqual(t, pid, p.daemon(t).PID)
}

// A daemon started with notesd serve keeps its process and its flags.
func TestServeAppliesAChangedFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, settledNotes)
	serve := p.serve(t, "--http", "127.0.0.1:0")
	before := p.report(t).Daemon
	require.NotEmpty(t, before.HTTP)
	done := p.busy(t)
	p.configure(t, "[semantic]\nprovider = \"off\"\n[history]\nkeep = 7\n")
	require.Equal(t, []string{"history.keep"}, p.report(t).Settings.Waiting)
	done()
	eventually(t, "nothing waits", func() bool { return len(p.report(t).Settings.Waiting) == 0 })
	after := p.report(t).Daemon
	assert.Equal(t, before.PID, after.PID)
	assert.Equal(t, serve.Process.Pid, after.PID)
	assert.NotEmpty(t, after.HTTP)

	p.configure(t, "[semantic]\nprovider = \"off\"\n[history]\nkeep = 0\n")
	valid := p
	valid.env = []string{"XDG_CONFIG_HOME=" + t.TempDir()} // the command itself reads another file
	assert.Contains(t, strings.Join(valid.report(t).Warnings, "\n"), "has changed and is not used")
	assert.Equal(t, before.PID, valid.report(t).Daemon.PID)
}

// A wrong name in vault.tools is an error at the start. In a file that changes later, it
// changes neither the daemon nor a session.
func TestWrongToolNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t, settledNotes)
	refused := p.with("vault.tools", "serch_notes").launch(t, "mcp").call("initialize", map[string]any{})
	require.NotNil(t, refused.Error)
	assert.Contains(t, refused.Error.Message, "NOTESD_VAULT_TOOLS")

	h := p.launch(t, "mcp")
	h.initialize()
	p.configure(t, "[vault]\ntools = [\"serch_notes\"]\n")
	valid, other := p, t.TempDir()
	require.NoError(t, configureTests(other))
	valid.env = []string{"XDG_CONFIG_HOME=" + other} // these commands read another file
	assert.Contains(t, strings.Join(valid.report(t).Warnings, "\n"), "is not used until it is corrected: "+p.settingsFile()+":2: ")
	valid.run(t, "restart")
	assert.Len(t, h.found("word"), 4, "the session keeps its tools when it connects again")
}
