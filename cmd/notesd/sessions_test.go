package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prompts returns the names of the prompts offered to a client.
func (h *peer) prompts() []string {
	h.t.Helper()
	return h.names("prompts/list", "prompts")
}

// names returns the names in a list.
func (h *peer) names(method, member string) (names []string) {
	h.t.Helper()
	var list map[string]json.RawMessage
	h.decode(h.call(method, map[string]any{}), &list)
	var items []struct {
		Name string `json:"name"`
	}
	require.NoError(h.t, json.Unmarshal(list[member], &items))
	for _, item := range items {
		names = append(names, item.Name)
	}
	return names
}

func (h *peer) instructions() string {
	h.t.Helper()
	var greeting struct {
		Instructions string `json:"instructions"`
	}
	h.decode(h.initialize(), &greeting)
	return greeting.Instructions
}

var settledNotes = map[string]string{
	"Open/a.md": "word one", "Open/b.md": "word two", "Open/c.md": "word three",
	"Private/d.md":  "word four",
	"Prompts/my.md": "---\ndescription: mine\n---\nSay {{topic}}.",
}

// Session settings in a host's env block take effect next to a daemon with other
// settings; daemon settings have no effect, and this is reported wherever the user may
// look.
func TestSettingsOfTheHostsEnvironment(t *testing.T) {
	p := newPlace(t, settledNotes)
	plain := p.launch(t, "mcp")
	assert.NotContains(t, plain.instructions(), "no effect")
	assert.Len(t, plain.found("word"), 4)

	set := p
	set.env = []string{
		"NOTESD_SEARCH_LIMIT=2", "NOTESD_SEARCH_MODE=text", "NOTESD_LIMITS_RESULT_BYTES=1024", "NOTESD_PROMPTS_FOLDER=Prompts",
		"NOTESD_VAULT_READ_ONLY=true", "NOTESD_VAULT_ALLOW=Open,Prompts",
		"NOTESD_SEMANTIC_PROVIDER=ollama", "NOTESD_VAULT_IGNORE=Open/**",
	}
	h := set.launch(t, "mcp")
	instructions := h.instructions()
	file := filepath.Join(p.config(), "notesd", "notesd.toml")
	for _, remark := range []string{
		`NOTESD_SEMANTIC_PROVIDER has no effect`, `Add provider = "ollama" under [semantic] to ` + file,
		`Add ignore = ["Open/**"] under [vault]`,
	} {
		assert.Contains(t, instructions, remark)
		eventually(t, "standard error has it", func() bool { return strings.Contains(h.stderr.String(), remark) })
		assert.Contains(t, p.run(t, "status"), remark)
	}
	assert.Len(t, h.found("word"), 2)
	assert.NotContains(t, h.found("four"), "Private/d.md")
	assert.Contains(t, h.prompts(), "my")
	assert.NotContains(t, h.names("tools/list", "tools"), "create_note")

	assert.Len(t, plain.found("word"), 4, "the other client's session is as it was")
	assert.NotContains(t, plain.prompts(), "my")
	assert.Contains(t, plain.names("tools/list", "tools"), "create_note")
	refused := plain.tool("create_note", map[string]any{"path": "Prompts/other.md", "content": "Do this."})
	assert.True(t, refused.IsError, "no client writes prompts for another")
	require.NoError(t, h.end())
	eventually(t, "its settings are no longer reported", func() bool { return len(p.report(t).Settings.Ignored) == 0 })
}

// A changed file takes effect in new sessions at once, and in all after a restart.
func TestChangedConfigurationFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, settledNotes)
	before := p.launch(t, "mcp")
	before.initialize()
	pid := p.daemon(t).PID
	assert.Empty(t, p.report(t).Settings)
	done := p.busy(t)

	p.configure(t, "[semantic]\nprovider = \"off\"\n[search]\nlimit = 1\n[history]\nkeep = 7\n")
	after := p.launch(t, "mcp")
	after.initialize()
	assert.Len(t, after.found("word"), 1)
	assert.Len(t, before.found("word"), 4)
	assert.Equal(t, []string{"history.keep"}, p.report(t).Settings.Waiting)

	done()
	p.run(t, "restart")
	assert.NotEqual(t, pid, p.daemon(t).PID)
	assert.Empty(t, p.report(t).Settings.Waiting)
	assert.Len(t, before.found("word"), 1, "clients stay connected")

	p.run(t, "stop")
	assert.Empty(t, p.daemons(t))
	assert.Contains(t, p.run(t, "stop"), "no daemon is running")
	assert.Len(t, after.found("word"), 1, "the next call starts a daemon again")
}

// An invalid file changes nothing, and status reports the error.
func TestChangedFileThatIsNotValid(t *testing.T) {
	p := newPlace(t, settledNotes)
	p.launch(t, "mcp").initialize()
	file := filepath.Join(p.config(), "notesd", "notesd.toml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("[search]\nlimit = 1000\n"), 0o600))
	valid := p
	valid.env = []string{"XDG_CONFIG_HOME=" + t.TempDir()} // the command itself reads another file
	r := valid.report(t)
	assert.Contains(t, r.Warnings[0], "the configuration file has changed and is not used")
	assert.Contains(t, r.Warnings[0], "notesd.toml:2")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	assert.Empty(t, p.report(t).Warnings)
}
