package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"notesd/internal/service"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var someNotes = map[string]string{
	"Boat/Rigging.md": "# Rigging\nTwo stays hold the mast.\n",
	"Bread.md":        "# Bread\nRye and water. #baking\n",
}

// Hosts must not see a difference between a daemon and a process of their own.
func TestMCPSession(t *testing.T) {
	for name, args := range map[string][]string{"in process": {"mcp", "--in-process"}, "through a daemon": {"mcp"}} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, someNotes)
			h := p.launch(t, args...)
			var hello struct {
				ProtocolVersion string `json:"protocolVersion"`
				ServerInfo      struct{ Name, Title, Version string }
			}
			h.decode(h.initialize(), &hello)
			assert.Equal(t, "2025-06-18", hello.ProtocolVersion)
			assert.Equal(t, "notesd", hello.ServerInfo.Name)
			assert.Equal(t, "vault", hello.ServerInfo.Title)

			made := h.tool("create_note", map[string]any{"title": "Keel", "content": "A keelson lies on the keel."})
			require.False(t, made.IsError)
			assert.Equal(t, "Keel.md", made.Structured["path"])
			assert.Equal(t, []string{"Keel.md"}, h.found("keelson"), "a search after a write finds what was written")

			// Saved by an editor: found without a requested scan.
			require.NoError(t, os.WriteFile(filepath.Join(p.vault, "New.md"), []byte("A garboard strake."), 0o644))
			eventually(t, "the new note is found", func() bool { return len(h.found("garboard")) == 1 })

			missing := h.tool("read_note", map[string]any{"note": "Nothing"})
			assert.True(t, missing.IsError)

			// After a line that is not a message, and an unknown method, the session
			// continues.
			h.write(`{"jsonrpc":"2.0","id":9000,"method":`)
			assert.Equal(t, -32700, h.other(9000).Error.Code)
			assert.Equal(t, -32601, h.call("nonsense", nil).Error.Code)
			assert.NotNil(t, h.call("ping", nil).Result)

			require.NoError(t, h.end(), "exit code 0 when the host closes its end")
		})
	}
}

// other waits for the next message that does not answer a request of the peer.
func (h *peer) other(id int) message {
	h.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-h.others:
			if m.Error != nil {
				return m
			}
		case <-deadline:
			require.FailNow(h.t, "no error answer", "to %d", id)
		}
	}
}

func TestMCPAnswersBeforeTheVaultIsRead(t *testing.T) {
	p := newPlace(t, someNotes)
	h := p.launch(t, "mcp", "--in-process")
	h.initialize()
	var tools struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	h.decode(h.call("tools/list", nil), &tools)
	assert.NotEmpty(t, tools.Tools)
	eventually(t, "everything is found", func() bool { return len(h.found("mast")) == 1 })
}

// A host shows the user an answer, but not what a server that ends without one has printed.
func TestMCP_AnswersWhyItCannotServe(t *testing.T) {
	p := newPlace(t, someNotes)
	for _, mode := range []string{"--in-process", "--in-process=false"} {
		h := p.launch(t, "mcp", mode, "--log-file", filepath.Join(p.state, "missing", "log"))
		m := h.call("initialize", map[string]any{})
		require.NotNil(t, m.Error)
		assert.Contains(t, m.Error.Message, "open log file")
		assert.Contains(t, m.Error.Message, "Name another file with --log-file", "the hint")
		require.Error(t, h.end())
	}
}

func TestMCPToolSelection(t *testing.T) {
	p := newPlace(t, someNotes)
	list := func(h *peer) []string {
		var tools struct {
			Tools []struct{ Name string } `json:"tools"`
		}
		h.initialize()
		h.decode(h.call("tools/list", nil), &tools)
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	writer := p.launch(t, "mcp")
	reader := p.launch(t, "mcp", "--read-only")
	few := p.launch(t, "mcp", "--tools", "read_note, search_notes")
	assert.Contains(t, list(writer), "create_note")
	assert.NotContains(t, list(reader), "create_note")
	assert.ElementsMatch(t, []string{"read_note", "search_notes"}, list(few))

	refused := reader.call("tools/call", map[string]any{"name": "create_note", "arguments": map[string]any{"title": "x", "content": "y"}})
	require.NotNil(t, refused.Error)
	assert.NoFileExists(t, filepath.Join(p.vault, "x.md"))
	assert.False(t, writer.tool("create_note", map[string]any{"title": "x", "content": "y"}).IsError)
	assert.Len(t, p.daemons(t), 1, "all three share one daemon")

	bad := p.command("mcp", "--tools", "serch_notes")
	out, err := bad.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, service.ExitUsage, bad.ProcessState.ExitCode())
	assert.Contains(t, string(out), `did you mean "search_notes"`)
}

// Hosts send different initialize requests, with members that the protocol does not
// require.
func TestMCPGreetings(t *testing.T) {
	p := newPlace(t, someNotes)
	p.run(t, "index")
	for host, params := range map[string]string{
		"Claude Desktop": `{"protocolVersion":"2025-06-18","capabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}},"clientInfo":{"name":"claude-ai","version":"0.1.0"}}`,
		"Claude Code":    `{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{}},"clientInfo":{"name":"claude-code","title":"Claude Code","version":"2.0"}}`,
		"Cursor":         `{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"prompts":true,"resources":true,"logging":false,"roots":{"listChanged":false}},"clientInfo":{"name":"cursor-vscode","version":"1.0.0"}}`,
		"VS Code":        `{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},"tasks":{"list":{},"cancel":{}}},"clientInfo":{"name":"Visual Studio Code","version":"1.106.0","icons":[]},"_meta":{"x":[null]}}`,
		"of tomorrow":    `{"protocolVersion":"2099-01-01","capabilities":{"no such":[1,null]},"clientInfo":null,"more":{}}`,
	} {
		t.Run(host, func(t *testing.T) {
			h := p.launch(t, "mcp")
			var hello struct{ ProtocolVersion string }
			h.decode(h.call("initialize", json.RawMessage(params)), &hello)
			if !strings.Contains(params, hello.ProtocolVersion) {
				assert.Equal(t, "2025-11-25", hello.ProtocolVersion)
			}
			h.write(`{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`)
			var answered sync.WaitGroup
			if strings.Contains(params, `"roots"`) {
				answered.Go(func() {
					for m := range h.others {
						if m.Method == "roots/list" {
							h.write(`{"jsonrpc":"2.0","id":` + string(*m.ID) + `,"result":{"roots":[{"uri":"file:///home/someone/code","name":"code"}]}}`)
							return
						}
					}
				})
			}
			for _, list := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
				assert.Nil(t, h.call(list, map[string]any{"cursor": nil}).Error, list)
			}
			m := h.call("tools/call", map[string]any{
				"name": "search_notes", "arguments": map[string]any{"query": "mast", "limit": nil, "folder": "", "tags": []string{}},
				"_meta": map[string]any{"progressToken": 0, "claudecode/toolUseId": "toolu_01"},
			})
			require.Nil(t, m.Error)
			assert.Contains(t, string(m.Result), "Rigging.md")
			answered.Wait()
			require.NoError(t, h.end())
		})
	}
}

// A picture linked from a note is watched like a note: subscribers and listeners are
// notified of a new version.
func TestMCPAttachmentIsWatched(t *testing.T) {
	p := newPlace(t, map[string]string{"Plan.md": "![[plan.png]]\n", "plan.png": "one", "other.png": "nobody links to it"})
	h := p.launch(t, "mcp")
	h.initialize()
	eventually(t, "everything is found", func() bool { return p.report(t).Index.Ready })
	require.NotNil(t, h.call("resources/subscribe", map[string]any{"uri": "note:///plan.png"}).Result)
	refused := h.call("resources/subscribe", map[string]any{"uri": "note:///other.png"})
	require.NotNil(t, refused.Error)
	assert.Contains(t, refused.Error.Message, "no note links to an attachment")

	modern := p.launch(t, "mcp")
	listen := modern.send("subscriptions/listen", map[string]any{
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		},
		"notifications": map[string]any{"resourceSubscriptions": []string{"note:///other.png", "note:///plan.png"}},
	})
	agreed := modern.notified(t, "notifications/subscriptions/acknowledged")
	assert.JSONEq(t, `{"resourceSubscriptions":["note:///plan.png"]}`, string(agreed["notifications"]))

	require.NoError(t, os.WriteFile(filepath.Join(p.vault, "plan.png"), []byte("two"), 0o600))
	for _, h := range []*peer{h, modern} {
		assert.JSONEq(t, `"note:///plan.png"`, string(h.notified(t, "notifications/resources/updated")["uri"]))
	}
	assert.Empty(t, listen, "the listen goes on")
}

// notified waits for a notification and returns its parameters.
func (h *peer) notified(t *testing.T, method string) map[string]json.RawMessage {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-h.others:
			if m.Method == method {
				var params map[string]json.RawMessage
				if m.Params != nil {
					require.NoError(t, json.Unmarshal(m.Params, &params))
				}
				return params
			}
		case <-deadline:
			require.FailNow(t, "never notified", method)
		}
	}
}

// A launched daemon takes no settings from its first client.
func TestDaemon_SettingsOfFirstClient(t *testing.T) {
	p := newPlace(t, someNotes)
	first := p.command("mcp", "--read-only")
	first.Env = append(first.Env, "NOTESD_VAULT_READ_ONLY=true", "NOTESD_LOG_LEVEL=error")
	stdin, err := first.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	eventually(t, "a daemon runs", func() bool { return len(p.daemons(t)) == 1 })
	second := p.launch(t, "mcp")
	second.initialize()
	assert.False(t, second.tool("create_note", map[string]any{"title": "x", "content": "y"}).IsError)
	require.NoError(t, stdin.Close())
	require.NoError(t, first.Wait())
}
